/**
 * Stands in for react-style-singleton, by which dialogs of GraphiQL write a style sheet into the page while they are
 * open, to keep what is behind them from scrolling. This page does not scroll, and its policy allows no such sheet.
 */
export function styleSingleton(): () => null {
  return () => null;
}

/** A place in the user's SDL; line and column are counted from 1. */
export interface SdlPosition {
  readonly line: number;
  readonly column: number;
}

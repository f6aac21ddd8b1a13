/** A place in a file as compilers show it: `file:line:column: error: …`, the line, and a mark below the column. */

interface FramedError {
  readonly file: string;
  /** From 1; undefined where there is no single place. */
  readonly at: { readonly line: number; readonly column: number } | undefined;
  readonly message: string;
  /** The line at that place. */
  readonly source: string | undefined;
}

const sourceCharactersMax = 200;

/** `kind`: error, warning. */
export function printFrame({ file, at, message, source }: FramedError, kind = "error"): string {
  const place = at === undefined ? file : `${file}:${at.line}:${at.column}`;
  const head = `${place}: ${kind}: ${message}\n`;
  return at === undefined ? head : head + printSource(at, source);
}

/** The line and the mark, or nothing. */
export function printSource(
  { line, column }: { readonly line: number; readonly column: number },
  source: string | undefined,
): string {
  if (source === undefined || source.length > sourceCharactersMax) return "";
  const gutter = `  ${line} | `;
  // Tabs stay tabs, so that the mark is where the eye expects it.
  const before = source.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
  return `${gutter}${source}\n${" ".repeat(gutter.length - 2)}| ${before}^\n`;
}

/** `line` from 1. */
export function lineOf(text: string, line: number): string | undefined {
  return text.split(/\r?\n/)[line - 1];
}

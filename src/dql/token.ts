/**
 * The kinds of tokens. The numbers are part of message texts (`Got: lex.Item [6] "{" at 1:4`), so they are fixed.
 */
export const T = {
  eof: 0,
  text: 5,
  leftCurl: 6,
  rightCurl: 7,
  equal: 8,
  name: 9,
  operation: 10,
  leftRound: 11,
  rightRound: 12,
  colon: 13,
  at: 14,
  period: 15,
  dollar: 16,
  regex: 17,
  mutationOperation: 18,
  mutationContent: 19,
  upsert: 20,
  upsertOperation: 21,
  upsertContent: 22,
  leftSquare: 23,
  rightSquare: 24,
  comma: 25,
  operator: 26,
  star: 27,
} as const;

export type TokenKind = (typeof T)[keyof typeof T];

/** Parallel arrays: token i is `text.slice(starts[i], ends[i])`. The last one is always `eof`. */
export interface Tokens {
  readonly text: string;
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** For a literal that can be lifted out of the text (see `lexShape`) its number, from 1; 0 for other tokens. */
  readonly literals: Int32Array;
  readonly literalCount: number;
}

/** `line L column C` of an offset: lines from 1, columns from 0 in bytes of UTF-8. */
export function locate(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let column = 0;
  for (let i = 0; i < offset; i++) {
    const code = text.charCodeAt(i);
    if (code === 10 || code === 13) {
      line++;
      column = 0;
    } else if (code < 0x80) column++;
    else if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) column += 2;
    else column += 3;
  }
  return { line, column };
}

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

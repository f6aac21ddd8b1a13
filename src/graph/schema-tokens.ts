/** Schema text → tokens (reference/dql 2.2). The numbers of the kinds are part of message texts, so they are fixed. */
import { isDigit, isHexDigit, quoteRune, skipIri } from "../base/characters.ts";
import { locate } from "../base/position.ts";
import { quoteGo } from "../model/conversion-error.ts";
import { Fault } from "../model/fault.ts";

export const S = {
  eof: 0,
  text: 5,
  number: 6,
  leftCurl: 7,
  rightCurl: 8,
  colon: 9,
  leftRound: 10,
  rightRound: 11,
  at: 12,
  comma: 13,
  newLine: 14,
  dot: 15,
  leftSquare: 16,
  rightSquare: 17,
  exclamation: 18,
  quoted: 20,
} as const;

export interface SchemaToken {
  readonly kind: number;
  readonly text: string;
  readonly offset: number;
}

const punctuation: ReadonlyMap<string, number> = new Map([
  [".", S.dot],
  [",", S.comma],
  ["{", S.leftCurl],
  ["}", S.rightCurl],
  ["(", S.leftRound],
  [")", S.rightRound],
  [":", S.colon],
  ["@", S.at],
  ["[", S.leftSquare],
  ["]", S.rightSquare],
  ["!", S.exclamation],
  ["\n", S.newLine],
  ["\r", S.newLine],
]);

/** The last token is always `eof`. Throws Fault E_SCHEMA_SYNTAX. */
export function lexSchema(text: string): SchemaToken[] {
  const tokens: SchemaToken[] = [];
  let position = 0;
  const push = (kind: number, from: number, to: number): void => {
    tokens.push({ kind, text: text.slice(from, to), offset: from });
  };
  while (position < text.length) {
    const start = position;
    const character = text.charAt(start);
    const code = text.charCodeAt(start);
    const kind = punctuation.get(character);
    position++;
    if (kind !== undefined) {
      push(kind, start, position);
    } else if (isWordPart(code) && !isDigit(code) && character !== "-") {
      while (isWordPart(text.charCodeAt(position))) position++;
      push(S.text, start, position);
    } else if (isDigit(code)) {
      position = skipNumber(text, start);
      push(S.number, start, position);
    } else if (character === "#") {
      position = skipComment(text, position);
      if (position <= text.length) push(S.newLine, position, position);
    } else if (character === "<") {
      const end = skipIri(text, position);
      push(S.text, position, end);
      checkIriEnd(text, end);
      position = end + 1;
    } else if (character === '"') {
      position = skipQuoted(text, start);
      push(S.quoted, start, position);
    } else if (character !== " " && character !== "\t") {
      const shown = String.fromCodePoint(text.codePointAt(start) ?? 0xfffd);
      failLexing(text, start, `Invalid schema. Unexpected ${shown}`);
    }
  }
  push(S.eof, text.length, text.length);
  return tokens;
}

/** `lex.Item [7] "{" at 1:0`, for messages. */
export function describeToken(source: string, token: SchemaToken): string {
  if (token.kind === S.eof) return "EOF";
  const { line, column } = locate(source, token.offset);
  return `lex.Item [${token.kind}] ${quoteGo(token.text)} at ${line}:${column}`;
}

/** Letters, digits, `_`, `.` and `-`; the last three and digits only inside of a word, but `_`. */
function isWordPart(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    isDigit(code) ||
    code === 95 ||
    code === 46 ||
    code === 45
  );
}

function skipNumber(text: string, start: number): number {
  let i = start + 1;
  const isHex =
    text.charCodeAt(start) === 48 &&
    /[xX]/.test(text.charAt(i)) &&
    isHexDigit(text.charCodeAt(i + 1));
  if (isHex) i++;
  while (isHex ? isHexDigit(text.charCodeAt(i)) : isDigit(text.charCodeAt(i))) i++;
  return i;
}

/** Behind the end of the line, or beyond the end of the text. */
function skipComment(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 10 || code === 13) return i + 1;
  }
  return text.length + 1;
}

function checkIriEnd(text: string, end: number): void {
  const code = text.codePointAt(end);
  if (code === 62) return;
  const reason =
    code === undefined
      ? "Unexpected end of IRI"
      : `Unexpected character ${quoteRune(code)} while parsing IRI`;
  failLexing(text, end, `Invalid schema: ${reason}`);
}

function skipQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '"') return i + 1;
    if (character !== "\\") continue;
    i++;
    const escaped = text.charAt(i);
    if (escaped === "" || !"uvtbnrf\"'\\".includes(escaped)) {
      const shown = escaped === "" ? "\ufffd" : escaped;
      failLexing(text, start, `Invalid schema: Not a valid escape char: '${shown}'`);
    }
  }
  return failLexing(text, start, "Invalid schema: Unexpected end of input.");
}

function failLexing(text: string, offset: number, message: string): never {
  const { line, column } = locate(text, offset);
  throw new Fault(
    "E_SCHEMA_SYNTAX",
    `while lexing ${text} at line ${line} column ${column}: ${message}`,
  );
}

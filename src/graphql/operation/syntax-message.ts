/**
 * What graphql-js says of a document that does not parse. Its errors have a message and a place, and no code: the words
 * are looked at here and in `syntax-problem.ts`, and the package's version is fixed.
 */
import type { GraphQLError } from "graphql";

/** The sentence alone. */
export function syntaxMessageOf(error: GraphQLError): string {
  return error.message.replace(/^Syntax Error: /, "").replace(/\.$/, "");
}

/** The bound on tokens was passed. */
export function saysTooManyTokens(error: GraphQLError): boolean {
  return error.message.includes("Parsing aborted.");
}

/** A `)` stands where it may not: behind `(`, where the list is empty. */
export function saysUnexpectedClosing(error: GraphQLError): boolean {
  return error.message.endsWith('found ")".');
}

/** A `}` stands where a name must. */
export function saysNameMissing(message: string): boolean {
  return message === 'Expected Name, found "}"';
}

/** Faults of a token, and not of its place. */
export function isLexical(message: string): boolean {
  return /^(?:Unterminated|Invalid|Unexpected character|Unexpected single quote)/.test(message);
}

/** The fault of a token is an escape in a text. */
export function saysEscape(message: string): boolean {
  return message.includes("escape sequence");
}

/** Quotes before the text that was found: the reference's place is behind them. */
export function quoteLengthOf(message: string): number {
  const plain = message.includes(" found String") ? 1 : 0;
  return plain + (message.includes(" found BlockString") ? 3 : 0);
}

/** In the words that clients of /graphql know. */
export function rewordForRequest(message: string): string {
  const expected = /^Expected (?<what>.+), found (?<found>.+)$/.exec(message);
  if (expected?.groups !== undefined) {
    const what = expected.groups["what"] ?? "";
    const found = expected.groups["found"] ?? "";
    if (/^"[a-z]+"$/.test(what)) return `Expected ${what}, found ${unquoteKind(found)}`;
    return `Expected ${unquoteKind(what)}, found ${kindOnly(found)}`;
  }
  if (/^Unexpected variable ".*" in constant value$/.test(message)) return "Unexpected $";
  const unexpected =
    /^Unexpected (?<found>(?:Name|Int|Float|String|BlockString|".+"|<EOF>).*)$/.exec(message);
  return unexpected?.groups === undefined
    ? message
    : `Unexpected ${unquoteKind(unexpected.groups["found"] ?? "")}`;
}

/** `Name "x"` → `Name`, `"}"` → `}`. */
function kindOnly(found: string): string {
  return unquoteKind(found.replace(/^(?<kind>[A-Za-z]+) ".*"$/s, "$<kind>"));
}

function unquoteKind(kind: string): string {
  const quoted = /^"(?<what>[^"A-Za-z]+)"$/.exec(kind);
  return quoted?.groups?.["what"] ?? kind;
}

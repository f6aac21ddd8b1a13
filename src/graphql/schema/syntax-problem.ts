/**
 * Syntax errors of GraphQL text, of an SDL as of a request, in the words that clients know (reference/graphql 1.7):
 * `Expected Name, found }`, `Unexpected Name "x"`, `expected at least one definition, found }`.
 */
import { GraphQLError } from "graphql";

interface SyntaxProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** Turns what graphql-js's `parse` threw into a problem; rethrows everything else. */
export function toSyntaxProblem(error: unknown): SyntaxProblem {
  // graphql-js descends once per bracket.
  if (error instanceof RangeError)
    return { message: "the document is nested too deeply", line: 1, column: 1 };
  if (!(error instanceof GraphQLError)) throw error;
  const location = error.locations?.[0];
  return {
    message: rewordSyntaxMessage(error),
    line: location?.line ?? 1,
    column: location?.column ?? 1,
  };
}

const wordPattern = /^(Name|Int|Float|String|BlockString|Comment) "/;

function rewordSyntaxMessage(error: GraphQLError): string {
  const text = error.message.replace(/^Syntax Error: /, "").replace(/\.$/, "");
  const expected = /^Expected (.+?), found (.+)$/s.exec(text);
  if (expected !== null) {
    const [, wanted = "", found = ""] = expected;
    const closing = unquote(kindOf(found));
    if (wanted === "Name" && isEmptyList(error, closing))
      return `expected at least one definition, found ${closing}`;
    // A keyword stands in quotes and the found token with its text; a kind stands bare, and so does what was found.
    if (/^"\w+"$/.test(wanted)) return `Expected ${wanted}, found ${unquote(found)}`;
    return `Expected ${unquote(wanted)}, found ${closing}`;
  }
  const character = /^Unexpected character: (.+)$/s.exec(text);
  if (character !== null) return `Cannot parse the unexpected character ${character[1] ?? ""}.`;
  const unexpected = /^Unexpected (.+)$/s.exec(text);
  if (unexpected !== null) return `Unexpected ${unquote(unexpected[1] ?? "")}`;
  return /^(?:Unterminated|Invalid)/.test(text) ? `${text}.` : text;
}

/** `Name "x"` → `Name`. */
function kindOf(token: string): string {
  return wordPattern.exec(token)?.[1] ?? token;
}

/** `"{"` → `{`; names with their text stay. */
function unquote(token: string): string {
  return /^"[^\w]+"$/.test(token) ? token.slice(1, -1) : token;
}

/** `{}` or `()` where definitions belong: the closing token follows its opening one. */
function isEmptyList(error: GraphQLError, closing: string): boolean {
  const opening = closing === "}" ? "{" : closing === ")" ? "(" : undefined;
  const position = error.positions?.[0];
  const body = error.source?.body;
  if (opening === undefined || position === undefined || body === undefined) return false;
  const before = body.slice(0, position).replace(/(?:#[^\n\r]*|[\s,\uFEFF])+$/, "");
  return before.endsWith(opening);
}

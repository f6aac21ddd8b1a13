/** GraphQL text → graphql-js's syntax tree, with the messages and places that clients know (graphql.md, Msg E.1). */
import { GraphQLError, Lexer, parse, Source } from "graphql";
import { unreachable } from "../base/assert.ts";
import type { ASTNode, DocumentNode, Token, ValueNode } from "graphql";
import { refuse } from "./errors.ts";
import type { Location, RequestRefused } from "./errors.ts";

/**
 * Throws RequestRefused for text that does not parse, or that holds anything but operations and fragments. Blank
 * text is a document without operations.
 */
export function parseDocument(text: string): DocumentNode {
  if (isBlank(text)) return { kind: "Document", definitions: [] } as unknown as DocumentNode;
  const document = parseText(text);
  for (const definition of document.definitions) {
    if (definition.kind === "OperationDefinition" || definition.kind === "FragmentDefinition")
      continue;
    const token = definition.loc?.startToken;
    const found =
      token?.value === undefined ? (token?.kind ?? "") : `${token.kind} "${token.value}"`;
    throw refuse(`Unexpected ${found}`, locate(text, token?.start ?? 0));
  }
  return document;
}

/** Line and column from 1; columns count code points. */
export function locate(text: string, offset: number): Location {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < offset; i++) {
    const c = text.charCodeAt(i);
    if (c !== 10 && c !== 13) continue;
    if (c === 13 && text.charCodeAt(i + 1) === 10 && i + 1 < offset) i++;
    line++;
    lineStart = i + 1;
  }
  let column = 1;
  for (let i = lineStart; i < offset; i++) {
    const c = text.charCodeAt(i);
    if (c < 0xdc00 || c > 0xdfff) column++;
  }
  return { line, column };
}

/** Where messages place a node: fragments at the word behind the dots, directives at their name, strings inside. */
export function offsetOf(node: ASTNode): number {
  const start = node.loc?.start ?? 0;
  switch (node.kind) {
    case "InlineFragment":
      return node.loc?.startToken.next?.start ?? start;
    case "FragmentSpread":
    case "Directive":
      return node.name.loc?.start ?? start;
    case "StringValue":
      return start + (node.block === true ? 3 : 1);
    default:
      return start;
  }
}

/** A value as messages quote it. */
export function printValue(value: ValueNode): string {
  switch (value.kind) {
    case "Variable":
      return `$${value.name.value}`;
    case "IntValue":
    case "FloatValue":
    case "EnumValue":
      return value.value;
    case "BooleanValue":
      return String(value.value);
    case "NullValue":
      return "null";
    case "StringValue":
      return JSON.stringify(value.value);
    case "ListValue":
      return `[${value.values.map(printValue).join(",")}]`;
    case "ObjectValue": {
      const fields = value.fields.map((f) => `${f.name.value}:${printValue(f.value)}`);
      return `{${fields.join(",")}}`;
    }
    default:
      return unreachable(value);
  }
}

/** Only blanks, commas, line ends and comments. */
function isBlank(text: string): boolean {
  return /^(?:[\s,\ufeff]|#[^\n\r]*)*$/.test(text);
}

/** `isFilled`: empty lists are blanks by now; one more behind them is wrong. */
function parseText(text: string, isFilled = false): DocumentNode {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw refuse("the document is nested too deeply");
    if (!(error instanceof GraphQLError)) throw error;
    const filled = !isFilled && error.message.endsWith('found ")".') ? blankEmptyLists(text) : text;
    if (filled === text) throw syntaxRefusal(text, error);
    return parseText(filled, true);
  }
}

/** The text with blanks for each `()` behind a name, which is allowed here; places stay. */
function blankEmptyLists(text: string): string {
  let filled = "";
  let copied = 0;
  let before: Token | undefined;
  let opening: Token | undefined;
  for (const token of tokensOf(text)) {
    if (opening !== undefined && token.kind === ")") {
      filled += `${text.slice(copied, opening.start)} ${text.slice(opening.end, token.start)} `;
      copied = token.end;
    }
    opening = token.kind === "(" && before?.kind === "Name" ? token : undefined;
    before = token;
  }
  return filled + text.slice(copied);
}

/** The tokens before the first that is wrong in itself. */
function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  try {
    for (let token = lexer.advance(); token.kind !== "<EOF>"; token = lexer.advance()) yield token;
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}

/** The last whole token before a place. */
function tokenBefore(text: string, position: number): Token | undefined {
  let last: Token | undefined;
  for (const token of tokensOf(text)) {
    if (token.start >= position) break;
    last = token;
  }
  return last;
}

function syntaxRefusal(text: string, error: GraphQLError): RequestRefused {
  const offset = error.positions?.[0] ?? 0;
  const message = error.message.replace(/^Syntax Error: /, "").replace(/\.$/, "");
  if (isLexical(message)) return lexicalRefusal(text, offset, message);
  if (message === 'Expected Name, found "}"' && tokenBefore(text, offset)?.kind === "{") {
    return refuse("expected at least one definition, found }", locate(text, offset));
  }
  const shift = message.includes(" found String") ? 1 : 0;
  const blockShift = message.includes(" found BlockString") ? 3 : 0;
  return refuse(reword(message), locate(text, offset + shift + blockShift));
}

/** Faults of a token, and not of its place. */
function isLexical(message: string): boolean {
  return /^(?:Unterminated|Invalid|Unexpected character|Unexpected single quote)/.test(message);
}

/** Told as an invalid token at a place where none fits: what the place asks for is found by one that never fits. */
function lexicalRefusal(text: string, offset: number, message: string): RequestRefused {
  const shift = message.includes("escape sequence") ? 1 : 0;
  const at = locate(text, offset + shift);
  const end = tokenBefore(text, text.length)?.end ?? 0;
  try {
    parse(`${text.slice(0, end)} |`);
  } catch (error) {
    if (error instanceof GraphQLError) {
      const place = error.message.replace(/^Syntax Error: /, "").replace(/\.$/, "");
      return refuse(reword(place).replace(/\|$/, "<Invalid>"), at);
    }
  }
  return refuse("Unexpected <Invalid>", at);
}

function reword(message: string): string {
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

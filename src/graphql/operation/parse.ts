/** GraphQL text → graphql-js's syntax tree, with the messages and places that clients know (reference/messages 5). */
import { GraphQLError, Lexer, parse, Source } from "graphql";
import { must, unreachable } from "../../base/assert.ts";
import type { ASTNode, DocumentNode, Token, ValueNode } from "graphql";
import { defaultLimits } from "../../model/limits.ts";
import { tokensMaxOf, tooLong } from "./document-meter.ts";
import type { DocumentLimits } from "./document-meter.ts";
import { refuseRequest } from "./errors.ts";
import type { Location, RequestRefused } from "./errors.ts";
import {
  isLexical,
  quoteLengthOf,
  rewordForRequest,
  saysEscape,
  saysNameMissing,
  saysTooManyTokens,
  saysUnexpectedClosing,
  syntaxMessageOf,
} from "./syntax-message.ts";

/**
 * Throws RequestRefused for text that does not parse, or that holds anything but operations and fragments. Blank
 * text is a document without operations.
 */
export function parseDocument(text: string, limits: DocumentLimits = defaultLimits): DocumentNode {
  if (isBlank(text)) return { kind: "Document", definitions: [] } as unknown as DocumentNode;
  const document = parseText(text, limits);
  for (const definition of document.definitions) {
    if (definition.kind === "OperationDefinition" || definition.kind === "FragmentDefinition")
      continue;
    const token = definition.loc?.startToken;
    const found =
      token?.value === undefined ? (token?.kind ?? "") : `${token.kind} "${token.value}"`;
    throw refuseRequest(`Unexpected ${found}`, locate(text, token?.start ?? 0));
  }
  return document;
}

/** Line and column from 1; columns count code points. */
function locate(text: string, offset: number): Location {
  return makeLocator(text)(offset);
}

/** For many places of one text: it is read through once, when the first is asked for. */
export function makeLocator(text: string): (offset: number) => Location {
  let places: TextPlaces | undefined;
  return (offset) => (places ??= readPlaces(text)).locate(Math.min(offset, text.length));
}

interface TextPlaces {
  locate(offset: number): Location;
}

function readPlaces(text: string): TextPlaces {
  const lineStarts = [0];
  /** Second halves of code points that take two units. */
  const halves: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0xdc00 && c <= 0xdfff) halves.push(i);
    else if (c === 10 || (c === 13 && text.charCodeAt(i + 1) !== 10)) lineStarts.push(i + 1);
  }
  return {
    locate(offset) {
      const line = countUpTo(lineStarts, offset);
      const start = lineStarts[line - 1] ?? 0;
      const left = countUpTo(halves, offset - 1) - countUpTo(halves, start - 1);
      return { line, column: offset - start - left + 1 };
    },
  };
}

/** How many of ascending numbers are not above a bound. */
function countUpTo(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (must(ascending[middle], "between the first and the last") <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
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
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 35) {
      while (i + 1 < text.length && !isLineEnd(text.charCodeAt(i + 1))) i++;
    } else if (c !== 32 && c !== 44 && c !== 0xfeff && !/\s/.test(text.charAt(i))) return false;
  }
  return true;
}

function isLineEnd(c: number): boolean {
  return c === 10 || c === 13;
}

/** `isFilled`: empty lists are blanks by now; one more behind them is wrong. */
function parseText(text: string, limits: DocumentLimits, isFilled = false): DocumentNode {
  try {
    return parse(text, { maxTokens: tokensMaxOf(limits) });
  } catch (error) {
    if (error instanceof RangeError) throw refuseRequest("the document is nested too deeply");
    if (!(error instanceof GraphQLError)) throw error;
    if (saysTooManyTokens(error)) throw tooLong(limits);
    const filled = !isFilled && saysUnexpectedClosing(error) ? blankEmptyLists(text) : text;
    if (filled === text) throw syntaxRefusal(text, error);
    return parseText(filled, limits, true);
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
  const message = syntaxMessageOf(error);
  if (isLexical(message)) return lexicalRefusal(text, offset, message);
  if (saysNameMissing(message) && tokenBefore(text, offset)?.kind === "{") {
    return refuseRequest("expected at least one definition, found }", locate(text, offset));
  }
  return refuseRequest(rewordForRequest(message), locate(text, offset + quoteLengthOf(message)));
}

/** Told as an invalid token at a place where none fits: what the place asks for is found by one that never fits. */
function lexicalRefusal(text: string, offset: number, message: string): RequestRefused {
  const at = locate(text, offset + (saysEscape(message) ? 1 : 0));
  const end = tokenBefore(text, text.length)?.end ?? 0;
  try {
    parse(`${text.slice(0, end)} |`);
  } catch (error) {
    if (error instanceof GraphQLError) {
      const place = syntaxMessageOf(error);
      return refuseRequest(rewordForRequest(place).replace(/\|$/, "<Invalid>"), at);
    }
  }
  return refuseRequest("Unexpected <Invalid>", at);
}

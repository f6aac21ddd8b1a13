/** Bodies of RDF mutations: a plain query, `{ set {…} delete {…} }`, or an upsert block (reference/dql 1.4, 3.5). */
import type { MutationText, UpsertDocument } from "./ast.ts";
import { Cursor } from "./cursor.ts";
import { noFunctions } from "./functions.ts";
import type { Steps } from "../base/maybe.ts";
import type { Look } from "../model/request-budget.ts";
import { lex, lexInSteps, releaseTokens } from "./lexer.ts";
import { T } from "./token.ts";

/**
 * Takes a body apart. The query stays text: the facts of the mutations are read before it, and the variables that
 * they name belong to it (`parseUpsertQuery`). Throws Fault E_DQL_SYNTAX.
 */
export function parseUpsert(text: string): UpsertDocument {
  const tokens = lex(text, noFunctions);
  const parsed = parseBody(text, new Cursor(tokens));
  releaseTokens(tokens);
  return parsed;
}

/** `parseUpsert` that rests every few milliseconds where `look` says so. */
export function* parseUpsertInSteps(text: string, look: Look): Steps<UpsertDocument> {
  return parseBody(text, new Cursor(yield* lexInSteps(text, look)));
}

function parseBody(text: string, cursor: Cursor): UpsertDocument {
  if (cursor.peek() === T.upsert) {
    cursor.take();
    return parseUpsertBlock(cursor);
  }
  if (cursor.peek(1) === T.mutationOperation && cursor.peek() === T.leftCurl) {
    return { query: undefined, mutations: [parseMutationBlock(cursor, "")] };
  }
  return { query: text, mutations: [] };
}

/** `{ query {…} mutation @if(…) {…} fragment f {…} }` */
function parseUpsertBlock(cursor: Cursor): UpsertDocument {
  if (cursor.take() !== T.leftCurl) {
    cursor.failNext(`Expected { at the start of block. Got: [${cursor.text()}]`);
  }
  const mutations: MutationText[] = [];
  let query: string | undefined;
  let fragments = "";
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    const operation = cursor.text();
    if (kind === T.rightCurl) {
      if (mutations.length === 0) cursor.failNext("Empty mutation block");
      if (query === undefined) return cursor.failNext("Query op not found in upsert block");
      return { query: fragments + query, mutations };
    }
    if (kind !== T.upsertOperation) {
      cursor.failNext(`Unexpected token in upsert block [${operation}]`);
    }
    if (operation === "mutation") {
      const condition = cursor.takeIf(T.upsertContent) ? cursor.text() : "";
      mutations.push(parseMutationBlock(cursor, condition));
      continue;
    }
    if (operation === "query" && query !== undefined) {
      cursor.failNext("Multiple query ops inside upsert block");
    }
    if (cursor.take() !== T.upsertContent) {
      cursor.failNext(`Expecting brace, found '${cursor.text()}'`);
    }
    if (operation === "query") query = cursor.text();
    else fragments += "fragment" + cursor.text();
  }
  return cursor.failNext("Invalid upsert block");
}

/** `{ set {…} delete {…} }`; a repeated section replaces the earlier one. */
function parseMutationBlock(cursor: Cursor, condition: string): MutationText {
  if (cursor.take() !== T.leftCurl) {
    cursor.failNext(`Expected { at the start of block. Got: [${cursor.text()}]`);
  }
  const sections = { set: "", delete: "" };
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightCurl) {
      return { condition, set: sections.set, delete: sections.delete };
    }
    if (kind === T.mutationOperation) parseSection(cursor, sections);
  }
  return cursor.failNext("Invalid mutation.");
}

/** `set {…}`; the word was taken. */
function parseSection(cursor: Cursor, sections: { set: string; delete: string }): void {
  const operation = cursor.text();
  let isOpen = false;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightCurl) return;
    if (kind === T.leftCurl) {
      if (isOpen) cursor.failNext("Too many left curls in set mutation.");
      isOpen = true;
    } else if (kind === T.mutationContent) {
      if (!isOpen) cursor.failNext("Mutation syntax invalid.");
      takeSection(cursor, operation, sections);
    }
  }
  cursor.failNext("Invalid mutation formatting.");
}

function takeSection(
  cursor: Cursor,
  operation: string,
  sections: { set: string; delete: string },
): void {
  switch (operation) {
    case "set":
      sections.set = cursor.text();
      return;
    case "delete":
      sections.delete = cursor.text();
      return;
    case "schema":
      return cursor.failNext("Altering schema not supported through http client.");
    case "dropall":
      return cursor.failNext("Dropall not supported through http client.");
    default:
      cursor.failNext("Invalid mutation operation.");
  }
}

/** Directives of blocks and fields: @cascade, @groupby, @facets, @recurse, and lists of languages. */
import type { FacetSelection, Filter, GroupKey, Literal, Recurse } from "./ast.ts";
import { asFault, attempt } from "../model/conversion-error.ts";
import { parseBool } from "../model/convert.ts";
import { parseUint64 } from "../model/int.ts";
import type { Reading } from "./call-parser.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import { type Draft, toPredicateName } from "./draft.ts";
import { parseFilter } from "./filter-parser.ts";
import { T } from "./token.ts";

/** `en:fr:.`; the `@` was taken. */
export function parseLanguages(cursor: Cursor): string[] {
  const languages: string[] = [];
  for (;;) {
    const kind = cursor.peek();
    if (kind !== T.name && kind !== T.period && kind !== T.star) break;
    cursor.take();
    languages.push(cursor.text());
    if (!cursor.takeIf(T.colon)) break;
  }
  if (cursor.peek() === T.period && cursor.peek(1) === T.period) {
    cursor.fail("Expected only one dot(.) while parsing language list.", cursor.index + 1);
  }
  if (languages.length > 1 && languages.includes("*")) {
    failPlainly(
      `If * is used, no other languages are allowed in the language list. Found [${languages.join(" ")}]`,
    );
  }
  return languages;
}

/** What `@cascade` without names asks for; it may be written too, and beside names it makes them idle. */
export const everyField = "__all__";

/** `@cascade`, `@cascade(a, ~b)`; the name was taken. */
export function parseCascade(cursor: Cursor, draft: Draft): void {
  const cascade = (draft.cascade ??= []);
  const next = cursor.peek();
  if (next === T.leftCurl || next === T.rightCurl || next === T.at || next === T.name) {
    cascade.push(everyField);
    return;
  }
  if (cursor.take() !== T.leftRound) {
    cursor.fail(`Expected a left round after cascade, got: ${cursor.describe()}`);
  }
  const opening = cursor.index - 1;
  let expectsName = true;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound) break;
    if (kind === T.comma) {
      if (expectsName) cursor.fail("Expected a predicate but got comma");
      expectsName = true;
    } else if (kind === T.name) {
      if (!expectsName) {
        cursor.fail(`Expected a comma or right round but got: ${cursor.text()}`);
      }
      cascade.push(cursor.takeRestOfName(cursor.text()));
      expectsName = false;
    } else {
      cursor.fail(`Unexpected item while parsing: ${cursor.text()}`);
    }
  }
  if (expectsName) cursor.fail("Unnecessary comma in cascade()", opening);
}

const pagingWords: ReadonlySet<string> = new Set([
  "orderasc",
  "orderdesc",
  "first",
  "offset",
  "after",
]);

/** A key that an argument list of a field may have. */
export function isFieldArgument(word: string): boolean {
  return pagingWords.has(word);
}

/** `@groupby(a, alias: b, c@en)`; the name was taken. A second one on the same block adds its keys. */
export function parseGroupBy(cursor: Cursor, draft: Draft): void {
  const keys: GroupKey[] = (draft.groupBy ??= []);
  if (cursor.take() !== T.leftRound) cursor.fail("Expected a left round after groupby");
  const opening = cursor.index - 1;
  let expectsKey = true;
  let alias: string | undefined;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound) break;
    if (kind === T.comma) {
      if (expectsKey) cursor.fail("Expected a predicate but got comma");
      expectsKey = true;
    } else if (kind === T.name) {
      const index = cursor.index - 1;
      if (!expectsKey) cursor.fail(`Expected a comma or right round but got: ${cursor.text()}`);
      const name = cursor.takeRestOfName(cursor.text());
      if (cursor.takeIf(T.colon)) {
        if (alias !== undefined) cursor.fail(`Expected predicate after ${alias}:`, index);
        if (isFieldArgument(name)) {
          cursor.fail(`Can't use keyword ${name} as alias in groupby`, index);
        }
        alias = name;
        continue;
      }
      const languages = cursor.takeIf(T.at) ? parseLanguages(cursor) : [];
      keys.push({ alias, predicate: toPredicateName(name, languages) });
      alias = undefined;
      expectsKey = false;
    }
  }
  if (expectsKey) cursor.fail("Unnecessary comma in groupby()", opening);
}

/** What `@facets…` turned out to be: a selection or a filter. */
type FacetsDirective =
  | { readonly kind: "selection"; readonly selection: FacetSelection }
  | { readonly kind: "filter"; readonly filter: Filter | undefined };

/** The name was taken. */
export function parseFacets(reading: Reading): FacetsDirective {
  const { cursor } = reading;
  if (cursor.peek() !== T.leftRound) {
    return { kind: "selection", selection: { all: true, fields: [], order: [] } };
  }
  const start = cursor.index;
  const selection = parseFacetList(cursor);
  if (selection !== undefined) return { kind: "selection", selection };
  cursor.index = start;
  return { kind: "filter", filter: parseFilter(reading) };
}

interface FacetItem {
  readonly key: string;
  readonly alias: string | undefined;
  readonly variable: string | undefined;
  readonly order: "orderasc" | "orderdesc" | undefined;
}

/** undefined where it is no list, so that it can be read as a filter. */
function parseFacetList(cursor: Cursor): FacetSelection | undefined {
  cursor.take();
  const items: FacetItem[] = [];
  if (cursor.takeIf(T.rightRound)) return { all: false, fields: [], order: [] };
  for (;;) {
    const item = parseFacetItem(cursor);
    if (item === undefined) return undefined;
    if (item.variable !== undefined && items.some((other) => isSameVariable(other, item))) {
      cursor.failNext(`Duplicate variable mappings for facet ${item.key}`);
    }
    if (item.order !== undefined && items.some((other) => isOrderOf(other, item))) {
      cursor.failNext(`Sorting by facet: [${item.key}] can only be done once`);
    }
    items.push(item);
    if (cursor.takeIf(T.rightRound)) return toSelection(items);
    if (!cursor.takeIf(T.comma)) {
      if (items.length < 2) return undefined;
      cursor.failNext(`Expected ',' or ')' in facet list: ${cursor.peekText()}`);
    }
  }
}

function isSameVariable(other: FacetItem, item: FacetItem): boolean {
  return other.key === item.key && other.variable !== undefined;
}

function isOrderOf(other: FacetItem, item: FacetItem): boolean {
  return other.key === item.key && other.order !== undefined;
}

/** `[orderasc: | alias:] [variable as] key` */
function parseFacetItem(cursor: Cursor): FacetItem | undefined {
  if (!cursor.takeIf(T.name)) return undefined;
  let alias: string | undefined;
  let order: FacetItem["order"];
  let name = cursor.text();
  if (cursor.takeIf(T.colon)) {
    if (name === "orderasc" || name === "orderdesc") order = name;
    else alias = name;
    if (!cursor.takeIf(T.name)) cursor.failNext("Expected name after colon");
    name = cursor.text();
  }
  if (cursor.peekText() !== "as") {
    return { key: cursor.takeRestOfName(name), alias, variable: undefined, order };
  }
  cursor.take();
  if (!cursor.takeIf(T.name)) cursor.failNext("Expected name in facet list");
  return { key: cursor.takeRestOfName(cursor.text()), alias, variable: name, order };
}

/** Facets are printed sorted by key, each once. */
function toSelection(items: readonly FacetItem[]): FacetSelection {
  const byKey = new Map<string, FacetSelection["fields"][number]>();
  for (const { key, alias, variable } of items) {
    byKey.set(key, { key, alias, variable: variable ?? byKey.get(key)?.variable });
  }
  const fields = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const order = items
    .filter((item) => item.order !== undefined)
    .map((item) => ({ key: item.key, descending: item.order === "orderdesc" }));
  return { all: false, fields, order };
}

/** `@recurse`, `@recurse(depth: 3, loop: true)`; the name was taken. A repeated key counts the last time. */
export function parseRecurse(reading: Reading): Recurse {
  const { cursor } = reading;
  let depth: Literal | undefined;
  let loop: Literal | undefined;
  if (!cursor.takeIf(T.leftRound)) return { depth, loop };
  while (!cursor.isAtEnd) {
    if (cursor.take() !== T.name) cursor.fail("Expected key inside @recurse()");
    const key = cursor.text().toLowerCase();
    if (!cursor.takeIf(T.colon)) cursor.failNext(`Expected colon(:) after ${key}`);
    if (cursor.isAtEnd) cursor.failNext("Expected argument");
    cursor.take();
    const value = cursor.text();
    if (key === "depth") depth = parseRecurseDepth(reading);
    else if (key === "loop") loop = parseRecurseLoop(reading);
    else cursor.fail(`Unexpected key: [${key}] inside @recurse block`);
    if (cursor.takeIf(T.rightRound)) break;
    if (!cursor.takeIf(T.comma)) {
      cursor.failNext(`Expected comma after value: ${value} inside recurse block`);
    }
  }
  return { depth, loop };
}

function parseRecurseDepth(reading: Reading): Literal {
  const { cursor } = reading;
  if (cursor.peek(-1) === T.dollar) return parseRecurseParameter(reading, "integer", parseDepth);
  if (cursor.peek(-1) !== T.name) {
    cursor.fail("Expected value inside @recurse() for key: depth");
  }
  if (attempt(() => parseDepth(cursor.text())) === undefined) {
    failPlainly("Value inside depth should be type of integer");
  }
  return cursor.literal(cursor.text(), false);
}

function parseRecurseLoop(reading: Reading): Literal {
  const { cursor } = reading;
  if (cursor.peek(-1) === T.dollar) return parseRecurseParameter(reading, "boolean", parseBool);
  if (attempt(() => parseBool(cursor.text())) === undefined) {
    failPlainly("Value inside loop should be type of boolean");
  }
  return cursor.literal(cursor.text(), false);
}

function parseRecurseParameter(
  reading: Reading,
  type: string,
  read: (value: string) => unknown,
): Literal {
  const { cursor, parameters } = reading;
  if (cursor.take() !== T.name) cursor.fail("Expected variable name after $");
  const name = "$" + cursor.text();
  const literal = { text: name, quoted: false, token: -1 };
  parameters.onValue(name, (value, isKnown) => {
    if (!isKnown) failPlainly(`variable ${name} not defined`);
    asFault("E_DQL_SYNTAX", () => read(value), `${name} should be type of ${type}: `);
    literal.text = value;
  });
  return literal;
}

function parseDepth(text: string): bigint {
  return parseUint64(text, 0);
}

/** The fields between the braces of a block (dql.md 4.1, 4.4, 4.7 – 4.12, 4.18). */
import type { AggregateFunction, Literal, OrderKey } from "./ast.ts";
import { parseCall, type Reading } from "./call-parser.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import {
  isFieldArgument,
  parseCascade,
  parseFacets,
  parseGroupBy,
  parseLanguages,
} from "./directive-parser.ts";
import {
  type Draft,
  type DraftExtra,
  type DraftForm,
  makeDraft,
  toPredicateName,
} from "./draft.ts";
import { parseFilter } from "./filter-parser.ts";
import { parseMath } from "./math-parser.ts";
import { quoteGo } from "../model/conversion-error.ts";
import { T } from "./token.ts";

/** What has been read in front of the next field, and the field that brackets and directives belong to. */
interface Place {
  readonly parent: Draft;
  /** undefined behind a field that takes nothing more. At the beginning the parent itself. */
  current: Draft | undefined;
  alias: string | undefined;
  variable: string | undefined;
  /** `open`: behind `count(`. `filled`: its predicate was read too. */
  count: "none" | "open" | "filled";
}

/** Reads fields into the parent, up to and with the closing brace; the opening one was taken. */
export function parseFields(reading: Reading, parent: Draft): void {
  const { cursor } = reading;
  cursor.enter();
  parent.children ??= [];
  const place: Place = {
    parent,
    current: parent,
    alias: undefined,
    variable: undefined,
    count: "none",
  };
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightCurl || kind === T.eof) break;
    parseNext(reading, place, kind);
  }
  cursor.leave();
}

function parseNext(reading: Reading, place: Place, kind: number): void {
  const { cursor } = reading;
  switch (kind) {
    case T.name:
      return parseName(reading, place);
    case T.period:
      return parseSpread(cursor, place);
    case T.at:
      return parseDirective(reading, place);
    case T.leftRound: {
      const { current } = place;
      if (current === undefined) return cursor.failNext("Query syntax invalid.");
      if (current.form === "block" || current.name === "") {
        return cursor.failNext("Predicate name cannot be empty.");
      }
      return parseArguments(reading, current);
    }
    case T.leftCurl: {
      const { current } = place;
      if (current === undefined) return cursor.failNext("Query syntax invalid.");
      if (current.languages.length > 0) {
        cursor.failNext(
          `Cannot have children for attr: ${current.name} with lang tags: [${current.languages.join(" ")}]`,
        );
      }
      return parseFields(reading, current);
    }
    case T.rightRound:
      if (place.count !== "filled") cursor.failNext("Invalid mention of brackets");
      place.count = "none";
  }
}

/** `...name` */
function parseSpread(cursor: Cursor, place: Place): void {
  const first = cursor.index - 1;
  let dots = 1;
  for (let i = 0; i < 2; i++) if (cursor.take() === T.period) dots++;
  if (dots !== 3) cursor.fail(`Expected 3 periods ("..."), got ${dots}.`, first);
  if (cursor.take() !== T.name) return;
  const names = { name: cursor.text(), alias: undefined, variable: undefined };
  place.parent.children?.push(makeDraft("fragment", names, undefined));
}

/** A name, which may be a variable's, an alias, or the field itself. */
function parseName(reading: Reading, place: Place): void {
  const { cursor } = reading;
  if (cursor.peek() === T.name && cursor.peekText().toLowerCase() === "as") {
    place.variable = cursor.text();
    cursor.take();
    return;
  }
  const index = cursor.index - 1;
  const name = cursor.takeRestOfName(cursor.text());
  if (cursor.peek() === T.colon) {
    if (place.alias !== undefined) cursor.fail("Invalid colon after alias declaration", index);
    place.alias = name;
    cursor.take();
    return;
  }
  checkPlace(cursor, place, name);
  const word = name.toLowerCase();
  const special = specialFields.get(word);
  if (special !== undefined && special(reading, place, name, word)) return;
  addPredicate(cursor, place, name);
}

function checkPlace(cursor: Cursor, place: Place, name: string): void {
  const { parent } = place;
  if (parent.groupBy !== undefined && !isAggregate(name) && name !== "count") {
    if (place.count !== "open") {
      cursor.failNext(`Only aggregator/count functions allowed inside @groupby. Got: ${name}`);
    }
  }
  if (!parent.isEmptyBlock) return;
  const word = name.toLowerCase();
  const isCall = cursor.peek() === T.leftRound;
  if (isCall && (word === "math" || isAggregate(word))) return;
  cursor.fail(
    `Only aggregation/math functions allowed inside empty blocks. Got: ${word}`,
    cursor.index + (isCall ? 1 : 0),
  );
}

function isAggregate(word: string): word is AggregateFunction {
  return word === "min" || word === "max" || word === "sum" || word === "avg";
}

/** Reads one special field; false where the name turns out to be an ordinary predicate's. */
type SpecialField = (reading: Reading, place: Place, name: string, word: string) => boolean;

const specialFields: ReadonlyMap<string, SpecialField> = new Map<string, SpecialField>([
  ["checkpwd", parsePasswordCheck],
  ["min", parseAggregate],
  ["max", parseAggregate],
  ["sum", parseAggregate],
  ["avg", parseAggregate],
  ["math", parseMathField],
  ["expand", parseExpand],
  ["count", parseCount],
  ["val", parseVal],
  ["uid", parseUidCall],
]);

function addPredicate(cursor: Cursor, place: Place, name: string): void {
  if (place.count === "filled") {
    cursor.failNext("Multiple predicates not allowed in single count.");
  }
  if (place.parent.form === "count") {
    cursor.failNext("Cannot have children attributes when asking for count.");
  }
  const isCount = place.count === "open";
  if (isCount) place.count = "filled";
  add(cursor, place, isCount ? "count" : "predicate", name);
}

/** Appends a field and makes it the one that brackets and directives behind it belong to. */
function add(
  cursor: Cursor,
  place: Place,
  form: DraftForm,
  name: string,
  extra?: DraftExtra,
): void {
  const names = { name, alias: place.alias, variable: place.variable };
  cursor.index--;
  const at = cursor.position();
  cursor.index++;
  const draft = makeDraft(form, names, at, extra);
  place.parent.children?.push(draft);
  place.alias = undefined;
  place.variable = undefined;
  place.current = draft;
}

/** Appends a field that takes nothing more. */
function addClosed(cursor: Cursor, place: Place, extra: DraftExtra): void {
  add(cursor, place, extra.kind, extra.kind, extra);
  place.current = undefined;
}

function parsePasswordCheck(reading: Reading, place: Place): boolean {
  const { cursor } = reading;
  cursor.index--;
  const call = parseCall(reading, false);
  const predicate = call.subject.kind === "predicate" ? call.subject : toPredicateName("", []);
  const first = call.args[0];
  const password: Literal =
    first?.kind === "literal" ? first.literal : { text: "", quoted: false, token: -1 };
  addClosed(cursor, place, { kind: "checkpwd", predicate, password });
  return true;
}

function parseAggregate(reading: Reading, place: Place, _name: string, word: string): boolean {
  const { cursor } = reading;
  if (!isAggregate(word) || cursor.peek() !== T.leftRound) return false;
  cursor.take();
  cursor.take();
  if (place.parent.groupBy !== undefined) {
    const name = cursor.takeRestOfName(cursor.text());
    const languages = cursor.takeIf(T.at) ? parseLanguages(cursor) : [];
    cursor.take();
    const of = toPredicateName(name, languages);
    addClosed(cursor, place, { kind: "aggregate", function: word, of });
    return true;
  }
  if (cursor.text() !== "val") {
    cursor.failNext(`Only variables allowed in aggregate functions. Got: ${cursor.text()}`);
  }
  const variables = parseVariableList(cursor);
  const [variable] = variables;
  if (variable === undefined || variables.length !== 1) {
    return cursor.failNext(
      `Expected one variable inside val() of aggregator but got ${variables.length}`,
    );
  }
  cursor.take();
  addClosed(cursor, place, { kind: "aggregate", function: word, of: { kind: "val", variable } });
  return true;
}

function parseMathField(reading: Reading, place: Place): boolean {
  const { cursor } = reading;
  if (place.variable === undefined && place.alias === undefined) {
    cursor.failNext("Function math should be used with a variable or have an alias");
  }
  addClosed(cursor, place, { kind: "math", expression: parseMath(reading) });
  return true;
}

function parseExpand(reading: Reading, place: Place, name: string): boolean {
  const { cursor } = reading;
  if (place.variable !== undefined) {
    cursor.failNext(`expand() cannot be used with a variable: ${name}`);
  }
  if (place.alias !== undefined) cursor.failNext("expand() cannot have an alias");
  if (cursor.take() !== T.leftRound) cursor.failNext("Invalid use of expand()");
  cursor.take();
  const of = parseExpandOf(cursor);
  cursor.take();
  add(cursor, place, "expand", name, { kind: "expand", of });
  return true;
}

function parseExpandOf(cursor: Cursor): Extract<DraftExtra, { kind: "expand" }>["of"] {
  const word = cursor.text();
  switch (word) {
    case "_all_":
      return { kind: "all" };
    case "_forward_":
    case "_reverse_":
      return cursor.fail(`Argument ${word} has been deprecated`);
    case "val": {
      const index = cursor.index - 1;
      const variables = parseVariableList(cursor);
      const [variable] = variables;
      if (variable === undefined || variables.length !== 1) {
        cursor.fail("Invalid use of expand(). Exactly one variable expected.", index);
      }
      return { kind: "val", variable };
    }
    default:
      return { kind: "types", names: parseTypeList(cursor) };
  }
}

/** The first name was taken; stops in front of the closing bracket. */
function parseTypeList(cursor: Cursor): string[] {
  const names = [cursor.text()];
  let expectsName = false;
  while (!cursor.isAtEnd && cursor.peek() !== T.rightRound) {
    const kind = cursor.take();
    if (kind === T.comma) {
      if (expectsName) cursor.fail("Expected a variable but got comma");
      expectsName = true;
    } else if (kind === T.name) {
      if (!expectsName) cursor.fail(`Expected a variable but got ${cursor.text()}`);
      names.push(cursor.text());
      expectsName = false;
    } else {
      cursor.fail(`Unexpected token ${cursor.text()} when reading a type list`);
    }
  }
  if (expectsName) cursor.fail("Unnecessary comma in val()");
  return names;
}

/** `count(uid)`, or the opening of `count(predicate …)`. */
function parseCount(reading: Reading, place: Place): boolean {
  const { cursor } = reading;
  if (place.count !== "none") cursor.failNext("Invalid mention of function count");
  if (cursor.peek() !== T.leftRound) return false;
  cursor.take();
  place.count = "open";
  if (cursor.peek() === T.rightRound) {
    cursor.failNext("Cannot use count(), please use count(uid)");
  }
  if (cursor.peekText() !== "uid" || cursor.peek(1) !== T.rightRound) return true;
  cursor.index += 2;
  const { current } = place;
  add(cursor, place, "countUid", "uid");
  if (place.parent.groupBy !== undefined) {
    // One count for each group: a second one is refused.
    place.count = "filled";
  } else {
    place.count = "none";
    place.current = current;
  }
  return true;
}

function parseVal(reading: Reading, place: Place): boolean {
  const { cursor } = reading;
  if (place.variable !== undefined) cursor.failNext("Cannot assign a variable to val()");
  if (place.count === "open") cursor.failNext("Count of a variable is not allowed");
  if (cursor.peek() !== T.leftRound) return false;
  const variables = parseVariableList(cursor);
  const [variable] = variables;
  if (variable === undefined || variables.length !== 1) {
    return cursor.failNext("Invalid use of val(). Exactly one variable expected.");
  }
  addClosed(cursor, place, { kind: "val", variable });
  return true;
}

function parseUidCall(reading: Reading, place: Place): boolean {
  const { cursor } = reading;
  if (place.count === "open") cursor.failNext("Count of a variable is not allowed");
  if (cursor.peek() === T.leftRound) cursor.failNext("Cannot do uid() of a variable");
  return false;
}

/** `(a, b)` behind `val`. */
export function parseVariableList(cursor: Cursor): string[] {
  if (cursor.take() !== T.leftRound) cursor.fail("Expected a left round after var");
  const opening = cursor.index - 1;
  const names: string[] = [];
  let expectsName = true;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound) break;
    if (kind === T.comma) {
      if (expectsName) cursor.fail("Expected a variable but got comma");
      expectsName = true;
    } else if (kind === T.name) {
      if (!expectsName) cursor.fail(`Expected a variable but got ${cursor.text()}`);
      names.push(cursor.text());
      expectsName = false;
    }
  }
  if (expectsName) cursor.fail("Unnecessary comma in val()", opening);
  return names;
}

/** `@filter(…)`, `@facets`, `@en:fr` …; the `@` was taken. */
function parseDirective(reading: Reading, place: Place): void {
  const { cursor } = reading;
  const { current } = place;
  const before = cursor.index - 2;
  if (current === undefined || cursor.tokens.kinds[before] === T.leftCurl) {
    return cursor.fail("Invalid use of directive.", before);
  }
  if (cursor.take() !== T.name || cursor.isAtEnd) {
    return cursor.fail("Expected directive or language list");
  }
  const word = cursor.text();
  const index = cursor.index - 1;
  if (current.form === "expand" && word !== "filter") {
    cursor.fail("expand is only compatible with type filters");
  }
  switch (word) {
    case "facets":
      return takeFacets(reading, current, index);
    case "cascade":
      return parseCascade(cursor, current);
    case "normalize":
      current.normalize = true;
      return;
    default:
  }
  if (cursor.peek() === T.leftRound) return parseBracketed(reading, current, index);
  if (current.languages.length > 0) {
    cursor.fail(`Expected directive or language list, got @${word}`);
  }
  cursor.index--;
  current.languages = parseLanguages(cursor);
}

function parseBracketed(reading: Reading, current: Draft, index: number): void {
  const { cursor } = reading;
  const word = cursor.textOf(index);
  if (word === "filter") {
    if (current.filter !== undefined) {
      cursor.fail("Use AND, OR and round brackets instead of multiple filter directives.", index);
    }
    const filter = parseFilter(reading);
    if (current.form === "expand" && filter?.kind === "call" && filter.call.name !== "type") {
      cursor.fail("expand is only compatible with type filters", index);
    }
    current.filter = filter;
  } else if (word === "groupby") {
    if (current.groupBy !== undefined) {
      cursor.fail("Only one group by directive allowed.", index);
    }
    parseGroupBy(cursor, current);
  } else {
    cursor.fail(`Unknown directive [${word}]`, index);
  }
}

function takeFacets(reading: Reading, current: Draft, index: number): void {
  const { cursor } = reading;
  const facets = parseFacets(reading);
  if (facets.kind === "selection") {
    if (current.facets !== undefined) cursor.fail("Only one facets allowed", index);
    current.facets = facets.selection;
    return;
  }
  if (facets.filter === undefined) return cursor.fail("Facets parsing failed.", index);
  if (current.facetFilter !== undefined) cursor.fail("Only one facets filter allowed", index);
  if (hasVariables(facets.filter)) {
    cursor.fail("variables are not allowed in facets filter.", index);
  }
  current.facetFilter = facets.filter;
}

function hasVariables(filter: NonNullable<Draft["facetFilter"]>): boolean {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.filters.some(hasVariables);
    case "not":
      return hasVariables(filter.filter);
    case "call": {
      const { subject, args } = filter.call;
      if (subject.kind === "val" || subject.kind === "len") return true;
      return args.some((argument) => argument.kind === "val" || argument.kind === "uid");
    }
    default:
      return false;
  }
}

/** An argument as it is written: `first: -5`, `orderasc: name@en`, `orderdesc: val(x)`. */
interface WrittenArgument {
  readonly key: string;
  readonly text: string;
  readonly literal: Literal | undefined;
  readonly order: OrderKey["by"] | undefined;
}

/** `(first: 2, orderasc: name)` behind a field; the bracket was taken. */
function parseArguments(reading: Reading, draft: Draft): void {
  const { cursor } = reading;
  const seen = new Set<string>();
  for (const argument of readArguments(reading, draft)) {
    const { key, text, literal, order } = argument;
    if (!isFieldArgument(key)) cursor.failNext(`Got invalid keyword: ${key}`);
    const isOrder = key === "orderasc" || key === "orderdesc";
    if (!isOrder && seen.has(key)) {
      cursor.failNext(`Got repeated key ${quoteGo(key)} at level ${quoteGo(draft.name)}`);
    }
    if (text === "") cursor.failNext("Got empty argument");
    if (isOrder) {
      const name = `order ${text}`;
      if (seen.has(name)) {
        cursor.failNext(`Sorting by an attribute: [${text}] can only be done once`);
      }
      seen.add(name);
      if (order?.kind === "predicate" && order.languages.length > 1) {
        cursor.failNext(`Sorting by an attribute: [${text}] can only be done on one language`);
      }
      if (order !== undefined) draft.order.push({ by: order, descending: key === "orderdesc" });
      continue;
    }
    seen.add(key);
    if (key === "first") draft.first = literal;
    else if (key === "offset") draft.offset = literal;
    else draft.after = literal;
  }
}

function readArguments(reading: Reading, draft: Draft): WrittenArgument[] {
  const { cursor } = reading;
  const result: WrittenArgument[] = [];
  let expectsArgument = true;
  let orderCount = 0;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound) {
      if (expectsArgument) cursor.fail("Expected argument but got ')'.");
      break;
    }
    if (kind === T.comma) {
      if (expectsArgument) cursor.fail("Expected Argument but got comma.");
      expectsArgument = true;
      continue;
    }
    if (kind !== T.name) cursor.fail(`Expecting argument name. Got: ${cursor.describe()}`);
    if (!expectsArgument) cursor.fail(`Expecting a comma. But got: ${cursor.text()}`);
    expectsArgument = false;
    const key = cursor.takeRestOfName(cursor.text());
    if (key === "orderasc" || key === "orderdesc") orderCount++;
    if (cursor.take() !== T.colon) {
      cursor.fail(`Expecting a colon. Got: ${cursor.describe()} in ${draft.name}`);
    }
    result.push(readArgument(reading, key, orderCount));
  }
  return result;
}

function readArgument(reading: Reading, key: string, orderCount: number): WrittenArgument {
  const { cursor, parameters } = reading;
  const isOrder = key === "orderasc" || key === "orderdesc";
  const kind = cursor.take();
  const index = cursor.index - 1;
  if (cursor.text() === "val") {
    const variables = parseVariableList(cursor);
    const [variable] = variables;
    if (variable === undefined || variables.length !== 1) {
      return cursor.fail(`Only one variable expected. Got ${variables.length}`, index);
    }
    if (isOrder && orderCount > 1) {
      cursor.fail(`Multiple sorting only allowed by predicates. Got: ${variable}`, index);
    }
    if (!isOrder) failPlainly(`${key} takes a value. Got: val(${variable})`);
    const order = { kind: "val", variable } as const;
    return { key, text: variable, literal: undefined, order };
  }
  if (kind === T.dollar) {
    if (cursor.take() !== T.name) {
      cursor.fail(`Expecting argument value. Got: ${cursor.describe()}`);
    }
    const name = "$" + cursor.takeRestOfName(cursor.text());
    const literal = isOrder ? undefined : parameters.literal(name);
    return { key, text: name, literal, order: isOrder ? toPredicateName(name, []) : undefined };
  }
  const sign = readSign(cursor, kind);
  if (cursor.peek(-1) !== T.name) {
    cursor.fail(`Expecting argument value. Got: ${cursor.describe()}`);
  }
  return readPlainArgument(cursor, key, sign);
}

/** `+` or `-` in front of a number; the name behind it is taken then too. */
export function readSign(cursor: Cursor, kind: number): string {
  if (kind !== T.operator) return "";
  const sign = cursor.text();
  if (sign !== "+" && sign !== "-") {
    cursor.fail(`Only Plus and minus are allowed unary ops. Got: ${sign}`);
  }
  cursor.take();
  return sign;
}

function readPlainArgument(cursor: Cursor, key: string, sign: string): WrittenArgument {
  const before = cursor.index;
  const name = sign + cursor.takeRestOfName(cursor.text());
  const isWhole = sign === "" && cursor.index === before;
  const literal = isWhole ? cursor.literal(name, false) : { text: name, quoted: false, token: -1 };
  const languages = cursor.takeIf(T.at) ? parseLanguages(cursor) : undefined;
  const text = languages === undefined ? name : `${name}@${languages.join(":")}`;
  if (key !== "orderasc" && key !== "orderdesc") {
    const value = languages === undefined ? literal : { text, quoted: false, token: -1 };
    return { key, text, literal: value, order: undefined };
  }
  return { key, text, literal: undefined, order: toPredicateName(name, languages ?? []) };
}

/** The fields between the braces of a block (reference/dql 4.1, 4.4, 4.7 – 4.12, 4.18). */
import type { AggregateFunction } from "./ast.ts";
import { parseArguments, parseVariableList } from "./argument-parser.ts";
import { parseCall, type Reading } from "./call-parser.ts";
import type { Cursor } from "./cursor.ts";
import { parseLanguages } from "./directive-parser.ts";
import {
  type Draft,
  type DraftExtra,
  type DraftForm,
  makeDraft,
  toPredicateName,
} from "./draft.ts";
import { parseFieldDirective } from "./field-directive-parser.ts";
import { parseMath } from "./math-parser.ts";
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
      return parseFieldDirective(reading, place.current);
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
    // `<>` is no name.
    place.variable = cursor.text() === "" ? undefined : cursor.text();
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
  checkCounted(cursor, place);
  const isCount = place.count === "open";
  if (isCount) place.count = "filled";
  add(cursor, place, isCount ? "count" : "predicate", name);
}

/** What is counted has no fields; `count(uid)` takes braces at all in groups only. */
function checkCounted(cursor: Cursor, { parent }: Place): void {
  if (parent.form !== "count" && parent.form !== "countUid") return;
  cursor.failNext("Cannot have children attributes when asking for count.");
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
  const literals = call.args.flatMap((arg) => (arg.kind === "literal" ? [arg.literal] : []));
  const password = literals[0] ?? { text: "", quoted: false, token: -1 };
  const surplus = literals.length > 1 ? literals.slice(1) : undefined;
  addClosed(cursor, place, { kind: "checkpwd", predicate, password, surplus });
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
  if (place.parent.groupBy !== undefined) checkCounted(cursor, place);
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

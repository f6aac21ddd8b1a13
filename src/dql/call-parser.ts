/**
 * Functions at a root and in filters: `eq(name@en, ["a", $b])`, `uid(0x1, v)`, `near(loc, [1, 2], 10)`
 * (reference/dql 4.3).
 */
import { quoteGo } from "../model/conversion-error.ts";
import { unquote } from "../base/unquote.ts";
import type { Argument, FunctionCall, FunctionSubject, Literal, Position } from "./ast.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import { toPredicateName } from "./draft.ts";
import { unknownSyntax, type FunctionSyntax, type FunctionSyntaxes } from "./functions.ts";
import { judgeUid, type ParameterTable } from "./parameters.ts";
import { T } from "./token.ts";

/** What all parts of the parser share. */
export interface Reading {
  readonly cursor: Cursor;
  readonly parameters: ParameterTable;
  readonly functions: FunctionSyntaxes;
}

/** A call while it is read. */
interface CallDraft {
  readonly name: string;
  readonly syntax: FunctionSyntax;
  readonly isRoot: boolean;
  readonly at: Position;
  /** "" until it is known. */
  subject: string;
  subjectKind: "predicate" | "count" | "val" | "len";
  language: string;
  readonly args: Argument[];
  /** Of `uid`, `val` and `len`: the variables named. */
  readonly variables: string[];
  uidCount: number;
  /** A query variable stands alone in the root's `uid()`. */
  hasUidParameter: boolean;
  isSubjectFresh: boolean;
  expectsArgument: boolean;
  expectsLanguage: boolean;
  /** A dollar stands before the next value, wherever that is. */
  hasDollar: boolean;
  hasNested: boolean;
  /** Options of similar_to. */
  readonly options: Set<string>;
}

/** Reads one call; the next token is its name. `isRoot`: behind `func:`, `from:` or `to:`. */
export function parseCall(reading: Reading, isRoot: boolean): FunctionCall {
  return toCall(parseCallDraft(reading, isRoot));
}

function toCall(draft: CallDraft): FunctionCall {
  return { name: draft.name, subject: toSubject(draft), args: draft.args, at: draft.at };
}

function toSubject(draft: CallDraft): FunctionSubject {
  if (draft.syntax.subject === "none") return { kind: "none" };
  const languages = draft.language === "" ? [] : [draft.language];
  switch (draft.subjectKind) {
    case "val":
    case "len":
      return { kind: draft.subjectKind, variable: draft.subject };
    case "count":
      return { kind: "count", predicate: toPredicateName(draft.subject, languages) };
    case "predicate":
      if (draft.name === "val" || draft.name === "len") {
        return { kind: draft.name, variable: draft.subject };
      }
      return toPredicateName(draft.subject, languages);
  }
}

function parseCallDraft(reading: Reading, isRoot: boolean): CallDraft {
  const { cursor } = reading;
  const at = cursor.position();
  if (cursor.take() !== T.name)
    cursor.fail(`Expected a function but got ${quoteGo(cursor.text())}`);
  const name = cursor.takeRestOfName(cursor.text()).toLowerCase();
  const syntax = reading.functions.get(name) ?? unknownSyntax;
  const draft = makeCallDraft(name, syntax, isRoot, at);
  if (!cursor.takeIf(T.leftRound)) cursor.failNext(`Expected ( after func name [${name}]`);
  cursor.enter();
  while (parseArgument(reading, draft)) {
    // Each pass reads one token or argument, up to the closing bracket.
  }
  cursor.leave();
  if (syntax.subject !== "none" && draft.subject === "") {
    cursor.failNext(`Got empty attr for function: [${name}]`);
  }
  if (syntax.needs === "one" && draft.args.length !== 1) {
    cursor.failNext(
      `${name} function only supports one argument. Got: [${draft.args.map(describe).join(" ")}]`,
    );
  }
  return draft;
}

function makeCallDraft(
  name: string,
  syntax: FunctionSyntax,
  isRoot: boolean,
  at: Position,
): CallDraft {
  return {
    name,
    syntax,
    isRoot,
    at,
    subject: "",
    subjectKind: "predicate",
    language: "",
    args: [],
    variables: [],
    uidCount: 0,
    hasUidParameter: false,
    isSubjectFresh: false,
    expectsArgument: true,
    expectsLanguage: false,
    hasDollar: false,
    hasNested: false,
    options: new Set(),
  };
}

function describe(argument: Argument): string {
  if (argument.kind !== "literal") return "{ false false}";
  return `{${argument.literal.text} false ${argument.literal.parameter !== undefined}}`;
}

/** One token of an argument list, with what belongs to it. False behind the closing bracket. */
function parseArgument(reading: Reading, draft: CallDraft): boolean {
  const { cursor } = reading;
  const isFresh = draft.isSubjectFresh;
  draft.isSubjectFresh = false;
  switch (cursor.take()) {
    case T.rightRound:
      return false;
    case T.comma:
      if (draft.expectsArgument) cursor.fail("Invalid use of comma.");
      if (draft.hasDollar) cursor.fail("Invalid use of comma after dollar.");
      draft.expectsArgument = true;
      return true;
    case T.at:
      if (!isFresh) {
        cursor.fail(
          "Invalid usage of '@' in function argument, must only appear immediately after attr.",
        );
      }
      draft.expectsLanguage = true;
      return true;
    case T.regex:
      draft.args.push(parseRegex(cursor.text(), cursor.literal("", false)));
      draft.expectsArgument = false;
      return true;
    case T.leftSquare:
      parseList(reading, draft);
      draft.expectsArgument = false;
      return true;
    case T.rightSquare:
      draft.expectsArgument = false;
      return true;
    case T.leftRound:
      return failNested(cursor, draft);
    case T.leftCurl:
      return cursor.fail("Unrecognized character inside a func: U+007B '{'");
    case T.rightCurl:
      return cursor.fail("Unrecognized character inside a func: U+007D '}'");
    case T.dollar:
      if (draft.hasDollar) cursor.fail("Invalid use of $ in func args");
      draft.hasDollar = true;
      return true;
    case T.operator:
      parseSigned(reading, draft, cursor.text());
      return true;
    case T.name:
      if (parseOption(reading, draft)) return true;
      if (cursor.peek() === T.leftRound) parseNested(reading, draft);
      else parseValue(reading, draft, "");
      return true;
    default:
      return failArgument(cursor, draft);
  }
}

/** A bracket that no name stands before; it was taken. */
function failNested(cursor: Cursor, draft: CallDraft): never {
  if (draft.hasNested) cursor.fail("Multiple functions as arguments not allowed");
  const index = cursor.index - 2;
  return cursor.fail(`Expected a function but got ${quoteGo(cursor.textOf(index))}`, index);
}

function failArgument(cursor: Cursor, draft: CallDraft): never {
  return cursor.fail(`Expected arg after func [${draft.name}], but got item ${cursor.describe()}`);
}

/** Whatever stands behind an operator is its value, a bracket or a comma too; a call loses the operator. */
function parseSigned(reading: Reading, draft: CallDraft, sign: string): void {
  const { cursor } = reading;
  const isName = cursor.take() === T.name;
  if (cursor.peek() !== T.leftRound) parseValue(reading, draft, sign);
  else if (isName) parseNested(reading, draft);
}

/** A value; its first token was taken. */
function parseValue(reading: Reading, draft: CallDraft, sign: string): void {
  const { cursor } = reading;
  const index = cursor.index - 1;
  if (!draft.expectsArgument && !draft.expectsLanguage) {
    cursor.fail(`Expected comma or language but got: ${cursor.text()}`);
  }
  const literal = readLiteral(cursor, sign);
  if (draft.hasDollar) return takeParameter(reading, draft, `$${literal.text}`, index);
  const takesUids = draft.syntax.literals === "uids";
  if (draft.subject === "" && draft.syntax.subject !== "none") {
    takeSubject(cursor, draft, index, literal);
  } else if (draft.expectsLanguage) {
    if (literal.text === "*") {
      failPlainly("The * symbol cannot be used as a valid language inside functions");
    }
    draft.language = literal.text;
    draft.expectsLanguage = false;
  } else if (!takesUids) {
    draft.args.push({ kind: "literal", literal });
  }
  if (draft.name === "var") {
    cursor.fail("Unexpected var(). Maybe you want to try using uid()", index);
  }
  draft.expectsArgument = false;
  if (takesUids) takeUid(cursor, draft, index, literal);
  else if (draft.name === "val" || draft.name === "len") draft.variables.push(literal.text);
}

/** The value of the name taken last, with what is glued to it, trimmed and without its quotes. */
function readLiteral(cursor: Cursor, sign: string): Literal {
  const first = cursor.text();
  const { index } = cursor;
  const whole = cursor.takeRestOfName(first);
  const { text, quoted } = unquoted(whole);
  if (sign !== "" || cursor.index !== index) return { text: sign + text, quoted, token: -1 };
  return cursor.literal(text, quoted);
}

/** Text as written → its value, and whether it stood in quotes. */
export function unquoted(written: string): { text: string; quoted: boolean } {
  if (written.length < 2 || !written.startsWith('"') || !written.endsWith('"')) {
    return { text: written, quoted: false };
  }
  const text = unquote(written);
  if (text === undefined) failPlainly(`could not unquote ${quoteGo(written)}:: invalid syntax`);
  return { text, quoted: true };
}

function takeSubject(cursor: Cursor, draft: CallDraft, index: number, literal: Literal): void {
  const written = cursor.textOf(index);
  if (written.includes('"')) {
    cursor.fail(`Attribute in function must not be quoted with ": ${written}`, index);
  }
  if (draft.syntax.needs === "some" && cursor.peek() === T.rightRound) {
    cursor.fail(`${draft.name} function expects an argument, got none`, index);
  }
  draft.subject = literal.text;
  draft.isSubjectFresh = true;
}

/** An argument of uid(): a number, or else a variable. */
function takeUid(cursor: Cursor, draft: CallDraft, index: number, literal: Literal): void {
  switch (judgeUid(literal.text)) {
    case "uid":
      draft.uidCount++;
      draft.args.push({ kind: "literal", literal });
      break;
    case "large":
      return cursor.fail(`The uid value ${quoteGo(literal.text)} is too large.`, index);
    case "name":
      draft.variables.push(literal.text);
      draft.args.push({ kind: "uid", variable: literal.text });
  }
}

/** `$name`, which was taken whole; `index` is the token of the name. */
function takeParameter(reading: Reading, draft: CallDraft, name: string, index: number): void {
  draft.hasDollar = false;
  draft.expectsArgument = false;
  if (draft.syntax.literals === "uids") return takeUidParameter(reading, draft, name, index);
  if (draft.syntax.takesRegexp === true) return takeRegexParameter(reading, draft, name);
  draft.args.push({ kind: "literal", literal: reading.parameters.literal(name) });
}

function takeUidParameter(reading: Reading, draft: CallDraft, name: string, index: number): void {
  const { cursor, parameters } = reading;
  if (draft.isRoot && draft.hasUidParameter) {
    cursor.fail("Only one DQL variable allowed inside uid function.", index);
  }
  draft.hasUidParameter = true;
  parameters.onUids(
    name,
    (isKnown) => {
      if (!isKnown && !draft.isRoot) {
        failPlainly(`Couldn't find value for DQL variable: [${name}]`);
      }
    },
    (uids) => {
      // At a root, numbers in the text win over those of the variable.
      if (draft.isRoot && draft.uidCount > 0) return;
      for (const literal of uids) draft.args.push({ kind: "literal", literal });
    },
  );
}

function takeRegexParameter(reading: Reading, draft: CallDraft, name: string): void {
  const index = draft.args.push({
    kind: "literal",
    literal: { text: name, quoted: false, token: -1 },
  });
  reading.parameters.onDeclaredValue(name, (value) => {
    draft.args[index - 1] = parseRegex(value, { text: "", quoted: false, token: -1 });
  });
}

/** `/expression/flags`; a slash inside is written `\/`. */
function parseRegex(text: string, literal: Literal): Argument {
  const end = text.lastIndexOf("/");
  if (text === "") failPlainly("Found empty regex: []");
  if (end < 1 || !text.startsWith("/")) failPlainly(`Found invalid regex: [${text}]`);
  const source = text.slice(1, end).replaceAll("\\/", "/");
  return { kind: "regex", source: { ...literal, text: source }, flags: text.slice(end + 1) };
}

/** A call inside of a call: `val(x)`, `len(x)`, `count(p)`, `uid(x)`. Its name was taken, the bracket is next. */
function parseNested(reading: Reading, draft: CallDraft): void {
  const { cursor } = reading;
  const bracket = cursor.index;
  if (draft.hasNested) cursor.failNext("Multiple functions as arguments not allowed");
  cursor.index--;
  const nested = parseCallDraft(reading, draft.isRoot);
  draft.hasNested = true;
  draft.expectsArgument = false;
  switch (nested.name) {
    case "val":
      return takeVal(cursor, draft, nested, bracket);
    case "len":
      return takeLen(cursor, draft, nested, bracket);
    case "count":
      draft.subject = nested.subject;
      draft.subjectKind = "count";
      return;
    case "uid":
      if (nested.variables.length !== 1) {
        cursor.fail(
          `Nested uid fn expects 1 uid variable, got ${nested.variables.length}`,
          bracket,
        );
      }
      if (nested.uidCount !== 0) {
        cursor.fail("Nested uid fn expects only uid variable, got UID", bracket);
      }
      draft.args.push({ kind: "uid", variable: nested.variables[0] ?? "" });
      return;
    default:
      cursor.fail(
        `Only val/count/len/uid allowed as function within another. Got: ${nested.name}`,
        bracket,
      );
  }
}

function takeVal(cursor: Cursor, draft: CallDraft, nested: CallDraft, bracket: number): void {
  if (nested.variables.length > 1) {
    cursor.fail("Multiple variables not allowed in a function", bracket);
  }
  const variable = nested.variables[0] ?? nested.subject;
  if (draft.subject === "") {
    draft.subject = variable;
    draft.subjectKind = "val";
  } else {
    draft.args.push({ kind: "val", variable });
  }
}

function takeLen(cursor: Cursor, draft: CallDraft, nested: CallDraft, bracket: number): void {
  if (nested.variables.length > 1) {
    cursor.fail("Multiple variables not allowed in len function", bracket);
  }
  if (draft.syntax.takesLength !== true) {
    cursor.fail("len function only allowed inside inequality function", bracket);
  }
  if (draft.subject !== "") {
    cursor.fail("incorrect order, the first argument should be len function", bracket);
  }
  draft.subject = nested.variables[0] ?? nested.subject;
  draft.subjectKind = "len";
}

/** `key: value` behind two arguments, as behind the vector of similar_to; its name was taken. */
function parseOption(reading: Reading, draft: CallDraft): boolean {
  const { cursor, parameters } = reading;
  const { options } = draft.syntax;
  if (options === undefined || draft.subject === "" || countArguments(draft) < 2) return false;
  const index = cursor.index - 1;
  if (cursor.peek() !== T.colon) {
    cursor.fail(`Expected named parameter in ${draft.name} options (e.g. ${options[0]}: 64)`);
  }
  const key = cursor.text().toLowerCase();
  if (!options.includes(key)) {
    cursor.fail(`Unknown option ${quoteGo(key)} in ${draft.name}`, index);
  }
  if (draft.options.has(key)) {
    cursor.fail(`Duplicate key ${quoteGo(key)} in ${draft.name} options`, index);
  }
  draft.options.add(key);
  cursor.take();
  let sign = "";
  let kind = cursor.take();
  if (kind === T.dollar) {
    if (cursor.take() !== T.name) cursor.fail("Expected variable name after $");
    const value = parameters.literal("$" + cursor.text());
    draft.args.push({ kind: "option", key, value });
  } else {
    if (kind === T.operator) {
      sign = cursor.text();
      kind = cursor.take();
    }
    if (kind !== T.name) cursor.fail(`Expected value for ${key}`);
    draft.args.push({ kind: "option", key, value: readLiteral(cursor, sign) });
  }
  draft.expectsArgument = false;
  return true;
}

/** Brackets only group arguments. */
function countArguments(draft: CallDraft): number {
  let count = 0;
  for (const argument of draft.args) {
    if (argument.kind === "list") count += argument.items.length;
    else count += argument.kind === "option" ? 2 : 1;
  }
  return count;
}

/** `[…]`; the bracket was taken. */
function parseList(reading: Reading, draft: CallDraft): void {
  const { cursor } = reading;
  switch (draft.syntax.brackets) {
    case "coordinates":
      draft.args.push({ kind: "geo", json: parseCoordinates(cursor) });
      return;
    case "values":
      draft.args.push({ kind: "list", items: parseItems(reading) });
      return;
    case undefined:
      cursor.fail("Unexpected character [ while parsing request.");
  }
}

function parseItems(reading: Reading): Literal[] {
  const { cursor, parameters } = reading;
  const items: Literal[] = [];
  let expectsItem = true;
  while (!cursor.isAtEnd) {
    switch (cursor.take()) {
      case T.rightSquare:
        return items;
      case T.comma:
        if (expectsItem) cursor.fail("Invalid comma in argument list");
        expectsItem = true;
        break;
      case T.dollar:
        if (!expectsItem) cursor.fail("Missing comma in argument list declaration");
        if (cursor.take() !== T.name) {
          cursor.fail(`Expecting a variable name. Got: ${cursor.describe()}`);
        }
        items.push(parameters.literal("$" + cursor.text()));
        expectsItem = false;
        break;
      case T.name: {
        const { text, quoted } = unquoted(cursor.text().trim());
        items.push(cursor.literal(text, quoted));
        expectsItem = false;
        break;
      }
      default:
        cursor.fail("Invalid arg list");
    }
  }
  return cursor.failNext(`Expecting ] to end list but got ${cursor.text()} instead`);
}

/** Nested lists of numbers, as JSON text. */
function parseCoordinates(cursor: Cursor): Literal {
  let json = "[";
  let depth = 1;
  while (depth > 0) {
    if (cursor.isAtEnd) cursor.failNext("Got EOF while parsing Geo tokens");
    switch (cursor.take()) {
      case T.leftSquare:
        depth++;
        break;
      case T.rightSquare:
        depth--;
        break;
      case T.operator:
      case T.comma:
      case T.name:
        break;
      default:
        cursor.fail(`Found invalid item: ${cursor.text()} while parsing geo arguments.`);
    }
    json += cursor.text();
    if (depth > 4) cursor.fail("Invalid bracket sequence");
  }
  const next = cursor.peek();
  if (next !== T.rightRound && next !== T.comma) {
    cursor.index++;
    const item = cursor.describe();
    cursor.fail(`Expected right round or comma. Got: ${item}`);
  }
  return { text: json, quoted: false, token: -1 };
}

/** Arguments in brackets behind a field: `(first: 2, orderasc: name@en)` (reference/dql 4.5, 4.6). */
import { quoteGo } from "../model/conversion-error.ts";
import type { Literal, OrderKey } from "./ast.ts";
import type { Reading } from "./call-parser.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import { isFieldArgument, parseLanguages } from "./directive-parser.ts";
import { type Draft, toPredicateName } from "./draft.ts";
import { T } from "./token.ts";

/** An argument as it is written: `first: -5`, `orderasc: name@en`, `orderdesc: val(x)`. */
interface WrittenArgument {
  readonly key: string;
  readonly text: string;
  readonly literal: Literal | undefined;
  readonly order: OrderKey["by"] | undefined;
}

/** `(first: 2, orderasc: name)` behind a field; the bracket was taken. */
export function parseArguments(reading: Reading, draft: Draft): void {
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
  // Behind a sign anything is a value; what is no number is found out when it is read.
  if (sign === "" && cursor.peek(-1) !== T.name) {
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

/** Top-level blocks: `x as name(func: …, first: 5) @filter(…) { … }` (reference/dql 4.1, 4.17). */
import { quoteGo } from "../model/conversion-error.ts";
import type { FunctionCall, Literal, OrderKey, Recurse, Shortest, ShortestEnd } from "./ast.ts";
import { parseCall, type Reading } from "./call-parser.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import { parseCascade, parseGroupBy, parseLanguages, parseRecurse } from "./directive-parser.ts";
import { type Draft, makeDraft, toPredicateName } from "./draft.ts";
import { parseVariableList, readSign } from "./argument-parser.ts";
import { parseFields } from "./field-parser.ts";
import { parseFilter } from "./filter-parser.ts";
import { judgeUid } from "./parameters.ts";
import { T } from "./token.ts";

export interface BlockDraft {
  readonly draft: Draft;
  root: FunctionCall | undefined;
  from: ShortestEnd | undefined;
  to: ShortestEnd | undefined;
  /** Arguments by key, `first`, `offset` and `after` included. */
  readonly numbers: Map<string, Literal>;
  recurse: Recurse | undefined;
}

/** The next token is the block's name, or its variable's. */
export function parseBlock(reading: Reading): BlockDraft {
  const { cursor } = reading;
  const block = parseHead(reading);
  parseBody(reading, block);
  const { draft, numbers } = block;
  draft.first = numbers.get("first");
  draft.offset = numbers.get("offset");
  draft.after = numbers.get("after");
  if (cursor.isAtEnd && cursor.tokens.count === 0) failPlainly("Invalid Query");
  return block;
}

function parseHead(reading: Reading): BlockDraft {
  const { cursor } = reading;
  const at = cursor.position();
  if (cursor.take() !== T.name) cursor.fail(`Expected some name. Got: ${cursor.describe()}`);
  let name = cursor.text();
  let variable: string | undefined;
  if (cursor.peek() === T.name && cursor.peekText().toLowerCase() === "as") {
    variable = name;
    cursor.take();
    cursor.take();
    name = cursor.text();
  }
  if (cursor.take() !== T.leftRound) {
    cursor.fail(`Expected Left round brackets. Got: ${cursor.describe()}`);
  }
  const draft = makeDraft("block", { name, alias: undefined, variable }, at);
  const block: BlockDraft = {
    draft,
    root: undefined,
    from: undefined,
    to: undefined,
    numbers: new Map(),
    recurse: undefined,
  };
  parseRootArguments(reading, block);
  draft.isEmptyBlock = isEmpty(block);
  return block;
}

function isEmpty(block: BlockDraft): boolean {
  return (
    block.root === undefined &&
    block.numbers.size === 0 &&
    block.from === undefined &&
    block.to === undefined &&
    block.draft.order.every((order) => order.by.kind !== "val")
  );
}

const rootKeys: ReadonlySet<string> = new Set([
  "func",
  "orderasc",
  "orderdesc",
  "first",
  "offset",
  "after",
  "from",
  "to",
  "numpaths",
  "minweight",
  "maxweight",
  "maxfrontiersize",
  "depth",
]);

function parseRootArguments(reading: Reading, block: BlockDraft): void {
  const { cursor } = reading;
  const orders = new Set<string>();
  let expectsArgument = true;
  while (!cursor.isAtEnd) {
    const kind = cursor.take();
    if (kind === T.rightRound) return;
    if (kind === T.comma) {
      if (expectsArgument) cursor.fail("Expected Argument but got comma.");
      expectsArgument = true;
      continue;
    }
    if (kind !== T.name) cursor.fail(`Expecting argument name. Got: ${cursor.describe()}`);
    if (!expectsArgument) cursor.fail(`Not expecting argument. Got: ${cursor.describe()}`);
    expectsArgument = false;
    const key = cursor.text();
    if (!rootKeys.has(key)) cursor.fail(`Got invalid keyword: ${key} at root`);
    if (cursor.take() !== T.colon) cursor.fail(`Expecting a colon. Got: ${cursor.describe()}`);
    if (key === "func") parseRoot(reading, block);
    else if (key === "from" || key === "to") parseEnd(reading, block, key);
    else parseRootArgument(reading, block, key, orders);
  }
}

/** The colon was taken. */
function parseRoot(reading: Reading, block: BlockDraft): void {
  const { cursor } = reading;
  const colon = cursor.index - 1;
  if (block.root !== undefined) cursor.fail("Only one function allowed at root");
  const call = parseCall(reading, true);
  if (reading.functions.get(call.name)?.atRoot !== true) {
    cursor.fail(`Function name: ${call.name} is not valid.`, colon);
  }
  block.root = call;
}

/** `from: 0x1`, `to: uid(v)`; the colon was taken. */
function parseEnd(reading: Reading, block: BlockDraft, key: "from" | "to"): void {
  const { cursor } = reading;
  if (block.draft.name !== "shortest") {
    cursor.fail("from/to only allowed for shortest path queries");
  }
  if (cursor.peekText() === "uid") {
    block[key] = toEnd(parseCall(reading, true));
    return;
  }
  cursor.take();
  const index = cursor.index - 1;
  const text = cursor.takeRestOfName(cursor.text());
  switch (judgeUid(text)) {
    case "uid":
      block[key] = { kind: "uid", uid: { text, quoted: false, token: -1 } };
      return;
    case "large":
      return cursor.fail(`The uid value ${quoteGo(text)} is too large.`, index);
    case "name":
      cursor.fail(
        `from/to in shortest path can only accept uid function or an uid. Got: ${text}`,
        index,
      );
  }
}

/** `uid(v)` counts by its first variable, `uid(0x1)` by its first number; `uid()` leads nowhere. */
function toEnd(call: FunctionCall): ShortestEnd {
  let uid: Literal | undefined;
  for (const argument of call.args) {
    if (argument.kind === "uid") return { kind: "variable", name: argument.variable };
    if (argument.kind === "literal") uid ??= argument.literal;
  }
  return { kind: "uid", uid: uid ?? { text: "0", quoted: false, token: -1 } };
}

/** Numbers and orders; the colon was taken. */
function parseRootArgument(
  reading: Reading,
  block: BlockDraft,
  key: string,
  orders: Set<string>,
): void {
  const { cursor, parameters } = reading;
  const kind = cursor.take();
  if (kind === T.dollar) {
    if (cursor.take() !== T.name) {
      cursor.fail(`Expecting a variable name. Got: ${cursor.describe()}`);
    }
    setNumber(cursor, block, key, parameters.literal("$" + cursor.text()));
    return;
  }
  const sign = readSign(cursor, kind);
  if (sign === "" && cursor.text() === "val") {
    parseValArgument(cursor, block, key, orders);
    return;
  }
  const before = cursor.index;
  const name = sign + cursor.takeRestOfName(cursor.text());
  const isWhole = sign === "" && cursor.index === before;
  const literal = isWhole ? cursor.literal(name, false) : { text: name, quoted: false, token: -1 };
  const isOrder = key === "orderasc" || key === "orderdesc";
  if (cursor.peek() === T.leftRound && isOrder) {
    cursor.failNext(`Expected val(). Got ${name}() with order.`);
  }
  const languages = cursor.takeIf(T.at) ? parseLanguages(cursor) : undefined;
  if (name === "" && languages === undefined) {
    cursor.failNext("unable to get value when parsing key value pairs");
  }
  if (isOrder) {
    addOrder(cursor, block, key, toPredicateName(name, languages ?? []), orders);
  } else {
    setNumber(cursor, block, key, literal);
  }
}

function parseValArgument(
  cursor: Cursor,
  block: BlockDraft,
  key: string,
  orders: Set<string>,
): void {
  const index = cursor.index - 1;
  const variables = parseVariableList(cursor);
  const [variable] = variables;
  if (variable === undefined || variables.length !== 1) {
    cursor.fail(`Expected only one variable but got: ${variables.length}`, index);
  }
  if (key !== "orderasc" && key !== "orderdesc") {
    failPlainly(`${key} takes a value. Got: val(${variable})`);
  }
  if (block.draft.order.length > 0) {
    cursor.failNext(`Multiple sorting only allowed by predicates. Got: ${variable}`);
  }
  addOrder(cursor, block, key, { kind: "val", variable }, orders);
}

function addOrder(
  cursor: Cursor,
  block: BlockDraft,
  key: string,
  by: OrderKey["by"],
  orders: Set<string>,
): void {
  const { order } = block.draft;
  for (const earlier of order) {
    if (earlier.by.kind === "val") {
      cursor.failNext(`Val() is not allowed in multiple sorting. Got: [${earlier.by.variable}]`);
    }
  }
  const text = orderText(by);
  if (orders.has(text)) {
    cursor.failNext(`Sorting by an attribute: [${text}] can only be done once`);
  }
  if (by.kind === "predicate" && by.languages.length > 1) {
    cursor.failNext(`Sorting by an attribute: [${text}] can only be done on one language`);
  }
  orders.add(text);
  order.push({ by, descending: key === "orderdesc" });
}

function orderText(by: OrderKey["by"]): string {
  if (by.kind === "val") return by.variable;
  const name = (by.reverse ? "~" : "") + by.name;
  return by.languages.length === 0 ? name : `${name}@${by.languages.join(":")}`;
}

function setNumber(cursor: Cursor, block: BlockDraft, key: string, literal: Literal): void {
  if (block.numbers.has(key)) cursor.failNext(`Repeated key ${quoteGo(key)} at root`);
  block.numbers.set(key, literal);
}

/** Directives and fields; what follows the fields belongs to the next block. */
function parseBody(reading: Reading, block: BlockDraft): void {
  const { cursor } = reading;
  const { draft } = block;
  let hasFilter = false;
  for (;;) {
    if (cursor.isAtEnd) {
      cursor.failNext("Expecting more lexer items while parsing query");
    }
    const kind = cursor.take();
    if (kind === T.leftCurl) return parseFields(reading, draft);
    if (kind === T.rightCurl) return;
    if (kind === T.name) {
      cursor.index--;
      return;
    }
    if (kind !== T.at) cursor.fail(`Malformed Query. Missing {. Got ${cursor.text()}`);
    if (cursor.take() !== T.name) return;
    if (cursor.text().toLowerCase() === "filter") {
      if (hasFilter) cursor.fail("Repeated filter at root");
      hasFilter = true;
      draft.filter = parseFilter(reading);
    } else {
      parseRootDirective(reading, block);
    }
  }
}

function parseRootDirective(reading: Reading, block: BlockDraft): void {
  const { cursor } = reading;
  const { draft } = block;
  switch (cursor.text().toLowerCase()) {
    case "normalize":
      draft.normalize = true;
      return;
    case "cascade":
      return parseCascade(cursor, draft);
    case "groupby":
      return parseGroupBy(cursor, draft);
    case "ignorereflex":
      draft.ignoreReflex = true;
      return;
    case "recurse":
      block.recurse = parseRecurse(reading);
      return;
    default:
      cursor.fail(`Unknown directive [${cursor.text()}]`);
  }
}

/** The arguments that only `shortest` understands. */
export function toShortest(block: BlockDraft): Shortest | undefined {
  const { from, to, numbers } = block;
  if (block.draft.name !== "shortest") return undefined;
  return {
    from,
    to,
    numPaths: numbers.get("numpaths"),
    depth: numbers.get("depth"),
    minWeight: numbers.get("minweight"),
    maxWeight: numbers.get("maxweight"),
    maxFrontierSize: numbers.get("maxfrontiersize"),
  };
}

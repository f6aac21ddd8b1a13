/** One function as a test of candidates: their members by a set or an index, or a test of what their records hold. */
import { intersect, sortUnique, union } from "../base/sorted.ts";
import type { Cell, Column, ListRef, Want } from "../graph/reader.ts";
import { convertValue } from "../model/convert.ts";
import { ConversionError, attempt, quoteGo } from "../model/conversion-error.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { CallPlan, CompareOperator, PredicateUse, ValuesPlan } from "../plan/plan.ts";
import { textOrder } from "../tokens/collate.ts";
import { buildChoice, convertCell } from "./cells.ts";
import { buildCellTest, buildCountTest, testValues, type CellTest } from "./compare.ts";
import { bindCounts } from "./count.ts";
import { buildGeoTest } from "./geo.ts";
import { equalityTokens, isWholeToken, termTokens } from "./index-tokens.ts";
import { buildMatchTest, buildRegexTest } from "./pattern.ts";
import { findSimilar } from "./similar.ts";
import { keepMembers } from "./rows.ts";
import {
  queryFault,
  raiseRefusal,
  slotNumber,
  slotText,
  valuesOf,
  variableOf,
  type Run,
} from "./run.ts";

export type ColumnTest = (column: Column, row: number) => boolean;

export type PreparedCall =
  | { readonly kind: "members"; readonly members: UidSet }
  | { readonly kind: "column"; readonly want: Want; readonly test: ColumnTest };

type CompareCall = Extract<CallPlan, { kind: "compare" }>;

/** From so many candidates on an index is intersected instead of reading each record. */
const listsFrom = 192;

/** A range in a filter over an index that cannot be ordered is refused from so many candidates on (dql.md 2.5). */
const refusedFrom = 10;

export async function prepareCall(
  run: Run,
  call: CallPlan,
  candidates: UidSet,
): Promise<PreparedCall> {
  switch (call.kind) {
    case "nothing":
      return members(emptyUidSet);
    case "refused":
      return raiseRefusal(run, call.refusal);
    case "compare":
      return prepareCompare(run, call, candidates);
    case "compareCount":
      return prepareCount(run, call);
    case "compareVal":
      return members(intersect(compareVariable(run, call), candidates));
    case "compareLen":
      return members(compareLength(run, call) ? candidates : emptyUidSet);
    case "terms":
      return prepareTerms(run, call, candidates);
    case "regexp":
      return cellsCall(call.use, buildRegexTest(slotText(run, call.source), call.flags ?? ""));
    case "match":
      return cellsCall(call.use, buildMatchTest(run, call));
    case "geo":
      if (call.index === undefined) return members(emptyUidSet);
      return cellsCall(call.use, buildGeoTest(run, call));
    case "uid":
      return members(intersect(uidsOfCall(run, call), candidates));
    case "uidIn":
      return prepareUidIn(run, call, candidates);
    case "has":
      return prepareHas(call.use);
    case "similar":
      return members(intersect(await findSimilar(run, call), candidates));
  }
}

function members(set: UidSet): PreparedCall {
  return { kind: "members", members: set };
}

/** A test of any of the cells that a function on a predicate looks at. */
export function cellsCall(use: PredicateUse, test: CellTest): PreparedCall {
  const passes = buildCellsTest(use, test);
  return {
    kind: "column",
    want: { kind: "cells", predicate: use.predicate?.id ?? -1 },
    test: (column, row) => {
      const cells = column.kind === "cells" ? column.cells[row] : undefined;
      return cells !== undefined && passes(cells);
    },
  };
}

/**
 * Which of a node's cells a function looks at: the untagged one, those of one tag, with "." all; of a list any, of
 * predicates without languages all.
 */
export function buildCellsTest(
  use: PredicateUse,
  test: CellTest,
): (cells: readonly Cell[]) => boolean {
  const definition = use.predicate?.definition;
  const kind = (definition?.kind ?? "default") as ValueKind;
  const passes: CellTest = (cell) => test(cell.kind === kind ? cell : convertCell(cell, kind));
  const [tag] = use.languages;
  if (definition?.lang !== true || tag === ".") return (cells) => cells.some(passes);
  const choose = buildChoice(use.languages);
  return (cells) => {
    const cell = choose(cells);
    return cell !== undefined && passes(cell);
  };
}

/** The arguments as values of the predicate's kind; refused with the reference's words. */
export function bindValues(
  run: Run,
  values: ValuesPlan,
  kind: ValueKind,
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  if (values.variable !== undefined)
    return bindVariable(run, values.variable, kind, operator, atRoot);
  const texts = values.slots.map((slot) => slotText(run, slot));
  return texts.map((text) => {
    try {
      return convertValue({ kind: "string", text }, kind);
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const args = texts.map((argument) => ` args:${quoteGo(argument)}`).join("");
      throw queryFault(`Got error: ${error.message} while running: name:"${operator}"${args}`);
    }
  });
}

/** `eq(p, val(x))`: all values of x, whichever node they belong to. */
function bindVariable(
  run: Run,
  variable: number,
  kind: ValueKind,
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  const { values, constant } = variableOf(run, variable);
  const distinct = new Map<string, Value>();
  for (const value of [...(values?.values ?? []), ...(constant === undefined ? [] : [constant])]) {
    const converted = attempt(() => convertValue(value, kind));
    if (converted !== undefined) distinct.set(JSON.stringify(printable(converted)), converted);
  }
  const bound = [...distinct.values()];
  if (operator === "eq") {
    if (bound.length === 0 && !atRoot) throw queryFault("eq expects atleast 1 argument.");
    return bound;
  }
  const expected = operator === "between" ? 2 : 1;
  if (bound.length === expected) return bound;
  if (operator === "between") throw queryFault("between expects exactly 2 argument.");
  const texts = bound.map((value) => String(printable(value)));
  throw queryFault(`${operator} expects only 1 argument. Got: [${texts.join(" ")}]`);
}

function printable(value: Value): unknown {
  switch (value.kind) {
    case "int":
      return String(value.int);
    case "float":
      return value.float;
    case "bool":
      return value.bool;
    case "string":
    case "default":
      return value.text;
    case "bigfloat":
      return `${value.big.mantissa} ${value.big.exponent} ${value.big.special ?? ""}`;
    case "float32vector":
      return [...value.vector];
    case "datetime":
      return [value.time.seconds, value.time.nanos];
    default:
      return value;
  }
}

function kindOf(use: PredicateUse): ValueKind {
  const kind = use.predicate?.definition.kind ?? "default";
  return kind === "uid" ? "default" : kind;
}

/** The test of a comparison's values, with the collation of a tag. */
export function buildCompareTest(call: CompareCall, bounds: readonly Value[]): CellTest {
  const kind = kindOf(call.use);
  const [tag] = call.use.languages;
  const isTagged = call.use.predicate?.definition.lang === true && tag !== undefined && tag !== ".";
  const order = isTagged ? textOrder(tag, call.index !== undefined) : undefined;
  return buildCellTest(call.operator, bounds, kind, order);
}

async function prepareCompare(
  run: Run,
  call: CompareCall,
  candidates: UidSet,
): Promise<PreparedCall> {
  const bounds = bindValues(run, call.values, kindOf(call.use), call.operator, false);
  if (call.refuseFromTen && candidates.length >= refusedFrom) {
    const name = `${run.reader.schema.namespace}-${call.use.name}`;
    throw queryFault(`Attribute:${name} does not have proper index for comparison`);
  }
  if (call.operator === "eq" && call.index !== undefined) {
    checkEqualityTokens(run, call, bounds);
    const isWhole = isWholeToken(call.index, call.use);
    if (isWhole && candidates.length >= listsFrom) {
      return members(await intersectTokens(run, call, bounds, candidates));
    }
  }
  return cellsCall(call.use, buildCompareTest(call, bounds));
}

/** A predicate whose only index cuts its texts into pieces cannot be asked for a whole one (dql.md 2.5). */
export function checkEqualityTokens(run: Run, call: CompareCall, bounds: readonly Value[]): void {
  const { index } = call;
  if (index?.tokenizer !== "trigram" && index?.tokenizer !== "ngram") return;
  for (const bound of bounds) {
    if (equalityTokens(index, bound, call.use).length <= 1) continue;
    const name = `${run.reader.schema.namespace}-${call.use.name}`;
    throw queryFault(`Attribute ${name} does not have a valid tokenizer.`);
  }
}

async function intersectTokens(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
  candidates: UidSet,
): Promise<UidSet> {
  const { index } = call;
  let found: UidSet = emptyUidSet;
  if (index === undefined) return found;
  for (const bound of bounds) {
    for (const token of equalityTokens(index, bound, call.use)) {
      found = union(found, await intersectList(run, tokenList(index.id, token), candidates));
    }
  }
  return found;
}

export function tokenList(index: number, token: Uint8Array): ListRef {
  return { kind: "token", index, token };
}

async function intersectList(run: Run, list: ListRef, uids: UidSet): Promise<UidSet> {
  const answer = run.reader.intersectList(list, uids);
  return answer instanceof Promise ? await answer : answer;
}

function prepareCount(run: Run, call: Extract<CallPlan, { kind: "compareCount" }>): PreparedCall {
  const bounds = bindCounts(run, call, false);
  const passes = buildCountTest(call.operator, bounds);
  const predicate = call.use.predicate;
  const index = call.use.reverse ? predicate?.reverseIndex?.id : undefined;
  return {
    kind: "column",
    want:
      index === undefined
        ? { kind: "count", predicate: predicate?.id ?? -1 }
        : { kind: "reverseCount", index },
    test: (column, row) => column.kind === "count" && passes(column.counts[row] ?? 0),
  };
}

/** Nodes whose value of the variable passes; the argument takes each value's own type. */
export function compareVariable(run: Run, call: Extract<CallPlan, { kind: "compareVal" }>): UidSet {
  const column = valuesOf(run, call.variable);
  const bind = buildBinder(run, call.values);
  const flags = new Uint8Array(column.uids.length);
  for (let i = 0; i < flags.length; i++) {
    const value = column.values[i];
    if (value !== undefined && testValues(call.operator, value, bind(value.kind))) flags[i] = 1;
  }
  return keepMembers(column.uids, flags);
}

function buildBinder(run: Run, values: ValuesPlan): (kind: ValueKind) => readonly Value[] {
  const { variable } = values;
  const byKind = new Map<ValueKind, readonly Value[]>();
  return (kind) => {
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const bound =
      variable === undefined
        ? values.slots.map((slot) => bindArgument(slotText(run, slot), kind))
        : [...valuesOf(run, variable).values];
    byKind.set(kind, bound);
    return bound;
  };
}

function bindArgument(text: string, kind: ValueKind): Value {
  try {
    return convertValue({ kind: "string", text }, kind);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw queryFault(`Invalid argment ${text}. Comparing with different type`);
  }
}

/** `eq(len(v), n)`: all candidates or none. */
export function compareLength(run: Run, call: Extract<CallPlan, { kind: "compareLen" }>): boolean {
  const length: Value = { kind: "int", int: variableOf(run, call.variable).uids.length };
  const bounds = call.values.slots.map((slot) => bindArgument(slotText(run, slot), "int"));
  return testValues(call.operator, length, bounds);
}

/** Words are looked up in their index; a predicate with languages is checked for the tag asked for. */
async function prepareTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const found = await findTerms(run, call, candidates);
  return members(found);
}

/** Nodes with the words of a terms call, among `candidates` where given. */
export async function findTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const texts =
    call.values.variable === undefined
      ? call.values.slots.map((slot) => slotText(run, slot))
      : textsOf(valuesOf(run, call.values.variable).values);
  let found: UidSet = emptyUidSet;
  for (const text of texts) {
    found = union(found, await findText(run, call, text, candidates));
  }
  if (call.use.predicate?.definition.lang !== true || call.use.languages[0] === ".") return found;
  return verifyTerms(run, call, texts, found);
}

function textsOf(values: readonly Value[]): readonly string[] {
  return values.flatMap((value) =>
    value.kind === "string" || value.kind === "default" ? [value.text] : [],
  );
}

async function findText(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  text: string,
  candidates: UidSet | undefined,
): Promise<UidSet> {
  const tokens = termTokens(call, text);
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  if (tokens.length === 0) return emptyUidSet;
  const lists = tokens.map((token) => tokenList(call.index.id, token));
  if (!needsAll) {
    const sets = candidates === undefined ? await readLists(run, lists) : [];
    let found: UidSet = emptyUidSet;
    for (const list of candidates === undefined ? [] : lists) {
      found = union(found, await intersectList(run, list, candidates ?? emptyUidSet));
    }
    for (const set of sets) found = union(found, set);
    return found;
  }
  return intersectLists(run, lists, candidates);
}

async function readLists(run: Run, lists: readonly ListRef[]): Promise<readonly UidSet[]> {
  const read = run.reader.readLists(lists);
  return read instanceof Promise ? await read : read;
}

/** The shortest list first, the others only where it has members. */
export async function intersectLists(
  run: Run,
  lists: readonly ListRef[],
  candidates: UidSet | undefined,
): Promise<UidSet> {
  if (lists.length === 0) return emptyUidSet;
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const order = lists.map((_, i) => i).sort((a, b) => (counts[a] ?? 0) - (counts[b] ?? 0));
  let found = candidates;
  for (const i of order) {
    const list = lists[i];
    if (list === undefined || counts[i] === 0) return emptyUidSet;
    if (found === undefined) found = (await readLists(run, [list]))[0] ?? emptyUidSet;
    else found = await intersectList(run, list, found);
    if (found.length === 0) return found;
  }
  return found ?? emptyUidSet;
}

/** The words may stand in a value of another tag: look at the value asked for. */
async function verifyTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  texts: readonly string[],
  found: UidSet,
): Promise<UidSet> {
  if (found.length === 0) return found;
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  const wanted = texts.map((text) => termTokens(call, text).map(tokenKey));
  const test: CellTest = (cell) => {
    const has = new Set(termTokens(call, cell.text, true).map(tokenKey));
    return wanted.some((keys) =>
      needsAll ? keys.every((key) => has.has(key)) : keys.some((key) => has.has(key)),
    );
  };
  return verifyCells(run, call.use, test, found);
}

function tokenKey(token: Uint8Array): string {
  return String.fromCharCode(...token);
}

/** The nodes of a set with a value that passes. */
export async function verifyCells(
  run: Run,
  use: PredicateUse,
  test: CellTest,
  uids: UidSet,
): Promise<UidSet> {
  if (uids.length === 0 || use.predicate === undefined) return emptyUidSet;
  const passes = buildCellsTest(use, test);
  const read = run.reader.readLevel(uids, [{ kind: "cells", predicate: use.predicate.id }]);
  const [column] = read instanceof Promise ? await read : read;
  if (column?.kind !== "cells") return emptyUidSet;
  const flags = new Uint8Array(uids.length);
  for (let i = 0; i < flags.length; i++) {
    if ((i & 255) === 255) {
      const pause = run.pace.check();
      if (pause !== undefined) await pause;
    }
    const cells = column.cells[i];
    if (cells !== undefined && passes(cells)) flags[i] = 1;
  }
  return keepMembers(uids, flags);
}

/** The set of a uid() call: literals, or the nodes of variables. */
export function uidsOfCall(run: Run, call: Extract<CallPlan, { kind: "uid" }>): UidSet {
  if (call.variables.length === 0) {
    return sortUnique(Float64Array.from(call.uids, (slot) => slotNumber(run, slot)));
  }
  let found: UidSet = emptyUidSet;
  for (const variable of call.variables) found = union(found, variableOf(run, variable).uids);
  return found;
}

function prepareHas(use: PredicateUse): PreparedCall {
  const predicate = use.predicate;
  const id = predicate?.id ?? -1;
  if (predicate?.definition.lang === true) return cellsCall(use, () => true);
  const index = use.reverse ? predicate?.reverseIndex?.id : undefined;
  return {
    kind: "column",
    want: index === undefined ? { kind: "count", predicate: id } : { kind: "reverseCount", index },
    test: (column, row) => column.kind === "count" && (column.counts[row] ?? 0) > 0,
  };
}

/** Up to so many targets, the lists of those who point at them are intersected where there are any. */
const targetsMax = 64;

async function prepareUidIn(
  run: Run,
  call: Extract<CallPlan, { kind: "uidIn" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const targets = uidsOfUidIn(run, call);
  const predicate = call.use.predicate;
  if (targets.length === 0 || predicate === undefined) return members(emptyUidSet);
  if (predicate.definition.kind !== "uid") return members(emptyUidSet);
  const reverse = predicate.reverseIndex;
  if (targets.length <= targetsMax && (call.use.reverse || reverse?.state === "ready")) {
    let found: UidSet = emptyUidSet;
    for (const target of targets) {
      const list: ListRef = call.use.reverse
        ? { kind: "edges", predicate: predicate.id, subject: target }
        : { kind: "reverse", index: reverse?.id ?? -1, object: target };
      found = union(found, await intersectList(run, list, candidates));
    }
    return members(found);
  }
  const wanted = new Set(targets);
  return {
    kind: "column",
    want:
      call.use.reverse && reverse !== undefined
        ? { kind: "reverse", index: reverse.id, facets: false }
        : { kind: "edges", predicate: predicate.id, facets: false },
    test: (column, row) => {
      if (column.kind !== "edges") return false;
      for (let e = column.offsets[row] ?? 0; e < (column.offsets[row + 1] ?? 0); e++) {
        if (wanted.has(column.targets[e] ?? 0)) return true;
      }
      return false;
    },
  };
}

function uidsOfUidIn(run: Run, call: Extract<CallPlan, { kind: "uidIn" }>): UidSet {
  if (call.variable !== undefined) return variableOf(run, call.variable).uids;
  for (const slot of call.uids) {
    if (!Number.isNaN(slotNumber(run, slot))) continue;
    throw queryFault(`Value ${quoteGo(slotText(run, slot))} in uid_in is not a number`);
  }
  return sortUnique(Float64Array.from(call.uids, (slot) => slotNumber(run, slot)));
}

/** The nodes that point at the targets, as lists. */
export function listsOfUidIn(
  run: Run,
  call: Extract<CallPlan, { kind: "uidIn" }>,
): readonly ListRef[] {
  const predicate = call.use.predicate;
  if (predicate === undefined) return [];
  return Array.from(uidsOfUidIn(run, call), (target) =>
    call.use.reverse
      ? { kind: "edges", predicate: predicate.id, subject: target }
      : { kind: "reverse", index: predicate.reverseIndex?.id ?? -1, object: target },
  );
}

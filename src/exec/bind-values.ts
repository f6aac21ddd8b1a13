/**
 * Arguments of comparisons as values of the predicate's kind, refused with the reference's words (reference/dql 4.3).
 */
import { must } from "../base/assert.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { convertValue } from "../model/convert.ts";
import { ConversionError, attempt, quoteGo } from "../model/conversion-error.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type {
  CompareOperator,
  PlanRefusal,
  PredicateUse,
  SlotIndex,
  ValuesPlan,
} from "../plan/plan.ts";
import { textOrder } from "../tokens/collate.ts";
import { buildCellTest, type CellTest } from "./compare.ts";
import { equalityTokens } from "./index-tokens.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import { queryFault, slotText, variableOf, type Run } from "./run.ts";

/** eq and the inequalities on a predicate's values; `type(T)` is eq on dgraph.type. */
export interface CompareCall {
  readonly kind: "compare";
  readonly operator: CompareOperator;
  readonly use: PredicateUse;
  readonly values: ValuesPlan;
  /** The index that finds candidates; undefined: only by reading values (filters). */
  readonly index: PredicateIndex | undefined;
  /** A filter on an indexed but not sortable predicate is refused from ten candidates on (reference/dql 2.5). */
  readonly refuseFromTen: boolean;
  /** Raised at a root once the arguments are found to be right: no index serves it. */
  readonly refusal: PlanRefusal | undefined;
}

/** The arguments as values of the predicate's kind; refused with the reference's words. */
export function bindValues(
  run: Run,
  values: ValuesPlan,
  kind: ValueKind,
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  if (values.variable !== undefined) {
    const distinct = new Map<string, Value>();
    for (const value of variableValues(run, values.variable)) addDistinct(distinct, value, kind);
    return checkBound([...distinct.values()], operator, atRoot);
  }
  return values.slots.map((slot) => bindText(run, values, slot, { kind, operator }));
}

/** So many values are bound in one piece, and again wherever they are wanted. */
export const manyValues = 256;

const boundBytes = 64;

/** `bindValues` for a call that may have any number of values: many are bound once a run, and in steps. */
export function bindCall(
  run: Run,
  call: CompareCall,
  atRoot: boolean,
): MaybePromise<readonly Value[]> {
  const { values, operator } = call;
  const kind = kindOf(call.use);
  const count =
    values.variable === undefined
      ? values.slots.length
      : (variableOf(run, values.variable).values?.values.length ?? 0);
  if (count < manyValues) return bindValues(run, values, kind, operator, atRoot);
  return manyOf(run).get(call) ?? bindMany(run, call, atRoot);
}

/** By what a run keeps of its arguments, which stays the same where the run is copied. */
const manyByRun = new WeakMap<Run["bound"], Map<CompareCall, readonly Value[]>>();

function manyOf(run: Run): Map<CompareCall, readonly Value[]> {
  let many = manyByRun.get(run.bound);
  if (many === undefined) manyByRun.set(run.bound, (many = new Map()));
  return many;
}

async function bindMany(run: Run, call: CompareCall, atRoot: boolean): Promise<readonly Value[]> {
  const { values, operator } = call;
  const kind = kindOf(call.use);
  let bound: Value[] = [];
  const distinct = new Map<string, Value>();
  const { variable } = values;
  const given = variable === undefined ? values.slots : variableValues(run, variable);
  run.budget.chargeBytes(given.length * boundBytes);
  for (let i = 0; i < given.length; i++) {
    const one = must(given[i], "within bounds");
    if (typeof one === "number") bound.push(bindText(run, values, one, { kind, operator }));
    else addDistinct(distinct, one, kind);
    if (i % manyValues !== manyValues - 1) continue;
    const pause = run.yielder.check(manyValues);
    if (pause !== undefined) await pause;
  }
  if (variable !== undefined) bound = [...checkBound([...distinct.values()], operator, atRoot)];
  manyOf(run).set(call, bound);
  return bound;
}

function bindText(
  run: Run,
  { slots }: ValuesPlan,
  slot: SlotIndex,
  { kind, operator }: { readonly kind: ValueKind; readonly operator: CompareOperator },
): Value {
  try {
    return convertValue({ kind: "string", text: slotText(run, slot) }, kind);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const args = slots.map((argument) => ` args:${quoteGo(slotText(run, argument))}`).join("");
    throw queryFault(`Got error: ${error.message} while running: name:"${operator}"${args}`);
  }
}

/** `eq(p, val(x))`: all values of x, whichever node they belong to. */
function variableValues(run: Run, variable: number): readonly Value[] {
  const { values, constant } = variableOf(run, variable);
  const all = values?.values ?? [];
  return constant === undefined ? all : [...all, constant];
}

function addDistinct(distinct: Map<string, Value>, value: Value, kind: ValueKind): void {
  const converted = attempt(() => convertValue(value, kind));
  if (converted !== undefined) distinct.set(JSON.stringify(printable(converted)), converted);
}

/** The values of a variable, as many as the operator takes. */
function checkBound(
  bound: readonly Value[],
  operator: CompareOperator,
  atRoot: boolean,
): readonly Value[] {
  if (bound.length === 0 && atRoot) return bound;
  if (operator === "eq") {
    if (bound.length === 0) throw queryFault("eq expects atleast 1 argument.");
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

export function kindOf(use: PredicateUse): ValueKind {
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

/** A predicate whose only index cuts its texts into pieces cannot be asked for a whole one (reference/dql 2.5). */
export function checkEqualityTokens(run: Run, call: CompareCall, bounds: readonly Value[]): void {
  const { index } = call;
  if (index?.tokenizer !== "trigram" && index?.tokenizer !== "ngram") return;
  for (const bound of bounds) {
    if (equalityTokens(index, bound, call.use).length <= 1) continue;
    const name = `${run.reader.schema.namespace}-${call.use.name}`;
    throw queryFault(`Attribute ${name} does not have a valid tokenizer.`);
  }
}

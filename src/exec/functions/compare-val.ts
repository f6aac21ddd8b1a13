/** `eq(val(v), 3)` and the inequalities of a variable's values (reference/dql 4.8). Price: one pass over them; no reads. */
import { must } from "../../base/assert.ts";
import { andThen, type MaybePromise } from "../../base/maybe.ts";
import { intersect } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import { convertValue } from "../../model/convert.ts";
import { compareValues } from "../../model/compare.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import type { UidSet } from "../../model/uid.ts";
import type { Value, ValueKind } from "../../model/value.ts";
import type { Builder } from "../../plan/builder.ts";
import { buildValues, subjectVariable } from "../../plan/call.ts";
import type { CallPlan, CompareOperator, ValuesPlan } from "../../plan/plan.ts";
import { hasEquality, isAmong, isNaNValue, testValues } from "../compare.ts";
import { sortYielding } from "../yielding-sort.ts";
import { keepMembers } from "../rows.ts";
import { exact } from "../candidates.ts";
import { queryFault, slotText, valuesOf, type Run } from "../run.ts";
import { always, members, never, noList, noCheck, type CallFunction } from "./function.ts";
import { operatorNames, operatorOf, guessOf } from "./operators.ts";

interface CompareValCall {
  readonly kind: "compareVal";
  readonly operator: CompareOperator;
  readonly variable: number;
  readonly values: ValuesPlan;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    compareVal: CompareValCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const variable = subjectVariable(builder, call);
  const values = buildValues(builder, call.args);
  return { kind: "compareVal", operator: operatorOf(call.name), variable, values };
}

/** Nodes whose value of the variable passes; the argument takes each value's own type. */
async function findPassing(run: Run, call: CompareValCall): Promise<UidSet> {
  const column = valuesOf(run, call.variable);
  const testOf = buildTests(run, call);
  const flags = new Uint8Array(column.uids.length);
  for (let i = 0; i < flags.length; i++) {
    if ((i & 255) === 255) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
    }
    const value = column.values[i];
    if (value === undefined) continue;
    const testing = testOf(value.kind);
    const test = testing instanceof Promise ? await testing : testing;
    if (test(value)) flags[i] = 1;
  }
  return keepMembers(column.uids, flags);
}

type ValueTest = (value: Value) => boolean;

/** The test of values of a kind, made when the first of them comes. */
function buildTests(
  run: Run,
  { operator, values }: CompareValCall,
): (kind: ValueKind) => MaybePromise<ValueTest> {
  const { variable } = values;
  const byKind = new Map<ValueKind, ValueTest>();
  return (kind) => {
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const bounds =
      variable === undefined
        ? values.slots.map((slot) => bindArgument(slotText(run, slot), kind))
        : valuesOf(run, variable).values;
    const making =
      operator === "eq" && bounds.length > comparedEach
        ? buildAmongMany(run, bounds)
        : (value: Value): boolean => testValues(operator, value, bounds);
    return andThen(making, (test) => {
      byKind.set(kind, test);
      return test;
    });
  };
}

/** So few are compared with each value one by one. */
const comparedEach = 8;

/** All values of a variable may stand beside all of another: they are sorted, not compared pair by pair. */
async function buildAmongMany(run: Run, bounds: readonly Value[]): Promise<ValueTest> {
  const members = bounds.filter((bound) => !isNaNValue(bound));
  const memberAt = (place: number): Value => must(members[place], "within bounds");
  const places = await sortYielding(run.yielder, Uint32Array.from(members.keys()), (a, b) =>
    compareValues(memberAt(a), memberAt(b)),
  );
  const sorted = Array.from(places, memberAt);
  // NaN is equal to every number, as in the reference.
  const hasNaN = members.length < bounds.length;
  return (value) =>
    hasEquality(value.kind) &&
    ((hasNaN && (value.kind === "float" || value.kind === "int")) || isAmong(sorted, value));
}

/** An argument as a value of some kind. */
export function bindArgument(text: string, kind: ValueKind): Value {
  try {
    return convertValue({ kind: "string", text }, kind);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw queryFault(`Invalid argment ${text}. Comparing with different type`);
  }
}

export const compareVal: CallFunction<CompareValCall> = {
  forms: [{ subject: "val", names: operatorNames, build }],
  price: 1,
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe: ({ operator, variable, values }, words) =>
    `${operator} val ${words.variable(variable)} ${words.values(values)}`,
  count: async (run, call) => valuesOf(run, call.variable).uids.length,
  guess: ({ operator }) => guessOf(operator),
  reads: () => ({ rechecks: false, filter: "nothing" }),
  isCounted: always,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: async (run, call) => exact(await findPassing(run, call)),
  list: noList,
  prepare: async (run, call, candidates) =>
    members(intersect(await findPassing(run, call), candidates)),
};

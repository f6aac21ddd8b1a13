/** `eq(val(v), 3)` and the inequalities of a variable's values (reference/dql 4.8). Price: one pass over them; no reads. */
import { intersect } from "../../base/sorted.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import { convertValue } from "../../model/convert.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import type { UidSet } from "../../model/uid.ts";
import type { Value, ValueKind } from "../../model/value.ts";
import type { Builder } from "../../plan/builder.ts";
import { buildValues, subjectVariable } from "../../plan/call.ts";
import type { CallPlan, CompareOperator, ValuesPlan } from "../../plan/plan.ts";
import { testValues } from "../compare.ts";
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
function findPassing(run: Run, call: CompareValCall): UidSet {
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
  find: async (run, call) => exact(findPassing(run, call)),
  list: noList,
  prepare: async (run, call, candidates) => members(intersect(findPassing(run, call), candidates)),
};

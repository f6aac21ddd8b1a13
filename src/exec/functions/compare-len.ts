/** `eq(len(v), 0)` and the inequalities of how many nodes a variable has (reference/dql 4.3.14): all candidates or none. */
import type { FunctionCall } from "../../dql/ast.ts";
import { emptyUidSet } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import type { Builder } from "../../plan/builder.ts";
import { buildValues, subjectVariable } from "../../plan/call.ts";
import type { CallPlan, CompareOperator, ValuesPlan } from "../../plan/plan.ts";
import { noCandidates } from "../candidates.ts";
import { testValues } from "../compare.ts";
import { slotText, variableOf, type Run } from "../run.ts";
import { bindArgument } from "./compare-val.ts";
import {
  always,
  members,
  never,
  noList,
  uncounted,
  noCheck,
  type CallFunction,
} from "./function.ts";
import { operatorNames, operatorOf, guessOf } from "./operators.ts";

interface CompareLenCall {
  readonly kind: "compareLen";
  readonly operator: CompareOperator;
  readonly variable: number;
  readonly values: ValuesPlan;
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    compareLen: CompareLenCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const variable = subjectVariable(builder, call);
  const values = buildValues(builder, call.args);
  return { kind: "compareLen", operator: operatorOf(call.name), variable, values };
}

function isTrue(run: Run, call: CompareLenCall): boolean {
  const length: Value = { kind: "int", int: variableOf(run, call.variable).uids.length };
  const bounds = call.values.slots.map((slot) => bindArgument(slotText(run, slot), "int"));
  return testValues(call.operator, length, bounds);
}

export const compareLen: CallFunction<CompareLenCall> = {
  forms: [{ subject: "len", names: operatorNames, build }],
  price: 0,
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe: ({ operator, variable, values }, words) =>
    `${operator} len ${words.variable(variable)} ${words.values(values)}`,
  count: uncounted,
  guess: ({ operator }) => guessOf(operator),
  reads: () => ({ rechecks: false, filter: "nothing" }),
  isCounted: never,
  isFree: always,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: () => Promise.resolve(noCandidates),
  list: noList,
  prepare: async (run, call, candidates) => members(isTrue(run, call) ? candidates : emptyUidSet),
};

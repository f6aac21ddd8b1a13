/** `uid(0x1, v)`: nodes by themselves, or those of variables. Price: reads nothing. */
import type { FunctionCall } from "../../dql/ast.ts";
import { intersect, sortUnique, union } from "../../base/sorted.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { addSlot, literalsOf, variableIndex, type Builder } from "../../plan/builder.ts";
import type { CallPlan, SlotIndex } from "../../plan/plan.ts";
import { exact } from "../candidates.ts";
import { countUids, slotNumber, variableOf, type Run } from "../run.ts";
import { always, members, never, noList, noCheck, type CallFunction } from "./function.ts";

/** Literals (deduplicated unless they stand alone at a bare root) and variables. */
interface UidCall {
  readonly kind: "uid";
  readonly uids: readonly SlotIndex[];
  readonly variables: readonly number[];
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    uid: UidCall;
  }
}

function build(builder: Builder, call: FunctionCall): CallPlan {
  const uids: SlotIndex[] = [];
  const variables: number[] = [];
  for (const argument of call.args) {
    if (argument.kind === "uid" || argument.kind === "val") {
      variables.push(variableIndex(builder, argument.variable));
    } else {
      for (const literal of literalsOf(argument)) uids.push(addSlot(builder, "uid", literal));
    }
  }
  // Literals beside variables are dropped, as in the reference (reference/dql 4.3.7).
  return { kind: "uid", uids: variables.length > 0 ? [] : uids, variables };
}

/** The set of a call: literals, or the nodes of variables. */
function uidsOf(run: Run, call: UidCall): UidSet {
  if (call.variables.length === 0) {
    return sortUnique(Float64Array.from(call.uids, (slot) => slotNumber(run, slot)));
  }
  let found: UidSet = emptyUidSet;
  for (const variable of call.variables) found = union(found, variableOf(run, variable).uids);
  return found;
}

export const uid: CallFunction<UidCall> = {
  forms: [
    {
      subject: "none",
      names: { uid: { subject: "none", literals: "uids", atRoot: true } },
      build,
    },
  ],
  price: 1,
  isExchangeable: never,
  isIndexed: always,
  isOneList: never,
  describe(call, words) {
    const names = call.variables.map((variable) => words.variable(variable));
    return ["uid", ...names, words.slots(call.uids)].filter((part) => part !== "").join(" ");
  },
  count: async (run, call) => uidsOf(run, call).length,
  guess: () => "condition",
  reads: () => ({ rechecks: false, filter: "nothing" }),
  isCounted: always,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  async find(run, call) {
    const uids = uidsOf(run, call);
    countUids(run, undefined, uids.length);
    return exact(uids);
  },
  list: noList,
  prepare: async (run, call, candidates) => members(intersect(uidsOf(run, call), candidates)),
};

/** What finds nothing: functions on predicates that the schema does not know, or that the sender may not read. */
import { emptyUidSet } from "../../model/uid.ts";
import type { CallPlans } from "../../plan/plan.ts";
import { noCandidates } from "../candidates.ts";
import { always, members, never, noList, noCheck, type CallFunction } from "./function.ts";

export const nothingCall: CallFunction<CallPlans["nothing"]> = {
  forms: [],
  price: 0,
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe: ({ use }, words) => `nothing${use === undefined ? "" : ` ${words.use(use)}`}`,
  count: () => Promise.resolve(0),
  guess: () => "condition",
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
  prepare: () => Promise.resolve(members(emptyUidSet)),
};

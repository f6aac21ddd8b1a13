/** What the schema and the shape of a call forbid: told when its part of the plan is reached. */
import type { CallPlans } from "../../plan/plan.ts";
import { raiseRefusal } from "../run.ts";
import { always, never, noList, uncounted, noCheck, type CallFunction } from "./function.ts";

export const refusedCall: CallFunction<CallPlans["refused"]> = {
  forms: [],
  price: 0,
  isExchangeable: never,
  isIndexed: never,
  isOneList: never,
  describe: ({ refusal }) => `refused: ${refusal.text}`,
  count: uncounted,
  guess: () => "condition",
  reads: () => ({ rechecks: false, filter: "nothing" }),
  isCounted: never,
  isFree: always,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: noCheck,
  find: async (run, { refusal }) => raiseRefusal(run, refusal),
  list: noList,
  prepare: async (run, { refusal }) => raiseRefusal(run, refusal),
};

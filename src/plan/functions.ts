/** What planning asks of a function. The functions stand above, in `exec/functions`; a builder is handed their table. */
import type { CallPlan, PredicateUse, SlotIndex, ValuesPlan } from "./plan.ts";

/** What plans decide about a call, with the schema alone. */
export interface CallPlanning<C extends CallPlan = CallPlan> {
  /**
   * Rough price of a test for one candidate: 0 nothing, 1 a set in memory, 2 and 3 lists of an index, 4 to 7 reading
   * records. Parts of an AND or OR are asked in this order.
   */
  readonly price: number;
  /** Whether it says the same at a root as in a filter, so that another condition may find the nodes. */
  isExchangeable(call: C): boolean;
  /** Whether a condition could find its nodes by itself, in an index. */
  isIndexed(call: C): boolean;
  /** Whether a root is one list in the order of uids, which a page is sought in. */
  isOneList(call: C): boolean;
  /** Its line in a printed plan. */
  describe(call: C, words: PlanWords): string;
}

/** How parts of a call are printed: literals as slots or as what stands in them. */
export interface PlanWords {
  slot(slot: SlotIndex): string;
  slots(slots: readonly SlotIndex[]): string;
  variable(variable: number): string;
  values(values: ValuesPlan): string;
  use(use: PredicateUse): string;
}

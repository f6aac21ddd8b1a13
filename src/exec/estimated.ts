/** A run as the optimizer sees it: its literals, and what its functions say. */
import type { Estimated } from "../optimizer/statistics.ts";
import { Fault } from "../model/fault.ts";
import type { RecursePlan } from "../plan/plan.ts";
import { bindPage, cutPage } from "./bind.ts";
import { functionOf } from "./functions.ts";
import { findColumnIndex } from "./index-column.ts";
import { bindDepth } from "./recurse.ts";
import type { Run } from "./run.ts";

export function estimatedOf(run: Run): Estimated {
  return {
    plan: run.plan,
    reader: run.reader,
    of: functionOf,
    count: (call) => functionOf(call).count(run, call),
    looksAt: (call) => functionOf(call).looksAt(run, call),
    isColumn: async (predicate, nodes) =>
      (await findColumnIndex(run, predicate, nodes, false)) !== undefined,
    page(page, count) {
      const bound = bindPage(run, page);
      const { start, end } = cutPage(bound, count);
      return {
        shown: end - start,
        wanted: bound.first > 0 ? bound.first + bound.offset : Infinity,
      };
    },
    depth: (recurse) => depthOf(run, recurse),
  };
}

/** A depth that is no number is refused when the query runs: until then there is none. */
function depthOf(run: Run, recurse: RecursePlan | undefined): number {
  try {
    return bindDepth(run, recurse);
  } catch (error) {
    if (error instanceof Fault) return 0;
    throw error;
  }
}

/** A run as the optimizer sees it: its literals, and what its functions say. */
import type { Estimated } from "../optimizer/statistics.ts";
import { bindPage, cutPage } from "./bind.ts";
import { functionOf } from "./functions.ts";
import { findColumnIndex } from "./index-column.ts";
import { slotNumber, type Run } from "./run.ts";

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
    number: (slot) => slotNumber(run, slot),
  };
}

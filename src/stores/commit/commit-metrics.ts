/** What the writer counts of its commits. */
import { metrics } from "../../base/metrics.ts";
import { StoreRefusal } from "../../store/store.ts";

export const commitGroups = metrics.counter(
  "weft_commit_groups_total",
  "Groups of changes that were committed together",
);
export const changesCommitted = metrics.counter(
  "weft_changes_committed_total",
  "Changes that the writer committed",
);
export const patchesCommitted = metrics.counter(
  "weft_facts_written_total",
  "Facts and index entries that were written",
);
const changesRefused = metrics.counters(
  "weft_changes_refused_total",
  "Changes that the writer refused; conflict: another transaction was first, basis: derived again by itself",
  "reason",
);

export function countRefusal(error: unknown): void {
  changesRefused.of(error instanceof StoreRefusal ? error.reason : "other").count++;
}

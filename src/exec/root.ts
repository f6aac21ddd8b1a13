/**
 * How a block's first uids are found (reference/dql 4.3). Price: that of the function; a page of one list is sought by
 * its chunks.
 */
import { lowerBound } from "../base/sorted.ts";
import type { ListBounds, ListRef } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { BoundPage } from "./bind.ts";
import type { Candidates } from "./candidates.ts";
import { functionOf } from "./functions.ts";
import type { Run } from "./run.ts";

/** The candidates of a root function, ascending. `after`: only greater ones. */
export async function findCandidates(run: Run, call: CallPlan, after: number): Promise<Candidates> {
  const found = await functionOf(call).find(run, call, after);
  const { uids } = found;
  if (after === 0 || uids.length === 0) return found;
  const from = lowerBound(uids, after + 1);
  return from === 0 ? found : { ...found, uids: uids.subarray(from) };
}

/** A page of a one-list root, sought in the list itself. */
export async function pageRoot(run: Run, list: ListRef, page: BoundPage): Promise<UidSet> {
  const { first, offset, after } = page;
  const isReverse = first < 0;
  const bounds: ListBounds = {
    after: after > 0 ? after : undefined,
    skip: offset > 0 && !isReverse ? offset : undefined,
    limit: first === 0 ? undefined : Math.abs(first),
    reverse: isReverse,
  };
  // Pages of one list come one after another: kept, it is cut instead of sought.
  const kept = run.reader.isCached(list);
  if (kept instanceof Promise) await kept;
  const read = run.reader.readLists([list], bounds);
  return (read instanceof Promise ? await read : read)[0] ?? emptyUidSet;
}

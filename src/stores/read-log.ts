/** The log and the slots, as every process reads them from a snapshot. */
import { logKey } from "../codec/key.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import { decodeCommit, visitTouched } from "../store/patch-codec.ts";
import type { Commit, Snapshot, TouchVisitor } from "../store/store.ts";
import { floorsOf } from "./commit/slot-table.ts";
import { decodeSlots, slotsKey } from "./commit/state.ts";

/**
 * Entries after `from`; undefined when the log no longer reaches back. For snapshots that answer at once. Commit
 * numbers have no gaps, so a missing row means that it was trimmed.
 */
export function readLog(snapshot: Snapshot, from: number): readonly Commit[] | undefined {
  const commits: Commit[] = [];
  if (from >= snapshot.ts) return commits;
  let next = from + 1;
  let isWhole = true;
  try {
    void snapshot.scan({ start: logKey(next), end: logKey(snapshot.ts + 1) }, (key, row) => {
      isWhole = Buffer.compare(key, logKey(next)) === 0;
      if (isWhole) commits.push(decodeCommit(next++, row.slice()));
      return isWhole;
    });
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
  return isWhole && commits.length === snapshot.ts - from ? commits : undefined;
}

/** As `readLog`, of what is touched alone; false when the log no longer reaches back. Rows are looked up one by one. */
export function walkLog(
  snapshot: Snapshot,
  from: number,
  visitor: TouchVisitor,
): MaybePromise<boolean> {
  const keys: Uint8Array[] = [];
  for (let ts = from + 1; ts <= snapshot.ts; ts++) keys.push(logKey(ts));
  let isWhole = true;
  try {
    const read = snapshot.readMany(keys, (i, row) => {
      if (row === undefined) isWhole = false;
      else if (isWhole && visitor.begin(from + 1 + i, row.length)) visitTouched(row, visitor);
    });
    return andThen(read, () => isWhole);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

/** An entry that cannot be read is as good as one that was trimmed: nobody is told of it as if it were whole. */
function isDamage(error: unknown): boolean {
  return error instanceof Fault && error.code === "E_STORE_CORRUPT";
}

/** Slots of living processes with their floors. */
export function readSlots(snapshot: Snapshot): ReadonlyMap<number, number> {
  let slots = decodeSlots(undefined);
  void snapshot.readMany([slotsKey], (_i, row) => {
    slots = decodeSlots(row);
  });
  return floorsOf(slots);
}

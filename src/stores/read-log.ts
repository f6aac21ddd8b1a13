/** The log and the slots, as every process reads them from a snapshot. */
import { logKey } from "../codec/key.ts";
import { decodeCommit } from "../store/patch-codec.ts";
import type { Commit, Snapshot } from "../store/store.ts";
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
  void snapshot.scan({ start: logKey(next), end: logKey(snapshot.ts + 1) }, (key, row) => {
    isWhole = Buffer.compare(key, logKey(next)) === 0;
    if (isWhole) commits.push(decodeCommit(next++, row.slice()));
    return isWhole;
  });
  return isWhole && commits.length === snapshot.ts - from ? commits : undefined;
}

/** Slots of living processes with their floors. */
export function readSlots(snapshot: Snapshot): ReadonlyMap<number, number> {
  let slots = new Map<number, number>();
  void snapshot.readMany([slotsKey], (_i, row) => {
    slots = decodeSlots(row);
  });
  return slots;
}

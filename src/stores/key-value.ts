/**
 * Adapters of the port: engines that keep ordered keys and values, and the rules that every one of them shares. In:
 * changes made of patches. Out: commits, snapshots. Never here: what a record or a token means.
 *
 * This file is what an engine shows to the shared rules inside of one write transaction.
 */
import type { ScanRange, Snapshot } from "../store/store.ts";

export interface KeyValue {
  /** Lent until the next call. */
  get(key: Uint8Array): Uint8Array | undefined;
  /**
   * Key and value are given away: not changed afterwards. Where a list's head stands (`codec/chunk.ts`), another form
   * of row is put only after `remove`.
   */
  put(key: Uint8Array, value: Uint8Array): void;
  remove(key: Uint8Array): void;
  /** As Snapshot.scan. `visit` must not write. */
  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void;
}

export interface WriteEngine {
  /** One write transaction: all of it durable when this returns, nothing when it throws. Never nested. */
  transact<T>(work: (kv: KeyValue) => T): T;
}

/** Keys and values of a range in memory of their own, at most `limit`. */
export function collectRows(
  kv: KeyValue,
  range: ScanRange,
  limit: number,
): { key: Uint8Array; value: Uint8Array }[] {
  const rows: { key: Uint8Array; value: Uint8Array }[] = [];
  kv.scan(range, (key, value) => {
    rows.push({ key: key.slice(), value: value.slice() });
    return rows.length < limit;
  });
  return rows;
}

/** The state inside a write transaction, read as a snapshot is. */
export function viewAsSnapshot(kv: KeyValue, ts: number, fence: number): Snapshot {
  return {
    ts,
    fence,
    readMany(keys, visit) {
      for (let i = 0; i < keys.length; i++) visit(i, kv.get(keys[i]!));
    },
    scan: (range, visit) => kv.scan(range, visit),
    close() {},
  };
}

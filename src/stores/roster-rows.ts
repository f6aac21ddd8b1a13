/**
 * Rows that say which machines share a log (reference/log 7.8): one for each, by its name. They go with all other rows
 * to every machine; a store that leaves the log, or is made of a backup, has none.
 */
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { globalStorageId, metaKey, prefixRange, readMetaName } from "../codec/key.ts";
import type { Snapshot } from "../store/store.ts";

const prefix = "cluster/";
export const rosterRange = prefixRange(metaKey(globalStorageId, prefix));

export function rosterKey(node: string): Uint8Array {
  return metaKey(globalStorageId, prefix + node);
}

export function isRosterKey(key: Uint8Array): boolean {
  return Buffer.compare(key, rosterRange.start) >= 0 && Buffer.compare(key, rosterRange.end) < 0;
}

/** By their names. For snapshots that answer at once. */
export function readRosterRows(snapshot: Snapshot): ReadonlyMap<string, string> {
  const rows = new Map<string, string>();
  void snapshot.scan(rosterRange, (key, row) => {
    rows.set(readMetaName(key).slice(prefix.length), decodeUtf8(row));
    return true;
  });
  return rows;
}

export function encodeRosterRow(text: string): Uint8Array {
  return encodeUtf8(text);
}

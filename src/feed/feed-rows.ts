/** The commit log's rows as a follower reads them: some at a time, copied, whatever the log holds. */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { globalStorageId, keyKind, kindRange, logKey, readLogKey } from "../codec/key.ts";
import type { Snapshot } from "../store/store.ts";

/** One commit's row (`store/patch-codec.ts`), in memory of its own. */
export interface FeedRow {
  readonly commitTs: number;
  readonly bytes: Uint8Array;
}

type LogPiece =
  | { readonly kind: "rows"; readonly rows: readonly FeedRow[] }
  /** The next row alone is larger than what was asked for: nothing was copied. */
  | { readonly kind: "large"; readonly bytes: number }
  /** The log begins later: what follows is lost to whoever stood at `after`. */
  | { readonly kind: "gone" };

/** Rows of commits behind `after`, without gaps, at most `bytesMax` of them; none at the end of the log. */
export function readLogRows(
  snapshot: Snapshot,
  after: number,
  bytesMax: number,
): MaybePromise<LogPiece> {
  if (after >= snapshot.ts) return { kind: "rows", rows: [] };
  const rows: FeedRow[] = [];
  let bytes = 0;
  let large = 0;
  let next = after + 1;
  const range = { start: logKey(next), end: logKey(snapshot.ts + 1) };
  const read = snapshot.scan(range, (key, row) => {
    if (readLogKey(key) !== next) return false;
    if (bytes + row.length > bytesMax) {
      if (rows.length === 0) large = row.length;
      return false;
    }
    rows.push({ commitTs: next++, bytes: row.slice() });
    bytes += row.length;
    return true;
  });
  return andThen(read, (): LogPiece => {
    if (large > 0) return { kind: "large", bytes: large };
    return rows.length === 0 ? { kind: "gone" } : { kind: "rows", rows };
  });
}

/** The position from which all that is kept can be read. */
export function readOldest(snapshot: Snapshot): MaybePromise<number> {
  let oldest = snapshot.ts;
  const read = snapshot.scan(kindRange(globalStorageId, keyKind.log), (key) => {
    oldest = readLogKey(key) - 1;
    return false;
  });
  return andThen(read, () => oldest);
}

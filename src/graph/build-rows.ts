/** How far index builds have come: one meta row a build, so that it is taken up where it stood and others can see it. */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import { globalStorageId, metaKey, prefixRange } from "../codec/key.ts";
import type { MetaPatch, Snapshot } from "../store/store.ts";

export interface BuildRow {
  readonly namespace: number;
  readonly storageId: number;
  /** The index's id. */
  readonly index: number;
  /** Nodes up to this uid are done. */
  readonly after: number;
  /** How many these are, of how many. */
  readonly done: number;
  readonly total: number;
  /** What is done of those behind them, which are done together. */
  readonly ahead?: number;
  /** All of them: it waits for the schema's commit. */
  readonly isFilled: boolean;
}

const prefix = "building/";

export function buildPatch(row: BuildRow, gone = false): MetaPatch {
  return {
    kind: "meta",
    key: metaKey(globalStorageId, `${prefix}${row.storageId}/${row.index}`),
    value: gone ? undefined : encodeUtf8(JSON.stringify(row)),
    expected: "any",
  };
}

/** Nodes that are done, as far as one can tell. */
export function doneOf({ done, ahead, total }: BuildRow): number {
  return Math.min(total, done + (ahead ?? 0));
}

export function readBuildRows(snapshot: Snapshot): MaybePromise<readonly BuildRow[]> {
  const rows: BuildRow[] = [];
  const range = prefixRange(metaKey(globalStorageId, prefix));
  const read = snapshot.scan(range, (_key, bytes) => {
    rows.push(JSON.parse(decodeUtf8(bytes)) as BuildRow);
    return true;
  });
  return andThen(read, () => rows);
}

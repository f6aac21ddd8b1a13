/**
 * The log of a store (reference/storage 9) as it lies there, read beside its server. What an archive of commits is made
 * of, and what a store is brought forward by.
 */
import { createHash } from "node:crypto";
import { logKey, readLogKey } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import { readCommitFront } from "../store/patch-codec.ts";
import type { Snapshot } from "../store/store.ts";
import { openBesideWriter } from "./lmdb/beside-writer.ts";
import { dataBytes } from "./lmdb/header.ts";
import { inspectStore } from "./lmdb/inspect.ts";
import { unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";

export interface LogRow {
  readonly commitTs: number;
  /** Since 1970, by the writer's clock. */
  readonly committedMs: number;
  /** As it is stored, without its checksum. */
  readonly row: Uint8Array;
}

export interface StoredLog {
  readonly storeId: string;
  /** The newest commit. */
  readonly commitTs: number;
  /**
   * Commits behind `after`, in order, some `bytes` of them or a larger one alone; none where there are no newer ones.
   * undefined: the log no longer reaches back. Fault E_STORE_CORRUPT where it is damaged.
   */
  read(after: number, bytes: number): readonly LogRow[] | undefined;
  close(): Promise<void>;
}

/** Of one state, held until it is closed. Fault E_STARTUP where there is no store, or its writer does not answer. */
export async function openStoredLog(
  dir: string,
  encryption?: UserKey,
  answerMs = 10_000,
): Promise<StoredLog> {
  const header = inspectStore(dir);
  if (header === undefined || dataBytes(dir) === 0) {
    throw new Fault("E_STARTUP", `there is no store at ${dir}`);
  }
  const { storeId } = header;
  const cipher = unlockStore(dir, header, encryption);
  const environment = await openBesideWriter({ dir, storeId, answerMs, cipher });
  const snapshot = environment.snapshot();
  return {
    storeId,
    commitTs: snapshot.ts,
    read: (after, bytes) => readRows(snapshot, after, bytes),
    async close() {
      snapshot.close();
      await environment.close();
    },
  };
}

function readRows(snapshot: Snapshot, after: number, bytes: number): LogRow[] | undefined {
  const rows: LogRow[] = [];
  if (after === snapshot.ts) return rows;
  let left = bytes;
  let isWhole = after < snapshot.ts;
  void snapshot.scan({ start: logKey(after + 1), end: logKey(snapshot.ts + 1) }, (key, bytesOf) => {
    const commitTs = readLogKey(key);
    isWhole = commitTs === after + 1 + rows.length;
    if (!isWhole) return false;
    const row = bytesOf.slice();
    rows.push({ commitTs, committedMs: readCommitFront(row).committedMs, row });
    left -= row.length;
    return left > 0;
  });
  return isWhole && rows.length > 0 ? rows : undefined;
}

/** In hexadecimal. Two histories of a store that part have different ones for one commit. */
export function hashLogRow(row: Uint8Array): string {
  return createHash("sha256").update(row).digest("hex");
}

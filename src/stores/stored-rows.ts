/**
 * All rows of one state as they are stored, with their checksums: read from the data file itself, page by page, beside a
 * server that goes on writing. What a backup holds, and what a store is made of again.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { equalBytes } from "../base/bytes.ts";
import { globalStorageId, keyKind, kindRange } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot } from "../store/store.ts";
import { claimBulkPlace } from "./bulk-store.ts";
import { decodeState, stateKey } from "./commit/state.ts";
import { LogReplay } from "./log-replay.ts";
import { isIntact } from "./lmdb/checksum.ts";
import { withoutChecksum } from "./lmdb/database.ts";
import { positionKey } from "./lmdb/engine.ts";
import { Environment } from "./lmdb/environment.ts";
import { createKeys, unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";
import { openBesideWriter } from "./lmdb/beside-writer.ts";
import { dataBytes, dataName, writeClosed } from "./lmdb/header.ts";
import { inspectStore } from "./lmdb/inspect.ts";
import { readMetaOf } from "./lmdb/meta-pages.ts";
import { walkPages } from "./lmdb/page-walk.ts";
import { PageDamage } from "./lmdb/pages.ts";
import { SpareRoom } from "./lmdb/spare-room.ts";
import { isRosterKey } from "./roster-rows.ts";
import { hashLogRow } from "./stored-log.ts";

/** Lent to whoever is called with it. */
export interface StoredRow {
  readonly key: Uint8Array;
  /** With its checksum. */
  readonly stored: Uint8Array;
}

export interface StoredRows {
  readonly storeId: string;
  /** How much of them was read, from 0 to 1; of an encrypted store by the bytes of its blocks. */
  readonly share: number;
  /** The newest commit of what was read so far. */
  readonly commitTs: number;
  /** Of the log's newest entry among what was read so far (`hashLogRow`); "": there was none. */
  readonly logHash: string;
  /** Gives rows in the order of their keys, some `bytes` of them at a time; false: there are no more. */
  read(bytes: number, visit: (row: StoredRow) => void): boolean;
  close(): Promise<void>;
}

/**
 * One state of a store, held until it is closed. Fault E_STARTUP where there is none; E_STORE_CORRUPT, also from `read`,
 * where it is damaged.
 */
export async function openStoredRows(
  dir: string,
  encryption?: UserKey,
  answerMs = 10_000,
): Promise<StoredRows> {
  const header = inspectStore(dir);
  if (header === undefined || dataBytes(dir) === 0) {
    throw new Fault("E_STARTUP", `there is no store at ${dir}`);
  }
  const { storeId } = header;
  const cipher = unlockStore(dir, header, encryption);
  const environment = await openBesideWriter({ dir, storeId, answerMs, cipher });
  if (cipher !== undefined) return readSealedRows(dir, storeId, environment);
  const pin = environment.pin();
  const file = environment.dataFile;
  // No older than the pinned state, so none of its pages is overwritten.
  const meta = readMetaOf(file);
  let from: Uint8Array | undefined;
  let commitTs = 0;
  let newestEntry: Buffer | undefined;
  let count = 0;
  return {
    storeId,
    get share() {
      return shareOf(count, meta?.rows ?? 0);
    },
    get commitTs() {
      return commitTs;
    },
    get logHash() {
      return newestEntry === undefined ? "" : hashLogRow(newestEntry);
    },
    read(bytes, visit) {
      if (meta === undefined) return false;
      let left = bytes;
      const onRow = (key: Buffer, stored: Buffer): void => {
        left -= key.length + stored.length;
        count++;
        if (equalBytes(key, stateKey)) commitTs = decodeState(withoutChecksum(stored)).commitTs;
        else if (isLogKey(key)) newestEntry = Buffer.from(withoutChecksum(stored));
        visit({ key, stored });
      };
      try {
        const start = from === undefined ? {} : { from };
        const walked = walkPages(file, meta, {
          isDeep: true,
          isRowsOnly: true,
          onRow,
          isEnough: () => left <= 0,
          ...start,
        });
        from = walked.next;
        return from !== undefined;
      } catch (error) {
        if (!(error instanceof PageDamage)) throw error;
        throw new Fault("E_STORE_CORRUPT", `the store at ${dir} is damaged: ${error.message}`);
      }
    },
    async close() {
      pin.release();
      await environment.close();
    },
  };
}

/** Of an encrypted store: through its blocks. */
function readSealedRows(dir: string, storeId: string, environment: Environment): StoredRows {
  const held = environment.hold();
  const bytesUsed = environment.bytesUsed();
  let from: Uint8Array | undefined;
  let commitTs = 0;
  let newestEntry: Uint8Array | undefined;
  let bytesRead = 0;
  return {
    storeId,
    get share() {
      return shareOf(bytesRead, bytesUsed);
    },
    get commitTs() {
      return commitTs;
    },
    get logHash() {
      return newestEntry === undefined ? "" : hashLogRow(newestEntry);
    },
    read(bytes, visit) {
      let left = bytes;
      let next: Uint8Array | undefined;
      held.visit(from, (key, stored) => {
        if (left <= 0) {
          next = key.slice();
          return false;
        }
        left -= key.length + stored.length;
        bytesRead += key.length + stored.length;
        if (equalBytes(key, stateKey)) commitTs = decodeState(withoutChecksum(stored)).commitTs;
        else if (isLogKey(key)) newestEntry = withoutChecksum(stored).slice();
        visit({ key, stored });
        return true;
      });
      from = next;
      return next !== undefined;
    },
    async close() {
      held.release();
      await environment.close();
    },
  };
}

function shareOf(done: number, total: number): number {
  return Math.min(1, done / Math.max(1, total));
}

const logRange = kindRange(globalStorageId, keyKind.log);

function isLogKey(key: Uint8Array): boolean {
  return Buffer.compare(key, logRange.start) >= 0 && Buffer.compare(key, logRange.end) < 0;
}

/** A store that is made aside of stored rows, and comes to its place when all are in it. */
export interface StoreOfRows {
  /** In the order of keys pages become full. Fault E_STORE_CORRUPT for a row that is not what was stored. */
  put(rows: readonly StoredRow[]): void;
  /** What is in it now. */
  snapshot(): Snapshot;
  /** Brings it forward, when all rows are in it. */
  replay(): LogReplay;
  /** Gives it a new identity; its bytes. `complete` does what is left with the store at a directory, closing it again. */
  finish(complete: (dir: string) => Promise<void>): Promise<number>;
  abandon(): Promise<void>;
}

const asideName = "restore.new";

/** Fault E_STARTUP where `dir` holds anything, or somebody makes a store there. */
export async function makeStoreOfRows(dir: string, encryption?: UserKey): Promise<StoreOfRows> {
  const made = await claimBulkPlace(dir, asideName);
  const { aside } = made;
  const cipher = encryption === undefined ? undefined : createKeys(aside, encryption);
  const room = new SpareRoom(dir, {
    purpose: `make the store at ${dir}`,
    outcome: "nothing is left of it",
  });
  const environment = new Environment({ dir: aside, noSync: true, cipher, room });
  return {
    put(rows) {
      const odd = rows.find(({ key, stored }) => !isIntact(key, stored));
      if (odd !== undefined) {
        throw new Fault("E_STORE_CORRUPT", "a row of the backup is not what was stored");
      }
      environment.putRows((put) => {
        for (const { key, stored } of rows) {
          // A machine's place in a log, and who shares it, are not those of a store of another identity.
          if (!equalBytes(key, positionKey) && !isRosterKey(key)) put(key, stored);
        }
      });
    },
    snapshot: () => environment.snapshot(),
    replay: () => new LogReplay(environment.writeEngine()),
    async finish(complete) {
      await environment.close();
      const data = fs.openSync(join(aside, dataName), "r+");
      fs.fsyncSync(data);
      fs.closeSync(data);
      writeClosed(aside, randomBytes(16).toString("hex"));
      await complete(aside);
      const bytes = made.place();
      await made.release();
      return bytes;
    },
    async abandon() {
      await environment.close();
      made.abandon();
      await made.release();
    },
  };
}

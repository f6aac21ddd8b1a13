/**
 * `weft compact`: a store that no server serves is written anew in the order of its keys, so that its file has no free
 * pages and its pages are full. The new file is made aside and comes in the place of the old one in one rename: a stop at
 * any moment leaves the old store or the new one.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../model/fault.ts";
import { claimServing } from "./claim.ts";
import { Environment } from "./lmdb/environment.ts";
import { asideName } from "./lmdb/exchange.ts";
import {
  dataBytes,
  dataName,
  readHeader,
  syncDirectory,
  writeClosed,
  writeOpen,
} from "./lmdb/header.ts";
import { findSources, type Source } from "./lmdb/salvage.ts";
import { SpareRoom } from "./lmdb/spare-room.ts";
import { claimForWriting } from "./lmdb/writing-claim.ts";
import type { StoreCipher } from "./sealed/store-cipher.ts";
import { addDataKey, forgetOldKeys, unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";

export interface Compacted {
  readonly rows: number;
  /** Of the data file. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

const batchRows = 2000;

export interface CompactProgress {
  /** How much of it is written, from 0 to 1, and how many rows. */
  readonly onProgress: (share: number, rows: number) => void;
}

interface CompactOptions extends CompactProgress {
  /** The key of a store that is encrypted. */
  readonly encryption?: UserKey | undefined;
  /** Of a store that is encrypted: all of it is sealed anew, under a new data key. */
  readonly isRewrite?: boolean;
}

/**
 * Fault E_STARTUP where a server has the store open, or it was not closed
 * in order, or the disk has no room beside it; E_STORE_CORRUPT where it is damaged. Nothing was changed then.
 */
export async function compactStore(
  dir: string,
  { onProgress, encryption, isRewrite = false }: CompactOptions,
): Promise<Compacted> {
  if (!fs.existsSync(join(dir, dataName))) {
    throw new Fault("E_STARTUP", `there is no store at ${dir}: ${dataName} is missing`);
  }
  const serving = await claimServing(dir);
  const writing = await claimForWriting(dir, 0);
  const aside = join(dir, asideName);
  try {
    if (writing === undefined) {
      throw new Fault("E_STARTUP", `the store at ${dir} is open: another process writes to it`);
    }
    const header = readHeader(dir);
    const { storeId, state } = header;
    const cipher = unlockStore(dir, header, encryption);
    if (state !== "closed") {
      throw new Fault(
        "E_STARTUP",
        `the store at ${dir} was not closed in order: start the server and end it, then compact`,
      );
    }
    const bytesBefore = dataBytes(dir);
    const source = findWholeSource(dir, cipher);
    fs.rmSync(aside, { recursive: true, force: true });
    const room = compactionRoom(dir);
    // The new file is no larger than the old one.
    room.need(bytesBefore);
    fs.mkdirSync(aside, { mode: 0o700 });
    const key = isRewrite ? encryption : undefined;
    // From here on a start may seal with the new key; each block is opened by the one that it was sealed with.
    const sealing = key === undefined ? cipher : addDataKey(dir, key);
    const visit =
      cipher === undefined ? (onRow: OnRow) => source.visit(onRow) : inOrder(dir, cipher);
    const target = new Environment({ dir: aside, noSync: true, cipher: sealing, room });
    const rows = await copyRows(target, aside, visit, (count) =>
      onProgress(Math.min(1, count / source.rows), count),
    );
    exchange(dir, aside, storeId);
    if (key !== undefined) forgetOldKeys(dir, key);
    return { rows, bytesBefore, bytesAfter: dataBytes(dir) };
  } finally {
    fs.rmSync(aside, { recursive: true, force: true });
    await writing?.release();
    await serving.release();
  }
}

/** Rows of an encrypted store, through its blocks. */
function inOrder(dir: string, cipher: StoreCipher): VisitRows {
  return async (onRow) => {
    const environment = new Environment({ dir, readOnly: true, cipher });
    const held = environment.hold();
    held.visit(undefined, (key, stored) => {
      onRow(Buffer.from(key), Buffer.from(stored));
      return true;
    });
    held.release();
    await environment.close();
  };
}

function findWholeSource(dir: string, cipher: StoreCipher | undefined): Source {
  const [source] = findSources(dir, () => {}, cipher);
  const loss = source === undefined ? `${dataName} has no meta page` : source.losses[0];
  if (source !== undefined && loss === undefined) return source;
  throw new Fault("E_STORE_CORRUPT", `the store at ${dir} is damaged: ${loss}; see "weft check"`);
}

/** Beside a store. */
export function compactionRoom(dir: string): SpareRoom {
  return new SpareRoom(dir, { purpose: `compact ${dir}`, outcome: "the store is as it was" });
}

type OnRow = (key: Buffer, stored: Buffer) => void;
type VisitRows = (onRow: OnRow) => void | Promise<void>;

async function copyRows(
  environment: Environment,
  aside: string,
  visit: VisitRows,
  onProgress: (rows: number) => void,
): Promise<number> {
  const batch: { key: Buffer; stored: Buffer }[] = [];
  let rows = 0;
  const flush = (): void => {
    environment.putRows((put) => {
      for (const { key, stored } of batch) put(key, stored);
    });
    batch.length = 0;
    onProgress(rows);
  };
  try {
    await visit((key, stored) => {
      batch.push({ key: Buffer.from(key), stored: Buffer.from(stored) });
      rows++;
      if (batch.length >= batchRows) flush();
    });
    flush();
  } finally {
    await environment.close();
  }
  const data = fs.openSync(join(aside, dataName), "r+");
  fs.fsyncSync(data);
  fs.closeSync(data);
  return rows;
}

/**
 * While the header says "unjournaled" a start takes whichever data file is there: the old one until the rename, the new
 * one from then on. Both are whole and synced, and hold the same.
 */
function exchange(dir: string, aside: string, storeId: string): void {
  writeOpen(dir, storeId, "unjournaled");
  fs.renameSync(join(aside, dataName), join(dir, dataName));
  fs.rmSync(join(dir, "lock.mdb"), { force: true });
  syncDirectory(dir);
  writeClosed(dir, storeId);
}

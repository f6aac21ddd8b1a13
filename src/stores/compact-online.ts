/**
 * `weft compact` beside a running server (decision 0133). This process reads one state of the data file, row by row, and
 * writes it anew in the order of the keys; then it applies what the writer has noted since, until little is left. In a
 * pause the last of it follows, and the writer lets the new file take the place of the old one (`lmdb/compaction.ts`).
 * Rows are LMDB's own: those of an encrypted store are sealed blocks, and stay so.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { DiskRoom } from "./disk-room.ts";
import { openWhilePaused } from "./lmdb/beside-writer.ts";
import { readChangedRows } from "./lmdb/changed-rows.ts";
import { isAnswered } from "./lmdb/claim.ts";
import { Environment } from "./lmdb/environment.ts";
import { asideName, changesName } from "./lmdb/exchange.ts";
import { dataBytes, dataName } from "./lmdb/header.ts";
import { inspectStore } from "./lmdb/inspect.ts";
import { openLinkAddress } from "./lmdb/link-address.ts";
import { LinkClient } from "./lmdb/link-client.ts";
import { encodeNumbers, frameKind } from "./lmdb/link-protocol.ts";
import { readMetaOf } from "./lmdb/meta-pages.ts";
import { walkPages } from "./lmdb/page-walk.ts";
import { PageDamage } from "./lmdb/pages.ts";
import { compactionRoom, type Compacted, type CompactProgress } from "./compact.ts";

/** Rows are put in transactions of so many bytes. */
const batchBytes = 1024 * 1024;
/** So much is written between two syncs of the copy: one of all of it would keep those of the server waiting. */
const syncBytes = 32 * 1024 * 1024;
/** With less left the writer is asked to pause. */
const restBytesMax = 256 * 1024;
/** Rounds of applying before it is asked for a pause all the same. */
const roundsMax = 30;
/** Tries to exchange the files, while another process of the server cannot take part, and the wait between them. */
const triesMax = 20;
const retryMs = 500;
const answerMs = 15_000;

export async function hasWriter(dir: string): Promise<boolean> {
  if (!fs.existsSync(join(dir, dataName))) return false;
  const address = openLinkAddress(dir);
  try {
    return await isAnswered(address.path);
  } finally {
    address.close();
  }
}

interface OnlineProgress {
  /** As of `CompactProgress`; what is to be copied waits for it. */
  readonly onProgress: (...told: Parameters<CompactProgress["onProgress"]>) => void | Promise<void>;
}

/**
 * Fault E_STARTUP where there is no room, or the server cannot take part; E_STORE_CORRUPT where the store is damaged.
 * The store is as it was then.
 */
export async function compactBesideServer(
  dir: string,
  { onProgress }: OnlineProgress,
): Promise<Compacted> {
  const header = inspectStore(dir);
  if (header === undefined) throw new Fault("E_STARTUP", `there is no store at ${dir}`);
  let isBegun = false;
  let isLost = false;
  const client = new LinkClient({
    dir,
    storeId: header.storeId,
    waitMs: answerMs,
    onNotice() {},
    onLost: () => (isLost = isBegun),
  });
  // What another one commits is noted nowhere.
  const checkWriter = (): void => {
    if (isLost) throw refuse("has ended meanwhile; the store is as it was");
  };
  try {
    const bytesBefore = dataBytes(dir);
    checkRoom(dir);
    await client.askNumbers(frameKind.compactBegin, encodeNumbers());
    isBegun = true;
    const copy = new Copy(dir, checkWriter);
    let rows: number;
    try {
      rows = await copyState(client, copy, onProgress);
      await exchange(client, copy);
    } finally {
      await copy.leave();
    }
    return { rows, bytesBefore, bytesAfter: dataBytes(dir) };
  } finally {
    client.close();
  }
}

/** The new file is no larger than what the old one holds, and the server's share of the disk is left to it. */
function checkRoom(dir: string): void {
  const meta = readMetaOf(join(dir, dataName));
  const used = ((meta?.lastPage ?? 0) + 1) * (meta?.pageBytes ?? 0);
  compactionRoom(dir).need(Math.min(dataBytes(dir), used));
  const room = new DiskRoom(dir, systemClock, undefined);
  if (room.isShort) throw refuseShort(dir, room);
}

function refuseShort(dir: string, room: DiskRoom): Fault {
  const words = `no room to compact ${dir}: ${room.explain()}; the store is as it was`;
  return new Fault("E_STARTUP", words);
}

/** The new file, in the folder that the writer has made. */
class Copy {
  readonly changes: string;
  readonly #store: string;
  readonly #dir: string;
  readonly #room: DiskRoom;
  #environment: Environment | undefined = undefined;
  readonly #checkWriter: () => void;
  #unsynced = 0;

  /** `checkWriter` throws where nobody takes the copy any more. */
  constructor(dir: string, checkWriter: () => void) {
    this.#checkWriter = checkWriter;
    this.#store = dir;
    this.#dir = join(dir, asideName);
    this.changes = join(this.#dir, changesName);
    this.#room = new DiskRoom(dir, systemClock, undefined);
  }

  /** One transaction. */
  async put(fill: Parameters<Environment["putRows"]>[0], bytes: number): Promise<void> {
    this.#checkWriter();
    if (this.#room.isShort) throw refuseShort(this.#store, this.#room);
    this.#environment ??= new Environment({
      dir: this.#dir,
      noSync: true,
      room: compactionRoom(this.#store),
    });
    this.#environment.putRows(fill);
    this.#unsynced += bytes;
    if (this.#unsynced >= syncBytes) await this.#sync();
  }

  /** All of it is on the disk, and no process has it open. */
  async close(): Promise<void> {
    await this.leave();
    await this.#sync();
  }

  /** As it is. */
  async leave(): Promise<void> {
    await this.#environment?.close();
    this.#environment = undefined;
  }

  async #sync(): Promise<void> {
    this.#unsynced = 0;
    const file = fs.openSync(join(this.#dir, dataName), "r+");
    try {
      await promisify(fs.fdatasync)(file);
    } finally {
      fs.closeSync(file);
    }
  }
}

interface Batch {
  readonly rows: { readonly key: Buffer; readonly stored: Buffer }[];
  bytes: number;
}

/** One state, which is no older than the changes that are noted. How many rows it has. */
async function copyState(
  client: LinkClient,
  copy: Copy,
  onProgress: OnlineProgress["onProgress"],
): Promise<number> {
  const { dir } = client;
  const source = await openWhilePaused(client, dir, undefined);
  const pin = source.pin();
  try {
    const meta = readMetaOf(source.dataFile);
    if (meta === undefined) throw damaged(dir, `${dataName} has no meta page`);
    let from: Uint8Array | undefined;
    let rows = 0;
    do {
      const batch: Batch = { rows: [], bytes: 0 };
      const { next } = walkPages(source.dataFile, meta, {
        isDeep: true,
        isRowsOnly: true,
        ...(from === undefined ? {} : { from }),
        isEnough: () => batch.bytes >= batchBytes,
        onRow: (key, stored) => {
          batch.rows.push({ key: Buffer.from(key), stored: Buffer.from(stored) });
          batch.bytes += key.length + stored.length;
        },
      });
      from = next;
      await copy.put((put) => {
        for (const { key, stored } of batch.rows) put(key, stored);
      }, batch.bytes);
      rows += batch.rows.length;
      await onProgress(rows / meta.rows, rows);
      await nextTurn();
    } while (from !== undefined);
    return rows;
  } catch (error) {
    throw error instanceof PageDamage ? damaged(dir, error.message) : error;
  } finally {
    pin.release();
    await source.close();
  }
}

/** What was committed meanwhile follows until the writer says that nothing is left, and that the copy is the store. */
async function exchange(client: LinkClient, copy: Copy): Promise<void> {
  const changes = openChanges(copy);
  try {
    let applied = 0;
    for (let round = 0; round < roundsMax; round++) {
      const end = await applyChanges(copy, changes, applied);
      const isLittle = end - applied < restBytesMax;
      applied = end;
      if (isLittle) break;
    }
    await copy.close();
    for (let tries = 0; tries < triesMax;) {
      const [isDone, bytes = 0] = await client.askNumbers(
        frameKind.compactExchange,
        encodeNumbers(applied),
      );
      if (isDone === 1) return;
      if (bytes === applied) {
        tries++;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
        continue;
      }
      applied = await applyChanges(copy, changes, applied);
      await copy.close();
    }
  } finally {
    fs.closeSync(changes);
  }
  throw new Fault(
    "E_STARTUP",
    `the store at ${client.dir} is not compacted: one of the server's processes does not answer`,
  );
}

function openChanges({ changes }: Copy): number {
  try {
    return fs.openSync(changes, "r");
  } catch (error) {
    if (fs.existsSync(changes)) throw error;
    // A writer that begins clears what a compaction before it has left.
    throw refuse("was started anew meanwhile");
  }
}

/** All that is noted from `from` on; where it ends. */
async function applyChanges(copy: Copy, changes: number, from: number): Promise<number> {
  let at = from;
  for (;;) {
    let next = at;
    await copy.put((put) => {
      next = readChangedRows(changes, at, { bytesMax: batchBytes, put });
    }, batchBytes);
    if (next === at) return at;
    at = next;
    await nextTurn();
  }
}

function refuse(what: string): Fault {
  const words = `the store cannot be compacted: the process that writes to the store ${what}`;
  return new Fault("E_STARTUP", words);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function damaged(dir: string, loss: string): Fault {
  return new Fault("E_STORE_CORRUPT", `the store at ${dir} is damaged: ${loss}; see "weft check"`);
}

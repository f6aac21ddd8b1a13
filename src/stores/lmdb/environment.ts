/** LMDB as the readers see it: snapshots, and what pins them. */
import * as fs from "node:fs";
import { join } from "node:path";
import { assert, must } from "../../base/assert.ts";
import type { Logger } from "../../base/log.ts";
import type { ScanRange, Snapshot } from "../../store/store.ts";
import { decodeState, stateKey } from "../commit/state.ts";
import { SealedDatabase } from "../sealed/sealed-database.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import { checksumBytes, isIntact } from "./checksum.ts";
import {
  corrupt,
  firstKey,
  lastKey,
  openDatabase,
  putRows,
  walkRows,
  withoutChecksum,
  type Database,
  type PutRow,
  type ReadTransaction,
  type RowSource,
  type Trust,
} from "./database.ts";
import type { ChangedRows } from "./changed-rows.ts";
import { LmdbEngine, type EngineJournal } from "./engine.ts";
import { headRowKey, isStub, stubRow } from "./head-rows.ts";
import { dataName } from "./header.ts";
import {
  LockedTransaction,
  OwnTransactions,
  type NewestTransaction,
} from "./newest-transaction.ts";
import { readValue, scanRows } from "./rows.ts";
import { storeReads } from "./read-metrics.ts";
import type { SpareRoom } from "./spare-room.ts";

interface EnvironmentOptions {
  readonly dir: string;
  readonly readOnly?: boolean;
  /** Commits are not synced: a journal holds them, or a test needs none of it. */
  readonly noSync?: boolean;
  /** Of a store that is encrypted. */
  readonly cipher?: StoreCipher | undefined;
  /** Of a store that is made aside. */
  readonly room?: SpareRoom;
}

/** What a commit's pages are held by: until the release none of them is overwritten. */
export interface Pin {
  release(): void;
}

interface HeldRows extends Pin {
  /** In the order of their keys, from `from` on, for as long as `visit` says so. Lent. */
  visit(
    from: Uint8Array | undefined,
    visit: (key: Uint8Array, stored: Uint8Array) => boolean,
  ): void;
}

/** More are not told one by one. */
const damagesMax = 1000;

/** A data file that is open. */
interface OpenFile {
  readonly db: Database;
  readonly newest: NewestTransaction;
  /** For what is read without LMDB: whatever its path leads to by now. */
  readonly handle: number;
  /** Transactions that read it. */
  uses: number;
}

/** Another file with the same rows, that is to take the place of the one that is open. */
export interface OtherFile {
  readonly commitTs: number;
  /** All that begins from now on is read from it and written to it; what has begun ends on the one before. */
  use(): void;
  close(): Promise<void>;
}

export class Environment {
  private file: OpenFile;
  /** Files of before that are still read. */
  private readonly left = new Set<OpenFile>();
  private readonly options: EnvironmentOptions;
  private readonly dir: string;
  private readonly own: OwnTransactions | undefined;
  private engine: LmdbEngine | undefined = undefined;
  private changed: ChangedRows | undefined = undefined;
  private shared: SharedRead | undefined = undefined;
  private isLettingGo = false;
  private isClosed = false;
  /** Of this process. */
  readonly trust: Trust = { isVerified: false, isOrdered: false };
  /** What was found to be damaged, in words. */
  private readonly damages = new Set<string>();

  constructor(options: EnvironmentOptions) {
    this.options = options;
    this.dir = options.dir;
    this.own = options.readOnly === true ? undefined : new OwnTransactions();
    this.file = this.open(options.dir);
  }

  private open(dir: string): OpenFile {
    const { readOnly = false, noSync = false, cipher } = this.options;
    const database = openDatabase(dir, { readOnly, noSync });
    const db = cipher === undefined ? database : new SealedDatabase(database, cipher);
    const newest = this.own ?? new LockedTransaction(dir, db.env.info().lastTxnId);
    return { db, newest, handle: fs.openSync(join(dir, dataName), "r"), uses: 0 };
  }

  /** The data file, for who reads it without LMDB. Lent. */
  get dataFile(): number {
    return this.file.handle;
  }

  /** Whether the directory still has the data file that is open. */
  get isInPlace(): boolean {
    const { dev, ino } = fs.fstatSync(this.file.handle, { bigint: true });
    const now = fs.statSync(join(this.dir, dataName), { bigint: true, throwIfNoEntry: false });
    return now?.dev === dev && now.ino === ino;
  }

  /** Nobody may write to this file or to that one. Fault E_STORE_CORRUPT where what it says of itself is damaged. */
  openOther(dir: string): OtherFile {
    const file = this.open(dir);
    const { db } = file;
    // Without a transaction a database is the writer's: what it keeps of an encrypted store would stay the newest.
    const transaction = db.useReadTransaction();
    const source = { db, trust: this.trust, options: { transaction } };
    const { commitTs } = decodeState(readValue(source, stateKey));
    transaction.done();
    let isUsed = false;
    return {
      commitTs,
      use: () => {
        isUsed = true;
        this.exchange(file);
      },
      close: async () => {
        if (!isUsed) await this.closeFile(file);
      },
    };
  }

  private exchange(file: OpenFile): void {
    assert(!this.isClosed, "a closed store takes no file");
    const { shared, file: before } = this;
    this.shared = undefined;
    this.file = file;
    this.engine?.writeTo(file.db);
    file.db.onPut = before.db.onPut;
    this.left.add(before);
    before.uses++;
    if (shared?.count === 0) this.end(shared);
    this.leave(before);
  }

  private leave(file: OpenFile): void {
    if (--file.uses > 0 || !this.left.delete(file)) return;
    void this.closeFile(file);
  }

  private async closeFile({ db, newest, handle }: OpenFile): Promise<void> {
    if (newest !== this.own) newest.close();
    fs.closeSync(handle);
    await db.close();
  }

  /** Each row that is put or removed is noted there from now on; undefined: no more. */
  noteChanges(changed: ChangedRows | undefined): void {
    this.changed = changed;
    this.file.db.onPut =
      changed === undefined ? undefined : (key, stored) => changed.add(key, stored);
  }

  /** The newest committed state. One LMDB snapshot serves all that open the same one while it is in use. */
  snapshot(): Snapshot {
    assert(!this.isClosed, "a closed store gives no snapshots");
    // Read before the renewal, which gives this one or a newer one: while it is the newest, both are the same.
    const newest = this.file.newest.read();
    let { shared } = this;
    if (shared === undefined || newest === undefined || shared.newest !== newest) {
      const before = shared;
      shared = this.shared = this.renew(newest);
      if (before?.count === 0) this.end(before);
    }
    shared.count++;
    return new LmdbSnapshot(shared, (read) => this.release(read));
  }

  private renew(newest: number | undefined): SharedRead {
    const { file, trust } = this;
    const { db } = file;
    // Without the reset 39 % of reads after an acknowledged commit of another process missed it.
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const source = { db, trust, options: { transaction } };
    try {
      const { commitTs, fence, slotsVersion } = decodeState(readValue(source, stateKey));
      file.uses++;
      return { ts: commitTs, fence, slotsVersion, newest, count: 0, source, file };
    } catch (error) {
      transaction.done();
      throw error;
    }
  }

  /** What nobody reads is kept to the end of the turn: the next request of the turn mostly finds nothing newer. */
  private release(shared: SharedRead): void {
    if (--shared.count > 0) return;
    if (this.shared !== shared || shared.newest === undefined) {
      if (this.shared === shared) this.shared = undefined;
      this.end(shared);
    } else if (!this.isLettingGo) {
      this.isLettingGo = true;
      setImmediate(() => this.letGo());
    }
  }

  private letGo(): void {
    this.isLettingGo = false;
    const { shared } = this;
    if (shared === undefined || shared.count > 0) return;
    this.shared = undefined;
    this.end(shared);
  }

  private end({ source, file }: SharedRead): void {
    if (this.isClosed) return;
    source.options.transaction.done();
    this.leave(file);
  }

  /** Rows and pages that were found to be damaged while nobody asked for them. */
  get damageCount(): number {
    return this.damages.size;
  }

  /** Tells of it once. */
  noteDamage(what: string, logger: Logger): void {
    if (this.damages.has(what) || this.damages.size >= damagesMax) return;
    this.damages.add(what);
    this.trust.isVerified = false;
    logger.error("the store is damaged", { what });
  }

  /** One look at the newest state. */
  read<T>(use: (snapshot: Snapshot) => T): T {
    const snapshot = this.snapshot();
    try {
      return use(snapshot);
    } finally {
      snapshot.close();
    }
  }

  /** The process's writer; for one process at a time (claim.ts). */
  writeEngine(journal?: EngineJournal): LmdbEngine {
    const { dir, trust } = this;
    const { db } = this.file;
    const putRowsOf = (fill: (put: PutRow) => void): void => this.putRows(fill);
    this.engine = new LmdbEngine({ db, dir, trust, journal, putRows: putRowsOf });
    return this.engine;
  }

  /** One transaction. Rows as a journal holds them: with their checksums, heads where they lie. */
  putRows(fill: (put: PutRow) => void): void {
    const { room } = this.options;
    const filled = room === undefined ? fill : (put: PutRow) => room.fill(fill, put);
    try {
      putRows(this.file.db, filled);
      this.changed?.keep();
    } catch (error) {
      throw room === undefined ? error : room.translate(error);
    } finally {
      this.changed?.drop();
      this.own?.note();
    }
  }

  /** Pins the newest commit. */
  pin(): Pin {
    const { db } = this.file;
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    // The first read takes the state.
    db.getBinaryFast(stateKey, { transaction });
    return this.pinOf(transaction);
  }

  private pinOf(transaction: ReadTransaction): Pin {
    const { file } = this;
    file.uses++;
    return {
      release: () => {
        if (this.isClosed) return;
        transaction.done();
        this.leave(file);
      },
    };
  }

  /** Pins the newest commit, and reads its rows with their checksums, which are verified. Fault E_STORE_CORRUPT. */
  hold(): HeldRows {
    const { trust } = this;
    const { db } = this.file;
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const source = { db, trust, options: { transaction } };
    return {
      ...this.pinOf(transaction),
      visit: (from, visit) => scanRows(source, { start: from ?? firstKey, end: lastKey }, visit),
    };
  }

  get pageBytes(): number {
    return Number(this.file.db.getStats()["pageSize"]);
  }

  /** Clears the places of readers that died; they pin pages until then. */
  readerCheck(): number {
    return this.file.db.readerCheck();
  }

  /** Bytes in use, without free pages. */
  bytesUsed(): number {
    const stats = this.file.db.getStats();
    const pages =
      Number(stats["treeBranchPageCount"]) +
      Number(stats["treeLeafPageCount"]) +
      Number(stats["overflowPages"]);
    return pages * Number(stats["pageSize"]);
  }

  entryCount(): number {
    return Number(this.file.db.getStats()["entryCount"]);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.left, this.file].map((file) => this.closeFile(file)));
    this.left.clear();
    this.own?.close();
  }
}

interface SharedRead {
  readonly ts: number;
  readonly fence: number;
  readonly slotsVersion: number;
  /** LMDB's number of it; undefined where that is not known. */
  readonly newest: number | undefined;
  count: number;
  readonly source: RowSource & { readonly options: { readonly transaction: ReadTransaction } };
  readonly file: OpenFile;
}

/** As readValue; of a stub the head that it stands for. */
function readRow(source: RowSource, key: Uint8Array): Uint8Array | undefined {
  const row = readValue(source, key);
  if (row === undefined || !isStub(key, row)) return row;
  const head = readValue(source, headRowKey(key));
  if (head === undefined) throw corrupt(key);
  return head;
}

class LmdbSnapshot implements Snapshot {
  readonly ts: number;
  readonly fence: number;
  readonly slotsVersion: number;
  private readonly shared: SharedRead;
  private readonly release: (shared: SharedRead) => void;
  private isOpen = true;

  constructor(shared: SharedRead, release: (shared: SharedRead) => void) {
    this.shared = shared;
    this.release = release;
    this.ts = shared.ts;
    this.fence = shared.fence;
    this.slotsVersion = shared.slotsVersion;
  }

  readMany(
    keys: readonly Uint8Array[],
    visit: (i: number, bytes: Uint8Array | undefined) => void,
  ): void {
    assert(this.isOpen, "a closed snapshot is not read");
    const { source } = this.shared;
    storeReads.rows += keys.length;
    for (let i = 0; i < keys.length; i++) {
      const row = readRow(source, must(keys[i], "within bounds"));
      if (row !== undefined) storeReads.bytes += row.length;
      visit(i, row);
    }
  }

  scan(range: ScanRange, visit: (key: Uint8Array, bytes: Uint8Array) => boolean): void {
    assert(this.isOpen, "a closed snapshot is not read");
    const { source } = this.shared;
    scanRows(source, range, (lentKey, stored) => {
      const row = withoutChecksum(stored);
      storeReads.rows++;
      storeReads.bytes += row.length;
      if (!isStub(lentKey, row)) return visit(lentKey, row);
      const key = lentKey.slice();
      return visit(key, must(readRow(source, key), "a stub has its head"));
    });
  }

  /** Rows as they lie there, stubs as the heads that they stand for; `problem` of one that is damaged. For `weft check`. */
  scanStored(
    range: ScanRange,
    visit: (key: Uint8Array, row: Uint8Array, problem: string | undefined) => boolean,
  ): void {
    const { source } = this.shared;
    const onDamage = ({ message }: Error, from: Uint8Array): void => {
      void visit(from, nothing, `${message}, with the rows from here on that lie in it`);
    };
    walkRows(source, { ...range, onDamage }, (lentKey, stored) => {
      if (stored.length < checksumBytes) return visit(lentKey, stored, "its checksum is missing");
      const row = withoutChecksum(stored);
      if (!isIntact(lentKey, stored)) return visit(lentKey, row, "its checksum is wrong");
      if (!isStub(lentKey, row)) return visit(lentKey, row, undefined);
      const key = lentKey.slice();
      return this.visitHead(key, visit);
    });
  }

  private visitHead(
    key: Uint8Array,
    visit: (key: Uint8Array, row: Uint8Array, problem: string | undefined) => boolean,
  ): boolean {
    let head: Uint8Array | undefined;
    try {
      head = readValue(this.shared.source, headRowKey(key));
    } catch {
      return visit(key, stubRow, "its head is damaged");
    }
    return head === undefined
      ? visit(key, stubRow, "its head is missing")
      : visit(key, head, undefined);
  }

  /** Whether a row with this key is found by the way that readers take, and is the one that was stored. */
  finds(key: Uint8Array): boolean {
    try {
      return readValue(this.shared.source, key) !== undefined;
    } catch {
      return false;
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.release(this.shared);
  }
}

const nothing = new Uint8Array(0);

export function isLmdbSnapshot(snapshot: Snapshot): snapshot is LmdbSnapshot {
  return snapshot instanceof LmdbSnapshot;
}

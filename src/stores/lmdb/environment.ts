/** LMDB as the readers see it: snapshots, and what pins them. */
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
import { LmdbEngine, type EngineJournal } from "./engine.ts";
import { headRowKey, isStub, stubRow } from "./head-rows.ts";
import {
  LockedTransaction,
  OwnTransactions,
  type NewestTransaction,
} from "./newest-transaction.ts";
import { readValue, scanRows } from "./rows.ts";
import { storeReads } from "./read-metrics.ts";

interface EnvironmentOptions {
  readonly dir: string;
  readonly readOnly?: boolean;
  /** Commits are not synced: a journal holds them, or a test needs none of it. */
  readonly noSync?: boolean;
  /** Of a store that is encrypted. */
  readonly cipher?: StoreCipher | undefined;
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

export class Environment {
  private readonly db: Database;
  private readonly dir: string;
  private readonly own: OwnTransactions | undefined;
  private readonly newest: NewestTransaction;
  private shared: SharedRead | undefined = undefined;
  private isLettingGo = false;
  private isClosed = false;
  /** Of this process. */
  readonly trust: Trust = { isVerified: false, isOrdered: false };
  /** What was found to be damaged, in words. */
  private readonly damages = new Set<string>();

  constructor(options: EnvironmentOptions) {
    this.dir = options.dir;
    const { dir, readOnly = false, noSync = false, cipher } = options;
    const database = openDatabase(dir, { readOnly, noSync });
    this.db = cipher === undefined ? database : new SealedDatabase(database, cipher);
    this.own = options.readOnly === true ? undefined : new OwnTransactions();
    this.newest = this.own ?? new LockedTransaction(options.dir, this.db.env.info().lastTxnId);
  }

  /** The newest committed state. One LMDB snapshot serves all that open the same one while it is in use. */
  snapshot(): Snapshot {
    assert(!this.isClosed, "a closed store gives no snapshots");
    // Read before the renewal, which gives this one or a newer one: while it is the newest, both are the same.
    const newest = this.newest.read();
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
    const { db, trust } = this;
    // Without the reset 39 % of reads after an acknowledged commit of another process missed it.
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const source = { db, trust, options: { transaction } };
    try {
      const { commitTs, fence, slotsVersion } = decodeState(readValue(source, stateKey));
      return { ts: commitTs, fence, slotsVersion, newest, count: 0, source };
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

  private end({ source }: SharedRead): void {
    if (!this.isClosed) source.options.transaction.done();
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
    const { db, dir, trust } = this;
    return new LmdbEngine({ db, dir, trust, journal, putRows: (fill) => this.putRows(fill) });
  }

  /** One transaction. Rows as a journal holds them: with their checksums, heads where they lie. */
  putRows(fill: (put: PutRow) => void): void {
    try {
      putRows(this.db, fill);
    } finally {
      this.own?.note();
    }
  }

  /** Pins the newest commit. */
  pin(): Pin {
    const { db } = this;
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    // The first read takes the state.
    db.getBinaryFast(stateKey, { transaction });
    return {
      release: () => {
        if (!this.isClosed) transaction.done();
      },
    };
  }

  /** Pins the newest commit, and reads its rows with their checksums, which are verified. Fault E_STORE_CORRUPT. */
  hold(): HeldRows {
    const { db, trust } = this;
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const source = { db, trust, options: { transaction } };
    return {
      visit: (from, visit) => scanRows(source, { start: from ?? firstKey, end: lastKey }, visit),
      release: () => {
        if (!this.isClosed) transaction.done();
      },
    };
  }

  get pageBytes(): number {
    return Number(this.db.getStats()["pageSize"]);
  }

  /** Clears the places of readers that died; they pin pages until then. */
  readerCheck(): number {
    return this.db.readerCheck();
  }

  /** Bytes in use, without free pages. */
  bytesUsed(): number {
    const stats = this.db.getStats();
    const pages =
      Number(stats["treeBranchPageCount"]) +
      Number(stats["treeLeafPageCount"]) +
      Number(stats["overflowPages"]);
    return pages * Number(stats["pageSize"]);
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.newest.close();
    return this.db.close();
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

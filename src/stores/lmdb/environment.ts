/** LMDB as the readers see it: snapshots, and what pins them. */
import { assert } from "../../base/assert.ts";
import type { ScanRange, Snapshot } from "../../store/store.ts";
import { decodeState, stateKey } from "../commit/state.ts";
import type { WriteEngine } from "../key-value.ts";
import { isIntact } from "./checksum.ts";
import {
  corrupt,
  openDatabase,
  putRows,
  readValue,
  scanRows,
  withoutChecksum,
  type Database,
  type PutRow,
  type ReadTransaction,
} from "./database.ts";
import { LmdbEngine, type EngineJournal } from "./engine.ts";
import { headRowKey, isStub, stubRow } from "./head-rows.ts";
import {
  LockedTransaction,
  OwnTransactions,
  type NewestTransaction,
} from "./newest-transaction.ts";

export interface EnvironmentOptions {
  readonly dir: string;
  readonly readOnly?: boolean;
  /** Commits are not synced: a journal holds them, or a test needs none of it. */
  readonly noSync?: boolean;
}

/** What a commit's pages are held by: until the release none of them is overwritten. */
export interface Pin {
  release(): void;
}

export class Environment {
  private readonly db: Database;
  private readonly dir: string;
  private readonly own: OwnTransactions | undefined;
  private readonly newest: NewestTransaction;
  private shared: SharedRead | undefined = undefined;
  private isLettingGo = false;
  private isClosed = false;

  constructor(options: EnvironmentOptions) {
    this.dir = options.dir;
    this.db = openDatabase(options.dir, {
      readOnly: options.readOnly ?? false,
      noSync: options.noSync ?? false,
    });
    this.own = options.readOnly === true ? undefined : new OwnTransactions();
    this.newest = this.own ?? new LockedTransaction(options.dir, this.db.env.info().lastTxnId);
  }

  /** The newest committed state. One LMDB snapshot serves all that open the same one while it is in use. */
  snapshot(): Snapshot {
    assert(!this.isClosed, "a closed store gives no snapshots");
    // Read before the renewal, which gives this one or a newer one: while it is the newest, both are the same.
    const newest = this.newest.read();
    const { shared } = this;
    if (shared === undefined || newest === undefined || shared.newest !== newest) {
      this.shared = this.renew(newest);
      if (shared?.count === 0) this.end(shared);
    }
    this.shared!.count++;
    return new LmdbSnapshot(this.db, this.shared!, (read) => this.release(read));
  }

  private renew(newest: number | undefined): SharedRead {
    const { db } = this;
    // Without the reset 39 % of reads after an acknowledged commit of another process missed it.
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const { commitTs, fence, slotsVersion } = decodeState(readValue(db, stateKey, { transaction }));
    return { ts: commitTs, fence, slotsVersion, newest, count: 0, options: { transaction } };
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

  private end({ options }: SharedRead): void {
    if (!this.isClosed) options.transaction.done();
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
  writeEngine(journal?: EngineJournal): WriteEngine {
    const { db, dir } = this;
    return new LmdbEngine({ db, dir, journal, putRows: (fill) => this.putRows(fill) });
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
    readValue(db, stateKey, { transaction });
    return {
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
  readonly options: { readonly transaction: ReadTransaction };
}

/** As readValue; of a stub the head that it stands for. */
function readRow(
  db: Database,
  key: Uint8Array,
  options: { readonly transaction: ReadTransaction } | undefined,
): Uint8Array | undefined {
  const row = readValue(db, key, options);
  if (row === undefined || !isStub(key, row)) return row;
  const head = readValue(db, headRowKey(key), options);
  if (head === undefined) throw corrupt(key);
  return head;
}

class LmdbSnapshot implements Snapshot {
  readonly ts: number;
  readonly fence: number;
  readonly slotsVersion: number;
  private readonly db: Database;
  private readonly shared: SharedRead;
  private readonly release: (shared: SharedRead) => void;
  private isOpen = true;

  constructor(db: Database, shared: SharedRead, release: (shared: SharedRead) => void) {
    this.db = db;
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
    const { db } = this;
    const { options } = this.shared;
    for (let i = 0; i < keys.length; i++) visit(i, readRow(db, keys[i]!, options));
  }

  scan(range: ScanRange, visit: (key: Uint8Array, bytes: Uint8Array) => boolean): void {
    assert(this.isOpen, "a closed snapshot is not read");
    const { db } = this;
    const { options } = this.shared;
    scanRows(db, range, options, (lentKey, stored) => {
      const row = withoutChecksum(stored);
      if (!isStub(lentKey, row)) return visit(lentKey, row);
      const key = lentKey.slice();
      return visit(key, readRow(db, key, options)!);
    });
  }

  /** Rows as they lie there, stubs as the heads that they stand for; `problem` of one that is damaged. For `weft check`. */
  scanStored(
    range: ScanRange,
    visit: (key: Uint8Array, row: Uint8Array, problem: string | undefined) => boolean,
  ): void {
    const { db } = this;
    const { options } = this.shared;
    scanRows(db, range, options, (lentKey, stored) => {
      const row = withoutChecksum(stored);
      if (!isIntact(lentKey, stored)) return visit(lentKey, row, "its checksum is wrong");
      if (!isStub(lentKey, row)) return visit(lentKey, row, undefined);
      const key = lentKey.slice();
      const head = readValue(db, headRowKey(key), options);
      return head === undefined
        ? visit(key, stubRow, "its head is missing")
        : visit(key, head, undefined);
    });
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.release(this.shared);
  }
}

export function isLmdbSnapshot(snapshot: Snapshot): snapshot is LmdbSnapshot {
  return snapshot instanceof LmdbSnapshot;
}

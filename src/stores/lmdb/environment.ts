/** LMDB as the shared rules and the readers see it. The only file that knows npm `lmdb` and its traps. */
import { statfsSync } from "node:fs";
import { open as openLmdb } from "lmdb";
import { assert } from "../../base/assert.ts";
import { compareBytes, toHex } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import type { ScanRange, Snapshot } from "../../store/store.ts";
import { FatalEngineError } from "../commit/committer.ts";
import { decodeState, stateKey } from "../commit/state.ts";
import { keyText } from "../key-text.ts";
import type { KeyValue, WriteEngine } from "../key-value.ts";
import { checksumBytes, checksumOf, isIntact, writeChecksum } from "./checksum.ts";
import { headRowKey, isStub, liesApart, mayLieApart, stubRow } from "./head-rows.ts";

/** What we use of the package; its own types leave half of it out. */
interface Database {
  lastSize: number;
  getBinaryFast(
    key: Uint8Array,
    options?: { transaction: ReadTransaction },
  ): Uint8Array | undefined;
  getRange(options: object): { iterate(): RowIterator };
  put(key: Uint8Array, value: Uint8Array): unknown;
  remove(key: Uint8Array): unknown;
  transactionSync<T>(work: () => T): T;
  resetReadTxn(): void;
  useReadTransaction(): ReadTransaction;
  readerCheck(): number;
  readerList(): string;
  getStats(): Record<string, unknown>;
  close(): Promise<void>;
}

interface ReadTransaction {
  done(): void;
}

interface RowIterator {
  next(): { done?: boolean; value?: { key: Uint8Array; value: Uint8Array } };
  return(): unknown;
}

/** The whole key buffer is lent: a view of it costs nothing, the package's own reader copies. */
const keyEncoder = {
  writeKey(key: Uint8Array, target: Uint8Array, start: number): number {
    target.set(key, start);
    return start + key.length;
  },
  readKey(target: Uint8Array, start: number, end: number): Uint8Array {
    return new Uint8Array(target.buffer, target.byteOffset + start, end - start);
  },
};

/** As above for values. Takes the checksum off; `decoderCopies` is what the package derives from it. */
const encoder = {
  encode: (bytes: Uint8Array): Uint8Array => bytes,
  decode: (bytes: Uint8Array, size?: number): Uint8Array =>
    new Uint8Array(bytes.buffer, bytes.byteOffset, size ?? bytes.length),
};

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
  private shared: SharedRead | undefined = undefined;
  private isClosed = false;

  constructor(options: EnvironmentOptions) {
    this.dir = options.dir;
    this.db = openLmdb({
      path: options.dir,
      noSubdir: false,
      // What is visible is durable: no commit before its sync, or before its journal's (`LmdbEngine`).
      overlappingSync: false,
      maxReaders: 4096,
      readOnly: options.readOnly ?? false,
      noSync: options.noSync ?? false,
      cache: false,
      keyEncoder,
      encoder,
    }) as unknown as Database;
  }

  /** The newest committed state. One LMDB snapshot serves all that open the same commit number. */
  snapshot(): Snapshot {
    assert(!this.isClosed, "a closed store gives no snapshots");
    const { db } = this;
    // Without the reset 39 % of reads after an acknowledged commit of another process missed it.
    db.resetReadTxn();
    const transaction = db.useReadTransaction();
    const state = decodeState(readValue(db, stateKey, { transaction }));
    if (this.shared !== undefined && this.shared.ts === state.commitTs) {
      transaction.done();
      this.shared.count++;
    } else {
      this.shared = {
        ts: state.commitTs,
        fence: state.fence,
        count: 1,
        options: { transaction },
      };
    }
    return new LmdbSnapshot(db, this.shared, (shared) => this.release(shared));
  }

  private release(shared: SharedRead): void {
    if (--shared.count > 0) return;
    if (this.shared === shared) this.shared = undefined;
    if (!this.isClosed) shared.options.transaction.done();
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
  writeEngine(redo?: Redo): WriteEngine {
    return new LmdbEngine(this.db, this.dir, redo);
  }

  /** Rows as a journal holds them, in one transaction: with their checksums, heads where they lie. */
  putRows(fill: (put: (key: Uint8Array, stored: Uint8Array | undefined) => void) => void): void {
    const { db } = this;
    db.transactionSync(() => {
      fill((key, stored) => {
        if (stored === undefined) db.remove(key);
        else db.put(key, stored);
      });
    });
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

  /** Whether other processes have read from it and are still alive. Clears the places of the dead. */
  hasOtherReaders(): boolean {
    this.db.readerCheck();
    const pids = [...this.db.readerList().matchAll(/^ *(\d+) /gm)].map((row) => Number(row[1]));
    return pids.some((pid) => pid !== process.pid);
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
    return this.db.close();
  }
}

interface SharedRead {
  readonly ts: number;
  readonly fence: number;
  count: number;
  readonly options: { readonly transaction: ReadTransaction };
}

/**
 * A value without its checksum, lent until the next read. Trap: the fast buffer's `length` is faked and `set` on it
 * copies the whole of its memory, hence a true view.
 */
function readValue(
  db: Database,
  key: Uint8Array,
  options: { readonly transaction: ReadTransaction } | undefined,
): Uint8Array | undefined {
  const bytes = db.getBinaryFast(key, options);
  if (bytes === undefined) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset, db.lastSize - checksumBytes);
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

function scanRows(
  db: Database,
  range: ScanRange,
  options: { readonly transaction: ReadTransaction } | undefined,
  visit: (key: Uint8Array, stored: Uint8Array) => boolean,
): void {
  if (compareBytes(range.start, range.end) >= 0) return;
  const bounds =
    range.reverse === true
      ? {
          start: range.end,
          end: range.start,
          reverse: true,
          exclusiveStart: true,
          inclusiveEnd: true,
        }
      : { start: range.start, end: range.end };
  const rows = db.getRange({ ...bounds, ...options }).iterate();
  try {
    for (let row = rows.next(); row.done !== true; row = rows.next()) {
      if (!visit(row.value!.key, row.value!.value)) return;
    }
  } finally {
    rows.return();
  }
}

function withoutChecksum(stored: Uint8Array): Uint8Array {
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.length - checksumBytes);
}

class LmdbSnapshot implements Snapshot {
  readonly ts: number;
  readonly fence: number;
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

/** Rows inside of the write transaction. Checksums are checked here, where values are read to be rewritten. */
class LmdbRows implements KeyValue {
  private readonly db: Database;
  /** LMDB copies what it is given at once, so one buffer serves every put. */
  private scratch = new Uint8Array(16 * 1024);
  /**
   * Heads that lie apart as they were put last, by their lists' keys: the lists that every change appends to are read
   * from here. What is in it has its stub.
   */
  private readonly heads = new Map<string, Uint8Array>();
  private readonly redo: Redo | undefined;

  constructor(db: Database, redo: Redo | undefined) {
    this.db = db;
    this.redo = redo;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    if (!mayLieApart(key)) return this.getStored(key);
    const name = keyText(key);
    const kept = this.heads.get(name);
    if (kept !== undefined) return kept;
    const row = this.getStored(key);
    if (row === undefined || !isStub(key, row)) return row;
    const head = this.getStored(headRowKey(key));
    if (head === undefined) throw corrupt(key);
    return head;
  }

  private getStored(key: Uint8Array): Uint8Array | undefined {
    const bytes = this.db.getBinaryFast(key);
    if (bytes === undefined) return undefined;
    const stored = new Uint8Array(bytes.buffer, bytes.byteOffset, this.db.lastSize);
    if (!isIntact(key, stored)) throw corrupt(key);
    return withoutChecksum(stored);
  }

  private hasStub(key: Uint8Array): boolean {
    const row = this.getStored(key);
    return row !== undefined && isStub(key, row);
  }

  put(key: Uint8Array, value: Uint8Array): void {
    if (!liesApart(key, value)) {
      this.putStored(key, value);
      return;
    }
    const name = keyText(key);
    if (!this.heads.has(name)) {
      if (!this.hasStub(key)) this.putStored(key, stubRow);
      if (this.heads.size >= headsMax) this.heads.clear();
    }
    this.heads.set(name, value);
    this.putStored(headRowKey(key), value);
  }

  /** What a transaction put did not stay. */
  forget(): void {
    this.heads.clear();
  }

  private putStored(key: Uint8Array, value: Uint8Array): void {
    const size = value.length + checksumBytes;
    if (size > this.scratch.length) this.scratch = new Uint8Array(size * 2);
    const { scratch } = this;
    scratch.set(value);
    writeChecksum(scratch, value.length, checksumOf(key, value, value.length));
    const stored = scratch.subarray(0, size);
    this.db.put(key, stored);
    this.redo?.put(key, stored);
  }

  private removeStored(key: Uint8Array): void {
    this.db.remove(key);
    this.redo?.remove(key);
  }

  remove(key: Uint8Array): void {
    if (mayLieApart(key) && this.hasStub(key)) {
      this.removeStored(headRowKey(key));
      this.heads.delete(keyText(key));
    }
    this.removeStored(key);
  }

  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void {
    scanRows(this.db, range, undefined, (lentKey, stored) => {
      if (!isIntact(lentKey, stored)) throw corrupt(lentKey);
      const row = withoutChecksum(stored);
      if (!isStub(lentKey, row)) return visit(lentKey, row);
      const key = lentKey.slice();
      return visit(key, this.get(key)!);
    });
  }
}

function corrupt(key: Uint8Array): Fault {
  return new Fault("E_STORE_CORRUPT", `the stored row ${toHex(key)} is damaged`);
}

/** What keeps a transaction beside LMDB, which does not sync it then. */
export interface Redo {
  begin(): void;
  put(key: Uint8Array, stored: Uint8Array): void;
  remove(key: Uint8Array): void;
  /** The last step before the commit: durable when it returns. */
  write(): void;
  committed(): void;
  /** After `begin`, whatever came of it. Throws when the writer must end. */
  takeBack(): void;
}

class LmdbEngine implements WriteEngine {
  private readonly db: Database;
  private readonly dir: string;
  private readonly rows: LmdbRows;
  private readonly redo: Redo | undefined;

  constructor(db: Database, dir: string, redo: Redo | undefined) {
    this.db = db;
    this.dir = dir;
    this.redo = redo;
    this.rows = new LmdbRows(db, redo);
  }

  transact<T>(work: (kv: KeyValue) => T): T {
    const { redo } = this;
    redo?.begin();
    let result: { value: T } | undefined;
    try {
      // Braces: `put` gives a thenable, and a callback that returns one leaves the transaction open for ever.
      this.db.transactionSync(() => {
        const value = work(this.rows);
        redo?.write();
        result = { value };
      });
      assert(result !== undefined, "a write transaction gives a result");
    } catch (error) {
      this.rows.forget();
      redo?.takeBack();
      throw this.translate(error);
    }
    redo?.committed();
    return result.value;
  }

  /** LMDB's own errors by their number; what our own code threw is passed on. */
  private translate(error: unknown): unknown {
    const code: unknown = (error as { code?: unknown }).code;
    if (typeof code !== "number") return error;
    if (fullCodes.includes(code) || (code === inputOutput && this.isDiskFull())) {
      return new Fault("E_STORE_FULL", "the store is full", { cause: error });
    }
    return new FatalEngineError("the store cannot be written", {
      cause: error,
    });
  }

  /** LMDB calls a write that a full disk cut short an input/output error, as it does a failed sync. */
  private isDiskFull(): boolean {
    const { bavail, bsize } = statfsSync(this.dir);
    return bavail * bsize < diskBytesMin;
  }
}

/** Heads that are kept: a few megabytes. */
const headsMax = 8192;

/** With less left, a failed write is put down to a full disk. */
const diskBytesMin = 1024 * 1024;

/** MDB_MAP_FULL, ENOSPC, EDQUOT, EFBIG. */
const fullCodes: readonly number[] = [-30792, 28, 122, 27];
/** EIO. */
const inputOutput = 5;

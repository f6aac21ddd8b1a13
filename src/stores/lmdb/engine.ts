/** Writing to LMDB: rows with their checksums, heads apart from their lists, transactions in two steps. */
import { statfsSync } from "node:fs";
import { assert, must } from "../../base/assert.ts";
import { writeUint32 } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import type { ScanRange } from "../../store/store.ts";
import { keyText } from "../key-text.ts";
import {
  FatalEngineError,
  type KeyValue,
  type Pieces,
  type Prepared,
  type WriteEngine,
} from "../key-value.ts";
import { checksumBytes, checksumOf } from "./checksum.ts";
import {
  corrupt,
  withoutChecksum,
  type Database,
  type PutRow,
  type RowSource,
  type Trust,
} from "./database.ts";
import { headRowKey, isStub, liesApart, mayLieApart, stubRow } from "./head-rows.ts";
import type { RowWriter } from "./journal-format.ts";
import { readValue } from "./rows.ts";
import { removed, StagedRows } from "./staged-rows.ts";

/** Rows inside of a transaction. Checksums are checked here, where values are read to be rewritten. */
class LmdbRows implements KeyValue {
  private readonly source: RowSource;
  private readonly staged: StagedRows;
  /**
   * Heads that lie apart as they were put last, by their lists' keys: the lists that every change appends to are read
   * from here. What is in it has its stub.
   */
  private readonly heads = new Map<string, Uint8Array>();

  constructor(source: RowSource, staged: StagedRows) {
    this.source = source;
    this.staged = staged;
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
    const staged = this.staged.get(key);
    if (staged !== undefined) return staged === removed ? undefined : withoutChecksum(staged);
    return readValue(this.source, key);
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
    const { length } = value;
    const stored = this.staged.put(key, length + checksumBytes);
    stored.set(value);
    writeUint32(stored, length, checksumOf(key, value, length));
  }

  remove(key: Uint8Array): void {
    if (mayLieApart(key) && this.hasStub(key)) {
      this.staged.remove(headRowKey(key));
      this.heads.delete(keyText(key));
    }
    this.staged.remove(key);
  }

  scan(range: ScanRange, visit: (key: Uint8Array, value: Uint8Array) => boolean): void {
    this.staged.scan(this.source, range, (lentKey, stored) => {
      const row = withoutChecksum(stored);
      if (!isStub(lentKey, row)) return visit(lentKey, row);
      const key = lentKey.slice();
      return visit(key, must(this.get(key), "a stub has its head"));
    });
  }
}

/** Keeps what a transaction put and removed, so that LMDB need not sync its commit (`journal.ts`). */
export interface EngineJournal {
  /** Whether the disk is, so that the next record had better be written by a thread. */
  isSlow(): boolean;
  /** Whether rows of before are still being read: they must not be changed. */
  readonly isWriting: boolean;
  /** Resolves when the record is durable. Rejects, and `writeNow` throws, as a commit does that failed. */
  write(rows: RowWriter): Promise<void>;
  /** The same record, durable when it returns; also while `write` is under way. */
  writeNow(rows: RowWriter): void;
  /** LMDB has committed it, too. */
  committed(): void;
  /** LMDB has not. Throws when the writer must end. */
  takeBack(): void;
}

interface EngineOptions {
  readonly db: Database;
  readonly trust: Trust;
  /** Of the store. */
  readonly dir: string;
  readonly journal: EngineJournal | undefined;
  /** One transaction of LMDB, as `putRows` of `database.ts`. */
  readonly putRows: (fill: (put: PutRow) => void) => void;
}

/**
 * Transactions on LMDB. What they write is staged first; then the journal is written, if there is one, then LMDB's own
 * transaction, which is visible at once. While a slow disk is at it, the process goes on with other work.
 */
export class LmdbEngine implements WriteEngine {
  private readonly db: Database;
  private readonly dir: string;
  private readonly staged = new StagedRows();
  private readonly rows: LmdbRows;
  private readonly journal: EngineJournal | undefined;
  private readonly putRows: EngineOptions["putRows"];
  private current: object | undefined = undefined;

  constructor({ db, dir, trust, journal, putRows }: EngineOptions) {
    this.db = db;
    this.dir = dir;
    this.journal = journal;
    this.putRows = putRows;
    this.rows = new LmdbRows({ db, trust, options: undefined }, this.staged);
  }

  *prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    assert(this.current === undefined, "transactions follow each other");
    const { staged, db } = this;
    const turn = {};
    this.current = turn;
    staged.clear(this.journal?.isWriting === true);
    db.resetReadTxn();
    let prepared: Prepared<T> | undefined;
    try {
      const value = yield* work(this.rows);
      prepared = staged.isEmpty ? nothingToCommit(value) : this.stage(value, turn);
      return prepared;
    } catch (error) {
      throw this.translate(error);
    } finally {
      if (prepared === undefined) this.rows.forget();
      if (prepared === undefined || staged.isEmpty) this.current = undefined;
    }
  }

  private stage<T>(value: T, turn: object): Prepared<T> {
    const commitNow = (): void => {
      if (this.current !== turn) return;
      this.end(() => this.journal?.writeNow(this.staged.rows));
    };
    const commit = async (): Promise<void> => {
      const { journal } = this;
      if (journal?.isSlow() !== true) {
        commitNow();
        return;
      }
      try {
        await journal.write(this.staged.rows);
      } catch (error) {
        if (this.current === turn) this.end(() => raise(error));
        return;
      }
      if (this.current === turn) this.end(() => {});
    };
    return { value, commit, commitNow };
  }

  /** The second step, behind what makes it durable. */
  private end(makeDurable: () => void): void {
    const { staged, journal } = this;
    this.current = undefined;
    try {
      makeDurable();
      this.putRows((put) => staged.visit(put));
    } catch (error) {
      this.rows.forget();
      journal?.takeBack();
      throw this.translate(error);
    }
    journal?.committed();
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

function nothingToCommit<T>(value: T): Prepared<T> {
  return { value, commit: async () => {}, commitNow: () => {} };
}

function raise(error: unknown): never {
  throw error;
}

/** Writing to LMDB: rows with their checksums, heads apart from their lists, transactions in two steps. */
import { statfsSync } from "node:fs";
import { assert, must } from "../../base/assert.ts";
import { writeUint32 } from "../../base/bytes.ts";
import { globalStorageId, keyKind, metaKey, readKind, readLogKey } from "../../codec/key.ts";
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
import { recordHeadBytes, visitRows, type RowWriter } from "./journal-format.ts";
import { readValue } from "./rows.ts";
import { removed, StagedRows } from "./staged-rows.ts";

/** Rows inside of a transaction. Checksums are checked here, where values are read to be rewritten. */
class LmdbRows implements KeyValue {
  private source: RowSource;
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

  /** The same rows in another file. */
  readFrom(db: Database): void {
    this.source = { ...this.source, db };
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

/** Rows of one transaction, as a journal holds them, and the commits among them (0: none). */
interface ShippedRows {
  /** What the commits touched and rest on, for machines that judge later. */
  readonly keys: Uint8Array;
  readonly rows: Uint8Array;
  readonly firstTs: number;
  readonly lastTs: number;
}

/**
 * Keeps what a transaction put and removed on other machines, before anything of it is visible on this one
 * (reference/log 4).
 */
export interface RowShipper {
  /**
   * Resolves when the rows are kept, with what the store notes of how far it has applied the log (`positionKey`).
   * Rejects with a Fault: E_LOG where the rows are too many, and nothing was sent; any other ends the writer, and is what
   * those are told whose changes were in the transaction. The rows are given away.
   */
  ship(shipped: ShippedRows): Promise<Uint8Array>;
}

/** How far a store has applied the log of several machines, in the words of the log. Not in a record: it follows it. */
export const positionKey = metaKey(globalStorageId, "store/position");

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
  private db: Database;
  private readonly dir: string;
  private readonly staged = new StagedRows();
  private readonly rows: LmdbRows;
  private readonly journal: EngineJournal | undefined;
  private readonly putRows: EngineOptions["putRows"];
  private shipper: RowShipper | undefined = undefined;
  private current: object | undefined = undefined;

  constructor({ db, dir, trust, journal, putRows }: EngineOptions) {
    this.db = db;
    this.dir = dir;
    this.journal = journal;
    this.putRows = putRows;
    this.rows = new LmdbRows({ db, trust, options: undefined }, this.staged);
  }

  get isShipped(): boolean {
    return this.shipper !== undefined;
  }

  /** From the next transaction on nothing is visible before it is kept elsewhere. */
  shipTo(shipper: RowShipper): void {
    assert(this.current === undefined, "transactions follow each other");
    this.shipper = shipper;
  }

  /** The same rows in another file, between two transactions. */
  writeTo(db: Database): void {
    assert(this.current === undefined, "transactions follow each other");
    this.db = db;
    this.rows.readFrom(db);
  }

  /** What was noted last of how far the log is applied; undefined: nothing. */
  get position(): Uint8Array | undefined {
    this.db.resetReadTxn();
    return readValue(
      { db: this.db, trust: { isVerified: false, isOrdered: false }, options: undefined },
      positionKey,
    );
  }

  /**
   * Transactions of another machine's writer, as it shipped them, in one of this one. Durable when it returns. Throws as
   * a commit does; nothing of it is there then.
   */
  apply(records: readonly Uint8Array[], position: Uint8Array): void {
    assert(this.current === undefined, "transactions follow each other");
    assert(this.shipper === undefined, "who leads applies nothing of others");
    const { staged } = this;
    staged.clear(this.journal?.isWriting === true);
    this.rows.forget();
    try {
      for (const rows of records) {
        visitRows(Buffer.from(rows.buffer, rows.byteOffset, rows.length), (key, stored) => {
          if (stored === undefined) staged.remove(key);
          else staged.put(key, stored.length).set(stored);
        });
      }
      this.rows.put(positionKey, position);
      this.end(() => this.journal?.writeNow(staged.rows));
    } finally {
      this.db.resetReadTxn();
    }
  }

  /** Of the machine that leads, between two transactions: how far the log is applied, behind records without rows. */
  note(position: Uint8Array): void {
    assert(this.current === undefined, "transactions follow each other");
    const { staged } = this;
    staged.clear(this.journal?.isWriting === true);
    this.rows.put(positionKey, position);
    try {
      this.end(() => this.journal?.writeNow(staged.rows));
    } finally {
      this.db.resetReadTxn();
    }
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
      assert(this.shipper === undefined, "what is shipped is not committed at once");
      this.end(() => this.journal?.writeNow(this.staged.rows));
    };
    const commit = async (keys?: () => Uint8Array): Promise<void> => {
      const { journal, shipper } = this;
      if (shipper !== undefined) {
        await this.ship(shipper, turn, keys?.() ?? noKeys);
        return;
      }
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

  /** What the log keeps cannot be taken back: this machine has it, or its writer ends. */
  private async ship(shipper: RowShipper, turn: object, keys: Uint8Array): Promise<void> {
    const { bytes, length } = this.staged.rows;
    const rows = Buffer.from(bytes.subarray(recordHeadBytes, length));
    let position: Uint8Array;
    try {
      position = await shipper.ship({ keys, rows, ...commitsAmong(rows) });
    } catch (error) {
      this.current = undefined;
      this.rows.forget();
      if (error instanceof Fault && error.code === "E_LOG") throw error;
      throw new FatalEngineError("the log of the machines has not taken it", { cause: error });
    }
    assert(this.current === turn, "who ships waits for its end");
    try {
      this.rows.put(positionKey, position);
      this.end(() => this.journal?.writeNow(this.staged.rows));
    } catch (error) {
      const unknown = new Fault(
        "E_OUTCOME_UNKNOWN",
        "the outcome of the transaction is unknown: the log has it, and this machine could not apply it",
        { cause: error },
      );
      throw new FatalEngineError("the store lacks what the log has", { cause: unknown });
    }
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

/** The numbers of the commits whose entries of the commit log are among the rows. */
function commitsAmong(rows: Buffer): Pick<ShippedRows, "firstTs" | "lastTs"> {
  let firstTs = 0;
  let lastTs = 0;
  visitRows(rows, (key, stored) => {
    if (stored === undefined || readKind(key) !== keyKind.log) return;
    const commitTs = readLogKey(key);
    firstTs = firstTs === 0 ? commitTs : Math.min(firstTs, commitTs);
    lastTs = Math.max(lastTs, commitTs);
  });
  return { firstTs, lastTs };
}

const noKeys = new Uint8Array(0);

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

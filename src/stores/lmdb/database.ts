/** The only file that knows npm `lmdb` and its traps. Values come and go with their checksums. */
import { open as openLmdb } from "lmdb";
import { toHex } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import type { ScanRange } from "../../store/store.ts";
import { FatalEngineError } from "../key-value.ts";
import { checksumBytes } from "./checksum.ts";

/** What we use of the package; its own types leave half of it out. */
export interface Database {
  /** Rows come from blocks that were authenticated as a whole: a key that is not found is not there. */
  readonly isSealed?: boolean;
  /** Told of each row that a transaction puts to LMDB, or removes (undefined); the transaction may fail afterwards. */
  onPut?: PutRow | undefined;
  lastSize: number;
  getBinaryFast(
    key: Uint8Array,
    options?: { transaction: ReadTransaction },
  ): Uint8Array | undefined;
  getRange(options: object): { iterate(): RowIterator };
  put(key: Uint8Array, value: Uint8Array): unknown;
  remove(key: Uint8Array): unknown;
  transactionSync<T>(work: () => T): T;
  getWriteTxnId(): number;
  readonly env: { info(): { readonly lastTxnId: number } };
  resetReadTxn(): void;
  useReadTransaction(): ReadTransaction;
  readerCheck(): number;
  getStats(): Record<string, unknown>;
  close(): Promise<void>;
}

export interface ReadTransaction {
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

/**
 * Each transaction reads anew which pages are free. Trap: where the package keeps their list from one to the next, it
 * writes of a long one only the rows that changed, and now and then the others no longer fit them. Then pages are lost,
 * or the commit fails ("duplicates/overlaps in free list"; issue 321 of kriszyp/lmdb-js). Rows of mixed sizes are
 * written twice as fast without (decision 0024). Not among the package's types.
 */
const freePages: object = { maxFreeSpaceToRetain: 0 };

/** `noSync`: commits are not synced. */
export function openDatabase(
  dir: string,
  options: { readonly readOnly: boolean; readonly noSync: boolean },
): Database {
  return openLmdb({
    path: dir,
    noSubdir: false,
    // What is visible is durable: no commit before its sync, or before its journal's (`engine.ts`).
    overlappingSync: false,
    maxReaders: 4096,
    ...freePages,
    ...options,
    cache: false,
    keyEncoder,
    encoder,
  }) as unknown as Database;
}

export interface Trust {
  /** All rows and all ways to them were sound when this process looked; what was written since is as it was written. */
  isVerified: boolean;
  /** Where some rows are damaged: each lies where its key belongs, so that it hides no other one. */
  isOrdered: boolean;
}

/** Rows of one state, and how far what is not found may be believed. */
export interface RowSource {
  readonly db: Database;
  readonly options: { readonly transaction: ReadTransaction } | undefined;
  readonly trust: Trust;
}

/** Below and above all keys. */
export const firstKey = new Uint8Array([0]);
export const lastKey = new Uint8Array(8).fill(0xff);

interface RowRange extends ScanRange {
  /** Told of rows of an encrypted store that cannot be opened, and from which key on; without it they are a fault. */
  readonly onDamage?: (fault: Fault, from: Uint8Array) => void;
}

/** Rows as they lie there. Key and value are lent. */
export function walkRows(
  { db, options }: Pick<RowSource, "db" | "options">,
  range: RowRange,
  visit: (key: Uint8Array, stored: Uint8Array) => boolean,
): void {
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
  const { onDamage } = range;
  const found = onDamage === undefined ? {} : { onDamage };
  const rows = db.getRange({ ...bounds, ...found, ...options }).iterate();
  try {
    for (let row = rows.next(); row.done !== true; row = rows.next()) {
      if (row.value !== undefined && !visit(row.value.key, row.value.value)) return;
    }
  } finally {
    rows.return();
  }
}

/** `stored` undefined: the row is removed. */
export type PutRow = (key: Uint8Array, stored: Uint8Array | undefined) => void;

/**
 * One transaction of the only process that writes. `stored` are values with their checksums. FatalEngineError where it
 * would not stand on the one before: a process that opens the file tells all others the newest number that it has read
 * (`mdb_env_open2`), and when a commit came between, that number is an older one. Going on would drop that commit and
 * overwrite its pages; nothing is written here, and the next run takes what was acknowledged from the journal. Ours
 * open the file while the writer pauses (`beside-writer.ts`); this is for the tools of others. 3 µs.
 */
export function putRows(db: Database, fill: (put: PutRow) => void): void {
  // Braces: `put` gives a thenable, and a callback that returns one leaves the transaction open for ever.
  db.transactionSync(() => {
    const basis = db.getWriteTxnId() - 1;
    const newest = db.env.info().lastTxnId;
    if (basis !== newest) {
      throw new FatalEngineError(`the store is at transaction ${basis}, not at ${newest}`);
    }
    // Of an encrypted store the blocks are what is put.
    const onPut = db.isSealed === true ? undefined : db.onPut;
    fill((key, stored) => {
      onPut?.(key, stored);
      if (stored === undefined) db.remove(key);
      else db.put(key, stored);
    });
  });
}

export function withoutChecksum(stored: Uint8Array): Uint8Array {
  return new Uint8Array(stored.buffer, stored.byteOffset, stored.length - checksumBytes);
}

export function corrupt(key: Uint8Array): Fault {
  return new Fault("E_STORE_CORRUPT", `the stored row ${toHex(key)} is damaged`);
}

/**
 * The structural check of a store (`weft check`): every row's checksum, order and counts of lists, presence and
 * records against each other, parts and wide values against what names them. (What indexes and count lists mean is
 * checked by `graph/check.ts`, which knows the schema.) Reads slices, each within one snapshot, so that it can run
 * beside a busy server and pins no pages for long.
 */
import { equalBytes, toHex } from "../base/bytes.ts";
import { lowerBound } from "../base/sorted.ts";
import {
  chunkCount,
  chunkFirst,
  chunkLast,
  chunkMembers,
  decodeHead,
  isHead,
  openChunkOf,
  type ListHead,
} from "../codec/chunk.ts";
import {
  chunkKey,
  keyKind,
  listPrefixOf,
  longList,
  presenceList,
  readChunkNumber,
  readCountOf,
  readKind,
  readListId,
  readRecordKey,
  readStorageId,
  recordKey,
  readU64,
  wideKey,
} from "../codec/key.ts";
import {
  entryChunk,
  entryCount,
  entryKind,
  furtherParts,
  isWideStub,
  kindOfEntry,
  partOf,
  readEntries,
  readEntry,
  visitCells,
} from "../codec/record.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot } from "../store/store.ts";
import { isLmdbSnapshot } from "./lmdb/environment.ts";
import { listKeyOf } from "./lmdb/head-rows.ts";

export interface Problem {
  /** The key in hex. */
  readonly key: string;
  readonly problem: string;
}

interface CheckOptions {
  /** Opens a snapshot for one slice. */
  readonly open: () => Snapshot;
  readonly report: (problem: Problem) => void;
  /** Called after each slice; resolves when the next may begin. */
  readonly pause?: (rows: number) => Promise<void>;
  readonly sliceRows?: number;
}

const firstKey = new Uint8Array([0]);
const lastKey = new Uint8Array(8).fill(0xff);

/** Resolves with the number of rows that were looked at. */
export async function checkStore(options: CheckOptions): Promise<number> {
  const sliceRows = options.sliceRows ?? 5000;
  let from: Uint8Array = firstKey;
  let total = 0;
  for (;;) {
    const snapshot = options.open();
    let rows = 0;
    try {
      const slice = new Slice(snapshot, options.report);
      const next = slice.run(from, sliceRows);
      rows = slice.rows;
      total += rows;
      if (next === undefined) return total;
      from = next;
    } finally {
      snapshot.close();
    }
    await options.pause?.(rows);
  }
}

/** A list of several chunks whose rows are being walked. */
interface OpenList {
  readonly prefix: string;
  readonly headKey: Uint8Array;
  readonly head: ListHead;
  readonly open: Uint8Array | undefined;
  members: number;
  chunks: number;
  tail: number;
  last: number;
}

/** A slice ends only between lists and between records, so that each is judged within one snapshot. */
class Slice {
  rows = 0;
  private readonly snapshot: Snapshot;
  private readonly report: (problem: Problem) => void;
  private openList: OpenList | undefined = undefined;
  /** Records and lists to look up after the walk: a scan's rows are lent and nothing else is read meanwhile. */
  private readonly later: (() => void)[] = [];

  constructor(snapshot: Snapshot, report: (problem: Problem) => void) {
    this.snapshot = snapshot;
    this.report = report;
  }

  /** Where the next slice begins; undefined at the end. */
  run(from: Uint8Array, sliceRows: number): Uint8Array | undefined {
    let next: Uint8Array | undefined;
    this.scanStored(from, (key, row, problem) => {
      if (this.rows >= sliceRows && this.isBorder(key)) {
        next = key.slice();
        return false;
      }
      this.rows++;
      if (problem === undefined) this.checkRow(key, row);
      else this.tell(key, problem);
      return true;
    });
    this.closeList();
    for (const look of this.later) this.lookAt(look);
    return next;
  }

  /** A damaged row is told where it lies, not by each that leads to it. */
  private lookAt(look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "E_STORE_CORRUPT") throw error;
    }
  }

  private scanStored(
    from: Uint8Array,
    visit: (key: Uint8Array, row: Uint8Array, problem: string | undefined) => boolean,
  ): void {
    const range = { start: from, end: lastKey };
    if (!isLmdbSnapshot(this.snapshot)) {
      void this.snapshot.scan(range, (key, row) => visit(key, row, undefined));
      return;
    }
    this.snapshot.scanStored(range, visit);
  }

  private isBorder(key: Uint8Array): boolean {
    if (readKind(key) === keyKind.record) return readRecordKey(key).firstPredicate === 0;
    return this.openList === undefined || toHex(listPrefixOf(key)) !== this.openList.prefix;
  }

  private tell(key: Uint8Array, problem: string): void {
    this.report({ key: toHex(key), problem });
  }

  private checkRow(key: Uint8Array, row: Uint8Array): void {
    try {
      switch (readKind(key)) {
        case keyKind.record:
          return this.checkRecord(key.slice(), row);
        case keyKind.longList:
        case keyKind.presence:
        case keyKind.index:
        case keyKind.reverse:
        case keyKind.count:
        case keyKind.reserved:
          return this.checkListRow(key, row);
        case keyKind.wide:
          return this.checkWide(key.slice());
        case keyKind.head:
          return this.checkHeadRow(key.slice(), row.slice());
        case keyKind.meta:
        case keyKind.log:
        case keyKind.history:
          return;
        default:
          this.tell(key, "its kind is unknown");
      }
    } catch (error) {
      this.tell(key, `it cannot be decoded: ${error instanceof Error ? error.message : ""}`);
    }
  }

  private checkListRow(key: Uint8Array, row: Uint8Array): void {
    const prefix = toHex(listPrefixOf(key));
    const number = readChunkNumber(key);
    if (this.openList?.prefix !== prefix) this.closeList();
    if (number === 0) {
      if (isHead(row)) this.beginList(key.slice(), prefix, row);
      else this.checkChunk(key, row, 0);
      return;
    }
    const list = this.openList;
    if (list === undefined) {
      this.tell(key, "a chunk without its head");
      return;
    }
    this.checkChunk(key, row, Math.max(number === 1 ? 0 : number, list.last + 1));
    list.members += chunkCount(row);
    list.chunks++;
    list.tail = number;
    list.last = chunkLast(row);
  }

  /** A head that lies apart is found under its list's key (what it says is checked there). */
  private checkHeadRow(key: Uint8Array, row: Uint8Array): void {
    this.later.push(() => {
      const found = this.readRow(listKeyOf(key));
      if (found === undefined || !equalBytes(found, row)) {
        this.tell(key, "a head that no list names");
      }
    });
  }

  private beginList(headKey: Uint8Array, prefix: string, row: Uint8Array): void {
    const head = decodeHead(row);
    const open = openChunkOf(row)?.slice();
    this.openList = {
      prefix,
      headKey,
      head,
      open,
      members: 0,
      chunks: 0,
      tail: 0,
      last: 0,
    };
  }

  private closeList(): void {
    const list = this.openList;
    this.openList = undefined;
    if (list === undefined) return;
    const { head, headKey, open } = list;
    if (open !== undefined) {
      this.checkChunk(headKey, open, list.last + 1);
      list.members += chunkCount(open);
    }
    if (head.count !== list.members) {
      this.tell(headKey, `its head counts ${head.count} members of ${list.members}`);
    }
    if (head.chunks !== list.chunks) {
      this.tell(headKey, `its head counts ${head.chunks} chunks of ${list.chunks}`);
    }
    if (head.tail !== list.tail) this.tell(headKey, "its head names another last chunk");
  }

  private checkChunk(key: Uint8Array, row: Uint8Array, smallest: number): void {
    const uids = chunkMembers(row);
    let previous = smallest - 1;
    for (const uid of uids) {
      if (uid <= previous) {
        this.tell(key, "its members are out of order");
        return;
      }
      previous = uid;
    }
    if (uids.length === 0 || uids[0] !== chunkFirst(row) || previous !== chunkLast(row)) {
      this.tell(key, "its ends are not its members'");
    }
    if (readKind(key) === keyKind.presence) this.checkPresent(key.slice(), uids);
    if (readKind(key) === keyKind.count && readCountOf(key) === 0) {
      this.tell(key, "a count of zero is listed");
    }
  }

  private readRow(key: Uint8Array): Uint8Array | undefined {
    let found: Uint8Array | undefined;
    void this.snapshot.readMany([key], (_i, row) => {
      found = row?.slice();
    });
    return found;
  }

  /** A predicate's entry of a node, wherever its part is. */
  private readEntryOf(storageId: number, uid: number, predicate: number): Uint8Array | undefined {
    const part0 = this.readRow(recordKey(storageId, uid));
    if (part0 === undefined) return undefined;
    const first = partOf(part0, predicate);
    const part = first === 0 ? part0 : this.readRow(recordKey(storageId, uid, first));
    return part === undefined ? undefined : readEntry(part, predicate);
  }

  private checkPresent(key: Uint8Array, uids: Float64Array): void {
    const storageId = readStorageId(key);
    const predicate = readListId(key);
    this.later.push(() => {
      for (const uid of uids) {
        if (this.readEntryOf(storageId, uid, predicate) === undefined) {
          this.tell(key, `node 0x${uid.toString(16)} is listed and has no such predicate`);
        }
      }
    });
  }

  private checkRecord(key: Uint8Array, row: Uint8Array): void {
    const storageId = readStorageId(key);
    const { uid, firstPredicate } = readRecordKey(key);
    const part = row.slice();
    if (firstPredicate === 0) {
      for (const first of furtherParts(part)) {
        this.later.push(() => {
          if (this.readRow(recordKey(storageId, uid, first)) === undefined) {
            this.tell(key, `its part from predicate ${first} on is missing`);
          }
        });
      }
    } else this.later.push(() => this.checkNamed(key, storageId, uid, firstPredicate));
    let previous = firstPredicate - 1;
    for (const { predicate, bytes } of readEntries(part)) {
      if (predicate <= previous) this.tell(key, "its predicates are out of order");
      previous = predicate;
      this.later.push(() => this.checkEntry(key, { storageId, uid, predicate }, bytes));
    }
  }

  private checkNamed(key: Uint8Array, storageId: number, uid: number, first: number): void {
    const part0 = this.readRow(recordKey(storageId, uid));
    if (part0 === undefined || !furtherParts(part0).includes(first)) {
      this.tell(key, "its first part does not name it");
    }
  }

  private checkEntry(
    key: Uint8Array,
    at: { storageId: number; uid: number; predicate: number },
    entry: Uint8Array,
  ): void {
    const { storageId, uid, predicate } = at;
    if (!this.isMember(presenceList(storageId, predicate), uid)) {
      this.tell(key, `predicate ${predicate} does not list it as present`);
    }
    if (entryCount(entry) === 0) this.tell(key, `predicate ${predicate} is empty`);
    if (kindOfEntry(entry) === entryKind.long) {
      const head = this.readRow(chunkKey(longList(storageId, predicate, uid), 0));
      if (head === undefined) this.tell(key, `the long list of predicate ${predicate} is missing`);
      return;
    }
    if (kindOfEntry(entry) === entryKind.edges) {
      this.checkChunk(key, entryChunk(entry), 1);
      return;
    }
    visitCells(entry, (slot, cell) => {
      if (!isWideStub(cell)) return;
      if (this.readRow(wideKey(storageId, predicate, uid, slot)) === undefined) {
        this.tell(key, `a wide value of predicate ${predicate} is missing`);
      }
    });
  }

  private checkWide(key: Uint8Array): void {
    const storageId = readStorageId(key);
    const predicate = readListId(key);
    const uid = readU64(key, 9);
    const slot = String.fromCharCode(...key.subarray(17));
    this.later.push(() => {
      let isNamed = false;
      const entry = this.readEntryOf(storageId, uid, predicate);
      if (entry !== undefined && kindOfEntry(entry) === entryKind.cells) {
        visitCells(entry, (found, cell) => {
          if (found === slot && isWideStub(cell)) isNamed = true;
        });
      }
      if (!isNamed) this.tell(key, "a wide value that no record names");
    });
  }

  /** Reads the one chunk that can hold `uid`. */
  private isMember(list: Uint8Array, uid: number): boolean {
    const row0 = this.readRow(chunkKey(list, 0));
    if (row0 === undefined) return false;
    if (!isHead(row0)) return hasUid(row0, uid);
    const open = openChunkOf(row0);
    if (open !== undefined && uid >= chunkFirst(open)) return hasUid(open, uid);
    let found = false;
    const range = {
      start: chunkKey(list, 1),
      end: chunkKey(list, uid + 1),
      reverse: true,
    };
    void this.snapshot.scan(range, (_key, row) => {
      found = hasUid(row, uid);
      return false;
    });
    return found;
  }
}

function hasUid(row: Uint8Array, uid: number): boolean {
  const uids = chunkMembers(row);
  const at = lowerBound(uids, uid);
  return uids[at] === uid;
}

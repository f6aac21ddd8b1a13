/**
 * Hot: a decoded record is visited in about 200 ns, reading it from LMDB costs 1 µs (reference/storage 3). A node as
 * the cache keeps it: its parts as bytes of its own, its entries decoded when they are first asked for.
 */
import {
  decodeEntry,
  encodePart,
  entryCount,
  isWholeRecord,
  partOf,
  readEntry,
} from "../codec/record.ts";
import type { Cell } from "./reader.ts";

/** An entry: decoded cells, the chunk of short edges, or the mark of a long list. */
type NodeEntry = readonly Cell[] | Uint8Array | "long";

/** A chain: there are few, and an array that grows makes room for seventeen. */
interface DecodedEntry {
  readonly predicate: number;
  readonly entry: NodeEntry;
  readonly next: DecodedEntry | undefined;
}

const emptyPart = encodePart([]);

/** What a record, or a further part, costs beside its bytes; a decoded entry; a cell of one. All measured. */
const overheadBytes = 205;
const entryOverhead = 60;
const cellOverhead = 160;

/** What a cache keeps; its records add to it what they decode. */
export interface MemoryAccount {
  bytes: number;
}

export class NodeRecord {
  // What a hit asks for stands first: a record is one line of the processor's cache then, seldom two.
  /** The commit number of the snapshot it was read from. */
  readonly filledAt: number;
  /** Whether part 0 is all there is. */
  readonly isWhole: boolean;
  /** The entry that was decoded first: most records are only ever asked for one. −1: none yet. */
  #firstPredicate = -1;
  #firstEntry: NodeEntry | undefined = undefined;
  readonly #part: Uint8Array;
  readonly #account: MemoryAccount | undefined;
  /** What it takes now. */
  #weight: number;
  /** Further parts that were read so far, by their first predicate. */
  #further: Map<number, Uint8Array> | undefined = undefined;
  /** Those decoded later. */
  #later: DecodedEntry | undefined = undefined;

  /** `part0` is kept: hand in a copy. undefined: there is no such node. `account`: of the cache that it is for. */
  constructor(part0: Uint8Array | undefined, filledAt: number, account?: MemoryAccount) {
    this.#part = part0 ?? emptyPart;
    this.#account = account;
    this.#weight = overheadBytes + this.#part.length;
    this.filledAt = filledAt;
    this.isWhole = part0 === undefined || isWholeRecord(part0);
  }

  /** Bytes that it takes now. */
  get weight(): number {
    return this.#weight;
  }

  /** The first predicate of the part that must be read before `predicate` can be; 0 for none. */
  missingPart(predicate: number): number {
    if (this.isWhole) return 0;
    const first = partOf(this.#part, predicate);
    return first === 0 || this.#further?.has(first) === true ? 0 : first;
  }

  /** `part` is kept: hand in a copy. */
  addPart(first: number, part: Uint8Array): void {
    (this.#further ??= new Map()).set(first, part);
    this.#add(overheadBytes + part.length);
  }

  /** The bytes of an entry, sharing the record's memory. Its part must have been read. */
  entryBytes(predicate: number): Uint8Array | undefined {
    const part = this.#partWith(predicate);
    return part === undefined ? undefined : readEntry(part, predicate);
  }

  /**
   * The decoded entry; undefined where the node has none, `wide` where a cell lies in a row of its own and must be
   * read first (`setCells` then keeps them).
   */
  entry(predicate: number): NodeEntry | "wide" | undefined {
    if (this.#firstPredicate === predicate) return this.#firstEntry;
    for (let later = this.#later; later !== undefined; later = later.next) {
      if (later.predicate === predicate) return later.entry;
    }
    return this.#decode(predicate);
  }

  /** `bytes`: of the rows that they keep, and of what is made of them. */
  setCells(predicate: number, cells: readonly Cell[], bytes: number): void {
    this.#add(bytes);
    this.#keep(predicate, cells);
  }

  #add(bytes: number): void {
    this.#weight += bytes;
    if (this.#account !== undefined) this.#account.bytes += bytes;
  }

  #keep(predicate: number, entry: NodeEntry): void {
    this.#add(entryOverhead + (Array.isArray(entry) ? entry.length : 1) * cellOverhead);
    if (this.#firstPredicate < 0) {
      this.#firstPredicate = predicate;
      this.#firstEntry = entry;
    } else this.#later = { predicate, entry, next: this.#later };
  }

  /** Number of cells or short edges; −1 for a long list, 0 where there is none. */
  count(predicate: number): number {
    const bytes = this.entryBytes(predicate);
    return bytes === undefined ? 0 : entryCount(bytes);
  }

  #decode(predicate: number): NodeEntry | "wide" | undefined {
    const part = this.#partWith(predicate);
    const entry = part === undefined ? undefined : decodeEntry(part, predicate);
    if (entry === undefined || entry === "wide") return entry;
    this.#keep(predicate, entry);
    return entry;
  }

  #partWith(predicate: number): Uint8Array | undefined {
    if (this.isWhole) return this.#part;
    const first = partOf(this.#part, predicate);
    return first === 0 ? this.#part : this.#further?.get(first);
  }
}

/** Copies are cut from slabs of so many bytes: an ArrayBuffer for each cost 0.4 µs and most of the collector's time. */
const slabBytes = 64 * 1024;
const slabbedMax = 4 * 1024;
let slab = new Uint8Array(slabBytes);
let slabUsed = 0;

/** Lent bytes in memory of their own. (`slice` of a Buffer would share it.) */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  const size = bytes.length;
  if (size > slabbedMax) return new Uint8Array(bytes);
  if (slabUsed + size > slabBytes) {
    slab = new Uint8Array(slabBytes);
    slabUsed = 0;
  }
  slab.set(bytes, slabUsed);
  slabUsed += size;
  return slab.subarray(slabUsed - size, slabUsed);
}

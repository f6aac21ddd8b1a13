/**
 * Hot: one chunk of members inside of a write transaction, read in place. Nearly all edits add new members behind the
 * last one: those are kept as numbers and appended to the bytes as they are, and nothing is decoded.
 */
import { must } from "../../base/assert.ts";
import { emptyBytes } from "../../base/bytes.ts";
import {
  chunkCount,
  chunkFacets,
  chunkFirst,
  chunkFrontBytes,
  chunkLast,
  chunkMembers,
  encodeChunk,
  encodePlainChunk,
  growChunk,
  hasFacets,
} from "../../codec/chunk.ts";
import { addedMembers, findMember, mergeMembers, noMembers, type Members } from "./members.ts";

/** A delta's longest form. */
const deltaBytesMax = 8;

export class EditedChunk {
  /** As stored: a row, or what a chunk is a part of, up to its end; undefined for a new one. Not changed. */
  readonly bytes: Uint8Array | undefined;
  /** Where the chunk begins in `bytes`. */
  readonly begin: number;
  readonly first: number;
  readonly last: number;
  /** Members, with all edits so far. */
  count: number;
  /** No member is above it. */
  private bound: number;
  private decoded: Members | undefined = undefined;
  /** New members behind `last`, ascending and without facets, while there is no other edit. */
  private appended: number[] | undefined = undefined;
  /** All edits, as soon as one is of another kind. */
  private edits: Map<number, Uint8Array | undefined> | undefined = undefined;
  /** Whether every edit so far sets a member behind `last`. */
  private appendsOnly = true;

  constructor(bytes: Uint8Array | undefined, begin = 0) {
    this.bytes = bytes;
    this.begin = begin;
    if (bytes === undefined) {
      this.first = Infinity;
      this.last = -1;
      this.count = 0;
    } else {
      this.first = chunkFirst(bytes, begin);
      this.last = chunkLast(bytes, begin);
      this.count = chunkCount(bytes, begin);
    }
    this.bound = this.last;
  }

  get isEdited(): boolean {
    return this.appended !== undefined || this.edits !== undefined;
  }

  /** Whether the stored chunk stays as it is, with new members behind it. */
  get isAppend(): boolean {
    return this.bytes !== undefined && this.appendsOnly;
  }

  /** Bytes that the chunk has at most, if it is no more than members without facets behind what is stored. */
  get sizeMax(): number {
    if (this.appended === undefined) return Infinity;
    const front = this.bytes === undefined ? chunkFrontBytes : this.bytes.length - this.begin;
    return front + this.appended.length * deltaBytesMax;
  }

  /** Whether no member has facets; false where that is not known at once. */
  get isPlain(): boolean {
    return (
      this.edits === undefined && (this.bytes === undefined || !hasFacets(this.bytes, this.begin))
    );
  }

  /** The chunk alone, as stored. */
  get row(): Uint8Array | undefined {
    const { bytes, begin } = this;
    return begin === 0 ? bytes : bytes?.subarray(begin);
  }

  /** The member's facets, empty for none; undefined when it is not there. */
  find(uid: number): Uint8Array | undefined {
    if (uid > this.bound) return undefined;
    const { edits, appended } = this;
    if (edits !== undefined) {
      const edited = edits.get(uid);
      if (edited !== undefined || edits.has(uid)) return edited;
    } else if (appended !== undefined && uid > this.last) {
      return hasNumber(appended, uid) ? emptyBytes : undefined;
    }
    if (uid > this.last || uid < this.first) return undefined;
    return findMember(this.decode(), uid);
  }

  /** Sets (or with undefined removes) a member; returns what `find` gave before. */
  edit(uid: number, facets: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.find(uid);
    if (before === undefined && facets === undefined) return before;
    if (before === undefined) this.count++;
    else if (facets === undefined) this.count--;
    if (facets?.length === 0 && uid > this.bound && this.edits === undefined) {
      this.bound = uid;
      if (this.appended === undefined) this.appended = [uid];
      else this.appended.push(uid);
      return before;
    }
    this.edits ??= this.takeAppended();
    if (facets === undefined || uid <= this.last) this.appendsOnly = false;
    if (uid > this.bound) this.bound = uid;
    this.edits.set(uid, facets);
    return before;
  }

  private takeAppended(): Map<number, Uint8Array | undefined> {
    const edits = new Map<number, Uint8Array | undefined>();
    for (const uid of this.appended ?? []) edits.set(uid, emptyBytes);
    this.appended = undefined;
    return edits;
  }

  private decode(): Members {
    if (this.decoded !== undefined) return this.decoded;
    const { row } = this;
    return (this.decoded =
      row === undefined ? noMembers : { uids: chunkMembers(row), facets: chunkFacets(row) });
  }

  /** All members as they are now. */
  members(): Members {
    if (!this.isEdited) return this.decode();
    if (this.bytes === undefined) return this.added();
    return mergeMembers(this.decode(), (this.edits ??= this.takeAppended()));
  }

  /** What the edits set, where they append. */
  added(): Members {
    const { appended, edits } = this;
    if (edits !== undefined) return addedMembers(edits);
    return appended === undefined
      ? noMembers
      : { uids: new Float64Array(appended), facets: noMembers.facets };
  }

  /**
   * Everything up to the chunk's begin, then the chunk as it is now; of a new one behind `front` bytes that the caller
   * fills. Undefined when no member is left. In memory of its own.
   */
  encode(front: number): Uint8Array | undefined {
    if (this.count === 0) return undefined;
    const { bytes, begin, appended } = this;
    if (appended !== undefined) {
      return bytes === undefined
        ? encodePlainChunk(appended, front)
        : growChunk(bytes, begin, appended);
    }
    const { uids, facets } = this.members();
    const row = encodeChunk(uids, facets);
    if (front === 0) return row;
    const placed = new Uint8Array(front + row.length);
    if (bytes !== undefined) placed.set(bytes.subarray(0, begin));
    placed.set(row, front);
    return placed;
  }
}

/** Whether an ascending list has a number. */
function hasNumber(numbers: readonly number[], wanted: number): boolean {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (must(numbers[middle], "within bounds") < wanted) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === wanted;
}

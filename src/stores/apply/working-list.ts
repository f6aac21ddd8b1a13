/**
 * Hot: one list inside of a write transaction. Rows are read once, edits gather, and `flush` writes each touched
 * chunk once (merging once per chunk and batch was 3.6 times as fast as once per patch).
 */
import { assert, must } from "../../base/assert.ts";
import {
  appendToChunk,
  chunkFacets,
  chunkFrontBytes,
  chunkLast,
  chunkMembers,
  decodeHead,
  encodeChunk,
  encodeHead,
  headBytes,
  isHead,
  listCount,
  memberSize,
  writeHead,
} from "../../codec/chunk.ts";
import { chunkKey, readChunkNumber } from "../../codec/key.ts";
import type { KeyValue } from "../key-value.ts";
import { EditedChunk } from "./edited-chunk.ts";
import type { Members } from "./members.ts";
import type { Tuning } from "./tuning.ts";

interface ChunkRow {
  readonly number: number;
  readonly row: Uint8Array;
}

export class WorkingList {
  readonly prefix: Uint8Array;
  private readonly headKey: Uint8Array;
  /** Members, with all edits so far. */
  count: number;
  private readonly kv: KeyValue;
  private readonly tuning: Tuning;
  private hadRow: boolean;
  private chunkTotal: number;
  private tail: number;
  /** The whole list, where row 0 is no head. */
  private readonly single: EditedChunk | undefined = undefined;
  /** Chunks of a longer list that were loaded; their numbers, ascending. Most changes need none. */
  private chunks: Map<number, EditedChunk> | undefined = undefined;
  private readonly numbers: number[] = [];
  /** Of `latest`. */
  private latestNumber = 0;
  private latest: EditedChunk | undefined = undefined;
  /** The open chunk (`codec/chunk.ts`) of a list of several; it takes every uid from `openFrom` on. */
  private open: EditedChunk | undefined = undefined;
  private openFrom = Infinity;
  private isDirty = false;

  constructor(kv: KeyValue, prefix: Uint8Array, tuning: Tuning) {
    this.kv = kv;
    this.prefix = prefix;
    this.tuning = tuning;
    this.headKey = chunkKey(prefix, 0);
    const row = kv.get(this.headKey);
    this.hadRow = row !== undefined;
    this.count = row === undefined ? 0 : listCount(row);
    this.chunkTotal = 1;
    this.tail = 0;
    if (row !== undefined && isHead(row)) {
      const head = decodeHead(row);
      this.chunkTotal = head.chunks;
      this.tail = head.tail;
      if (row.length > headBytes) {
        this.open = new EditedChunk(row.slice(), headBytes);
        this.openFrom = this.open.first;
      }
    } else this.single = new EditedChunk(row?.slice());
  }

  /** The member's facets, empty for none; undefined when it is not in the list. */
  find(uid: number): Uint8Array | undefined {
    return this.chunkFor(uid).find(uid);
  }

  /** Sets (or with undefined removes) a member; returns what `find` gave before. */
  edit(uid: number, facets: Uint8Array | undefined): Uint8Array | undefined {
    const before = this.chunkFor(uid).edit(uid, facets);
    if (before === undefined && facets === undefined) return before;
    if (before === undefined) this.count++;
    else if (facets === undefined) this.count--;
    this.isDirty = true;
    return before;
  }

  /** All members as they are now. */
  readAll(): Members {
    if (this.single !== undefined) return this.single.members();
    const pieces: Members[] = [];
    for (const chunk of this.loadAll().values()) pieces.push(chunk.members());
    if (this.open !== undefined) pieces.push(this.open.members());
    return joinMembers(pieces);
  }

  private keep(number: number, row: Uint8Array | undefined): EditedChunk {
    const chunk = new EditedChunk(row);
    (this.chunks ??= new Map()).set(number, chunk);
    this.numbers.splice(placeOf(this.numbers, number) + 1, 0, number);
    return chunk;
  }

  /** The chunk that holds `uid`, or would. */
  private chunkFor(uid: number): EditedChunk {
    if (this.single !== undefined) return this.single;
    if (uid >= this.openFrom) return must(this.open, "a list with an open chunk has it");
    const { latest } = this;
    if (latest !== undefined && uid >= this.latestNumber && uid <= latest.last) return latest;
    if (uid >= this.tail) {
      const tail = this.chunks?.get(this.tail) ?? this.load(this.tail);
      if (this.open === undefined && uid > tail.last) {
        this.openFrom = tail.last + 1;
        return (this.open = new EditedChunk(undefined));
      }
      return this.keepLatest(this.tail, tail);
    }
    const near = this.numbers[placeOf(this.numbers, uid)];
    if (near !== undefined) {
      const chunk = this.chunkOf(near);
      if (uid <= chunk.last) return this.keepLatest(near, chunk);
    }
    return this.seek(uid);
  }

  private keepLatest(number: number, chunk: EditedChunk): EditedChunk {
    this.latestNumber = number;
    return (this.latest = chunk);
  }

  private load(number: number): EditedChunk {
    const row = this.kv.get(chunkKey(this.prefix, number));
    assert(row !== undefined, "a list's head names its last chunk");
    return this.keep(number, row.slice());
  }

  private seek(uid: number): EditedChunk {
    let found: EditedChunk | undefined;
    // Chunk 1 goes when it is empty; what lies below the next one's number begins it anew.
    let number = 1;
    const start = chunkKey(this.prefix, 1);
    const end = chunkKey(this.prefix, uid + 1);
    this.kv.scan({ start, end, reverse: true }, (key, row) => {
      number = readChunkNumber(key);
      found = this.chunks?.get(number) ?? this.keep(number, row.slice());
      return false;
    });
    return this.keepLatest(number, found ?? this.chunks?.get(1) ?? this.keep(1, undefined));
  }

  /** By number, ascending. */
  private loadAll(): ReadonlyMap<number, EditedChunk> {
    const range = {
      start: chunkKey(this.prefix, 1),
      end: chunkKey(this.prefix, 2 ** 53),
    };
    this.kv.scan(range, (key, row) => {
      const number = readChunkNumber(key);
      if (this.chunks?.has(number) !== true) this.keep(number, row.slice());
      return true;
    });
    return new Map(this.numbers.map((number) => [number, this.chunkOf(number)]));
  }

  /** Removes every row; the list is done with. */
  drop(): void {
    if (this.single === undefined) {
      for (const [number, chunk] of this.loadAll()) {
        if (chunk.bytes !== undefined) this.kv.remove(chunkKey(this.prefix, number));
      }
    }
    if (this.hadRow) this.kv.remove(this.headKey);
    this.hadRow = false;
    this.isDirty = false;
  }

  /** Writes what changed. The list is done with. */
  flush(): void {
    if (!this.isDirty) return;
    this.isDirty = false;
    if (this.single !== undefined) this.flushSingle(this.single);
    else this.flushMany();
  }

  private chunkOf(number: number): EditedChunk {
    const chunks = must(this.chunks, "the list is in chunks");
    return must(chunks.get(number), "a chunk that is numbered is there");
  }

  private flushSingle(chunk: EditedChunk): void {
    if (chunk.sizeMax <= this.tuning.chunkBytesAim) {
      this.kv.put(this.headKey, must(chunk.encode(0), "a chunk with members has a row"));
      return;
    }
    const rows = this.rewrite(chunk, 1);
    const head = this.headKey;
    if (rows.length === 0) {
      if (this.hadRow) this.kv.remove(head);
      return;
    }
    const [first] = rows;
    if (first !== undefined && rows.length === 1) {
      this.kv.put(head, first.row);
      return;
    }
    const isLastOpen = lastOf(rows).row.length <= this.tuning.openBytesMax;
    const open = isLastOpen ? rows.pop()?.row : undefined;
    for (const { number, row } of rows) this.kv.put(chunkKey(this.prefix, number), row);
    const { number: tail } = lastOf(rows);
    this.kv.put(head, encodeHead({ count: this.count, chunks: rows.length, tail }, open));
  }

  private flushMany(): void {
    const { open } = this;
    if (this.numbers.length > 0) this.flushChunks();
    if (open !== undefined && open.sizeMax <= this.tuning.openBytesMax && this.chunkTotal > 0) {
      // Most changes: head and open chunk are one row, written at once.
      const row = must(open.encode(headBytes), "a chunk with members has a row");
      writeHead(row, {
        count: this.count,
        chunks: this.chunkTotal,
        tail: this.tail,
      });
      this.kv.put(this.headKey, row);
      return;
    }
    this.putHead(this.flushOpen());
  }

  private flushChunks(): void {
    const shrunk: number[] = [];
    for (const number of this.numbers) {
      const chunk = this.chunkOf(number);
      if (!chunk.isEdited) continue;
      const rows = this.rewrite(chunk, number);
      if (chunk.bytes !== undefined) {
        this.chunkTotal--;
        if (rows.length === 0) this.kv.remove(chunkKey(this.prefix, number));
      }
      this.chunkTotal += rows.length;
      for (const made of rows) this.kv.put(chunkKey(this.prefix, made.number), made.row);
      const last = rows.at(-1);
      if (last !== undefined && last.number > this.tail) this.tail = last.number;
      if (rows.length === 0 && number === this.tail) this.tail = 0;
      if (rows.length === 1 && lastOf(rows).row.length < this.tuning.chunkBytesAim / 4) {
        shrunk.push(number);
      }
    }
    if (this.tail === 0 && this.chunkTotal > 0) this.tail = this.findTail();
    for (const number of shrunk) this.mergeWithNext(number);
  }

  /** The open chunk as it is now; a long one is folded into the chunks before it. */
  private flushOpen(): Uint8Array | undefined {
    const { open } = this;
    if (open === undefined || !open.isEdited) return open?.row;
    const { openBytesMax } = this.tuning;
    if (open.count === 0) return undefined;
    if (open.count > openBytesMax) return this.fold(open.members());
    const encoded = must(open.encode(open.begin), "a chunk with members has a row");
    const row = encoded.subarray(open.begin);
    return row.length <= openBytesMax ? row : this.fold(toMembers(row));
  }

  /** Gives the open chunk's members to the last chunk and to new ones; what is left for a short one stays open. */
  private fold(members: Members): Uint8Array | undefined {
    const { uids, facets } = members;
    const tail =
      this.tail === 0 ? undefined : this.kv.get(chunkKey(this.prefix, this.tail))?.slice();
    const rows =
      tail === undefined
        ? this.cut(uids, facets, 1, true)
        : this.extend({ number: this.tail, row: tail }, members);
    const rest = lastOf(rows).row;
    const staysOpen = rows.length > 1 && rest.length <= this.tuning.openBytesMax;
    if (staysOpen) rows.pop();
    for (const { number, row } of rows) this.kv.put(chunkKey(this.prefix, number), row);
    this.chunkTotal += rows.length - (tail === undefined ? 0 : 1);
    this.tail = lastOf(rows).number;
    return staysOpen ? rest : undefined;
  }

  private findTail(): number {
    let tail = 0;
    const range = {
      start: chunkKey(this.prefix, 1),
      end: chunkKey(this.prefix, 2 ** 53),
    };
    this.kv.scan({ ...range, reverse: true }, (key) => {
      tail = readChunkNumber(key);
      return false;
    });
    return tail;
  }

  /** A chunk that became small takes its successor in, when both fit. */
  private mergeWithNext(number: number): void {
    const key = chunkKey(this.prefix, number);
    const row = this.kv.get(key)?.slice();
    if (row === undefined || number === this.tail) return;
    let next: { number: number; row: Uint8Array } | undefined;
    const start = chunkKey(this.prefix, number + 1);
    this.kv.scan({ start, end: chunkKey(this.prefix, 2 ** 53) }, (found, bytes) => {
      next = { number: readChunkNumber(found), row: bytes.slice() };
      return false;
    });
    if (next === undefined || row.length + next.row.length > this.tuning.chunkBytesAim) return;
    const { uids, facets } = joinMembers([toMembers(row), toMembers(next.row)]);
    this.kv.put(key, encodeChunk(uids, facets));
    this.kv.remove(chunkKey(this.prefix, next.number));
    this.chunkTotal--;
    if (this.tail === next.number) this.tail = number;
  }

  private putHead(open: Uint8Array | undefined): void {
    const head = this.headKey;
    if (this.count === 0) {
      this.kv.remove(head);
      return;
    }
    if (this.chunkTotal === 0) {
      if (this.hadRow) this.kv.remove(head);
      this.kv.put(head, must(open, "the head holds the open chunk"));
      return;
    }
    if (this.chunkTotal > 1 || open !== undefined) {
      this.kv.put(
        head,
        encodeHead({ count: this.count, chunks: this.chunkTotal, tail: this.tail }, open),
      );
      return;
    }
    const only = chunkKey(this.prefix, this.tail);
    const row = this.kv.get(only);
    assert(row !== undefined, "a list's last chunk is there");
    const single = row.slice();
    this.kv.remove(head);
    this.kv.put(head, single);
    this.kv.remove(only);
  }

  /** The rows that take the place of a chunk: none, one, or several after a split. */
  private rewrite(chunk: EditedChunk, number: number): ChunkRow[] {
    if (chunk.isAppend)
      return this.extend(
        { number, row: must(chunk.bytes, "what is appended to has its row") },
        chunk.added(),
      );
    if (chunk.count === 0) return [];
    const { uids, facets } = chunk.members();
    return this.cut(uids, facets, number, chunk.bytes === undefined);
  }

  /** Appends fill the last chunk and then begin new ones, so that ascending loads leave full chunks. */
  private extend({ number, row }: ChunkRow, { uids, facets }: Members): ChunkRow[] {
    let size = row.length;
    let taken = 0;
    let last = chunkLast(row);
    while (taken < uids.length) {
      const added = memberSize(must(uids[taken], "within bounds") - last, facets.get(taken));
      if (size + added > this.tuning.chunkBytesAim) break;
      size += added;
      last = must(uids[taken++], "within bounds");
    }
    const grown = taken === 0 ? row : appendToChunk(row, uids, facets, 0, taken);
    const rows = [{ number, row: grown }];
    if (taken === uids.length) return rows;
    const rest = this.cut(uids, facets, must(uids[taken], "within bounds"), true, taken);
    return [...rows, ...rest];
  }

  /** Members from `from` on as chunks: packed one after the other, or evenly where random inserts will follow. */
  private cut(
    uids: Float64Array,
    facets: ReadonlyMap<number, Uint8Array>,
    number: number,
    isPacked: boolean,
    from = 0,
  ): ChunkRow[] {
    const { chunkBytesAim, chunkBytesMax } = this.tuning;
    let total = chunkFrontBytes;
    for (let i = from + 1; i < uids.length; i++) {
      total += memberSize(
        must(uids[i], "within bounds") - must(uids[i - 1], "within bounds"),
        facets.get(i),
      );
    }
    total += (facets.get(from)?.length ?? 0) + 4;
    if (total <= chunkBytesMax) return [{ number, row: encodeChunk(uids, facets, from) }];
    const aim = isPacked ? chunkBytesAim : total / Math.ceil(total / chunkBytesAim);
    const rows: ChunkRow[] = [];
    let begin = from;
    while (begin < uids.length) {
      let size = chunkFrontBytes + (facets.get(begin)?.length ?? 0);
      let end = begin + 1;
      while (end < uids.length) {
        const added = memberSize(
          must(uids[end], "within bounds") - must(uids[end - 1], "within bounds"),
          facets.get(end),
        );
        if (size + added > aim) break;
        size += added;
        end++;
      }
      const made = begin === from ? number : must(uids[begin], "within bounds");
      rows.push({ number: made, row: encodeChunk(uids, facets, begin, end) });
      begin = end;
    }
    return rows;
  }
}

function toMembers(row: Uint8Array): Members {
  return { uids: chunkMembers(row), facets: chunkFacets(row) };
}

function joinMembers(pieces: readonly Members[]): Members {
  if (pieces.length === 1) return must(pieces[0], "one piece");
  let total = 0;
  for (const piece of pieces) total += piece.uids.length;
  const uids = new Float64Array(total);
  const facets = new Map<number, Uint8Array>();
  let at = 0;
  for (const piece of pieces) {
    uids.set(piece.uids, at);
    for (const [place, bytes] of piece.facets) facets.set(at + place, bytes);
    at += piece.uids.length;
  }
  return { uids, facets };
}

/** The place of the greatest number ≤ `uid`; -1 when there is none. */
function placeOf(numbers: readonly number[], uid: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (must(numbers[middle], "within bounds") <= uid) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function lastOf(rows: readonly ChunkRow[]): ChunkRow {
  return must(rows.at(-1), "members make at least one row");
}

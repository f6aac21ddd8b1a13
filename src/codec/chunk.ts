/**
 * Hot: lists decode into typed arrays at 2 to 3 ns a uid; pushing them into arrays cost 25.
 * A list row (reference/storage 4): a **chunk** of ascending uids, or the **head** of a list of several chunks.
 *
 * Chunk: flags u8 | member count u16 | first f64 | last f64 | bytes of deltas u16 | deltas (LEB128, from the second
 * member on) | facets: (member number u16, length varint, bytes)…, ascending.
 * Head:  flags u8 | member count of the list f64 | number of chunks u32 | number of the last chunk f64 | the open chunk.
 * The **open chunk** holds the newest members, all behind those of the other chunks; there may be none. Appending to a
 * long list so rewrites one short row instead of a head and a full chunk, which lie on different pages.
 * A list that fits into one chunk has that chunk as row 0, so that most lists are one row.
 */
import { assert, must } from "../base/assert.ts";
import { readUint16, varintSize, writeUint16, writeVarint } from "../base/bytes.ts";
import { readF64, writeF64 } from "./f64.ts";

const flagFacets = 1;
const flagHead = 2;
const lastAt = 11;
const deltaBytesAt = 19;
const deltasAt = 21;

/** Chunks are filled up to it and split above `chunkBytesMax`: over 2 KB a value leaves LMDB's leaf page. */
export const chunkBytesAim = 1536;
export const chunkBytesMax = 1900;
/** A longer open chunk is folded into the last one. */
export const openBytesMax = 320;

export interface ListHead {
  /** Members of the whole list, the open chunk's included. */
  readonly count: number;
  /** Rows besides the head. */
  readonly chunks: number;
  /** The number (see chunkKey) of the last chunk. */
  readonly tail: number;
}

export function isHead(row: Uint8Array): boolean {
  return (must(row[0], "a row has its flags") & flagHead) !== 0;
}

/** Where a head's open chunk begins. */
export const headBytes = 21;

export function encodeHead(head: ListHead, open?: Uint8Array): Uint8Array {
  const row = new Uint8Array(headBytes + (open === undefined ? 0 : open.length));
  writeHead(row, head);
  if (open !== undefined) row.set(open, headBytes);
  return row;
}

/** Over the head that a row begins with. */
export function writeHead(row: Uint8Array, head: ListHead): void {
  row[0] = flagHead;
  writeF64(row, 1, head.count);
  writeUint16(row, 9, head.chunks);
  writeUint16(row, 11, head.chunks >>> 16);
  writeF64(row, 13, head.tail);
}

/** The open chunk of a head, sharing its memory; undefined when there is none. */
export function openChunkOf(head: Uint8Array): Uint8Array | undefined {
  return head.length === headBytes ? undefined : head.subarray(headBytes);
}

export function decodeHead(row: Uint8Array): ListHead {
  assert(isHead(row), "a list's head is a head");
  return {
    count: readF64(row, 1),
    chunks: readUint16(row, 9) + readUint16(row, 11) * 0x10000,
    tail: readF64(row, 13),
  };
}

/** Members of the whole list, from row 0, whichever form it has. */
export function listCount(row: Uint8Array): number {
  return isHead(row) ? readF64(row, 1) : chunkCount(row);
}

export function chunkCount(row: Uint8Array, begin = 0): number {
  return readUint16(row, begin + 1);
}

export function chunkFirst(row: Uint8Array, begin = 0): number {
  return readF64(row, begin + 3);
}

export function chunkLast(row: Uint8Array, begin = 0): number {
  return readF64(row, begin + lastAt);
}

export function hasFacets(row: Uint8Array, begin = 0): boolean {
  return (must(row[begin], "a row has its flags") & flagFacets) !== 0;
}

/** Writes a chunk's members to `target` from `offset` on (there must be room for chunkCount); returns how many. */
export function decodeChunk(row: Uint8Array, target: Float64Array, offset: number): number {
  const count = readUint16(row, 1);
  let uid = readF64(row, 3);
  let at = deltasAt;
  target[offset] = uid;
  for (let i = 1; i < count; i++) {
    let byte = row[at++]!;
    if (byte < 0x80) {
      uid += byte;
    } else {
      let delta = byte & 0x7f;
      byte = row[at++]!;
      delta |= (byte & 0x7f) << 7;
      if (byte >= 0x80) {
        byte = row[at++]!;
        delta |= (byte & 0x7f) << 14;
        let scale = 0x200000;
        while (byte >= 0x80) {
          byte = row[at++]!;
          delta += (byte & 0x7f) * scale;
          scale *= 128;
        }
      }
      uid += delta;
    }
    target[offset + i] = uid;
  }
  return count;
}

export function chunkMembers(row: Uint8Array): Float64Array {
  const members = new Float64Array(chunkCount(row));
  decodeChunk(row, members, 0);
  return members;
}

/** Calls `visit` for the members that have facets, by their place in the chunk; the bytes are lent. */
export function visitChunkFacets(
  row: Uint8Array,
  visit: (place: number, facets: Uint8Array) => void,
): void {
  if (!hasFacets(row)) return;
  let at = deltasAt + readUint16(row, 19);
  while (at < row.length) {
    const place = readUint16(row, at);
    at += 2;
    let length = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = row[at++]!;
      length |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    visit(place, row.subarray(at, at + length));
    at += length;
  }
}

/** Facets of members, by their place; only those that have some. */
export type ChunkFacets = ReadonlyMap<number, Uint8Array>;

export const noChunkFacets: ChunkFacets = new Map();

/** Facets by place, in memory of their own. */
export function chunkFacets(row: Uint8Array): ChunkFacets {
  if (!hasFacets(row)) return noChunkFacets;
  const facets = new Map<number, Uint8Array>();
  visitChunkFacets(row, (place, bytes) => facets.set(place, bytes.slice()));
  return facets;
}

function facetsSize(bytes: Uint8Array): number {
  return 2 + varintSize(bytes.length) + bytes.length;
}

/** Members from … to (exclusive) as one chunk. `facets` by member's place in `members`. */
export function encodeChunk(
  members: Float64Array,
  facets: ChunkFacets,
  from = 0,
  to = members.length,
): Uint8Array {
  assert(to > from && to - from <= 0xffff, "a chunk has 1 to 65,535 members");
  let deltaBytes = 0;
  const first = must(members[from], "there are members");
  let last = first;
  for (let i = from + 1; i < to; i++) {
    const member = members[i]!;
    deltaBytes += varintSize(member - last);
    last = member;
  }
  let facetBytes = 0;
  if (facets.size > 0) {
    for (const [place, bytes] of facets) {
      if (place >= from && place < to) facetBytes += facetsSize(bytes);
    }
  }
  const row = new Uint8Array(deltasAt + deltaBytes + facetBytes);
  row[0] = facetBytes > 0 ? flagFacets : 0;
  writeUint16(row, 1, to - from);
  writeF64(row, 3, first);
  writeF64(row, 11, last);
  assert(deltaBytes <= 0xffff, "a chunk's deltas are counted in 16 bits");
  writeUint16(row, 19, deltaBytes);
  let at = deltasAt;
  last = first;
  for (let i = from + 1; i < to; i++) {
    const member = members[i]!;
    at = writeVarint(row, at, member - last);
    last = member;
  }
  if (facetBytes > 0) {
    for (let i = from; i < to; i++) {
      const bytes = facets.get(i);
      if (bytes !== undefined) at = writeFacets(row, at, i - from, bytes);
    }
  }
  return row;
}

function writeFacets(row: Uint8Array, from: number, place: number, bytes: Uint8Array): number {
  row[from] = place;
  row[from + 1] = place >>> 8;
  const at = writeVarint(row, from + 2, bytes.length);
  row.set(bytes, at);
  return at + bytes.length;
}

/**
 * The chunk with members behind its last one, without decoding it. `added` is ascending and begins above chunkLast;
 * `facets` by place in `added`.
 */
export function appendToChunk(
  row: Uint8Array,
  added: Float64Array,
  facets: ChunkFacets,
  from = 0,
  to = added.length,
): Uint8Array {
  const count = chunkCount(row);
  const oldLast = chunkLast(row);
  assert(
    to > from && must(added[from], "members are added") > oldLast,
    "appended members come behind the last",
  );
  assert(count + to - from <= 0xffff, "a chunk has 1 to 65,535 members");
  const oldDeltaBytes = readUint16(row, 19);
  let deltaBytes = 0;
  let last = oldLast;
  for (let i = from; i < to; i++) {
    const member = added[i]!;
    deltaBytes += varintSize(member - last);
    last = member;
  }
  let facetBytes = 0;
  if (facets.size > 0) {
    for (const [place, bytes] of facets) {
      if (place >= from && place < to) facetBytes += facetsSize(bytes);
    }
  }
  const grown = new Uint8Array(row.length + deltaBytes + facetBytes);
  const oldDeltasEnd = deltasAt + oldDeltaBytes;
  grown.set(row.subarray(0, oldDeltasEnd));
  let at = oldDeltasEnd;
  last = oldLast;
  for (let i = from; i < to; i++) {
    const member = added[i]!;
    at = writeVarint(grown, at, member - last);
    last = member;
  }
  grown.set(row.subarray(oldDeltasEnd), at);
  at += row.length - oldDeltasEnd;
  if (facetBytes > 0) {
    for (let i = from; i < to; i++) {
      const bytes = facets.get(i);
      if (bytes !== undefined) at = writeFacets(grown, at, count + i - from, bytes);
    }
  }
  if (facetBytes > 0) grown[0] = must(grown[0], "a row has its flags") | flagFacets;
  writeUint16(grown, 1, count + to - from);
  writeF64(grown, 11, last);
  assert(oldDeltaBytes + deltaBytes <= 0xffff, "a chunk's deltas are counted in 16 bits");
  writeUint16(grown, 19, oldDeltaBytes + deltaBytes);
  return grown;
}

/**
 * Hot: `bytes` with members behind the last one of the chunk that stands from `begin` to their end; what is in front of
 * it stays. `added` ascends, begins above the chunk's last member, and has no facets.
 */
export function growChunk(bytes: Uint8Array, begin: number, added: readonly number[]): Uint8Array {
  const oldLast = readF64(bytes, begin + lastAt);
  const count = readUint16(bytes, begin + 1) + added.length;
  const oldDeltaBytes = readUint16(bytes, begin + deltaBytesAt);
  assert(
    added.length > 0 && must(added[0], "members are added") > oldLast,
    "appended members come behind the last",
  );
  const deltaBytes = deltasSize(added, oldLast);
  const grown = new Uint8Array(bytes.length + deltaBytes);
  const facetsFrom = begin + deltasAt + oldDeltaBytes;
  if (facetsFrom === bytes.length) grown.set(bytes);
  else {
    grown.set(bytes.subarray(0, facetsFrom));
    grown.set(bytes.subarray(facetsFrom), facetsFrom + deltaBytes);
  }
  writeDeltas(grown, facetsFrom, added, oldLast);
  writeCounts(grown, begin, count, oldDeltaBytes + deltaBytes);
  writeF64(grown, begin + lastAt, must(added.at(-1), "members are added"));
  return grown;
}

/** A chunk of ascending members without facets, behind `front` bytes that the caller fills. */
export function encodePlainChunk(members: readonly number[], front: number): Uint8Array {
  const first = must(members[0], "there are members");
  const deltaBytes = deltasSize(members, first) - 1;
  const bytes = new Uint8Array(front + deltasAt + deltaBytes);
  writeF64(bytes, front + 3, first);
  writeF64(bytes, front + lastAt, must(members.at(-1), "there are members"));
  writeCounts(bytes, front, members.length, deltaBytes);
  let at = front + deltasAt;
  let last = first;
  for (let i = 1; i < members.length; i++) {
    const member = members[i]!;
    at = writeVarint(bytes, at, member - last);
    last = member;
  }
  return bytes;
}

function deltasSize(added: readonly number[], from: number): number {
  let size = 0;
  let last = from;
  for (let i = 0; i < added.length; i++) {
    const member = added[i]!;
    size += varintSize(member - last);
    last = member;
  }
  return size;
}

function writeDeltas(bytes: Uint8Array, from: number, added: readonly number[], before: number) {
  let at = from;
  let last = before;
  for (let i = 0; i < added.length; i++) {
    const member = added[i]!;
    at = writeVarint(bytes, at, member - last);
    last = member;
  }
}

function writeCounts(bytes: Uint8Array, begin: number, count: number, deltaBytes: number): void {
  assert(count <= 0xffff, "a chunk has 1 to 65,535 members");
  assert(deltaBytes <= 0xffff, "a chunk's deltas are counted in 16 bits");
  writeUint16(bytes, begin + 1, count);
  writeUint16(bytes, begin + deltaBytesAt, deltaBytes);
}

/** What a member adds to a chunk, facets included. */
export function memberSize(delta: number, facets: Uint8Array | undefined): number {
  return varintSize(delta) + (facets === undefined || facets.length === 0 ? 0 : facetsSize(facets));
}

/** Bytes of a chunk's fixed front. */
export const chunkFrontBytes = deltasAt;

/**
 * A block of an encrypted store before it is sealed (reference/storage 10.2): level, count, the place of each entry, and
 * the entries one behind the other: length of the key, length of the payload, key, payload. At level 0 entries are rows;
 * above, a key leads to the block with the rows from that key on, which is the payload. An entry's bytes do not depend on
 * where it stands, so that a run of them is copied as a whole.
 */
import { readUint16 } from "../../base/bytes.ts";
import { assert, must } from "../../base/assert.ts";

const headBytes = 4;
const placeBytes = 2;
const entryHeadBytes = 4;
const longBit = 0x8000;
const idBytes = 6;

/** With the seal and a checksum it fills one page of LMDB. */
export const blockBytesMax = 4036;
/** As `entryBytes` tells it. A row that would take more lies in a block of its own: two rows fit into a block. */
export const entryBytesMax = (blockBytesMax - headBytes) / 2;
/** In place of a level: the block is the value of one row. */
export const longLevel = 0xff;

export interface Entry {
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
  /** The payload names the block with the value. */
  readonly isLong: boolean;
}

export class TreeBlock {
  readonly bytes: Uint8Array;
  readonly level: number;
  readonly count: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.level = must(bytes[0], "a block is whole");
    this.count = readUint16(bytes, 2);
  }

  /** Where an entry begins; of the one behind the last where the block ends. */
  placeOf(index: number): number {
    if (index >= this.count) return this.bytes.length;
    const at = headBytes + index * placeBytes;
    return readUint16(this.bytes, at);
  }

  keyAt(index: number): Uint8Array {
    const { bytes } = this;
    const place = this.placeOf(index);
    const length = readUint16(bytes, place);
    return new Uint8Array(bytes.buffer, bytes.byteOffset + place + entryHeadBytes, length);
  }

  payloadAt(index: number): Uint8Array {
    const { bytes } = this;
    const place = this.placeOf(index);
    const key = readUint16(bytes, place);
    const length = readUint16(bytes, place + 2) & ~longBit;
    return new Uint8Array(bytes.buffer, bytes.byteOffset + place + entryHeadBytes + key, length);
  }

  isLongAt(index: number): boolean {
    return (must(this.bytes[this.placeOf(index) + 3], "a block is whole") & 0x80) !== 0;
  }

  /** Of a block above the rows, or of a long row: the block that the entry leads to. */
  blockAt(index: number): number {
    return readId(this.payloadAt(index));
  }

  entryAt(index: number): Entry {
    return {
      key: this.keyAt(index),
      payload: this.payloadAt(index),
      isLong: this.isLongAt(index),
    };
  }

  /** The first entry whose key is not below. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareAt(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Above the rows: the entry whose block may have the key. */
  childFor(key: Uint8Array): number {
    const index = this.lowerBound(key);
    if (index < this.count && this.compareAt(index, key) === 0) return index;
    return index === 0 ? 0 : index - 1;
  }

  /** As a comparison of the entry's key with `key`. */
  compareAt(index: number, key: Uint8Array): number {
    const { bytes } = this;
    const place = headBytes + index * placeBytes;
    const at = readUint16(bytes, place);
    const length = readUint16(bytes, at);
    const from = at + entryHeadBytes;
    const shared = length < key.length ? length : key.length;
    for (let i = 0; i < shared; i++) {
      const difference = bytes[from + i]! - key[i]!;
      if (difference !== 0) return difference;
    }
    return length - key.length;
  }
}

export function entryBytes({ key, payload }: Entry): number {
  return placeBytes + entryHeadBytes + key.length + payload.length;
}

export function sizeOfRun(block: TreeBlock, from: number, to: number): number {
  return block.placeOf(to) - block.placeOf(from) + (to - from) * placeBytes;
}

/** Entries of another block, or a new one. */
export type Piece =
  Entry | { readonly block: TreeBlock; readonly from: number; readonly to: number };

/** `count`: of all entries; `size`: of them as `entryBytes` and `sizeOfRun` tell it. */
export function encodeBlock(
  level: number,
  pieces: readonly Piece[],
  count: number,
  size: number,
): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + size);
  bytes[0] = level;
  bytes[1] = 0;
  bytes.writeUInt16LE(count, 2);
  let placeAt = headBytes;
  let at = headBytes + count * placeBytes;
  for (const piece of pieces) {
    if ("key" in piece) {
      bytes.writeUInt16LE(at, placeAt);
      placeAt += placeBytes;
      at = writeEntry(bytes, at, piece);
      continue;
    }
    const { block, from, to } = piece;
    const begin = block.placeOf(from);
    const end = block.placeOf(to);
    for (let i = from; i < to; i++, placeAt += placeBytes) {
      bytes.writeUInt16LE(block.placeOf(i) - begin + at, placeAt);
    }
    bytes.set(block.bytes.subarray(begin, end), at);
    at += end - begin;
  }
  assert(at === bytes.length, "a block is as large as its entries");
  return bytes;
}

function writeEntry(bytes: Buffer, at: number, { key, payload, isLong }: Entry): number {
  bytes.writeUInt16LE(key.length, at);
  bytes.writeUInt16LE(payload.length | (isLong ? longBit : 0), at + 2);
  bytes.set(key, at + entryHeadBytes);
  bytes.set(payload, at + entryHeadBytes + key.length);
  return at + entryHeadBytes + key.length + payload.length;
}

/**
 * Entries in order as blocks. `isAppending`: what comes later comes behind them, so that all but the last are filled;
 * otherwise they are filled alike.
 */
export function packBlocks(
  level: number,
  entries: readonly Entry[],
  isAppending: boolean,
): { readonly first: Uint8Array; readonly bytes: Buffer }[] {
  const room = blockBytesMax - headBytes;
  const total = entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
  const aim = isAppending ? room : total / Math.ceil(total / room);
  const made: { first: Uint8Array; bytes: Buffer }[] = [];
  let from = 0;
  let size = 0;
  const cut = (to: number): void => {
    const pieces = entries.slice(from, to);
    made.push({
      first: must(pieces[0], "a block has entries").key,
      bytes: encodeBlock(level, pieces, to - from, size),
    });
    from = to;
    size = 0;
  };
  for (const [i, entry] of entries.entries()) {
    const added = entryBytes(entry);
    if (i > from && (size + added > room || size >= aim)) cut(i);
    size += added;
  }
  if (from < entries.length) cut(entries.length);
  return made;
}

export function encodeId(id: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(idBytes);
  bytes.writeUIntLE(id, 0, idBytes);
  return bytes;
}

function readId(payload: Uint8Array): number {
  let id = 0;
  for (let i = idBytes - 1; i >= 0; i--) id = id * 256 + must(payload[i], "a block is whole");
  return id;
}

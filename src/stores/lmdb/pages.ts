/**
 * A page of LMDB's trees as it lies in the data file, read without LMDB: over damage it ends the process. A page begins
 * with its number, the transaction that wrote it, two bytes, flags, and the bounds of its free room; then come the places
 * of its nodes, and from the end on the nodes themselves, with nothing between them. So a bit that changes in any of it
 * does not fit the rest. Only what our files use is known here: no duplicates, no databases with names.
 */
import { must } from "../../base/assert.ts";
const headBytes = 24;
const transactionAt = 8;
const flagsAt = 18;
const lowerAt = 20;
const upperAt = 22;
const nodeHeadBytes = 8;
const longPlaceBytes = 24;

const branchFlag = 0x01;
const leafFlag = 0x02;
const overflowFlag = 0x04;
const longFlag = 0x01;
/** The others say what LMDB does with a page in memory. */
const kindFlags = 0x0fff;

/** What is wrong, as a part of a sentence. */
export class PageDamage extends Error {
  /** A row that is not what was stored; the pages lead to all others. */
  readonly isRow: boolean;
  /** Its key does not fit between its neighbours': searches for others may end beside it. */
  readonly isMoved: boolean;

  constructor(message: string, isRow = false, isMoved = false) {
    super(message);
    this.isRow = isRow;
    this.isMoved = isMoved;
  }
}

/** A node: of a branch a page below it and the smallest key there; of a leaf a row. */
export interface Node {
  readonly key: Buffer;
  /** Of a branch. */
  readonly child: number;
  /** Of a leaf; of a row whose value lies on pages of its own their place. */
  readonly value: Buffer;
  readonly isLong: boolean;
  /** Bytes of the value. */
  readonly size: number;
}

export interface FilePage {
  readonly isBranch: boolean;
  readonly transaction: number;
  readonly nodes: readonly Node[];
}

/** Throws PageDamage. `number`: which one it must be. */
export function readPage(bytes: Buffer, number: number): FilePage {
  checkNumber(bytes, number);
  const flags = bytes.readUInt16LE(flagsAt) & kindFlags;
  if (flags !== branchFlag && flags !== leafFlag) fail(number, "is none of a tree");
  const isBranch = flags === branchFlag;
  const lower = bytes.readUInt16LE(lowerAt);
  const upper = bytes.readUInt16LE(upperAt);
  if ((lower & 1) !== 0 || lower > upper || headBytes + upper > bytes.length) {
    fail(number, "is damaged");
  }
  const count = lower >> 1;
  if (isBranch && count < 2) fail(number, "is damaged");
  const places: number[] = [];
  for (let i = 0; i < count; i++) places.push(bytes.readUInt16LE(headBytes + 2 * i));
  const nodes = places.map((place) => readNode(bytes, number, headBytes + place, isBranch));
  checkTiling(bytes, number, { places, nodes, upper, isBranch });
  return { isBranch, transaction: Number(bytes.readBigUInt64LE(transactionAt)), nodes };
}

function readNode(bytes: Buffer, number: number, at: number, isBranch: boolean): Node {
  if (at + nodeHeadBytes > bytes.length) fail(number, "is damaged");
  const flags = bytes.readUInt16LE(at + 4);
  const keyAt = at + nodeHeadBytes;
  const keyEnd = keyAt + bytes.readUInt16LE(at + 6);
  if (keyEnd > bytes.length) fail(number, "is damaged");
  const key = bytes.subarray(keyAt, keyEnd);
  if (isBranch) {
    return { key, child: bytes.readUIntLE(at, 6), value: nothing, isLong: false, size: 0 };
  }
  if (flags !== 0 && flags !== longFlag) fail(number, "is damaged");
  const isLong = flags === longFlag;
  const size = bytes.readUInt32LE(at);
  const end = keyEnd + (isLong ? longPlaceBytes : size);
  if (end > bytes.length) fail(number, "is damaged");
  return { key, child: 0, value: bytes.subarray(keyEnd, end), isLong, size };
}

const nothing = Buffer.alloc(0);

/** The nodes lie one behind the other, from `upper` to the page's end. */
function checkTiling(
  bytes: Buffer,
  number: number,
  page: {
    readonly places: readonly number[];
    readonly nodes: readonly Node[];
    readonly upper: number;
    readonly isBranch: boolean;
  },
): void {
  const { places, nodes, upper } = page;
  const order = [...places.entries()].sort(([, a], [, b]) => a - b);
  let at = upper;
  for (const [i, place] of order) {
    if (place !== at) fail(number, "is damaged");
    const { key, value } = must(nodes[i], "a node for each place");
    const length = nodeHeadBytes + key.length + value.length;
    at += length + (length & 1);
  }
  if (headBytes + at !== bytes.length) fail(number, "is damaged");
}

interface LongPlace {
  readonly first: number;
  readonly pages: number;
}

/** Where the value of a row lies whose `isLong` is true. */
export function readLongPlace(value: Buffer): LongPlace {
  return { first: Number(value.readBigUInt64LE(0)), pages: Number(value.readBigUInt64LE(16)) };
}

/** The value of a row that lies on pages of its own; `bytes`: all of them. Throws PageDamage. */
export function readLongValue(bytes: Buffer, place: LongPlace, size: number): Buffer {
  checkNumber(bytes, place.first);
  const flags = bytes.readUInt16LE(flagsAt) & kindFlags;
  if (flags !== overflowFlag) fail(place.first, "holds no value");
  return bytes.subarray(headBytes, headBytes + size);
}

export function longPages(size: number, pageBytes: number): number {
  return Math.ceil((headBytes + size) / pageBytes);
}

function checkNumber(bytes: Buffer, number: number): void {
  if (Number(bytes.readBigUInt64LE(0)) !== number) fail(number, "is another one");
}

function fail(number: number, what: string): never {
  throw new PageDamage(`page ${number} ${what}`);
}

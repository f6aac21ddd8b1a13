/**
 * Values to bytes and back; no storage, no meaning. This file makes every key (reference/storage 2): a storage
 * id (u32), a kind (u8), then what the kind needs; all big-endian, so that bytes sort as the numbers do.
 *
 * Lists (long, presence, index, reverse, count) share one shape: a list's **prefix**, then 8 bytes. Row 0 is the
 * list's head, which of a list of one chunk is the chunk itself; row 1 is the first chunk of a longer list, and every
 * other chunk's number is the smallest uid that it may hold (`codec/chunk.ts`).
 */
import { assert, must } from "../base/assert.ts";
import { compareBytes, prefixEnd } from "../base/bytes.ts";

export const keyKind = {
  record: 1,
  longList: 2,
  wide: 3,
  presence: 4,
  index: 5,
  reverse: 6,
  count: 7,
  meta: 8,
  log: 9,
  /** Reserved for reading the past (reference/storage 2). */
  history: 10,
  /** Explicit uids far above the lease; storage id 0. */
  reserved: 11,
  /** Heads of lists that an engine keeps apart from their chunks (`stores/lmdb/head-rows.ts`). */
  head: 12,
} as const;

type KeyKind = (typeof keyKind)[keyof typeof keyKind];

/** LMDB's longest key. */
const keyBytesMax = 1978;

/** A token's longest escaped form: what is left of a key beside its numbers. */
const tokenBytesMax = keyBytesMax - 5 - 4 - 1 - 8;

/** Rows that belong to no namespace: state of the store, log. */
export const globalStorageId = 0;

function start(size: number, storageId: number, kind: KeyKind): Uint8Array {
  const key = new Uint8Array(size);
  writeU32(key, 0, storageId);
  key[4] = kind;
  return key;
}

function writeU32(key: Uint8Array, at: number, value: number): void {
  key[at] = value >>> 24;
  key[at + 1] = value >>> 16;
  key[at + 2] = value >>> 8;
  key[at + 3] = value;
}

function readU32(key: Uint8Array, at: number): number {
  return (
    ((must(key[at], "a key is whole") << 24) |
      (must(key[at + 1], "a key is whole") << 16) |
      (must(key[at + 2], "a key is whole") << 8) |
      must(key[at + 3], "a key is whole")) >>>
    0
  );
}

/** A safe integer ≥ 0 in 8 bytes. */
function writeU64(key: Uint8Array, at: number, value: number): void {
  const high = Math.floor(value / 0x100000000);
  writeU32(key, at, high);
  writeU32(key, at + 4, value - high * 0x100000000);
}

export function readU64(key: Uint8Array, at: number): number {
  return readU32(key, at) * 0x100000000 + readU32(key, at + 4);
}

/** A record's part by the first predicate that it may hold; part 0 is always there and names the others. */
export function recordKey(storageId: number, uid: number, firstPredicate = 0): Uint8Array {
  const key = start(17, storageId, keyKind.record);
  writeU64(key, 5, uid);
  if (firstPredicate !== 0) writeU32(key, 13, firstPredicate);
  return key;
}

export function readRecordKey(key: Uint8Array): {
  uid: number;
  firstPredicate: number;
} {
  return { uid: readU64(key, 5), firstPredicate: readU32(key, 13) };
}

/** Where a value over 1 KB lies. `slot` as in CellPatch (latin1 or a language tag). */
export function wideKey(
  storageId: number,
  predicate: number,
  uid: number,
  slot: string,
): Uint8Array {
  const key = start(17 + slot.length, storageId, keyKind.wide);
  writeU32(key, 5, predicate);
  writeU64(key, 9, uid);
  for (let i = 0; i < slot.length; i++) key[17 + i] = slot.charCodeAt(i);
  assert(key.length <= keyBytesMax, "a language tag fits into a key");
  return key;
}

/** A row of settings or of the schema, by name. */
export function metaKey(storageId: number, name: string): Uint8Array {
  const key = start(5 + name.length, storageId, keyKind.meta);
  for (let i = 0; i < name.length; i++) {
    assert(name.charCodeAt(i) < 128, "a meta row's name is ASCII");
    key[5 + i] = name.charCodeAt(i);
  }
  return key;
}

export function readMetaName(key: Uint8Array): string {
  return String.fromCharCode(...key.subarray(5));
}

export function logKey(commitTs: number): Uint8Array {
  const key = start(13, globalStorageId, keyKind.log);
  writeU64(key, 5, commitTs);
  return key;
}

export function readLogKey(key: Uint8Array): number {
  return readU64(key, 5);
}

/** Nodes that have the predicate. */
export function presenceList(storageId: number, predicate: number): Uint8Array {
  const key = start(9, storageId, keyKind.presence);
  writeU32(key, 5, predicate);
  return key;
}

/** Targets of a node's edges, when they are too many for its record. */
export function longList(storageId: number, predicate: number, uid: number): Uint8Array {
  const key = start(17, storageId, keyKind.longList);
  writeU32(key, 5, predicate);
  writeU64(key, 9, uid);
  return key;
}

/** Nodes that point at `object`. */
export function reverseList(storageId: number, index: number, object: number): Uint8Array {
  const key = start(17, storageId, keyKind.reverse);
  writeU32(key, 5, index);
  writeU64(key, 9, object);
  return key;
}

export function readReverseObject(key: Uint8Array): number {
  return readU64(key, 9);
}

/** Nodes with exactly `count` values or edges. */
export function countList(storageId: number, index: number, count: number): Uint8Array {
  const key = start(17, storageId, keyKind.count);
  writeU32(key, 5, index);
  writeU64(key, 9, count);
  return key;
}

export function readCountOf(key: Uint8Array): number {
  return readU64(key, 9);
}

/** Explicit uids that the lease must pass over. */
export function reservedList(): Uint8Array {
  return start(5, globalStorageId, keyKind.reserved);
}

/**
 * Nodes with an index token. A token's bytes 00 and 01 are written as 01 01 and 01 02, and a zero ends it: order
 * stays, and no token's list is a prefix of another's. Tokens are cut and hashed by the `tokens` module; a longer one
 * is our mistake.
 */
export function tokenList(storageId: number, index: number, token: Uint8Array): Uint8Array {
  let escapes = 0;
  for (let i = 0; i < token.length; i++) if (must(token[i], "a byte of the token") <= 1) escapes++;
  assert(token.length + escapes <= tokenBytesMax, "an index token fits into a key");
  const key = start(10 + token.length + escapes, storageId, keyKind.index);
  writeU32(key, 5, index);
  let at = 9;
  for (let i = 0; i < token.length; i++) {
    const byte = must(token[i], "a byte of the token");
    if (byte <= 1) {
      key[at++] = 1;
      key[at++] = byte + 1;
    } else key[at++] = byte;
  }
  return key;
}

/** Where the token of an index row ends: the place of its closing zero. */
function tokenEnd(key: Uint8Array): number {
  let at = 9;
  while (at < key.length && key[at] !== 0) at++;
  return at;
}

/** The token of an index row's key (or of a token list's prefix), in memory of its own. */
export function readToken(key: Uint8Array): Uint8Array {
  const end = tokenEnd(key);
  const token = new Uint8Array(end - 9);
  let count = 0;
  for (let at = 9; at < end; at++) {
    const byte = must(key[at], "a key is whole");
    token[count++] = byte === 1 ? must(key[++at], "a key is whole") - 1 : byte;
  }
  return count === token.length ? token : token.subarray(0, count);
}

/** All rows of the tokens from `from` on and in front of `to`; undefined for the first one and the index's end. */
export function tokenRange(
  storageId: number,
  index: number,
  from: Uint8Array | undefined,
  to: Uint8Array | undefined,
): KeyRange {
  const all = indexPrefix(storageId, keyKind.index, index);
  return {
    start: from === undefined ? all : tokenList(storageId, index, from),
    end:
      to === undefined
        ? must(prefixEnd(all), "a prefix of a list ends")
        : tokenList(storageId, index, to),
  };
}

export interface KeyRange {
  readonly start: Uint8Array;
  /** Exclusive. */
  readonly end: Uint8Array;
}

/** All rows of an index, reverse or count id, or of a predicate's presence, long lists or wide values. */
export function indexPrefix(
  storageId: number,
  kind: Exclude<KeyKind, 1 | 8 | 9 | 10 | 11 | 12>,
  id: number,
): Uint8Array {
  const key = start(9, storageId, kind);
  writeU32(key, 5, id);
  return key;
}

/** Everything that begins with `prefix`. */
export function prefixRange(prefix: Uint8Array): KeyRange {
  const end = prefixEnd(prefix);
  assert(end !== undefined, "a key prefix has an end");
  return { start: prefix, end };
}

/** All rows of one kind of a storage id. */
export function kindRange(storageId: number, kind: KeyKind): KeyRange {
  return prefixRange(start(5, storageId, kind));
}

/** Everything of a storage id. */
export function storageRange(storageId: number): KeyRange {
  const key = new Uint8Array(4);
  writeU32(key, 0, storageId);
  return prefixRange(key);
}

/** The same place of another storage id. */
export function moveKey(key: Uint8Array, storageId: number): Uint8Array {
  const moved = key.slice();
  writeU32(moved, 0, storageId);
  return moved;
}

export function readStorageId(key: Uint8Array): number {
  return readU32(key, 0);
}

export function readKind(key: Uint8Array): KeyKind {
  return key[4] as KeyKind;
}

/** The index, reverse, count or predicate id of a list's key (or of a wide value's). */
export function readListId(key: Uint8Array): number {
  return readU32(key, 5);
}

/** A list's row: `number` 0 is the head, 1 the first chunk, else the chunk's smallest possible uid. */
export function chunkKey(prefix: Uint8Array, number: number): Uint8Array {
  const key = new Uint8Array(prefix.length + 8);
  key.set(prefix);
  if (number !== 0) writeU64(key, prefix.length, number);
  return key;
}

export function readChunkNumber(key: Uint8Array): number {
  return readU64(key, key.length - 8);
}

/** The prefix of the list that a chunk's key belongs to; shares the key's memory. */
export function listPrefixOf(key: Uint8Array): Uint8Array {
  return key.subarray(0, key.length - 8);
}

export function isInRange(key: Uint8Array, range: KeyRange): boolean {
  return compareBytes(key, range.start) >= 0 && compareBytes(key, range.end) < 0;
}

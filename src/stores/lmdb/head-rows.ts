/**
 * Where heads lie. The heads of lists of several chunks that all writes share (presence, index and count lists) have a
 * range of keys of their own: beside their chunks each is on a page of its own, so that adding a node with fifty words
 * rewrote fifty pages; together they fill a few. At the list's own key stands a **stub** of one byte, written once.
 * Only the rows of an LMDB file know of it (`environment.ts`): all others read and write a head at its list's key.
 */
import { must } from "../../base/assert.ts";
import { isHead } from "../../codec/chunk.ts";
import { keyKind } from "../../codec/key.ts";

/** A head's flag and another one; no chunk and no head is as short. */
const stubByte = 0x82;
export const stubRow: Uint8Array = new Uint8Array([stubByte]);

/** Whether a row is kept apart from its key. */
export function liesApart(key: Uint8Array, row: Uint8Array): boolean {
  return mayLieApart(key) && isHead(row);
}

/** Whether a list's row may be one that stands for another, by the key alone. */
export function mayLieApart(key: Uint8Array): boolean {
  const kind = key[4];
  if (kind !== keyKind.index && kind !== keyKind.presence && kind !== keyKind.count) return false;
  for (let at = key.length - 8; at < key.length; at++) if (key[at] !== 0) return false;
  return true;
}

/** Whether a stored row, without its checksum, stands for a head that lies apart. */
export function isStub(key: Uint8Array, row: Uint8Array): boolean {
  return row.length === 1 && row[0] === stubByte && mayLieApart(key);
}

/** The key of the head itself: storage id, kind, then the list's prefix from its kind on. Byte by byte: no views made. */
export function headRowKey(listKey: Uint8Array): Uint8Array {
  const key = new Uint8Array(listKey.length - 7);
  for (let i = 0; i < 4; i++) key[i] = must(listKey[i], "the key of a list is longer");
  key[4] = keyKind.head;
  for (let i = 5; i < key.length; i++) key[i] = must(listKey[i - 1], "the key of a list is longer");
  return key;
}

/** The list's key again. */
export function listKeyOf(headKey: Uint8Array): Uint8Array {
  const key = new Uint8Array(headKey.length + 7);
  key.set(headKey.subarray(0, 4));
  key.set(headKey.subarray(5), 4);
  return key;
}

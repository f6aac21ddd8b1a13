/**
 * Hot: keys that decide conflicts, as 64-bit fingerprints in 8 latin1 characters (about 150 ns each). Two keys that
 * meet by chance cost one needless retry. reference/dql 3.6, reference/transactions 4.1.
 */
import { must } from "../base/assert.ts";

/** Mixes numbers and bytes into two 32-bit lanes. */
function fingerprint(numbers: readonly number[], bytes?: Uint8Array): string {
  let a = 0x9e3779b9 | 0;
  let b = 0x7f4a7c15 | 0;
  for (let i = 0; i < numbers.length; i++) {
    const number = must(numbers[i], "within bounds");
    const low = number | 0;
    const high = (number / 0x100000000) | 0;
    a = Math.imul(a ^ low, 0x85ebca6b);
    a ^= a >>> 15;
    b = Math.imul(b ^ low, 0xc2b2ae35);
    b ^= b >>> 13;
    a = Math.imul((a + high) | 0, 0x27d4eb2f);
    b = Math.imul((b ^ high) + 0x165667b1, 0x9e3779b1);
    a ^= b >>> 16;
    b ^= a >>> 14;
  }
  if (bytes !== undefined) {
    for (let i = 0; i < bytes.length; i++) {
      const byte = must(bytes[i], "within bounds");
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul(b + byte, 0x85ebca6b) ^ (b >>> 15);
    }
  }
  a = finish(a ^ (b >>> 3));
  b = finish(b ^ a);
  return String.fromCharCode(
    a >>> 24,
    (a >>> 16) & 0xff,
    (a >>> 8) & 0xff,
    a & 0xff,
    b >>> 24,
    (b >>> 16) & 0xff,
    (b >>> 8) & 0xff,
    b & 0xff,
  );
}

function finish(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Where a key belongs: ids are unique only within a storage id. */
interface KeyPlace {
  readonly storageId: number;
  readonly predicate: number;
  readonly uid: number;
}

/** A node's predicate as a whole: its single value, its edge, its list for a clear. */
export function entryKey(place: KeyPlace): string {
  return fingerprint([1, place.storageId, place.predicate, place.uid]);
}

/** One edge of a list. */
export function edgeKey(place: KeyPlace, target: number): string {
  return fingerprint([2, place.storageId, place.predicate, place.uid, target]);
}

/** One value of a list; `slot` is its fingerprint. */
export function elementKey(place: KeyPlace, slot: string): string {
  const bytes = new Uint8Array(slot.length);
  for (let i = 0; i < slot.length; i++) bytes[i] = slot.charCodeAt(i);
  return fingerprint([3, place.storageId, place.predicate, place.uid], bytes);
}

/** A token of a predicate with @upsert. */
export function tokenKey(storageId: number, index: number, token: Uint8Array): string {
  return fingerprint([4, storageId, index], token);
}

/** How many members a node's list has, or how many nodes lead to it (`isReverse`). */
export function countKey(place: KeyPlace, isReverse: boolean): string {
  return fingerprint([isReverse ? 7 : 6, place.storageId, place.predicate, place.uid]);
}

/** A token of one node's list; `predicate` is the index's number. */
export function listTokenKey(place: KeyPlace, token: Uint8Array): string {
  return fingerprint([8, place.storageId, place.predicate, place.uid], token);
}

/** A node as a whole: who writes to it, or links to it, and who deletes it must not miss each other. */
export function nodeKey(storageId: number, uid: number): string {
  return fingerprint([9, storageId, uid]);
}

const bits32 = 0x100000000n;

/** The form that clients carry between /mutate and /commit: base 36. */
export function printKey(key: string): string {
  let number = 0n;
  for (let i = 0; i < 8; i++) number = (number << 8n) | BigInt(key.charCodeAt(i));
  return number.toString(36);
}

/** Back again; what is no such number is hashed, so that any text a client sends is some key. */
export function parseKey(text: string): string {
  if (!/^[0-9a-z]{1,13}$/.test(text)) {
    return fingerprint([5], new TextEncoder().encode(text));
  }
  let number = 0n;
  for (const digit of text) number = number * 36n + BigInt(Number.parseInt(digit, 36));
  const low = Number(number % bits32);
  const high = Number((number / bits32) % bits32);
  const unit = (lane: number, shift: number): number => (lane >>> shift) & 0xff;
  return String.fromCharCode(
    ...[24, 16, 8, 0].map((shift) => unit(high, shift)),
    ...[24, 16, 8, 0].map((shift) => unit(low, shift)),
  );
}

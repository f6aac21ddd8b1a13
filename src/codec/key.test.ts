import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareBytes, startsWithBytes } from "../base/bytes.ts";
import {
  chunkKey,
  countList,
  isInRange,
  listPrefixOf,
  longList,
  readChunkNumber,
  readCountOf,
  readListId,
  readRecordKey,
  readReverseObject,
  readStorageId,
  readToken,
  recordKey,
  reverseList,
  storageRange,
  tokenList,
  tokenRange,
} from "./key.ts";

const uid = fc.maxSafeNat();
const token = fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8, max: 2 }));

describe("keys", () => {
  it("are read as they were made", () => {
    fc.assert(
      fc.property(uid, fc.nat(0xffffffff), (number, id) => {
        expect(readRecordKey(recordKey(id, number, 7))).toEqual({ uid: number, firstPredicate: 7 });
        expect(readStorageId(recordKey(id, number))).toBe(id);
        expect(readReverseObject(reverseList(1, id, number))).toBe(number);
        expect(readCountOf(countList(1, id, number))).toBe(number);
        const list = longList(1, id, number);
        const key = chunkKey(list, number);
        expect(readListId(key)).toBe(id);
        expect(readChunkNumber(key)).toBe(number);
        expect([...listPrefixOf(key)]).toEqual([...list]);
      }),
    );
  });

  it("sort as their uids do", () => {
    fc.assert(
      fc.property(uid, uid, (a, b) => {
        const order = Math.sign(compareBytes(recordKey(1, a), recordKey(1, b)));
        expect(order).toBe(Math.sign(a - b));
      }),
    );
  });

  it("of tokens sort as the tokens do, whatever uid follows, and none begins with another", () => {
    fc.assert(
      fc.property(token, token, uid, uid, (a, b, left, right) => {
        const listA = tokenList(1, 5, a);
        const listB = tokenList(1, 5, b);
        const order = Math.sign(compareBytes(a, b));
        const keys = Math.sign(compareBytes(chunkKey(listA, left), chunkKey(listB, right)));
        expect(order === 0 || keys === order).toBe(true);
        expect(startsWithBytes(listB, listA)).toBe(order === 0);
        expect([...readToken(chunkKey(listA, left))]).toEqual([...a]);
      }),
    );
  });

  it("of a token range lie in it exactly when the token does", () => {
    fc.assert(
      fc.property(token, token, token, uid, (from, to, found, number) => {
        const key = chunkKey(tokenList(1, 5, found), number);
        const isWithin = compareBytes(from, found) <= 0 && compareBytes(found, to) < 0;
        expect(isInRange(key, tokenRange(1, 5, from, to))).toBe(isWithin);
        expect(isInRange(key, tokenRange(1, 5, undefined, undefined))).toBe(true);
        expect(isInRange(key, tokenRange(1, 6, undefined, undefined))).toBe(false);
        expect(isInRange(key, storageRange(1))).toBe(true);
      }),
    );
  });
});

import { describe, expect, test } from "vitest";
import { decodeCodeCache, encodeCodeCache } from "./code-cache.ts";

const program = Buffer.from("(function () { return 1 })");
const compiled = Buffer.from([3, 1, 4, 1, 5, 9, 2, 6]);
const file = Buffer.from(encodeCodeCache(program, compiled));

describe("a file of compiled code", () => {
  test("is taken for the program that it was made of", () => {
    expect(decodeCodeCache(file, program)).toEqual(compiled);
  });

  test("is not taken for another program of the same length", () => {
    expect(decodeCodeCache(file, Buffer.from("(function () { return 2 })"))).toBeUndefined();
  });

  test("is not taken when it ends early, anywhere", () => {
    for (let length = 0; length < file.length; length++) {
      expect(decodeCodeCache(file.subarray(0, length), program)).toBeUndefined();
    }
  });

  test("is not taken when a bit of it has changed, anywhere", () => {
    for (let bit = 0; bit < file.length * 8; bit++) {
      const damaged = Buffer.from(file);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(decodeCodeCache(damaged, program)).toBeUndefined();
    }
  });
});

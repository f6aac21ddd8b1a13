import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addInt64,
  addInt64Wrapping,
  divideInt64,
  multiplyInt64,
  normalizeInt64,
  parseInt64,
  parseShortUint,
  parseUint64,
  remainderInt64,
  subtractInt64,
  truncateToInt64,
} from "./int.ts";

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.integer().map(BigInt),
  fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }),
);

describe("parseInt64", () => {
  test.each([
    ["0", 0],
    ["-0", 0],
    ["+7", 7],
    ["0010", 10],
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
  ])("%s is %s", (text, int) => {
    expect(parseInt64(text)).toBe(int);
  });

  test.each([
    ["", "invalid syntax"],
    [" 5", "invalid syntax"],
    ["1_000", "invalid syntax"],
    ["0x10", "invalid syntax"],
    ["٣", "invalid syntax"],
    ["--5", "invalid syntax"],
    ["9223372036854775808", "value out of range"],
    ["-9223372036854775809", "value out of range"],
  ])("%j is refused: %s", (text, reason) => {
    expect(() => parseInt64(text)).toThrow(`strconv.ParseInt: parsing "${text}": ${reason}`);
  });

  test("base 0 takes prefixes and underscores", () => {
    const texts = ["0x10", "010", "0o10", "0b11", "1_000", "-0x1f", "0"];
    expect(texts.map((text) => parseInt64(text, 0))).toEqual([16, 8, 8, 3, 1000, -31, 0]);
    expect(() => parseInt64("08", 0)).toThrow("invalid syntax");
    expect(() => parseInt64("1__0", 0)).toThrow("invalid syntax");
  });
});

test("unsigned integers reach 2^64 - 1", () => {
  expect(parseUint64("18446744073709551615")).toBe(2n ** 64n - 1n);
  expect(() => parseUint64("alice")).toThrow('strconv.ParseUint: parsing "alice": invalid syntax');
  expect(() => parseUint64("18446744073709551616")).toThrow("value out of range");
});

test("short texts are read as all others are, or not at all", () => {
  const digits = fc.stringMatching(/^(?:0[xXoObB]?)?[0-9a-fA-F_]{0,17}$/);
  fc.assert(
    fc.property(digits, (text) => {
      const short = parseShortUint(text);
      if (!Number.isNaN(short)) expect(BigInt(short)).toBe(parseUint64(text, 0));
      else expect(text).not.toMatch(/^(?:[1-9][0-9]{0,14}|0|0[xX][0-9a-fA-F]{1,13})$/);
    }),
  );
});

test("floats are cut towards zero and refused outside of int64", () => {
  expect([2.9, -2.9, -0.5, 2 ** 60].map(truncateToInt64)).toEqual([2, -2, 0, 2n ** 60n]);
  expect([1e300, 2 ** 63, NaN, -Infinity].map(truncateToInt64)).toEqual(Array(4).fill(undefined));
});

test("arithmetic agrees with bigint and tells overflow", () => {
  const inRange = (int: bigint): unknown =>
    BigInt.asIntN(64, int) === int ? normalizeInt64(int) : undefined;
  fc.assert(
    fc.property(int64, int64, (a, b) => {
      const [x, y] = [normalizeInt64(a), normalizeInt64(b)];
      expect(addInt64(x, y)).toBe(inRange(a + b));
      expect(subtractInt64(x, y)).toBe(inRange(a - b));
      expect(multiplyInt64(x, y)).toBe(inRange(a * b));
      expect(addInt64Wrapping(x, y)).toBe(normalizeInt64(BigInt.asIntN(64, a + b)));
      if (b === 0n) return;
      expect(divideInt64(x, y)).toBe(inRange(a / b));
      expect(remainderInt64(x, y)).toBe(normalizeInt64(a % b));
    }),
  );
});

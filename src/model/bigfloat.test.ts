import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addBig,
  bigFromFloat,
  bigToFloat,
  bigToInt64,
  ceilBig,
  compareBig,
  divideBig,
  floorBig,
  multiplyBig,
  parseBigFloat,
  printBigFloat,
  sqrtBig,
  subtractBig,
} from "./bigfloat.ts";
import type { BigFloat } from "./value.ts";

describe("text", () => {
  test.each([
    ["1", "1"],
    ["-0.5", "-0.5"],
    ["123456789012345678901234567890.123456789", "1.23456789012345678901234567890123456789e+29"],
    ["1e100", "1e+100"],
    ["1e-100", "1e-100"],
    ["0.1", "0.1"],
    ["3.000", "3"],
    ["100000", "100000"],
    ["1e6", "1e+06"],
    ["0.0001", "0.0001"],
    ["0.00001", "1e-05"],
    ["0x1.8p1", "3"],
    ["0b101", "5"],
    ["1_000", "1000"],
    ["1p10", "1024"],
    [".5", "0.5"],
    ["-1E-30", "-1e-30"],
  ])("%s prints as %s", (text, printed) => {
    expect(printBigFloat(parseBigFloat(text))).toBe(printed);
  });

  test.each([
    ["", "EOF"],
    ["x", "number has no digits"],
    ["1..2", "expected end of string, found '.'"],
    ["1 2", "expected end of string, found ' '"],
    ["1__2", "'_' must separate successive digits"],
    ["1e999999999", "exponent overflow"],
  ])("%j is refused", (text, reason) => {
    expect(() => parseBigFloat(text)).toThrow(
      `math/big: cannot unmarshal "${text}" into a *big.Float (${reason})`,
    );
  });

  test("a power of two reads back, though the places below it are closer", () => {
    const big = { mantissa: 1n, exponent: 201 };
    expect(parseBigFloat(printBigFloat(big))).toEqual(big);
  });

  test("what is printed reads back", () => {
    fc.assert(
      fc.property(finite, (big) => {
        expect(parseBigFloat(printBigFloat(big))).toEqual(big);
      }),
    );
  });
});

const finite = fc
  .tuple(fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }), fc.integer({ min: -300, max: 300 }))
  .map(([mantissa, exponent]) =>
    multiplyBig(
      parseBigFloat(String(mantissa)),
      exponent < 0
        ? parseBigFloat(`1p${String(exponent)}`)
        : parseBigFloat(`0x1p${String(exponent)}`),
    ),
  );

/** The plain twin: exact fractions. */
interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

function fraction(big: BigFloat): Fraction {
  return big.exponent >= 0
    ? { top: big.mantissa << BigInt(big.exponent), bottom: 1n }
    : { top: big.mantissa, bottom: 1n << BigInt(-big.exponent) };
}

/** |result − exact| is at most half a unit in the last of 200 places. */
function expectNearest(result: BigFloat, exact: Fraction): void {
  const { top, bottom } = fraction(result);
  const abs = (n: bigint): bigint => (n < 0n ? -n : n);
  const error = abs(top * exact.bottom - exact.top * bottom);
  expect(error << 200n <= abs(exact.top * bottom)).toBe(true);
}

describe("arithmetic", () => {
  test("is rounded to the nearest of 200 bits", () => {
    fc.assert(
      fc.property(finite, finite, (a, b) => {
        const [x, y] = [fraction(a), fraction(b)];
        const scaled = { top: x.top * y.bottom, bottom: x.bottom * y.bottom };
        const other = y.top * x.bottom;
        expectNearest(addBig(a, b), { top: scaled.top + other, bottom: scaled.bottom });
        expectNearest(subtractBig(a, b), { top: scaled.top - other, bottom: scaled.bottom });
        expectNearest(multiplyBig(a, b), { top: x.top * y.top, bottom: scaled.bottom });
        expect(Math.sign(compareBig(a, b))).toBe(
          scaled.top < other ? -1 : scaled.top > other ? 1 : 0,
        );
        if (b.mantissa === 0n) return;
        const sign = y.top < 0n ? -1n : 1n;
        expectNearest(divideBig(a, b), {
          top: x.top * y.bottom * sign,
          bottom: x.bottom * y.top * sign,
        });
      }),
    );
  });

  test("a third times three is one", () => {
    const three = parseBigFloat("3");
    const third = divideBig(parseBigFloat("1"), three);
    expect(printBigFloat(multiplyBig(third, three))).toBe("1");
  });

  test("roots of squares are exact", () => {
    expect(printBigFloat(sqrtBig(parseBigFloat("144")))).toBe("12");
    expect(printBigFloat(sqrtBig(parseBigFloat("2")))).toBe(
      "1.41421356237309504880168872420969807856967187537694807317668",
    );
  });

  test("floor and ceil", () => {
    const texts = ["2.5", "-2.5", "3", "1e-50", "-1e-50", "1e40"];
    const floors = texts.map((text) => printBigFloat(floorBig(parseBigFloat(text))));
    const ceils = texts.map((text) => printBigFloat(ceilBig(parseBigFloat(text))));
    expect(floors).toEqual(["2", "-3", "3", "0", "-1", "1e+40"]);
    expect(ceils).toEqual(["3", "-2", "3", "1", "0", "1e+40"]);
  });

  test("conversions", () => {
    expect(bigToInt64(parseBigFloat("-2.9"))).toBe(-2);
    expect(bigToInt64(parseBigFloat("1e30"))).toBe(9223372036854775807n);
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (float) => {
        expect(bigToFloat(bigFromFloat(float))).toBe(float + 0);
      }),
    );
  });
});

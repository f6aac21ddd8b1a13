import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseGoFloat, printFloat, printFloat32E, printFloatG, scaleToNumber } from "./float.ts";

describe("parseGoFloat", () => {
  test.each([
    ["1", 1],
    ["-0", -0],
    ["1.", 1],
    [".5", 0.5],
    ["+2.5", 2.5],
    ["1E-7", 1e-7],
    ["0x1p-2", 0.25],
    ["0X1.8P1", 3],
    ["0x_1p4", 16],
    ["1_0", 10],
    ["1_23.50_0_0e+1_2", 1.235e14],
    ["Inf", Infinity],
    ["-infinity", -Infinity],
    ["1e-400", 0],
    ["0x1p-1074", 5e-324],
  ])("%s is %s", (text, float) => {
    expect(parseGoFloat(text)).toBe(float);
  });

  test.each(["", "abc", "1,5", ".", "e5", "0x10", "_1", "1__0", "1_.5", "1._5", "1e", " 1", "1 "])(
    "%j is refused",
    (text) => {
      expect(() => parseGoFloat(text)).toThrow(
        `strconv.ParseFloat: parsing "${text}": invalid syntax`,
      );
    },
  );

  test("too large a number is out of range", () => {
    expect(() => parseGoFloat("1e309")).toThrow(
      'strconv.ParseFloat: parsing "1e309": value out of range',
    );
    expect(() => parseGoFloat("0x1p1024")).toThrow("value out of range");
  });
});

describe("printing", () => {
  test.each([
    [25, "25"],
    [0.1, "0.1"],
    [-0, "-0"],
    [1e-5, "1e-05"],
    [0.0001, "0.0001"],
    [100000, "100000"],
    [1e6, "1e+06"],
    [1234567, "1.234567e+06"],
    [123456789.125, "1.23456789125e+08"],
    [5e-324, "5e-324"],
    [-1e21, "-1e+21"],
    [Infinity, "+Inf"],
  ])("%d prints as %s", (float, text) => {
    expect(printFloat(float)).toBe(text);
    expect(printFloatG(float)).toBe(text.replace("e", "E"));
  });

  test("elements of vectors print the shortest digits of 32 bits", () => {
    const floats = [1, 0.25, -300, 0.1, 16777217, 1e-40].map(Math.fround);
    expect(floats.map(printFloat32E)).toEqual([
      "1E+00",
      "2.5E-01",
      "-3E+02",
      "1E-01",
      "1.6777216E+07",
      "1E-40",
    ]);
  });

  test("what is printed reads back as the same number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (float) => {
        expect(parseGoFloat(printFloat(float))).toBe(float);
        const single = Math.fround(float);
        expect(Math.fround(parseGoFloat(printFloat32E(single)))).toBe(single);
      }),
    );
  });
});

test("scaling by a power of two rounds to the nearest double", () => {
  expect(scaleToNumber(2n ** 53n + 1n, 0)).toBe(2 ** 53);
  expect(scaleToNumber(2n ** 53n + 3n, 0)).toBe(2 ** 53 + 4);
  expect(scaleToNumber(3n, -1075)).toBe(1e-323);
  expect(scaleToNumber(1n, -1075)).toBe(0);
  expect(scaleToNumber(1n, 1023)).toBe(2 ** 1023);
  expect(scaleToNumber(-1n, 1024)).toBe(-Infinity);
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (float) => {
      if (!Number.isInteger(float)) return;
      expect(scaleToNumber(BigInt(float) << 40n, -40)).toBe(float + 0);
    }),
  );
});

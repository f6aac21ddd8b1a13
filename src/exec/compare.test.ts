import { expect, test } from "vitest";
import type { Value } from "../model/value.ts";
import { makeCell } from "./cells.ts";
import { convertValue } from "../model/convert.ts";
import { compareValues } from "../model/compare.ts";
import { buildCellTest, isAmong, testValues } from "./compare.ts";

const point: Value = { kind: "geo", geometry: { type: "Point", coordinates: [1, 1] } };
const vector: Value = { kind: "float32vector", vector: Float32Array.of(1, 2) };

test("geometries and vectors are equal to nothing, not even to themselves", () => {
  for (const value of [point, vector]) {
    expect(testValues("eq", value, [value])).toBe(false);
    const cell = makeCell(value, "", undefined);
    expect(buildCellTest("eq", [value], value.kind)(cell)).toBe(false);
  }
});

test("booleans are equal or not, and have no order", () => {
  const yes: Value = { kind: "bool", bool: true };
  const cell = makeCell(yes, "", undefined);
  expect(buildCellTest("eq", [yes], "bool")(cell)).toBe(true);
  expect(buildCellTest("ge", [yes], "bool")(cell)).toBe(false);
  expect(testValues("eq", yes, [yes])).toBe(true);
});

test("one of many values of any kind is found as it is by comparing each", () => {
  const kinds: Record<string, readonly Value[]> = {
    int: [3, -2, 7, 2n ** 60n, 2n ** 60n + 1n, 3].map((int) => ({ kind: "int", int })),
    float: [0.5, 7, Number.NaN, -0, 1e300, 2, 0.5].map((float) => ({ kind: "float", float })),
    datetime: [1, 2, 3, 4, 5, 6].map((seconds) => ({
      kind: "datetime",
      time: { seconds, nanos: seconds * 7, offsetMinutes: 0 },
    })),
    bigfloat: ["1", "2.5", "-3", "1e40", "0", "7"].map((text) =>
      convertValue({ kind: "string", text }, "bigfloat"),
    ),
  };
  for (const all of Object.values(kinds)) {
    const bounds = all.filter((_, i) => i !== 2);
    for (const value of all) {
      const isOne = testValues("eq", value, bounds);
      expect(buildCellTest("eq", bounds, value.kind)(makeCell(value, "", undefined))).toBe(isOne);
      expect(isAmong(bounds.toSorted(compareValues), value)).toBe(isOne);
    }
  }
});

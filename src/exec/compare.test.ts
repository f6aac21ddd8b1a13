import { expect, test } from "vitest";
import type { Value } from "../model/value.ts";
import { makeCell } from "./cells.ts";
import { buildCellTest, testValues } from "./compare.ts";

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

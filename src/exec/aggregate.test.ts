import { describe, expect, test } from "vitest";
import { convertValue } from "../model/convert.ts";
import { printValueJson } from "../model/print-value.ts";
import type { Value, ValueKind } from "../model/value.ts";
import { aggregateValues, canAggregateGroup } from "./aggregate.ts";

function valuesOf(kind: ValueKind, ...texts: string[]): Value[] {
  return texts.map((text) => convertValue({ kind: "default", text }, kind));
}

function shown(values: readonly Value[]): string[] {
  return (["min", "max", "sum", "avg"] as const).map((name) => {
    const value = aggregateValues(name, values);
    return value === undefined ? "" : printValueJson(value);
  });
}

describe("aggregates", () => {
  test.each<[string, Value[], string[]]>([
    ["nothing", [], ["", "", "", ""]],
    ["ints", valuesOf("int", "3", "-1", "2"), ["-1", "3", "4", "1.3333333333333333"]],
    ["floats", valuesOf("float", "0.5", "2"), ["0.5", "2", "2.5", "1.25"]],
    [
      "ints and floats",
      [...valuesOf("int", "3", "1"), ...valuesOf("float", "0.5")],
      ["0.5", "3", "4.5", "1.5"],
    ],
    ["bigfloats", valuesOf("bigfloat", "0.1", "0.2"), ["0.1", "0.2", "0.3", "0.15"]],
    ["texts", valuesOf("string", "b", "a"), ['"a"', '"b"', '"b"', "0"]],
    [
      "dates",
      valuesOf("datetime", "2001", "2000-06-01T00:00:00+02:00"),
      ['"2000-06-01T00:00:00+02:00"', '"2001-01-01T00:00:00Z"', '"2001-01-01T00:00:00Z"', "0"],
    ],
    [
      "vectors",
      valuesOf("float32vector", "[1,2]", "[3,4]"),
      ["[1E+00,2E+00]", "[1E+00,2E+00]", "[4E+00,6E+00]", "[2E+00,3E+00]"],
    ],
  ])("of %s", (_, values, results) => {
    expect(shown(values)).toEqual(results);
  });

  test("sums of ints wrap at 64 bits", () => {
    const sum = aggregateValues("sum", valuesOf("int", "9223372036854775807", "1"));
    expect(sum).toEqual({ kind: "int", int: -9223372036854775808n });
  });

  test("vectors of different lengths are refused", () => {
    const vectors = valuesOf("float32vector", "[1]", "[1,2]");
    expect(() => aggregateValues("sum", vectors)).toThrow("The length of vectors must match");
  });
});

test("groups aggregate numbers, and the order of texts and dates", () => {
  expect(canAggregateGroup("sum", "bigfloat")).toBe(false);
  expect(canAggregateGroup("min", "string")).toBe(true);
  expect(canAggregateGroup("avg", "string")).toBe(false);
});

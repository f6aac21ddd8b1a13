/** min, max, sum and avg over values (reference/dql 4.9). Price: one pass over the values; nothing is read. */
import { must } from "../base/assert.ts";
import { addBig, bigFromInt, divideBig } from "../model/bigfloat.ts";
import type { AggregateFunction } from "../dql/ast.ts";
import { compareValues } from "../model/compare.ts";
import { addInt64Wrapping, type Int64 } from "../model/int.ts";
import type { Value } from "../model/value.ts";
import { clampFloat } from "./math-value.ts";
import { queryFault } from "./run.ts";

/**
 * undefined without values. Sums of ints wrap at 64 bits; ints beside floats are added as floats. Of what cannot be
 * added, `sum` gives the first value and `avg` 0, as clients know it. avg of ints and floats is a float.
 */
export function aggregateValues(
  name: AggregateFunction,
  values: readonly Value[],
): Value | undefined {
  const first = values[0];
  if (first === undefined) return undefined;
  switch (name) {
    case "min":
      return extreme(values, first, -1);
    case "max":
      return extreme(values, first, 1);
    case "sum":
      return finish(sum(values, first));
    case "avg":
      return finish(divide(sum(values, first), values.length));
  }
}

/** Whether @groupby may aggregate a predicate of a kind; others are refused there (reference/dql 4.9). */
export function canAggregateGroup(name: AggregateFunction, kind: Value["kind"]): boolean {
  if (name === "min" || name === "max") {
    return ["int", "float", "string", "default", "datetime"].includes(kind);
  }
  return kind === "int" || kind === "float" || kind === "float32vector";
}

function finish(value: Value): Value {
  return value.kind === "float" ? { kind: "float", float: clampFloat(value.float) } : value;
}

/** The first of the smallest or largest; what cannot be compared with it is passed over. */
function extreme(values: readonly Value[], first: Value, sign: number): Value {
  let best = first;
  for (let i = 1; i < values.length; i++) {
    const value = values[i] ?? first;
    if (isComparable(best, value) && compareValues(value, best) * sign > 0) best = value;
  }
  return best;
}

const unordered: ReadonlySet<Value["kind"]> = new Set([
  "bool",
  "geo",
  "password",
  "float32vector",
  "binary",
]);

function isComparable(a: Value, b: Value): boolean {
  if (unordered.has(a.kind)) return false;
  return a.kind === b.kind || (isNumber(a) && isNumber(b));
}

function isNumber(value: Value): boolean {
  return value.kind === "int" || value.kind === "float";
}

function sum(values: readonly Value[], first: Value): Value {
  switch (first.kind) {
    case "int":
    case "float":
      return sumNumbers(values);
    case "bigfloat":
      return sumBigs(values, first);
    case "float32vector":
      return sumVectors(values, first.vector);
    default:
      return first;
  }
}

function sumNumbers(values: readonly Value[]): Value {
  let int: number | bigint = 0;
  let float = 0;
  let hasFloat = false;
  for (let i = 0; i < values.length; i++) {
    const value = must(values[i], "each place has its value");
    if (value.kind === "int") {
      // Columns from an index hold one object for each value, so equal ones stand in runs.
      const start = i;
      while (i + 1 < values.length && values[i + 1] === value) i++;
      int = addInt64Wrapping(int, multiplyInt64(value.int, i + 1 - start));
    } else if (value.kind === "float") {
      float += value.float;
      hasFloat = true;
    }
  }
  return hasFloat ? { kind: "float", float: float + Number(int) } : { kind: "int", int };
}

function multiplyInt64(int: Int64, times: number): Int64 {
  const product = typeof int === "number" ? int * times : Number.NaN;
  if (Number.isSafeInteger(product)) return product;
  return addInt64Wrapping(0, BigInt.asIntN(64, BigInt(int) * BigInt(times)));
}

function sumBigs(values: readonly Value[], first: Extract<Value, { kind: "bigfloat" }>): Value {
  let { big } = first;
  for (let i = 1; i < values.length; i++) {
    const value = values[i];
    if (value?.kind === "bigfloat") big = addBig(big, value.big);
  }
  return { kind: "bigfloat", big };
}

function sumVectors(values: readonly Value[], first: Float32Array): Value {
  const vector = new Float32Array(first.length);
  for (const value of values) {
    if (value.kind !== "float32vector") continue;
    if (value.vector.length !== vector.length) throw queryFault("The length of vectors must match");
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) + (value.vector[i] ?? 0);
  }
  return { kind: "float32vector", vector };
}

function divide(total: Value, count: number): Value {
  switch (total.kind) {
    case "int":
      return { kind: "float", float: Number(total.int) / count };
    case "float":
      return { kind: "float", float: total.float / count };
    case "bigfloat":
      return { kind: "bigfloat", big: divideBig(total.big, bigFromInt(count)) };
    case "float32vector":
      return { kind: "float32vector", vector: total.vector.map((number) => number / count) };
    default:
      return { kind: "float", float: 0 };
  }
}

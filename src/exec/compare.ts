/** Tests of values: eq, the inequalities and between, decided before the loop (reference/dql 4.3.1, 4.3.2). */
import { must } from "../base/assert.ts";
import type { Cell } from "../graph/reader.ts";
import { compareValues, isOrderable } from "../model/compare.ts";
import { compareText } from "../model/text-order.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { CompareOperator } from "../plan/plan.ts";
import { numberOf } from "./cells.ts";

/** Compares a stored cell, of the predicate's kind, with one bound. */
type CellOrder = (cell: Cell) => number;

export type CellTest = (cell: Cell) => boolean;

/** Compares two texts, where a language has an order of its own. */
type TextOrder = (a: string, b: string) => number;

/**
 * The test for one value. `bounds` have the kind of the predicate: one, two for between, any number for eq.
 * `textOrder` replaces the order of bytes.
 */
export function buildCellTest(
  operator: CompareOperator,
  bounds: readonly Value[],
  kind: ValueKind,
  textOrder?: TextOrder,
): CellTest {
  if (operator === "eq") return hasEquality(kind) ? buildEquality(bounds) : () => false;
  if (!isOrderable(kind)) return () => false;
  const [low, high] = bounds;
  if (low === undefined) return () => false;
  const first = buildOrder(low, textOrder);
  switch (operator) {
    case "lt":
      return (cell) => first(cell) < 0;
    case "le":
      return (cell) => first(cell) <= 0;
    case "gt":
      return (cell) => first(cell) > 0;
    case "ge":
      return (cell) => first(cell) >= 0;
    case "between": {
      const second = buildOrder(high ?? low, textOrder);
      return (cell) => first(cell) >= 0 && second(cell) <= 0;
    }
  }
}

/** Geometries, vectors, passwords and bytes are equal to nothing, as in the reference. */
export function hasEquality(kind: ValueKind): boolean {
  return isOrderable(kind) || kind === "bool";
}

function buildEquality(bounds: readonly Value[]): CellTest {
  const [only] = bounds;
  if (only === undefined) return () => false;
  if (bounds.length > 4 && bounds.every(isText)) {
    const texts = new Set(bounds.map((bound) => (isText(bound) ? bound.text : "")));
    return (cell) => texts.has(cell.text);
  }
  if (bounds.length === 1) {
    if (isText(only)) {
      const text = only.text;
      return (cell) => cell.text === text;
    }
    const order = buildOrder(only);
    return (cell) => order(cell) === 0;
  }
  return buildMemberTest(bounds);
}

/** One of many, however many: found among them by halves. */
function buildMemberTest(bounds: readonly Value[]): CellTest {
  const members = bounds.filter((bound) => !isNaNValue(bound));
  // NaN is equal to every number, as in the reference.
  if (members.length < bounds.length) return () => true;
  const sorted = members.sort(compareValues);
  const numbers = new Set(sorted.map(numberOf));
  return (cell) =>
    (numbers.has(cell.number) || Number.isNaN(cell.number)) && isAmong(sorted, cell.value);
}

export function isNaNValue(value: Value): boolean {
  return value.kind === "float" && Number.isNaN(value.float);
}

/** Whether a value is equal to one of those that are sorted by `compareValues`, of which none is NaN. */
export function isAmong(sorted: readonly Value[], value: Value): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareValues(must(sorted[middle], "within bounds"), value);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

function isText(value: Value): value is Value & { readonly text: string } {
  return value.kind === "string" || value.kind === "default";
}

/** By the sortable number where it decides (1.2 ns), by the whole value where two numbers fall together. */
function buildOrder(bound: Value, textOrder?: TextOrder): CellOrder {
  if (isText(bound)) {
    const text = bound.text;
    const order = textOrder ?? compareText;
    return (cell) => order(cell.text, text);
  }
  const number = numberOf(bound);
  if (Number.isNaN(number)) return (cell) => compareValues(cell.value, bound);
  const isExact = bound.kind === "float" || bound.kind === "bool" || isSafeInt(bound);
  return (cell) => {
    if (cell.number < number) return -1;
    if (cell.number > number) return 1;
    return isExact ? 0 : compareValues(cell.value, bound);
  };
}

function isSafeInt(bound: Value): boolean {
  return bound.kind === "int" && typeof bound.int === "number";
}

/** The same for two values of any kinds, as comparisons of variables need it. */
export function testValues(
  operator: CompareOperator,
  value: Value,
  bounds: readonly Value[],
): boolean {
  const [low, high] = bounds;
  if (low === undefined) return false;
  if (operator === "eq") {
    if (!hasEquality(value.kind)) return false;
    return bounds.some((bound) => compareValues(value, bound) === 0);
  }
  if (!isOrderable(value.kind)) return false;
  const order = compareValues(value, low);
  switch (operator) {
    case "lt":
      return order < 0;
    case "le":
      return order <= 0;
    case "gt":
      return order > 0;
    case "ge":
      return order >= 0;
    case "between":
      return order >= 0 && compareValues(value, high ?? low) <= 0;
  }
}

/** The same for counts, which are plain numbers. */
export function buildCountTest(
  operator: CompareOperator,
  bounds: readonly number[],
): (count: number) => boolean {
  const low = bounds[0] ?? Number.NaN;
  const high = bounds[1] ?? low;
  switch (operator) {
    case "eq": {
      const counts = new Set(bounds);
      return (count) => counts.has(count);
    }
    case "lt":
      return (count) => count < low;
    case "le":
      return (count) => count <= low;
    case "gt":
      return (count) => count > low;
    case "ge":
      return (count) => count >= low;
    case "between":
      return (count) => count >= low && count <= high;
  }
}

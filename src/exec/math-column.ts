/** Hot: bench/math.ts. Columns of math(): numbers as typed arrays where all of them are, values otherwise. */
import { must } from "../base/assert.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { ValueColumn } from "./frame.ts";
import { clampFloat } from "./math-value.ts";

/** Uids ascending, each once. Ints in `numbers` are safe integers. */
export type MathColumn =
  | {
      readonly kind: "numbers";
      readonly uids: UidSet;
      readonly numbers: Float64Array;
      readonly isInt: boolean;
    }
  | { readonly kind: "values"; readonly uids: UidSet; readonly values: readonly Value[] };

type NumberColumn = Extract<MathColumn, { readonly kind: "numbers" }>;

export const emptyNumbers: MathColumn = {
  kind: "values",
  uids: new Float64Array(0),
  values: [],
};

/** Typed where every value is an int of at most 53 bits, or every value is a float. */
export function makeMathColumn(column: ValueColumn): MathColumn {
  const { uids, values } = column;
  const first = values[0];
  if (first === undefined) return emptyNumbers;
  const plain: MathColumn = { kind: "values", uids, values };
  const numbers = new Float64Array(values.length);
  const isInt = first.kind === "int";
  if (!isInt && first.kind !== "float") return plain;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (isInt && value.kind === "int" && typeof value.int === "number") numbers[i] = value.int;
    else if (!isInt && value.kind === "float") numbers[i] = value.float;
    else return plain;
  }
  return { kind: "numbers", uids, numbers, isInt };
}

export function valueAt(column: MathColumn, row: number): Value | undefined {
  if (column.kind === "values") return column.values[row];
  const number = column.numbers[row];
  if (number === undefined) return undefined;
  return column.isInt ? { kind: "int", int: number } : { kind: "float", float: number };
}

/** The result of an expression: where ints stand beside floats, all of them are floats. */
export function toValueColumn(column: MathColumn): ValueColumn {
  const { uids } = column;
  if (column.kind === "numbers") {
    const { numbers, isInt } = column;
    const values: Value[] = Array.from(numbers, (number) =>
      isInt ? { kind: "int", int: number } : { kind: "float", float: number },
    );
    return { uids, values };
  }
  const { values } = column;
  const hasInt = values.some((value) => value.kind === "int");
  const isMixed = hasInt && values.some((value) => value.kind === "float");
  if (!isMixed) return { uids, values };
  const floats = values.map((value): Value =>
    value.kind === "int" ? { kind: "float", float: Number(value.int) } : value,
  );
  return { uids, values: floats };
}

interface Aligned {
  readonly uids: UidSet;
  /** The operand's value at a row of `uids`; undefined where it has none. */
  readonly leftValue: (row: number) => Value | undefined;
  readonly rightValue: (row: number) => Value | undefined;
}

/** Brings two operands to common rows: those of both, or only the left one's. One of them is a column. */
export function alignColumns(
  left: Value | MathColumn,
  right: Value | MathColumn,
  rows: "both" | "left" = "both",
): Aligned {
  if (!isColumn(left)) {
    const uids = isColumn(right) ? right.uids : new Float64Array(0);
    return { uids, leftValue: () => left, rightValue: rowsOf(right) };
  }
  if (!isColumn(right) || isSameSet(left.uids, right.uids)) {
    return { uids: left.uids, leftValue: rowsOf(left), rightValue: rowsOf(right) };
  }
  const uids = rows === "left" ? left.uids : unionOf(left.uids, right.uids);
  return { uids, leftValue: seek(left, uids), rightValue: seek(right, uids) };
}

function isColumn(side: Value | MathColumn): side is MathColumn {
  return side.kind === "numbers" || side.kind === "values";
}

function rowsOf(side: Value | MathColumn): (row: number) => Value | undefined {
  return isColumn(side) ? (row) => valueAt(side, row) : () => side;
}

function seek(column: MathColumn, uids: UidSet): (row: number) => Value | undefined {
  if (column.uids === uids) return (row) => valueAt(column, row);
  const places = placesOf(column.uids, uids);
  return (row) => {
    const place = must(places[row], "each row has its place");
    return place < 0 ? undefined : valueAt(column, place);
  };
}

/** Where each of `uids` stands in `within`; −1 where it does not. */
function placesOf(within: UidSet, uids: UidSet): Int32Array {
  const places = new Int32Array(uids.length);
  let at = 0;
  for (let row = 0; row < uids.length; row++) {
    const uid = must(uids[row], "each row has its uid");
    while (at < within.length && must(within[at], "each row has its number") < uid) at++;
    places[row] = at < within.length && within[at] === uid ? at : -1;
  }
  return places;
}

function isSameSet(a: UidSet, b: UidSet): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function unionOf(a: UidSet, b: UidSet): UidSet {
  const union = new Float64Array(a.length + b.length);
  let length = 0;
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = i < a.length ? must(a[i], "each row has its number") : Infinity;
    const right = j < b.length ? must(b[j], "each row has its number") : Infinity;
    union[length++] = left < right ? left : right;
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return union.subarray(0, length);
}

/** u- floor ceil of numbers; undefined for other operators and other values. */
export function negateOrRound(operator: string, column: MathColumn): MathColumn | undefined {
  if (column.kind !== "numbers") return undefined;
  if (operator !== "u-" && operator !== "floor" && operator !== "ceil") return undefined;
  if (column.isInt && operator !== "u-") return column;
  const { numbers } = column;
  const results = new Float64Array(numbers.length);
  const round = operator === "floor" ? Math.floor : Math.ceil;
  for (let i = 0; i < numbers.length; i++) {
    const number = must(numbers[i], "within bounds");
    results[i] = operator === "u-" ? 0 - number : clampFloat(round(number));
  }
  return { ...column, numbers: results };
}

/**
 * + - * / % where both sides are numbers at the same rows. undefined: not such a case, or an int left 53 bits; the
 * values are then computed one by one.
 */
export function computeNumbers(
  operator: string,
  left: Value | MathColumn,
  right: Value | MathColumn,
): MathColumn | undefined {
  const a = numbersOf(left);
  const b = numbersOf(right);
  if (a === undefined || b === undefined) return undefined;
  const uids = a.uids ?? b.uids;
  if (uids === undefined) return undefined;
  if (a.uids !== undefined && b.uids !== undefined && !isSameSet(a.uids, b.uids)) return undefined;
  const isInt = a.isInt && b.isInt;
  const results = new Float64Array(uids.length);
  if (!fill(operator, results, a, b)) return undefined;
  return isInt ? finishInts(operator, uids, results) : finishFloats(uids, results);
}

interface Side {
  /** undefined for a constant, whose number stands alone in `numbers`. */
  readonly uids: UidSet | undefined;
  readonly numbers: Float64Array;
  readonly isInt: boolean;
}

function numbersOf(side: Value | MathColumn): Side | undefined {
  switch (side.kind) {
    case "numbers":
      return side;
    case "float":
      return { uids: undefined, numbers: Float64Array.of(side.float), isInt: false };
    case "int":
      if (typeof side.int === "bigint") return undefined;
      return { uids: undefined, numbers: Float64Array.of(side.int), isInt: true };
    default:
      return undefined;
  }
}

/** Rows that cannot be computed are NaN. False for an operator that is not meant here. */
function fill(operator: string, results: Float64Array, a: Side, b: Side): boolean {
  const left = a.numbers;
  const right = b.numbers;
  const i = a.uids === undefined ? 0 : 1;
  const j = b.uids === undefined ? 0 : 1;
  const rows = results.length;
  switch (operator) {
    case "+":
      for (let row = 0; row < rows; row++) results[row] = settle(left[row * i]! + right[row * j]!);
      return true;
    case "-":
      for (let row = 0; row < rows; row++) results[row] = settle(left[row * i]! - right[row * j]!);
      return true;
    case "*":
      for (let row = 0; row < rows; row++) results[row] = settle(left[row * i]! * right[row * j]!);
      return true;
    case "/":
      for (let row = 0; row < rows; row++) {
        const divisor = right[row * j]!;
        results[row] = divisor === 0 ? NaN : settle(left[row * i]! / divisor);
      }
      return true;
    case "%":
      for (let row = 0; row < rows; row++) {
        const divisor = right[row * j]!;
        results[row] = divisor === 0 ? NaN : settle(left[row * i]! % divisor);
      }
      return true;
    default:
      return false;
  }
}

function settle(number: number): number {
  return number - number === 0 ? number : clampFloat(number);
}

function finishInts(
  operator: string,
  uids: UidSet,
  results: Float64Array,
): NumberColumn | undefined {
  for (let row = 0; row < results.length; row++) {
    const number = must(results[row], "each row has its number");
    if (Number.isNaN(number)) continue;
    if (number > Number.MAX_SAFE_INTEGER || number < -Number.MAX_SAFE_INTEGER) return undefined;
    results[row] = operator === "/" ? Math.trunc(number) + 0 : number + 0;
  }
  return { ...dropNaN(uids, results), kind: "numbers", isInt: true };
}

function finishFloats(uids: UidSet, results: Float64Array): NumberColumn {
  return { ...dropNaN(uids, results), kind: "numbers", isInt: false };
}

function dropNaN(uids: UidSet, numbers: Float64Array): { uids: UidSet; numbers: Float64Array } {
  let kept = 0;
  for (let row = 0; row < numbers.length; row++) if (!Number.isNaN(numbers[row])) kept++;
  if (kept === numbers.length) return { uids, numbers };
  const keptUids = new Float64Array(kept);
  const keptNumbers = new Float64Array(kept);
  kept = 0;
  for (let row = 0; row < numbers.length; row++) {
    if (Number.isNaN(numbers[row])) continue;
    keptUids[kept] = must(uids[row], "each row has its uid");
    keptNumbers[kept++] = must(numbers[row], "each row has its number");
  }
  return { uids: keptUids, numbers: keptNumbers };
}

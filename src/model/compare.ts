import { unreachable } from "../base/assert.ts";
import { compareBig } from "./bigfloat.ts";
import { compareDateTimes } from "./datetime.ts";
import { printGeometry } from "./geometry.ts";
import { compareText } from "./text-order.ts";
import type { Value, ValueKind } from "./value.ts";

/**
 * The reference's numbers of the kinds of values: the order of values of different kinds among themselves
 * (reference/dql 4.6), and how some of its messages name them.
 */
export const kindIds: Readonly<Record<ValueKind, number>> = {
  default: 0,
  binary: 1,
  int: 2,
  float: 3,
  bool: 4,
  datetime: 5,
  geo: 6,
  password: 8,
  string: 9,
  bigfloat: 11,
  float32vector: 12,
};

/** Kinds that can be ordered by (reference/dql 4.6) and compared by `lt`, `le`, `gt`, `ge`, `between`. */
export function isOrderable(kind: ValueKind): boolean {
  switch (kind) {
    case "int":
    case "float":
    case "string":
    case "default":
    case "datetime":
    case "bigfloat":
      return true;
    default:
      return false;
  }
}

/**
 * Negative, zero or positive. Texts by bytes (collation of tagged texts: tokens/collate.ts), dates by instant, int
 * and float with each other by number, other kinds by `kindIds`. A total order, of unorderable kinds too.
 */
export function compareValues(a: Value, b: Value): number {
  if (a.kind !== b.kind) return compareMixed(a, b);
  switch (a.kind) {
    case "default":
    case "string":
      return compareText(a.text, (b as typeof a).text);
    case "int":
      return compareNumbers(a.int, (b as typeof a).int);
    case "float":
      return compareNumbers(a.float, (b as typeof a).float);
    case "bool":
      return Number(a.bool) - Number((b as typeof a).bool);
    case "datetime":
      return compareDateTimes(a.time, (b as typeof a).time);
    case "bigfloat":
      return compareBig(a.big, (b as typeof a).big);
    case "geo":
      return compareText(printGeometry(a.geometry), printGeometry((b as typeof a).geometry));
    case "password":
      return compareText(a.hash, (b as typeof a).hash);
    case "float32vector":
      return compareLists(a.vector, (b as typeof a).vector);
    case "binary":
      return compareLists(a.bytes, (b as typeof a).bytes);
    default:
      return unreachable(a);
  }
}

function compareMixed(a: Value, b: Value): number {
  if (a.kind === "int" && b.kind === "float") return compareNumbers(a.int, b.float);
  if (a.kind === "float" && b.kind === "int") return compareNumbers(a.float, b.int);
  if (isText(a) && isText(b)) return compareText(a.text, b.text);
  return kindIds[a.kind] - kindIds[b.kind];
}

function isText(value: Value): value is Value & { readonly text: string } {
  return value.kind === "string" || value.kind === "default";
}

/** JavaScript compares number with bigint exactly. */
function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareLists(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Same kind (texts with each other, int with float) and same value; dates by instant. */
export function equalValues(a: Value, b: Value): boolean {
  return compareValues(a, b) === 0;
}

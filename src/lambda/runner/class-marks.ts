/**
 * Node's printer finds the class of a value by `constructor` as a plain property, and where intrinsics are frozen it is an
 * accessor: lists were printed as `Object(1) [ 1 ]`, and errors as `{}`. While values are printed those that it would
 * get wrong have the property themselves.
 */

/** Deeper, and of more, the printer shows nothing. */
const depthMax = 4;
const itemsMax = 100;
const marksMax = 2_000;

/** What `print` makes while they are marked. Never throws for what values are. */
export function withClassMarks(values: readonly unknown[], print: () => string): string {
  // Which shows hidden properties, too.
  if (typeof values[0] === "string" && values[0].includes("%o")) return print();
  const marked: object[] = [];
  const seen = new Set<object>();
  for (const value of values) mark(value, 0, seen, marked);
  try {
    return print();
  } finally {
    for (const one of marked) Reflect.deleteProperty(one, "constructor");
  }
}

function mark(value: unknown, depth: number, seen: Set<object>, marked: object[]): void {
  if (typeof value !== "object" || value === null || depth > depthMax) return;
  if (seen.has(value) || seen.size >= marksMax) return;
  seen.add(value);
  try {
    if (markOne(value)) marked.push(value);
    for (const inner of innerOf(value)) mark(inner, depth + 1, seen, marked);
  } catch {
    // A proxy of the script's own: it is printed as it is.
  }
}

/** Whether it is marked now. */
function markOne(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof prototype !== "object" || prototype === null || prototype === Object.prototype)
    return false;
  const given = Object.getOwnPropertyDescriptor(prototype, "constructor");
  if (given?.get === undefined || Object.hasOwn(value, "constructor")) return false;
  const { constructor } = value;
  return Reflect.defineProperty(value, "constructor", { value: constructor, configurable: true });
}

/** Getters are not called. */
function innerOf(value: object): readonly unknown[] {
  if (value instanceof Map) return firstOf(value).flat();
  if (value instanceof Set) return firstOf(value);
  if (Array.isArray(value)) return value.slice(0, itemsMax);
  if (ArrayBuffer.isView(value)) return [];
  return Object.keys(value)
    .slice(0, itemsMax)
    .map((name): unknown => Object.getOwnPropertyDescriptor(value, name)?.value);
}

function firstOf<T>(values: Iterable<T>): readonly T[] {
  const first: T[] = [];
  for (const one of values) {
    if (first.length === itemsMax) break;
    first.push(one);
  }
  return first;
}

/**
 * Bytes that a GraphQL value takes at least, before it is written: shapes are gone through beside the frames of a run,
 * from the leaves up, each edge once. What is null for want of a value is followed upwards, as the renderer does; what
 * is hard to tell beforehand counts as the shortest that it can be.
 */
import { must } from "../base/assert.ts";
import type { Steps } from "../base/maybe.ts";
import type { Frame } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import { uidBytes } from "./answer-size.ts";
import { cellOf, cellsOf, typeOfRow, withChild } from "./graphql-frame.ts";
import type { FieldShape, ObjectShape } from "./graphql-shape.ts";

const nullBytes = 4;

/** Of an object that is not: null goes up. */
const absent = -1;

/** Bytes of the object of each row of a frame; `absent`: there is none. */
function* leastObjectBytes(
  frame: Frame,
  shape: ObjectShape,
  yielder: Yielder,
): Steps<Float64Array> {
  const below = new Map<FieldShape, Float64Array>();
  const kinds = [shape, ...(shape.byType?.values() ?? [])];
  for (const { fields } of kinds) {
    for (const field of fields) {
      if (field.value.kind !== "edge" || below.has(field)) continue;
      const child = withChild(frame.fields[field.value.field])?.child;
      if (child !== undefined) {
        below.set(field, yield* leastObjectBytes(child, field.value.object, yielder));
      }
    }
  }
  const sizes = new Float64Array(frame.uids.length);
  let work = 0;
  for (let row = 0; row < sizes.length; row++) {
    const typed = shape.byType === undefined ? undefined : typeOfRow(frame, row, shape);
    const fields = typed === undefined ? shape.fields : typed.fields;
    let bytes = 2;
    for (const field of fields) {
      const own = leastFieldBytes(frame, row, field, below.get(field));
      if (own === absent) {
        bytes = absent;
        break;
      }
      bytes += field.keyBytes.length + 1 + own;
      work += countOf(frame, row, field);
    }
    sizes[row] = bytes;
    if ((row & 255) !== 255) continue;
    const pause = yielder.check(work);
    if (pause !== undefined) yield pause;
    work = 0;
  }
  // There may be thousands of small frames.
  const last = yielder.checkSmall(work);
  if (last !== undefined) yield last;
  return sizes;
}

/** Edges that were looked at for a field. */
function countOf(frame: Frame, row: number, { value }: FieldShape): number {
  if (value.kind !== "edge") return 1;
  const edges = withChild(frame.fields[value.field]);
  return edges === undefined
    ? 1
    : must(edges.offsets[row + 1], "a row has its bounds") -
        must(edges.offsets[row], "a row has its bounds");
}

function leastFieldBytes(
  frame: Frame,
  row: number,
  field: FieldShape,
  below: Float64Array | undefined,
): number {
  const { value } = field;
  const column = "field" in value ? frame.fields[value.field] : undefined;
  switch (value.kind) {
    case "uid":
      return uidBytes(must(frame.uids[row], "each row has its uid"));
    case "scalar": {
      const bytes = cellOf(column, row)?.jsonLength ?? 0;
      if (bytes > 0) return value.scalar.form === "string" ? bytes : 1;
      return field.nonNull ? absent : nullBytes;
    }
    case "scalars": {
      let bytes = 2;
      if (value.scalar.form !== "string") return bytes;
      for (const cell of cellsOf(column, row)) bytes += cell.jsonLength;
      return bytes;
    }
    case "edge":
      return leastEdgeBytes(frame, row, field, below);
    default:
      return 1;
  }
}

function leastEdgeBytes(
  frame: Frame,
  row: number,
  field: FieldShape,
  below: Float64Array | undefined,
): number {
  const { value, nonNull } = field;
  if (value.kind !== "edge") return 1;
  const edges = withChild(frame.fields[value.field]);
  const start = edges?.offsets[row] ?? 0;
  const end = edges?.offsets[row + 1] ?? 0;
  const nothing = nonNull ? absent : nullBytes;
  const bytesOf = (edge: number): number => {
    const rowBelow = edges?.rows[edge];
    return (rowBelow === undefined ? undefined : below?.[rowBelow]) ?? absent;
  };
  if (!value.isList) {
    const bytes = end - start === 1 ? bytesOf(start) : absent;
    return bytes === absent ? nothing : bytes;
  }
  let sum = 2;
  for (let e = start; e < end; e++) {
    const bytes = bytesOf(e);
    if (bytes !== absent) sum += bytes + 1;
    else if (value.elementNonNull) return nothing;
    else sum += nullBytes + 1;
  }
  return end > start ? sum - 1 : sum;
}

/** Bytes of a root's list: of each of `rows`. */
export function* leastListBytes(
  frame: Frame,
  rows: ArrayLike<number>,
  shape: ObjectShape,
  yielder: Yielder,
): Steps<number> {
  const sizes = yield* leastObjectBytes(frame, shape, yielder);
  let bytes = 2;
  for (let i = 0; i < rows.length; i++)
    bytes += Math.max(nullBytes, sizes[must(rows[i], "each edge has its row")] ?? 0);
  return bytes;
}

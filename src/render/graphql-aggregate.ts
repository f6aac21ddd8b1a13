/**
 * Aggregates: min, max, sum and avg over the targets of one edge, and how they are written (reference/graphql 4.13).
 */
import type { FieldColumn } from "../exec/frame.ts";
import { compareValues } from "../model/compare.ts";
import { printValuePlainJson } from "../model/print-value.ts";
import { makeInt } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import type { AggregateMemberShape } from "./graphql-shape.ts";
import type { JsonWriter } from "./json-writer.ts";

const comma = 44;
const braceOpen = 123;
const braceClose = 125;

/** undefined where no target has a value. `rows`: the targets' rows in the column. */
export function aggregateOf(
  name: AggregateMemberShape["function"],
  column: FieldColumn,
  rows: Uint32Array,
): Value | undefined {
  if (column.kind !== "cell") return undefined;
  const values: Value[] = [];
  for (const row of rows) {
    const cell = column.cells[row];
    if (cell !== undefined) values.push(cell.value);
  }
  if (values.length === 0) return undefined;
  if (name === "sum" || name === "avg") return total(values, name === "avg");
  return extreme(values, name === "max");
}

/** The first of equal ones. */
function extreme(values: readonly Value[], wantsLast: boolean): Value | undefined {
  let best = values[0];
  for (const value of values) {
    if (best === undefined) break;
    const order = compareValues(value, best);
    if (wantsLast ? order > 0 : order < 0) best = value;
  }
  return best;
}

/** Integers add up exactly, in 64 bits; an average is always a float. */
function total(values: readonly Value[], isAverage: boolean): Value | undefined {
  let float = 0;
  let int = 0n;
  let isInt = true;
  for (const value of values) {
    if (value.kind === "int") {
      int += BigInt(value.int);
      float += Number(value.int);
    } else if (value.kind === "float") {
      isInt = false;
      float += value.float;
    } else return undefined;
  }
  if (isAverage) return { kind: "float", float: float / values.length };
  return isInt ? makeInt(BigInt.asIntN(64, int)) : { kind: "float", float };
}

/** A count and values, as the members ask for them. */
export function writeAggregate(
  out: JsonWriter,
  typeName: string,
  members: readonly AggregateMemberShape[],
  count: number,
  valueOf: (member: AggregateMemberShape) => Value | undefined,
): void {
  out.byte(braceOpen);
  for (let i = 0; i < members.length; i++) {
    const member = members[i] as AggregateMemberShape;
    if (i > 0) out.byte(comma);
    out.bytes(member.keyBytes);
    if (member.function === "count") out.ascii(String(count));
    else if (member.function === "typename") out.text(JSON.stringify(typeName));
    else {
      const value = valueOf(member);
      const text = (value === undefined ? "" : printValuePlainJson(value)) || "null";
      out.text(member.isText === true && value?.kind === "int" ? `"${text}"` : text);
    }
  }
  out.byte(braceClose);
}

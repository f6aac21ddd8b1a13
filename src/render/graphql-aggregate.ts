/** min, max, sum and avg over the targets of one edge (graphql.md 4.13). */
import type { FieldColumn } from "../exec/frame.ts";
import { compareValues } from "../model/compare.ts";
import { makeInt } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import type { AggregateMemberShape } from "./graphql-shape.ts";

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

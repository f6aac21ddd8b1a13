/** Values by node: made, laid beside other nodes, added up. */
import { must } from "../base/assert.ts";
import { addInt64Wrapping } from "../model/int.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { ValueColumn } from "./frame.ts";
import { queryFault } from "./run.ts";

export function makeColumn(values: ReadonlyMap<number, Value>): ValueColumn {
  const uids = new Float64Array(values.keys()).sort();
  return { uids, values: Array.from(uids, (uid) => values.get(uid) as Value) };
}

/** A variable's values beside a set of uids. */
export function alignValues(column: ValueColumn, uids: UidSet): (Value | undefined)[] {
  const values: (Value | undefined)[] = [];
  let at = 0;
  for (let i = 0; i < uids.length; i++) {
    const uid = must(uids[i], "each row has its node");
    while (at < column.uids.length && must(column.uids[at], "each row has its node") < uid) at++;
    values.push(column.uids[at] === uid ? column.values[at] : undefined);
  }
  return values;
}

/** Sums of facets and of values pushed along edges: int with int stays int. */
export function addNumbers(a: Value, b: Value): Value {
  if (a.kind === "int" && b.kind === "int") {
    return { kind: "int", int: addInt64Wrapping(a.int, b.int) };
  }
  const isNumber = (value: Value): boolean => value.kind === "int" || value.kind === "float";
  if (!isNumber(a) || !isNumber(b)) {
    throw queryFault("Repeated id with non int/float value for facet var encountered.");
  }
  return { kind: "float", float: toFloat(a) + toFloat(b) };
}

function toFloat(value: Value): number {
  if (value.kind === "int") return Number(value.int);
  return value.kind === "float" ? value.float : Number.NaN;
}

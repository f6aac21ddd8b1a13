/**
 * Comparisons of a variable's values and of its size (reference/dql 4.3.14, 4.8). Price: one pass over the variable; no
 * reads.
 */
import { convertValue } from "../model/convert.ts";
import { ConversionError } from "../model/conversion-error.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { CallPlan, ValuesPlan } from "../plan/plan.ts";
import { testValues } from "./compare.ts";
import { keepMembers } from "./rows.ts";
import { queryFault, slotText, valuesOf, variableOf, type Run } from "./run.ts";

/** Nodes whose value of the variable passes; the argument takes each value's own type. */
export function compareVariable(run: Run, call: Extract<CallPlan, { kind: "compareVal" }>): UidSet {
  const column = valuesOf(run, call.variable);
  const bind = buildBinder(run, call.values);
  const flags = new Uint8Array(column.uids.length);
  for (let i = 0; i < flags.length; i++) {
    const value = column.values[i];
    if (value !== undefined && testValues(call.operator, value, bind(value.kind))) flags[i] = 1;
  }
  return keepMembers(column.uids, flags);
}

function buildBinder(run: Run, values: ValuesPlan): (kind: ValueKind) => readonly Value[] {
  const { variable } = values;
  const byKind = new Map<ValueKind, readonly Value[]>();
  return (kind) => {
    const known = byKind.get(kind);
    if (known !== undefined) return known;
    const bound =
      variable === undefined
        ? values.slots.map((slot) => bindArgument(slotText(run, slot), kind))
        : [...valuesOf(run, variable).values];
    byKind.set(kind, bound);
    return bound;
  };
}

function bindArgument(text: string, kind: ValueKind): Value {
  try {
    return convertValue({ kind: "string", text }, kind);
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    throw queryFault(`Invalid argment ${text}. Comparing with different type`);
  }
}

/** `eq(len(v), n)`: all candidates or none. */
export function compareLength(run: Run, call: Extract<CallPlan, { kind: "compareLen" }>): boolean {
  const length: Value = { kind: "int", int: variableOf(run, call.variable).uids.length };
  const bounds = call.values.slots.map((slot) => bindArgument(slotText(run, slot), "int"));
  return testValues(call.operator, length, bounds);
}

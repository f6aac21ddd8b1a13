/**
 * Comparisons of counts (dql.md 4.3 "count comparisons"). Price: at a root the count index between the bounds; in a filter
 * the heads of the candidates' lists, never their members.
 */
import { ConversionError } from "../model/conversion-error.ts";
import { parseInt64 } from "../model/int.ts";
import type { CallPlan } from "../plan/plan.ts";
import { queryFault, slotText, type Run } from "./run.ts";

const countMax = 4294967295;

/** The thresholds; at a root those that would need absent counts are refused. */
export function bindCounts(
  run: Run,
  call: Extract<CallPlan, { kind: "compareCount" }>,
  atRoot: boolean,
): readonly number[] {
  const bounds = call.values.map((slot) => bindCount(call.operator, slotText(run, slot)));
  if (atRoot && bounds.some((bound) => isUntracked(call.operator, bound))) {
    throw queryFault(
      "count(predicate) cannot be used to search for negative counts (nonsensical) or zero counts (not tracked).",
    );
  }
  for (const bound of bounds) {
    if (bound >= 0 && bound <= countMax) continue;
    throw queryFault(
      `Compare ${call.operator}: threshold value ${bound} must be between 0 and ${countMax}`,
    );
  }
  return bounds;
}

function bindCount(operator: string, text: string): number {
  try {
    return Number(parseInt64(text, 0));
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const reason = `Compare ${operator}(${text}) require digits, but got invalid num`;
    throw queryFault(`${reason}: ${error.message}`);
  }
}

function isUntracked(operator: string, bound: number): boolean {
  switch (operator) {
    case "eq":
    case "le":
    case "ge":
    case "between":
      return bound <= 0;
    case "lt":
      return bound <= 1;
    default:
      return false;
  }
}

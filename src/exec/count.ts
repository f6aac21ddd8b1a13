/**
 * Comparisons of counts (reference/dql 4.3.3). Price: at a root the count index between the bounds;
 * in a filter the same where that costs less, else the heads of the candidates' lists, never their members.
 */
import { countMembersPerCandidate } from "./costs.ts";
import { intersect, subtract, unionAll } from "../base/sorted.ts";
import { ConversionError } from "../model/conversion-error.ts";
import { parseInt64 } from "../model/int.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan, CompareOperator } from "../plan/plan.ts";
import { intersectList } from "./lookup.ts";
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

/** Whether nodes without the predicate could pass: no list has them. */
export function isUntracked(operator: string, bound: number): boolean {
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

/** Numbers of edges, both ends inclusive. */
interface CountRange {
  readonly from: number;
  readonly to: number;
}

/** The counts that pass, from one on. */
export function countRange(operator: CompareOperator, bounds: readonly number[]): CountRange {
  const [low = 0, high = low] = bounds;
  switch (operator) {
    case "eq":
      return { from: low, to: low };
    case "le":
      return { from: 1, to: low };
    case "lt":
      return { from: 1, to: low - 1 };
    case "ge":
      return { from: low, to: countMax };
    case "gt":
      return { from: low + 1, to: countMax };
    case "between":
      return { from: low, to: high };
  }
}

/** The nodes between two counts; undefined where they are more than `max`. */
export async function scanCounts(
  run: Run,
  index: number,
  range: CountRange,
  max: number,
): Promise<UidSet | undefined> {
  if (range.from > range.to) return emptyUidSet;
  const runs: UidSet[] = [];
  let length = 0;
  const scanned = run.reader.scanCounts(index, range, (_, uids) => {
    length += uids.length;
    if (length > max) return false;
    run.budget.charge(uids.length);
    runs.push(uids.slice());
    return true;
  });
  if (scanned instanceof Promise) await scanned;
  run.budget.chargeBytes(length * 8);
  return length > max ? undefined : unionAll(runs);
}

/**
 * The candidates whose count passes, from the count index; undefined where counting each of them is cheaper. Nodes
 * without any edge are in no list: where they pass, those that do not are looked for and left out.
 */
export async function findCountsAmong(
  run: Run,
  call: Extract<CallPlan, { kind: "compareCount" }>,
  bounds: readonly number[],
  candidates: UidSet,
): Promise<UidSet | undefined> {
  const { index, operator } = call;
  if (index === undefined) return undefined;
  const max = candidates.length * countMembersPerCandidate;
  const [count = 0] = bounds;
  if (operator === "eq" && count > 0) {
    const list = { kind: "count", index, count } as const;
    const counted = run.reader.countLists([list]);
    const members = (counted instanceof Promise ? await counted : counted)[0] ?? 0;
    return members > max ? undefined : intersectList(run, list, candidates);
  }
  const range = countRange(operator, bounds);
  if (range.from > 0 && operator !== "le" && operator !== "lt") {
    const found = await scanCounts(run, index, range, max);
    return found === undefined ? undefined : intersect(found, candidates);
  }
  // From zero on, as `le` and `lt` are: all but those with more.
  if (range.to < 0 || (operator === "between" && range.to < range.from)) return emptyUidSet;
  const more = { from: Math.max(1, range.to + 1), to: countMax };
  const found = await scanCounts(run, index, more, max);
  return found === undefined ? undefined : subtract(candidates, found);
}

/**
 * The order in which the parts of an AND are asked of many candidates: those whose nodes are known to be few first, so
 * that the others are asked about what is left. Price: the heads of the lists that the parts name.
 */
import { Fault } from "../model/fault.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import { countCall } from "./choose.ts";
import { valuesOf, type Run } from "./run.ts";

/** At most how many nodes a call finds; Infinity where nothing tells. */
type CountOfCall = (call: CallPlan) => Promise<number>;

/** The same parts, in the order in which they are asked; where nothing is known of them, as the plan has them. */
export async function orderParts(
  filters: readonly FilterPlan[],
  count: CountOfCall,
): Promise<readonly FilterPlan[]> {
  const counted = filters.filter(isCounted).length;
  if (counted === 0) return filters;
  // One alone is first whatever its number.
  const counts: CountOfCall = counted === 1 ? () => Promise.resolve(0) : count;
  const ranks = await Promise.all(filters.map((filter) => rankPart(filter, counts)));
  const places = filters.map((_, i) => i);
  // The outcome is the same in any order.
  places.sort((a, b) => compareRanks(ranks[a] ?? 0, ranks[b] ?? 0) || a - b);
  return places.flatMap((place) => filters[place] ?? []);
}

function compareRanks(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** Below zero: it costs nothing, or is refused for many candidates. */
async function rankPart(filter: FilterPlan, count: CountOfCall): Promise<number> {
  if (filter.kind === "constant") return -1;
  if (filter.kind !== "call") return Infinity;
  if (isFree(filter.call)) return -1;
  return isCounted(filter) ? count(filter.call) : Infinity;
}

/** Counts a call of a run by heads of lists and by what its variables hold. */
export function countIn(run: Run): CountOfCall {
  return async (call) => {
    if (call.kind === "compareVal") return valuesOf(run, call.variable).uids.length;
    try {
      return await countCall(run, call);
    } catch (error) {
      // What is wrong with its arguments is said when it is asked.
      if (error instanceof Fault) return Infinity;
      throw error;
    }
  };
}

function isFree(call: CallPlan): boolean {
  switch (call.kind) {
    case "nothing":
    case "refused":
    case "compareLen":
      return true;
    case "compare":
      return call.refuseFromTen;
    default:
      return false;
  }
}

/** Whether the heads of few lists, or a set in memory, tell how many nodes a part has. */
function isCounted(filter: FilterPlan): boolean {
  if (filter.kind !== "call") return false;
  const { call } = filter;
  switch (call.kind) {
    case "uid":
    case "compareVal":
      return true;
    case "has":
      // Objects of a reverse index would be counted one by one.
      return !call.use.reverse;
    case "compareCount":
      return call.index !== undefined;
    case "terms":
      return call.values.variable === undefined;
    case "compare":
      return call.operator === "eq" && call.values.variable === undefined;
    case "uidIn":
      return call.use.reverse || call.use.predicate?.reverseIndex?.state === "ready";
    default:
      return false;
  }
}

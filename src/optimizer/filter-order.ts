/**
 * The order in which the parts of an AND are asked of many candidates: those whose nodes are known to be few first, so
 * that the others are asked about what is left. Price: the heads of the lists that the parts name.
 */
import { must } from "../base/assert.ts";
import { Fault } from "../model/fault.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import type { StatisticsOf, TraitsOf } from "./statistics.ts";

/** At most how many nodes a call finds; Infinity where nothing tells. */
type CountOfCall = (call: CallPlan) => Promise<number>;

/** The same parts, in the order in which they are asked; where nothing is known of them, as the plan has them. */
export async function orderParts(
  filters: readonly FilterPlan[],
  of: TraitsOf,
  count: CountOfCall,
): Promise<readonly FilterPlan[]> {
  const counted = filters.filter((filter) => isCounted(filter, of)).length;
  if (counted === 0) return filters;
  // One alone is first whatever its number.
  const counts: CountOfCall = counted === 1 ? () => Promise.resolve(0) : count;
  const ranks = await Promise.all(filters.map((filter) => rankPart(filter, of, counts)));
  const places = filters.map((_, i) => i);
  // The outcome is the same in any order.
  places.sort(
    (a, b) =>
      compareRanks(must(ranks[a], "each part is ranked"), must(ranks[b], "each part is ranked")) ||
      a - b,
  );
  return places.flatMap((place) => filters[place] ?? []);
}

function compareRanks(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** Below zero: it costs nothing, or is refused for many candidates. */
async function rankPart(filter: FilterPlan, of: TraitsOf, count: CountOfCall): Promise<number> {
  if (filter.kind === "constant") return -1;
  if (filter.kind !== "call") return Infinity;
  if (of(filter.call).isFree(filter.call)) return -1;
  return isCounted(filter, of) ? count(filter.call) : Infinity;
}

/** Counts a call of a run by heads of lists and by what its variables hold. */
export function countIn<R>(of: StatisticsOf<R>, run: R): CountOfCall {
  return async (call) => {
    try {
      return await of(call).count(run, call);
    } catch (error) {
      // What is wrong with its arguments is said when it is asked.
      if (error instanceof Fault) return Infinity;
      throw error;
    }
  };
}

/** Whether the heads of few lists, or a set in memory, tell how many nodes a part has. */
function isCounted(filter: FilterPlan, of: TraitsOf): boolean {
  return filter.kind === "call" && of(filter.call).isCounted(filter.call);
}

/** By what the numbers of a filter are told. */
export function partOfFilter(filter: FilterPlan): object {
  return filter.kind === "call" ? filter.call : filter;
}

/** Orders: whether the nodes are sorted, or their order's index is walked as far as the page. Numbers in, choices out. */
import {
  edgesPerMember,
  sortedBelow,
  sortedPerWanted,
  stepsPerRecord,
  walkHeldMax,
} from "./costs.ts";

/** Few nodes are read and sorted, however short the walk would be. */
export function isSorted(count: number, wanted: number): boolean {
  return count <= Math.max(sortedBelow, wanted * sortedPerWanted);
}

/**
 * Nodes of the index that are passed for a page: the rarer the candidates are among those with a value, the more.
 * `count`: candidates, Infinity where that is not known.
 */
export function stepsOfWalk(wanted: number, present: number, count: number): number {
  return count === Infinity ? wanted : (wanted * present) / Math.max(1, Math.min(count, present));
}

/** Whether sorting all costs less than so many steps. */
export function isWalkLong(steps: number, count: number): boolean {
  return steps >= count * stepsPerRecord;
}

/** Whether so many nodes of another condition are held beside the walk, instead of being asked about each batch. */
export function isHeld(count: number): boolean {
  return count <= walkHeldMax;
}

/**
 * Whether the nodes that edges lead to are sorted once, and the edges by their ranks. `shown`: edges of a node that are
 * kept.
 */
export function ranksMembers(
  edges: number,
  members: number,
  nodes: number,
  shown: number,
): boolean {
  return edges >= members * edgesPerMember && shown * nodes * sortedPerWanted >= edges;
}

/** Values of many nodes: whether they come from an index, or from the nodes' records. Numbers in, choices out. */
import {
  columnTokensMax,
  gallopFactor,
  indexedFrom,
  membersPerNode,
  nodesPerToken,
  tokenCountsKept,
} from "./costs.ts";

/** Whether so many nodes are worth a look at an index. */
export function areManyNodes(nodes: number): boolean {
  return nodes >= indexedFrom;
}

/** Whether an index of so many members is walked for so many nodes. */
export function takesColumn(memberCount: number, nodes: number): boolean {
  return memberCount <= nodes * membersPerNode;
}

/** Different values that an index may have. */
export function columnTokens(nodes: number): number {
  return Math.floor(nodes / nodesPerToken);
}

/** Whether counting the tokens of an index goes on. */
export function countsOn(tokens: number): boolean {
  return tokens < columnTokensMax;
}

/** Whether a count of tokens of so many commits ago still tells. */
export function isCountKept(commits: number): boolean {
  return commits < tokenCountsKept;
}

/** Whether the members of the longer list are sought instead of walked. */
export function isSought(few: number, many: number): boolean {
  return few * gallopFactor < many;
}

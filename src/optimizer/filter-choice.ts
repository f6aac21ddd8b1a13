/** Conditions of a filter: whether an index is asked, or what the candidates hold is read. Numbers in, choices out. */
import {
  candidatesPerHead,
  candidatesPerOpenMember,
  countMembersPerCandidate,
  filterSampleFrom,
  filterSampleRows,
  geoCellsCounted,
  leadShare,
  listsFrom,
  membersPerCandidate,
  membersPerStep,
  presencePerCandidate,
  reverseTargetsMax,
  textsSplit,
} from "./costs.ts";

/** Whether so many candidates are worth a look at an index, and an order of their own for the parts of an AND. */
export function areMany(candidates: number): boolean {
  return candidates >= listsFrom;
}

/** The lists of an eq, all of whose members pass. */
export function takesLists(memberCount: number, candidates: number): boolean {
  return memberCount <= candidates * membersPerCandidate;
}

/** Lists or cells whose members are looked at again. */
export function takesOpenLists(memberCount: number, candidates: number): boolean {
  return memberCount * candidatesPerOpenMember <= candidates;
}

/** The list of the nodes that have a predicate. */
export function takesPresence(present: number, candidates: number): boolean {
  return present <= candidates * presencePerCandidate;
}

/** Whether the lists of an area's cells are counted at all. */
export function countsCells(cells: number): boolean {
  return cells > 0 && cells <= geoCellsCounted;
}

/** The texts of so few candidates instead of lists that are not at hand. */
export function takesTexts(candidates: number): boolean {
  return candidates <= textsSplit;
}

/** The lists of those who point at so many targets. */
export function takesReverse(targets: number): boolean {
  return targets <= reverseTargetsMax;
}

/** Members of a count index that may be read for so many candidates. */
export function countMembersMax(candidates: number): number {
  return candidates * countMembersPerCandidate;
}

/** What walking a range may cost, in candidates; each token is paid for by `rangeStep`. */
export function rangeBudget(candidates: number): number {
  return candidates / candidatesPerHead;
}

export function rangeStep(memberCount: number): number {
  return 1 + memberCount / membersPerStep;
}

/** How many of the candidates are tested to find the part that leaves the fewest; 0: that is not worth it. */
export function sampleSize(candidates: number): number {
  return candidates < filterSampleFrom ? 0 : filterSampleRows;
}

/** A part that leaves fewer than this of a sample is read before the others. */
export function leadBelow(sampled: number): number {
  return sampled * leadShare;
}

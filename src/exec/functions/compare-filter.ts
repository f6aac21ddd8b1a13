/**
 * A comparison as a test of candidates: by the lists of its values or the range between its bounds, where that costs less
 * than reading what the candidates hold.
 */
import { intersect, union } from "../../base/sorted.ts";
import type { ListRef } from "../../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import {
  bindCall,
  buildCompareTest,
  checkEqualityTokens,
  type CompareCall,
} from "../bind-values.ts";
import {
  areMany,
  rangeBudget,
  rangeStep,
  takesLists,
  takesOpenLists,
} from "../../optimizer/filter-choice.ts";
import {
  cutsLong,
  equalityTokens,
  isCutToken,
  isWholeToken,
  rangeOf,
  tagOf,
} from "../index-tokens.ts";
import {
  intersectList,
  intersectLists,
  joinLists,
  listOfToken,
  readLists,
  verifyCells,
} from "../lookup.ts";
import { countEquality, equalityLists, flatLists, sumFewest } from "./compare-lists.ts";
import { queryFault, type Run } from "../run.ts";
import { excludedToken, scanRange } from "../scan-range.ts";
import { cellsCall, members, type PreparedCall } from "./function.ts";

/**
 * A range in a filter over an index that cannot be ordered is refused from so many candidates on (reference/dql 2.5).
 */
const refusedFrom = 10;

export async function prepareCompare(
  run: Run,
  call: CompareCall,
  candidates: UidSet,
): Promise<PreparedCall> {
  const binding = bindCall(run, call, false);
  const bounds = binding instanceof Promise ? await binding : binding;
  if (call.refuseFromTen && candidates.length >= refusedFrom) {
    const name = `${run.reader.schema.namespace}-${call.use.name}`;
    throw queryFault(`Attribute:${name} does not have proper index for comparison`);
  }
  if (call.operator === "eq" && call.index !== undefined) {
    checkEqualityTokens(run, call, bounds);
    const found = await findEqual(run, call, bounds, candidates);
    if (found !== undefined) return members(found);
  }
  const ranged = await findInRange(run, call, bounds, candidates);
  return ranged === undefined
    ? cellsCall(call.use, buildCompareTest(call, bounds))
    : members(ranged);
}

/**
 * The candidates with one of the values, from the lists of their tokens; undefined where reading the candidates is
 * cheaper. Lists that are at hand are cheaper for any number of them.
 */
async function findEqual(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
  candidates: UidSet,
): Promise<UidSet | undefined> {
  const { index, use } = call;
  if (index === undefined || candidates.length === 0) return undefined;
  const isWhole = isWholeToken(index, use);
  if (isWhole) {
    const kept = await keptList(run, call, bounds);
    if (kept !== undefined) return intersectList(run, kept, candidates);
  }
  if (!areMany(candidates.length) || tagOf(use) === undefined || use.languages.length > 1)
    return undefined;
  const making = equalityLists(run, call, index, bounds);
  const equality = making instanceof Promise ? await making : making;
  if (equality.hasTokenless) return undefined;
  const counts = await countEquality(run, equality);
  if (isWhole && !equality.hasCut) {
    const length = counts.reduce((sum, count) => sum + count, 0);
    if (!takesLists(length, candidates.length)) return undefined;
    return keepOfLists(run, flatLists(equality), counts, candidates);
  }
  // The tokens leave the value open: worth asking where they leave fewer to read.
  if (!takesOpenLists(sumFewest(equality, counts), candidates.length)) return undefined;
  const sets: UidSet[] = [];
  for (const { lists } of equality.values) {
    sets.push(await intersectLists(run, lists, candidates));
  }
  return verifyCells(run, use, buildCompareTest(call, bounds), await joinLists(run, sets));
}

/** From so many lists on their members are read and met with the candidates once, instead of list by list. */
const listsRead = 16;

/** The candidates that are in one of the lists, which have no more members than is worth reading. */
async function keepOfLists(
  run: Run,
  lists: readonly ListRef[],
  counts: Float64Array,
  candidates: UidSet,
): Promise<UidSet> {
  const filled = lists.filter((_, i) => counts[i] !== 0);
  if (filled.length < listsRead) {
    let found: UidSet = emptyUidSet;
    for (const list of filled) found = union(found, await intersectList(run, list, candidates));
    return found;
  }
  const reading = readLists(run, filled);
  const sets = reading instanceof Promise ? await reading : reading;
  return intersect(await joinLists(run, sets), candidates);
}

/**
 * An inequality from its index, where walking the range costs less than reading the candidates; undefined otherwise.
 * Price of finding out: the heads of a range, a quarter of what reading the candidates would cost at most.
 */
async function findInRange(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
  candidates: UidSet,
): Promise<UidSet | undefined> {
  const { index, operator, use } = call;
  if (operator === "eq" || index === undefined || !areMany(candidates.length)) return undefined;
  if (bounds.length === 0 || call.refuseFromTen || tagOf(use) !== "") return undefined;
  const range = rangeOf(index, operator, bounds, use);
  const ends = [range.from, range.to];
  if (cutsLong(index) && ends.some((end) => end !== undefined && isCutToken(end))) {
    return undefined;
  }
  let left = rangeBudget(candidates.length);
  const counted = run.reader.countTokens(index.id, range, (_, count) => {
    left -= rangeStep(count);
    return left > 0;
  });
  if (counted instanceof Promise) await counted;
  if (left <= 0) return undefined;
  const found = await scanRange(run, index.id, range, excludedToken(call, range));
  return intersect(found, candidates);
}

/** The list of the one value of an eq, where it is at hand. */
async function keptList(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
): Promise<ListRef | undefined> {
  const { index } = call;
  const [bound] = bounds;
  if (index === undefined || bound === undefined || bounds.length > 1) return undefined;
  const [token] = equalityTokens(index, bound, call.use);
  if (token === undefined || isCutToken(token)) return undefined;
  const list = listOfToken(index.id, token);
  const answer = run.reader.isCached(list);
  return (answer instanceof Promise ? await answer : answer) ? list : undefined;
}

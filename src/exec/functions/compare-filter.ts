/**
 * A comparison as a test of candidates: by the lists of its values or the range between its bounds, where that costs less
 * than reading what the candidates hold.
 */
import { intersect, union } from "../../base/sorted.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import type { Value } from "../../model/value.ts";
import {
  bindValues,
  buildCompareTest,
  checkEqualityTokens,
  kindOf,
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
import { intersectList, intersectLists, listOfToken, verifyCells } from "../lookup.ts";
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
  const bounds = bindValues(run, call.values, kindOf(call.use), call.operator, false);
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
  if (isWhole && (await areCached(run, call, bounds))) {
    return intersectTokens(run, call, bounds, candidates);
  }
  if (!areMany(candidates.length) || tagOf(use) === undefined || use.languages.length > 1)
    return undefined;
  const tokens = bounds.map((bound) => equalityTokens(index, bound, use));
  if (tokens.some((all) => all.length === 0)) return undefined;
  const lists = tokens.flatMap((all) => all.map((token) => listOfToken(index.id, token)));
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const isCut = cutsLong(index) && tokens.some((all) => all.some(isCutToken));
  if (isWhole && !isCut) {
    const length = counts.reduce((sum, count) => sum + count, 0);
    if (!takesLists(length, candidates.length)) return undefined;
    return intersectTokens(run, call, bounds, candidates);
  }
  // The tokens leave the value open: worth asking where they leave fewer to read.
  let at = 0;
  let fewest = 0;
  for (const all of tokens) {
    fewest += Math.min(...counts.subarray(at, at + all.length));
    at += all.length;
  }
  if (!takesOpenLists(fewest, candidates.length)) return undefined;
  let found: UidSet = emptyUidSet;
  for (const all of tokens) {
    const own = all.map((token) => listOfToken(index.id, token));
    found = union(found, await intersectLists(run, own, candidates));
  }
  return verifyCells(run, use, buildCompareTest(call, bounds), found);
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

/** Whether all tokens of an eq are kept lists. */
async function areCached(run: Run, call: CompareCall, bounds: readonly Value[]): Promise<boolean> {
  const { index } = call;
  const [bound] = bounds;
  if (index === undefined || bound === undefined || bounds.length > 1) return false;
  const [token] = equalityTokens(index, bound, call.use);
  if (token === undefined || isCutToken(token)) return false;
  const answer = run.reader.isCached(listOfToken(index.id, token));
  return answer instanceof Promise ? await answer : answer;
}

async function intersectTokens(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
  candidates: UidSet,
): Promise<UidSet> {
  const { index } = call;
  let found: UidSet = emptyUidSet;
  if (index === undefined) return found;
  for (const bound of bounds) {
    for (const token of equalityTokens(index, bound, call.use)) {
      found = union(found, await intersectList(run, listOfToken(index.id, token), candidates));
    }
  }
  return found;
}

/**
 * One function as a test of candidates: their members by a set or an index, or a test of what their records hold. Price:
 * by a set or an index the shorter of list and candidates, times the logarithm of the longer; otherwise the values of all
 * candidates, in the one read of the filter.
 */
import { must } from "../base/assert.ts";
import {
  geoCellsCounted,
  listsFrom,
  membersPerCandidate,
  membersPerStep,
  presencePerCandidate,
  reverseTargetsMax,
  textsSplit,
} from "./costs.ts";
import { intersect, union, unionAll } from "../base/sorted.ts";
import type { Column, ListRef, ColumnRequest } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { CallPlan, PredicateUse } from "../plan/plan.ts";
import {
  bindValues,
  buildCompareTest,
  checkEqualityTokens,
  kindOf,
  type CompareCall,
} from "./bind-values.ts";
import { buildCountTest, type CellTest } from "./compare.ts";
import { compareLength, compareVariable } from "./compare-variable.ts";
import { bindCounts, findCountsAmong } from "./count.ts";
import { buildGeoTest, geoTokensOf } from "./geo.ts";
import {
  cutsLong,
  equalityTokens,
  isCutToken,
  isWholeToken,
  rangeOf,
  tagOf,
} from "./index-tokens.ts";
import {
  buildCellsTest,
  intersectList,
  intersectLists,
  readLists,
  listOfToken,
  verifyCells,
} from "./lookup.ts";
import { buildMatchTest, buildRegexTest, narrowRegexp } from "./pattern.ts";
import { countRoot, excludedToken, listOfHas, scanRange } from "./root.ts";
import { queryFault, raiseRefusal, slotText, type Run } from "./run.ts";
import { findSimilar } from "./similar.ts";
import { areTermsCached, buildTermsTest, canReadTerms, findTerms } from "./terms.ts";
import { uidsOfCall, uidsOfUidIn } from "./uid-sets.ts";

export type ColumnTest = (column: Column, row: number) => boolean;

export type PreparedCall =
  | { readonly kind: "members"; readonly members: UidSet }
  | { readonly kind: "column"; readonly request: ColumnRequest; readonly test: ColumnTest };

/** A range in a filter over an index that cannot be ordered is refused from so many candidates on (dql.md 2.5). */
const refusedFrom = 10;

export async function prepareCall(
  run: Run,
  call: CallPlan,
  candidates: UidSet,
): Promise<PreparedCall> {
  switch (call.kind) {
    case "nothing":
      return members(emptyUidSet);
    case "refused":
      return raiseRefusal(run, call.refusal);
    case "compare":
      return prepareCompare(run, call, candidates);
    case "compareCount":
      return prepareCount(run, call, candidates);
    case "compareVal":
      return members(intersect(compareVariable(run, call), candidates));
    case "compareLen":
      return members(compareLength(run, call) ? candidates : emptyUidSet);
    case "terms":
      return prepareTerms(run, call, candidates);
    case "regexp":
      return prepareRegexp(run, call, candidates);
    case "match":
      return cellsCall(call.use, buildMatchTest(run, call));
    case "geo":
      return prepareGeo(run, call, candidates);
    case "uid":
      return members(intersect(uidsOfCall(run, call), candidates));
    case "uidIn":
      return prepareUidIn(run, call, candidates);
    case "has":
      return prepareHas(run, call.use, candidates);
    case "similar":
      return members(intersect(await findSimilar(run, call), candidates));
  }
}

function members(set: UidSet): PreparedCall {
  return { kind: "members", members: set };
}

/** Why a call has its predicate: of an unknown one the plan makes a call of the kind `nothing`. */
const ofKnown = "a call of this kind is about a predicate of the schema";

/** A test of any of the cells that a function on a predicate looks at. */
function cellsCall(use: PredicateUse, test: CellTest): PreparedCall {
  const passes = buildCellsTest(use, test);
  return {
    kind: "column",
    request: { kind: "cells", predicate: must(use.predicate, ofKnown).id },
    test: (column, row) => {
      const cells = column.kind === "cells" ? column.cells[row] : undefined;
      return cells !== undefined && passes(cells);
    },
  };
}

async function prepareCompare(
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
  const isMany = candidates.length >= listsFrom;
  const isWhole = isWholeToken(index, use);
  if (isWhole && (await areCached(run, call, bounds))) {
    return intersectTokens(run, call, bounds, candidates);
  }
  if (!isMany || tagOf(use) === undefined || use.languages.length > 1) return undefined;
  const tokens = bounds.map((bound) => equalityTokens(index, bound, use));
  if (tokens.some((all) => all.length === 0)) return undefined;
  const lists = tokens.flatMap((all) => all.map((token) => listOfToken(index.id, token)));
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const isCut = cutsLong(index) && tokens.some((all) => all.some(isCutToken));
  if (isWhole && !isCut) {
    const length = counts.reduce((sum, count) => sum + count, 0);
    if (length > candidates.length * membersPerCandidate) return undefined;
    return intersectTokens(run, call, bounds, candidates);
  }
  // The tokens leave the value open: worth asking where they leave fewer to read.
  let at = 0;
  let fewest = 0;
  for (const all of tokens) {
    fewest += Math.min(...counts.subarray(at, at + all.length));
    at += all.length;
  }
  if (fewest * 2 > candidates.length) return undefined;
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
  if (operator === "eq" || index === undefined || candidates.length < listsFrom) return undefined;
  if (bounds.length === 0 || call.refuseFromTen || tagOf(use) !== "") return undefined;
  const range = rangeOf(index, operator, bounds, use);
  const ends = [range.from, range.to];
  if (cutsLong(index) && ends.some((end) => end !== undefined && isCutToken(end))) {
    return undefined;
  }
  let left = candidates.length / 4;
  const counted = run.reader.countTokens(index.id, range, (_, count) => {
    left -= 1 + count / membersPerStep;
    return left > 0;
  });
  if (counted instanceof Promise) await counted;
  if (left <= 0) return undefined;
  const found = await scanRange(run, index.id, range, excludedToken(call, range));
  return intersect(found, candidates);
}

/**
 * From so many candidates on, only those with the expression's trigrams are looked at, where an index has them; the
 * others are told by their texts. Price: as many texts as pass the trigrams.
 */
async function prepareRegexp(
  run: Run,
  call: Extract<CallPlan, { kind: "regexp" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const source = slotText(run, call.source);
  const test = buildRegexTest(run, source, call.flags ?? "");
  const narrowed =
    candidates.length < listsFrom ? undefined : await narrowRegexp(run, call, candidates);
  return narrowed === undefined
    ? cellsCall(call.use, test)
    : members(await verifyCells(run, call.use, test, narrowed));
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

async function prepareCount(
  run: Run,
  call: Extract<CallPlan, { kind: "compareCount" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const bounds = bindCounts(run, call, false);
  if (candidates.length >= listsFrom) {
    const found = await findCountsAmong(run, call, bounds, candidates);
    if (found !== undefined) return members(found);
  }
  const passes = buildCountTest(call.operator, bounds);
  const predicate = must(call.use.predicate, ofKnown);
  const index = call.use.reverse ? predicate.reverseIndex?.id : undefined;
  return {
    kind: "column",
    request:
      index === undefined
        ? { kind: "count", predicate: predicate.id }
        : { kind: "reverseCount", index },
    test: (column, row) => column.kind === "count" && passes(column.counts[row] ?? 0),
  };
}

/** Many candidates are looked for in the lists of the area's cells, where those are fewer. */
async function prepareGeo(
  run: Run,
  call: Extract<CallPlan, { kind: "geo" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const { index, use } = call;
  if (index === undefined) return members(emptyUidSet);
  const test = buildGeoTest(run, call);
  const tokens = candidates.length < listsFrom ? [] : geoTokensOf(run, call);
  if (tokens.length === 0 || tokens.length > geoCellsCounted) return cellsCall(use, test);
  const lists = tokens.map((token) => listOfToken(index.id, token));
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const length = counts.reduce((sum, count) => sum + count, 0);
  if (length * 2 > candidates.length) return cellsCall(use, test);
  const near = intersect(unionAll(await readLists(run, lists)), candidates);
  return members(await verifyCells(run, use, test, near));
}

/** Words are looked up in their index; of few candidates the texts are read, where no list is at hand. */
async function prepareTerms(
  run: Run,
  call: Extract<CallPlan, { kind: "terms" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  if (candidates.length === 0) return members(emptyUidSet);
  const isFew = candidates.length <= textsSplit && call.values.variable === undefined;
  if (isFew && canReadTerms(call) && !(await areTermsCached(run, call))) {
    return cellsCall(call.use, buildTermsTest(run, call));
  }
  return members(await findTerms(run, call, candidates));
}

/** Few candidates are counted in their records; many are looked for in the list of those that have the predicate. */
async function prepareHas(run: Run, use: PredicateUse, candidates: UidSet): Promise<PreparedCall> {
  const list = candidates.length < listsFrom ? undefined : listOfHas(use);
  if (list !== undefined) {
    const present = await countRoot(run, list);
    if (present <= candidates.length * presencePerCandidate) {
      return members(await intersectList(run, list, candidates));
    }
  }
  const predicate = must(use.predicate, ofKnown);
  const { id } = predicate;
  if (predicate.definition.lang) return cellsCall(use, () => true);
  const index = use.reverse ? predicate.reverseIndex?.id : undefined;
  return {
    kind: "column",
    request:
      index === undefined ? { kind: "count", predicate: id } : { kind: "reverseCount", index },
    test: (column, row) => column.kind === "count" && (column.counts[row] ?? 0) > 0,
  };
}

async function prepareUidIn(
  run: Run,
  call: Extract<CallPlan, { kind: "uidIn" }>,
  candidates: UidSet,
): Promise<PreparedCall> {
  const targets = uidsOfUidIn(run, call);
  const predicate = call.use.predicate;
  if (targets.length === 0 || predicate === undefined) return members(emptyUidSet);
  if (predicate.definition.kind !== "uid") return members(emptyUidSet);
  const reverse = predicate.reverseIndex;
  if (targets.length <= reverseTargetsMax && (call.use.reverse || reverse?.state === "ready")) {
    let found: UidSet = emptyUidSet;
    for (const target of targets) {
      const list: ListRef = call.use.reverse
        ? { kind: "edges", predicate: predicate.id, subject: target }
        : { kind: "reverse", index: must(reverse, "it is ready").id, object: target };
      found = union(found, await intersectList(run, list, candidates));
    }
    return members(found);
  }
  const wanted = new Set(targets);
  return {
    kind: "column",
    request:
      call.use.reverse && reverse !== undefined
        ? { kind: "reverse", index: reverse.id, facets: false }
        : { kind: "edges", predicate: predicate.id, facets: false },
    test: (column, row) => {
      if (column.kind !== "edges") return false;
      for (let e = column.offsets[row] ?? 0; e < (column.offsets[row + 1] ?? 0); e++) {
        if (wanted.has(column.targets[e] ?? 0)) return true;
      }
      return false;
    },
  };
}

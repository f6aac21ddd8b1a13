/**
 * How a block's first uids are found (dql.md 4.3). Price: the lists that the function names, in one read; a page of one list
 * is sought by its chunks, an inequality scans the tokens between its bounds.
 */
import { must } from "../base/assert.ts";
import { tokenizerOf } from "../tokens/tokenizers.ts";
import { lowerBound, sortUnique, unionAll } from "../base/sorted.ts";
import type { ListBounds, ListRef, TokenRange } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan, PredicateUse } from "../plan/plan.ts";
import { nextExactLanguage } from "../tokens/text-tokens.ts";
import type { BoundPage } from "./bind.ts";
import { bindValues, buildCompareTest, checkEqualityTokens, kindOf } from "./bind-values.ts";
import { compareVariable } from "./compare-variable.ts";
import { intersectLists, readLists, listOfToken } from "./lookup.ts";
import { findTerms } from "./terms.ts";
import { listsOfUidIn, uidsOfCall } from "./uid-sets.ts";
import { exact, noCandidates, needsRecheck, type Candidates } from "./candidates.ts";
import { bindCounts, countRange, scanCounts } from "./count.ts";
import { findGeo } from "./geo.ts";
import {
  cutsLong,
  equalityTokens,
  isCutToken,
  isSameToken,
  isWholeToken,
  rangeOf,
  tagOf,
} from "./index-tokens.ts";
import { findMatches, findRegex } from "./pattern.ts";
import { countUids, raiseRefusal, type Run } from "./run.ts";
import { scanYielding } from "./yielding-scan.ts";
import { findSimilar } from "./similar.ts";

type Call<K extends CallPlan["kind"]> = Extract<CallPlan, { kind: K }>;

/** The candidates of a root function, ascending. `after`: only greater ones. */
export async function findCandidates(run: Run, call: CallPlan, after: number): Promise<Candidates> {
  const found = await findCall(run, call, after);
  const { uids } = found;
  if (after === 0 || uids.length === 0) return found;
  const from = lowerBound(uids, after + 1);
  return from === 0 ? found : { ...found, uids: uids.subarray(from) };
}

async function findCall(run: Run, call: CallPlan, after: number): Promise<Candidates> {
  switch (call.kind) {
    case "nothing":
    case "compareLen":
      return noCandidates;
    case "refused":
      return raiseRefusal(run, call.refusal);
    case "uid": {
      const uids = uidsOfCall(run, call);
      countUids(run, undefined, uids.length);
      return exact(uids);
    }
    case "uidIn": {
      return exact(unionAll(await readLists(run, listsOfUidIn(run, call))));
    }
    case "has":
      return findHas(run, call, after);
    case "compare":
      return findCompare(run, call);
    case "compareCount":
      return exact(await findCounts(run, call));
    case "compareVal":
      return exact(compareVariable(run, call));
    case "terms":
      return exact(await findTerms(run, call, undefined));
    case "regexp":
      return findRegex(run, call);
    case "match":
      return findMatches(run, call);
    case "geo":
      return call.index === undefined ? noCandidates : findGeo(run, call);
    case "similar":
      return exact(await findSimilar(run, call));
  }
}

/** The one list that is the root's answer as it stands; undefined where the answer is made of several or checked. */
export function listOfRoot(run: Run, call: CallPlan): ListRef | undefined {
  if (call.kind === "has") return listOfHas(call.use);
  if (call.kind === "compareCount") return listOfCount(run, call);
  if (call.kind !== "compare" || call.operator !== "eq" || call.index === undefined) {
    return undefined;
  }
  if (!isWholeToken(call.index, call.use)) return undefined;
  const bounds = bindValues(run, call.values, kindOf(call.use), "eq", true);
  const [bound] = bounds;
  if (bound === undefined || bounds.length !== 1) return undefined;
  const [token] = equalityTokens(call.index, bound, call.use);
  return token === undefined || isCut(call, token) ? undefined : listOfToken(call.index.id, token);
}

/** The nodes with exactly so many. */
function listOfCount(run: Run, call: Call<"compareCount">): ListRef | undefined {
  if (call.index === undefined || call.operator !== "eq") return undefined;
  const [count] = bindCounts(run, call, true);
  return count === undefined ? undefined : { kind: "count", index: call.index, count };
}

function isCut(call: Call<"compare">, token: Uint8Array): boolean {
  return call.index !== undefined && cutsLong(call.index) && isCutToken(token);
}

/** The list of the nodes that have a predicate; undefined where their values must be looked at. */
export function listOfHas(use: PredicateUse): ListRef | undefined {
  const { predicate } = use;
  if (predicate === undefined || predicate.definition.lang) return undefined;
  if (!use.reverse) return { kind: "presence", predicate: predicate.id };
  return predicate.reverseIndex === undefined
    ? undefined
    : { kind: "objects", index: predicate.reverseIndex.id };
}

/** How many nodes a one-list root has, from the list's head alone. */
export async function countRoot(run: Run, list: ListRef): Promise<number> {
  const counted = run.reader.countLists([list]);
  return (counted instanceof Promise ? await counted : counted)[0] ?? 0;
}

/** A page of a one-list root, sought in the list itself. */
export async function pageRoot(run: Run, list: ListRef, page: BoundPage): Promise<UidSet> {
  const { first, offset, after } = page;
  const isReverse = first < 0;
  const bounds: ListBounds = {
    after: after > 0 ? after : undefined,
    skip: offset > 0 && !isReverse ? offset : undefined,
    limit: first === 0 ? undefined : Math.abs(first),
    reverse: isReverse,
  };
  // Pages of one list come one after another: kept, it is cut instead of sought.
  const kept = run.reader.isCached(list);
  if (kept instanceof Promise) await kept;
  const read = run.reader.readLists([list], bounds);
  return (read instanceof Promise ? await read : read)[0] ?? emptyUidSet;
}

async function findHas(run: Run, call: Call<"has">, after: number): Promise<Candidates> {
  const predicate = call.use.predicate;
  if (predicate === undefined) return noCandidates;
  const list = listOfHas(call.use) ?? { kind: "presence", predicate: predicate.id };
  const read = run.reader.readLists([list], after > 0 ? { after } : {});
  const found = (read instanceof Promise ? await read : read)[0] ?? emptyUidSet;
  return predicate.definition.lang ? needsRecheck(found, call.use, () => true) : exact(found);
}

async function findCompare(run: Run, call: Call<"compare">): Promise<Candidates> {
  const { index } = call;
  const bounds = bindValues(run, call.values, kindOf(call.use), call.operator, true);
  // A root that compares with a variable without values is not asked at all.
  if (bounds.length === 0 && call.values.variable !== undefined) return noCandidates;
  if (call.refusal !== undefined) raiseRefusal(run, call.refusal);
  if (bounds.length === 0 || index === undefined) return noCandidates;
  if (call.operator !== "eq") return findRange(run, call, bounds);
  checkEqualityTokens(run, call, bounds);
  const sets: UidSet[] = [];
  let needsCheck = !isWholeToken(index, call.use);
  const plain: ListRef[] = [];
  for (const bound of bounds) {
    if (tagOf(call.use) === undefined) {
      sets.push(await findAnyLanguage(run, call, bound));
      continue;
    }
    const tokens = equalityTokens(index, bound, call.use);
    if (tokens.length === 0) {
      // Texts too short for the index: look through all nodes that have the predicate.
      sets.push(await findPresent(run, call));
      needsCheck = true;
      continue;
    }
    const lists = tokens.map((token) => listOfToken(index.id, token));
    if (tokens.some((token) => isCut(call, token))) needsCheck = true;
    if (lists.length === 1) plain.push(...lists);
    else sets.push(await intersectLists(run, lists, undefined));
  }
  if (plain.length > 0) {
    const read = readLists(run, plain);
    for (const set of read instanceof Promise ? await read : read) sets.push(set);
  }
  const [only] = sets;
  const found = sets.length === 1 && only !== undefined ? only : unionAll(sets);
  return needsCheck ? needsRecheck(found, call.use, buildCompareTest(call, bounds)) : exact(found);
}

async function findPresent(run: Run, call: Call<"compare">): Promise<UidSet> {
  const predicate = must(call.use.predicate, "a comparison is about a predicate of the schema").id;
  return (await readLists(run, [{ kind: "presence", predicate }]))[0] ?? emptyUidSet;
}

/** `eq(p@., v)`: the value in any language. Candidates only; they are checked. */
async function findAnyLanguage(
  run: Run,
  call: Call<"compare">,
  bound: Parameters<typeof equalityTokens>[1],
): Promise<UidSet> {
  const { index } = call;
  if (index === undefined) return emptyUidSet;
  const [plain] = equalityTokens(index, bound, call.use);
  if (plain === undefined) return findPresent(run, call);
  switch (tokenizerOf(index)?.acrossLanguages) {
    case "ranges":
      return findInLanguages(run, index.id, plain);
    case "prefix": {
      const to = new Uint8Array(plain.length + 1);
      to.set(plain);
      to[plain.length] = 0xff;
      return scanRange(run, index.id, { from: plain, to });
    }
    case undefined:
      // Words depend on the language: the nodes that have the predicate are looked at one by one.
      return findPresent(run, call);
  }
}

/** Seeks from language to language: each is visited once. */
async function findInLanguages(run: Run, index: number, untagged: Uint8Array): Promise<UidSet> {
  const text = untagged.subarray(1);
  const sets: UidSet[] = [await scanRange(run, index, { from: untagged, to: untagged })];
  let from = nextExactLanguage(untagged);
  for (;;) {
    let first: Uint8Array | undefined;
    const scanned = run.reader.scanTokens(index, { from, to: undefined }, (token) => {
      first = token.slice();
      return false;
    });
    if (scanned instanceof Promise) await scanned;
    if (first === undefined) return unionAll(sets);
    const prefix = first.subarray(0, first.indexOf(0, 1) + 1);
    const wanted = new Uint8Array(prefix.length + text.length);
    wanted.set(prefix);
    wanted.set(text, prefix.length);
    sets.push(await scanRange(run, index, { from: wanted, to: wanted }));
    from = nextExactLanguage(first);
  }
}

/** A set of its own, beside its members. */
const runBytes = 160;

/** All members of a range of tokens but `excluded`. */
export async function scanRange(
  run: Run,
  index: number,
  range: TokenRange,
  excluded?: Uint8Array,
): Promise<UidSet> {
  const runs: UidSet[] = [];
  let length = 0;
  await scanYielding(run, index, range, (token, uids) => {
    if (excluded !== undefined && isSameToken(token, excluded)) return true;
    runs.push(uids.slice());
    length += uids.length;
    run.budget.chargeBytes(runBytes + uids.length * 16);
    return true;
  });
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) return only;
  const all = new Float64Array(length);
  let at = 0;
  for (const set of runs) {
    all.set(set, at);
    at += set.length;
  }
  return sortUnique(all);
}

async function findRange(
  run: Run,
  call: Call<"compare">,
  bounds: Parameters<typeof rangeOf>[2],
): Promise<Candidates> {
  const { index } = call;
  if (index === undefined) return noCandidates;
  if (tagOf(call.use) === "") {
    const range = rangeOf(index, call.operator, bounds, call.use);
    const isCutRange = [range.from, range.to].some((end) => end !== undefined && isCut(call, end));
    const excluded = isCutRange ? undefined : excludedToken(call, range);
    const uids = await scanRange(run, index.id, range, excluded);
    return isCutRange ? needsRecheck(uids, call.use, buildCompareTest(call, bounds)) : exact(uids);
  }
  // Tagged texts are in the index by their bytes, and compared by collation: every one of them is looked at.
  const present = await findPresent(run, call);
  return needsRecheck(present, call.use, buildCompareTest(call, bounds));
}

/** Scans include both ends; lt and gt leave the bound's own token out. */
export function excludedToken(call: Call<"compare">, range: TokenRange): Uint8Array | undefined {
  if (call.operator === "gt") return range.from;
  return call.operator === "lt" ? range.to : undefined;
}

async function findCounts(run: Run, call: Call<"compareCount">): Promise<UidSet> {
  if (call.index === undefined) return emptyUidSet;
  const range = countRange(call.operator, bindCounts(run, call, true));
  return (await scanCounts(run, call.index, range, Infinity)) ?? emptyUidSet;
}

/**
 * The nodes of a comparison at a root (reference/dql 4.3.1, 4.3.2). Price: the lists of the values, in one read; an
 * inequality scans the tokens between its bounds.
 */
import { must } from "../../base/assert.ts";
import { andThen, type MaybePromise } from "../../base/maybe.ts";
import { unionAll } from "../../base/sorted.ts";
import type { ListRef } from "../../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { nextExactLanguage } from "../../tokens/text-tokens.ts";
import { tokenizerOf } from "../../tokens/tokenizers.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import type { Value } from "../../model/value.ts";
import {
  bindCall,
  bindValues,
  buildCompareTest,
  checkEqualityTokens,
  kindOf,
  type CompareCall,
} from "../bind-values.ts";
import { exact, needsRecheck, noCandidates, type Candidates } from "../candidates.ts";
import {
  cutsLong,
  equalityTokens,
  isCutToken,
  isWholeToken,
  rangeOf,
  tagOf,
} from "../index-tokens.ts";
import { intersectLists, joinLists, listOfToken, readLists } from "../lookup.ts";
import { equalityLists } from "./compare-lists.ts";
import { raiseRefusal, type Run } from "../run.ts";
import { excludedToken, scanRange } from "../scan-range.ts";

/** The list of the one value of an eq, where it is the answer as it stands. */
export function listOfCompare(run: Run, call: CompareCall): ListRef | undefined {
  if (call.operator !== "eq" || call.index === undefined) return undefined;
  if (call.values.variable === undefined && call.values.slots.length !== 1) return undefined;
  if (!isWholeToken(call.index, call.use)) return undefined;
  const bounds = bindValues(run, call.values, kindOf(call.use), "eq", true);
  const [bound] = bounds;
  if (bound === undefined || bounds.length !== 1) return undefined;
  const [token] = equalityTokens(call.index, bound, call.use);
  return token === undefined || isCut(call, token) ? undefined : listOfToken(call.index.id, token);
}

function isCut(call: CompareCall, token: Uint8Array): boolean {
  return call.index !== undefined && cutsLong(call.index) && isCutToken(token);
}

export async function findCompare(run: Run, call: CompareCall): Promise<Candidates> {
  const { index } = call;
  const binding = bindCall(run, call, true);
  const bounds = binding instanceof Promise ? await binding : binding;
  // A root that compares with a variable without values is not asked at all.
  if (bounds.length === 0 && call.values.variable !== undefined) return noCandidates;
  if (call.refusal !== undefined) raiseRefusal(run, call.refusal);
  if (bounds.length === 0 || index === undefined) return noCandidates;
  if (call.operator !== "eq") return findRange(run, call, bounds);
  checkEqualityTokens(run, call, bounds);
  const finding =
    tagOf(call.use) === undefined
      ? findAnyLanguages(run, call, bounds)
      : findEqualities(run, call, index, bounds);
  const { sets, isOpen } = finding instanceof Promise ? await finding : finding;
  const joining = joinLists(run, sets);
  const found = joining instanceof Promise ? await joining : joining;
  return isOpen || !isWholeToken(index, call.use)
    ? needsRecheck(found, call.use, buildCompareTest(call, bounds))
    : exact(found);
}

/** Candidates value by value. `isOpen`: they are to be looked at again. */
interface FoundSets {
  readonly sets: readonly UidSet[];
  readonly isOpen: boolean;
}

function findEqualities(
  run: Run,
  call: CompareCall,
  index: PredicateIndex,
  bounds: readonly Value[],
): MaybePromise<FoundSets> {
  const [only] = bounds;
  if (only === undefined || bounds.length > 1) return findMany(run, call, index, bounds);
  const [token, ...others] = equalityTokens(index, only, call.use);
  if (token === undefined || others.length > 0) return findMany(run, call, index, bounds);
  return andThen(readLists(run, [listOfToken(index.id, token)]), (sets) => ({
    sets,
    isOpen: isCut(call, token),
  }));
}

async function findMany(
  run: Run,
  call: CompareCall,
  index: PredicateIndex,
  bounds: readonly Value[],
): Promise<FoundSets> {
  const making = equalityLists(run, call, index, bounds);
  const { values, hasCut, hasTokenless } = making instanceof Promise ? await making : making;
  const sets: UidSet[] = [];
  const plain: ListRef[] = [];
  for (const { lists } of values) {
    const [first] = lists;
    if (first !== undefined && lists.length === 1) plain.push(first);
    else if (lists.length > 1) sets.push(await intersectLists(run, lists, undefined));
  }
  // Texts too short for the index: look through all nodes that have the predicate.
  if (hasTokenless) sets.push(await findPresent(run, call));
  if (plain.length > 0) {
    const read = readLists(run, plain);
    for (const set of read instanceof Promise ? await read : read) sets.push(set);
  }
  return { sets, isOpen: hasCut || hasTokenless };
}

async function findAnyLanguages(
  run: Run,
  call: CompareCall,
  bounds: readonly Value[],
): Promise<FoundSets> {
  const sets: UidSet[] = [];
  for (const bound of bounds) {
    sets.push(await findAnyLanguage(run, call, bound));
    const pause = run.yielder.check(1);
    if (pause !== undefined) await pause;
  }
  return { sets, isOpen: false };
}

async function findPresent(run: Run, call: CompareCall): Promise<UidSet> {
  const predicate = must(call.use.predicate, "a comparison is about a predicate of the schema").id;
  return (await readLists(run, [{ kind: "presence", predicate }]))[0] ?? emptyUidSet;
}

/** `eq(p@., v)`: the value in any language. Candidates only; they are checked. */
async function findAnyLanguage(
  run: Run,
  call: CompareCall,
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

async function findRange(
  run: Run,
  call: CompareCall,
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

/**
 * The lists of an index that an eq looks into, value by value. Many values are made tokens once a run, in steps: a hash
 * takes some 4 µs.
 */
import { must } from "../../base/assert.ts";
import { andThen, type MaybePromise } from "../../base/maybe.ts";
import type { ListRef } from "../../graph/reader.ts";
import type { PredicateIndex } from "../../graph/schema.ts";
import type { Value } from "../../model/value.ts";
import { manyValues, type CompareCall } from "../bind-values.ts";
import { cutsLong, equalityTokens, isCutToken } from "../index-tokens.ts";
import { countLists, listOfToken } from "../lookup.ts";
import type { Run } from "../run.ts";

type TokenList = Extract<ListRef, { kind: "token" }>;

/** A value's own lists; a node with the value is in all of them. */
interface ValueLists {
  readonly value: Value;
  readonly lists: readonly TokenList[];
}

interface EqualityLists {
  readonly values: readonly ValueLists[];
  /** Some value has no token: the index cannot find it. */
  readonly hasTokenless: boolean;
  /** Some token is of the beginning of a long value. */
  readonly hasCut: boolean;
}

const known = new WeakMap<readonly Value[], EqualityLists>();

/** What a token with its list takes. */
const listBytes = 200;

export function equalityLists(
  run: Run,
  call: CompareCall,
  index: PredicateIndex,
  bounds: readonly Value[],
): MaybePromise<EqualityLists> {
  if (bounds.length >= manyValues) return known.get(bounds) ?? makeMany(run, call, index, bounds);
  return summarize(
    index,
    bounds.map((value) => listsOf(call, index, value)),
  );
}

async function makeMany(
  run: Run,
  call: CompareCall,
  index: PredicateIndex,
  bounds: readonly Value[],
): Promise<EqualityLists> {
  const values: ValueLists[] = [];
  for (const value of bounds) {
    values.push(listsOf(call, index, value));
    if (values.length % manyValues !== 0) continue;
    run.budget.chargeBytes(manyValues * listBytes);
    const pause = run.yielder.check(manyValues);
    if (pause !== undefined) await pause;
  }
  const made = summarize(index, values);
  // Many are bound once a run: who asks again has the same array.
  known.set(bounds, made);
  return made;
}

function listsOf(call: CompareCall, index: PredicateIndex, value: Value): ValueLists {
  const tokens = equalityTokens(index, value, call.use);
  return { value, lists: tokens.map((token) => listOfToken(index.id, token)) };
}

function summarize(index: PredicateIndex, values: readonly ValueLists[]): EqualityLists {
  const hasTokenless = values.some(({ lists }) => lists.length === 0);
  const hasCut =
    cutsLong(index) && values.some(({ lists }) => lists.some(({ token }) => isCutToken(token)));
  return { values, hasTokenless, hasCut };
}

const counted = new WeakMap<EqualityLists, Float64Array>();

/** How many members each list has, one value's lists after the other's. Many are counted once a run. */
export function countEquality(run: Run, equality: EqualityLists): MaybePromise<Float64Array> {
  if (equality.values.length < manyValues) return countLists(run, flatLists(equality));
  const before = counted.get(equality);
  if (before !== undefined) return before;
  return andThen(countLists(run, flatLists(equality)), (counts) => {
    counted.set(equality, counts);
    return counts;
  });
}

/** For each value at most so many nodes: what its shortest list has. */
export function sumFewest({ values }: EqualityLists, counts: Float64Array): number {
  let at = 0;
  let sum = 0;
  for (const { lists } of values) {
    let fewest = Infinity;
    for (let i = 0; i < lists.length; i++) {
      fewest = Math.min(fewest, must(counts[at++], "each list was counted"));
    }
    sum += fewest;
  }
  return sum;
}

export function flatLists({ values }: EqualityLists): TokenList[] {
  const flat: TokenList[] = [];
  for (const { lists } of values) for (const list of lists) flat.push(list);
  return flat;
}

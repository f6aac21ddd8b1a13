/**
 * Order by an indexed predicate: its index is walked in order, only as far as the page needs, and the conditions are
 * applied to each batch on the way. Top ten of 8,000 nodes: some dozen records instead of all.
 */
import { must } from "../base/assert.ts";
import { isHeld, isSorted, isWalkLong, stepsOfWalk } from "../optimizer/walk-choice.ts";
import { hasMember, intersect, sortUnique } from "../base/sorted.ts";
import type { ListRef, TokenRange } from "../graph/reader.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan, FilterPlan, OrderPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import type { BoundPage } from "./bind.ts";
import { bindValues } from "./bind-values.ts";
import { checkCandidates, type Candidates } from "./candidates.ts";
import type { ChosenRoot } from "../optimizer/root-choice.ts";
import { applyFilter } from "./filter.ts";
import { cutsLong, isCutToken, isSameToken, languageRange, rangeOf } from "./index-tokens.ts";
import { orderMembers } from "./order.ts";
import { functionOf } from "./functions.ts";
import { findCandidates } from "./root.ts";
import { excludedToken } from "./scan-range.ts";
import { countUids, type Run } from "./run.ts";

interface WalkParts {
  readonly root: RootPlan;
  readonly order: Extract<OrderPlan, { kind: "values" }>;
  readonly page: BoundPage;
  readonly chosen: ChosenRoot;
}

/** undefined where walking is not the way for these literals. */
export async function walkOrder(run: Run, parts: WalkParts): Promise<Float64Array | undefined> {
  const { root, order, page, chosen } = parts;
  const index = order.walk;
  if (index === undefined || page.first <= 0) return undefined;
  const wanted = page.offset + page.first;
  if (isSorted(chosen.count, wanted)) return undefined;
  const range = root.choices.find(({ call }) => isRangeOf(call, index));
  const walk = range === undefined ? wholeWalk(index, parts) : rangeWalk(run, range.call, parts);
  if (walk === undefined) return undefined;
  const steps = await expectSteps(run, parts, wanted);
  if (range === undefined && isWalkLong(steps, chosen.count)) return undefined;
  const rest = await restBeside(run, parts, range);
  if (rest === undefined) return undefined;
  const batch = range === undefined || rest.held !== undefined ? steps : wanted;
  const span = run.profiler?.begin(order);
  const found = await gather(run, walk, rest, { wanted, batch });
  span?.end(found.uids.length);
  // Nodes without a value come last and are in no index: only a range leaves none of them out.
  if (range === undefined && found.uids.length < wanted) {
    run.profiler?.note(order, "walked its index in vain: some nodes have no value");
    return undefined;
  }
  run.profiler?.note(order, "walked its index as far as the page");
  countUids(run, order.keys[0]?.use, found.uids.length);
  return finish(run, { order, page, index }, found);
}

/** What passed, in the order of its tokens; `starts[t]` is the place of the first one of the t-th token. */
interface Found {
  readonly uids: number[];
  readonly starts: number[];
}

/** What is asked of the nodes of the index. */
interface Rest {
  readonly filter: FilterPlan | undefined;
  /** The root's own list, where it is one. */
  readonly list: ListRef | undefined;
  /** The nodes of another choice. */
  readonly held: Candidates | undefined;
}

async function restBeside(
  run: Run,
  parts: WalkParts,
  range: RootChoice | undefined,
): Promise<Rest | undefined> {
  const { root, chosen, page } = parts;
  const [written] = root.choices;
  const isOther = chosen.choice !== range && chosen.choice !== written;
  if (isOther && isHeld(chosen.count)) {
    const span = run.profiler?.begin(chosen.choice);
    const held = await findCandidates(run, chosen.choice.call, page.after);
    span?.end(held.uids.length);
    run.profiler?.note(chosen.choice, "taken: held beside the walk");
    return { filter: chosen.choice.rest, list: undefined, held };
  }
  if (range !== undefined) return { filter: range.rest, list: undefined, held: undefined };
  if (written === undefined) return undefined;
  const list = functionOf(written.call).list(run, written.call);
  return list === undefined ? undefined : { filter: written.rest, list, held: undefined };
}

/** The rarer the candidates are among the index's nodes, the longer the walk. */
async function expectSteps(run: Run, parts: WalkParts, wanted: number): Promise<number> {
  const { count } = parts.chosen;
  if (count === Infinity) return stepsOfWalk(wanted, 0, count);
  const predicate = must(parts.order.keys[0], "an order has a key").predicate.id;
  const [counted] = await run.reader.countLists([{ kind: "presence", predicate }]);
  const present = must(counted, "one list was counted");
  return stepsOfWalk(wanted, present, count);
}

function isRangeOf(call: CallPlan, index: PredicateIndex): boolean {
  return (
    call.kind === "compare" &&
    call.operator !== "eq" &&
    call.index?.id === index.id &&
    call.use.languages.length === 0
  );
}

interface Walk {
  readonly index: number;
  readonly range: TokenRange;
  readonly excluded: Uint8Array | undefined;
  readonly descending: boolean;
  readonly after: number;
}

function wholeWalk(index: PredicateIndex, { order, page }: WalkParts): Walk {
  return {
    index: index.id,
    range: languageRange(index, ""),
    excluded: undefined,
    descending: order.keys[0]?.descending === true,
    after: page.after,
  };
}

function rangeWalk(run: Run, call: CallPlan, { order, page }: WalkParts): Walk | undefined {
  if (call.kind !== "compare" || call.index === undefined) return undefined;
  const kind = call.use.predicate?.definition.kind;
  if (kind === undefined || kind === "uid") return undefined;
  const bounds = bindValues(run, call.values, kind, call.operator, true);
  if (bounds.length === 0) return undefined;
  const range = rangeOf(call.index, call.operator, bounds, call.use);
  if (cutsLong(call.index) && [range.from, range.to].some(isCut)) return undefined;
  return {
    index: call.index.id,
    range,
    excluded: excludedToken(call, range),
    descending: order.keys[0]?.descending === true,
    after: page.after,
  };
}

function isCut(token: Uint8Array | undefined): boolean {
  return token !== undefined && isCutToken(token);
}

const batchMin = 32;
const batchMax = 8192;

/** At least `wanted` nodes that pass, in order of their tokens; whole tokens, so that ties are complete. */
async function gather(
  run: Run,
  walk: Walk,
  rest: Rest,
  { wanted, batch: expected }: { readonly wanted: number; readonly batch: number },
): Promise<Found> {
  const found: Found = { uids: [], starts: [] };
  const { range: whole, descending: reverse } = walk;
  let range: TokenRange = { from: whole.from, to: whole.to, reverse };
  const isPlain = isUnconditional(rest);
  let size = isPlain ? wanted : Math.min(batchMax, Math.max(batchMin, Math.ceil(expected * 1.5)));
  let last: Uint8Array | undefined;
  for (;;) {
    const batch = await readBatch(run, walk, range, last, size);
    collectPassing(found, batch, await filterBatch(run, rest, batch.uids));
    if (found.uids.length >= wanted || batch.last === undefined) return found;
    last = batch.last;
    range = reverse
      ? { from: range.from, to: last, reverse }
      : { from: last, to: range.to, reverse };
    size = Math.min(size * 2, batchMax);
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
}

function collectPassing(found: Found, { uids, starts }: Batch, passing: UidSet | undefined): void {
  for (let t = 0; t < starts.length; t++) {
    const end = starts[t + 1] ?? uids.length;
    found.starts.push(found.uids.length);
    for (let i = must(starts[t], "each token has its beginning"); i < end; i++) {
      const uid = must(uids[i], "each row has its node");
      if (passing === undefined || hasMember(passing, uid)) found.uids.push(uid);
    }
  }
}

interface Batch extends Found {
  readonly last: Uint8Array | undefined;
}

/** Members of whole tokens from the range on, at least `size`; `last` is undefined at the end of the range. */
async function readBatch(
  run: Run,
  walk: Walk,
  range: TokenRange,
  done: Uint8Array | undefined,
  size: number,
): Promise<Batch> {
  const uids: number[] = [];
  const starts: number[] = [];
  let current: Uint8Array | undefined;
  let isStopped = false;
  await run.reader.scanTokens(walk.index, range, (token, members) => {
    if (isSameToken(token, done) || isSameToken(token, walk.excluded)) return true;
    if (current === undefined || !isSameToken(token, current)) {
      if (uids.length >= size) {
        isStopped = true;
        return false;
      }
      current = token.slice();
      starts.push(uids.length);
    }
    for (const uid of members) if (uid > walk.after) uids.push(uid);
    return true;
  });
  return { uids, starts, last: isStopped ? current : undefined };
}

function isUnconditional(rest: Rest): boolean {
  return rest.filter === undefined && rest.list === undefined && rest.held === undefined;
}

/** Those of a batch that pass, ascending; undefined: all. */
async function filterBatch(
  run: Run,
  rest: Rest,
  uids: readonly number[],
): Promise<UidSet | undefined> {
  if (uids.length === 0 || isUnconditional(rest)) return undefined;
  let kept: UidSet = sortUnique(new Float64Array(uids));
  if (rest.held !== undefined) {
    kept = await checkCandidates(run, { ...rest.held, uids: intersect(kept, rest.held.uids) });
  }
  if (rest.list !== undefined) {
    kept = intersect(kept, await run.reader.intersectList(rest.list, kept));
  }
  if (rest.filter !== undefined) kept = await applyFilter(run, rest.filter, kept);
  return kept.length === uids.length ? undefined : kept;
}

interface Finish extends Pick<WalkParts, "order" | "page"> {
  readonly index: PredicateIndex;
}

/** One key: the tokens were the order. More: the ties of the last token are complete, so sorting what was found is right. */
async function finish(run: Run, how: Finish, found: Found): Promise<Float64Array> {
  const { order, page, index } = how;
  const wanted = page.offset + page.first;
  if (order.keys.length === 1) return new Float64Array(found.uids.slice(page.offset, wanted));
  if (found.uids.length === 0) return emptyUidSet;
  // Texts are cut in their index and compare by their language; a list's nodes have several tokens.
  const isExact = index.tokenizer !== "exact" && order.keys[0]?.predicate.definition.list !== true;
  if (isExact) return sortTies(run, how, found);
  return orderMembers(run, order, sortUnique(new Float64Array(found.uids)), page, true);
}

/** The members of a token are tied in the first key: the other keys decide between them, as far as the page reaches. */
async function sortTies(run: Run, { order, page }: Finish, found: Found): Promise<Float64Array> {
  const { starts } = found;
  const uids = new Float64Array(found.uids);
  const wanted = page.offset + page.first;
  const tokenOf = new Map<number, number>();
  for (
    let t = 0;
    t < starts.length && must(starts[t], "each token has its beginning") < wanted;
    t++
  ) {
    const from = must(starts[t], "each token has its beginning");
    const to = starts[t + 1] ?? uids.length;
    if (to - from > 1)
      for (let i = from; i < to; i++) tokenOf.set(must(uids[i], "each row has its node"), t);
  }
  if (tokenOf.size > 0) {
    const tied = sortUnique(new Float64Array(tokenOf.keys()));
    const others = { ...order, keys: order.keys.slice(1) };
    const all = { first: tied.length, offset: 0, after: 0 };
    const next = starts.slice();
    for (const uid of await orderMembers(run, others, tied, all, true)) {
      const t = tokenOf.get(uid) ?? 0;
      const place = must(next[t], "each token has its place");
      uids[place] = uid;
      next[t] = place + 1;
    }
  }
  return uids.slice(page.offset, wanted);
}

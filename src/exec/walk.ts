/**
 * Order by an indexed predicate: its index is walked in order, only as far as the page needs, and the conditions are
 * applied to each batch on the way. Top ten of 8,000 nodes: some dozen records instead of all.
 */
import { intersect, sortUnique } from "../base/sorted.ts";
import type { ListRef, TokenRange } from "../graph/reader.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { CallPlan, FilterPlan, OrderPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import type { BoundPage } from "./bind.ts";
import { bindValues } from "./bind-values.ts";
import { checkCandidates, type Candidates } from "./candidates.ts";
import type { ChosenRoot } from "./choose.ts";
import { applyFilter } from "./filter.ts";
import { isCutToken, isSameToken, languageRange, rangeOf } from "./index-tokens.ts";
import { orderMembers } from "./order.ts";
import { excludedToken, findCandidates, listOfRoot } from "./root.ts";
import { countUids, type Run } from "./run.ts";

export interface WalkParts {
  readonly root: RootPlan;
  readonly order: Extract<OrderPlan, { kind: "values" }>;
  readonly page: BoundPage;
  readonly chosen: ChosenRoot;
}

/** So few candidates are sorted rather than looked for along an index. */
const sortedBelow = 256;

/** Reading and sorting a node costs as much as stepping over so many in an index: 2 µs, where most tokens have one. */
const stepsPerRecord = 2;

/** A choice of at most so many nodes is read once and held beside the walk, instead of being asked about each batch. */
const heldMax = 50_000;

/** undefined where walking is not the way for these literals. */
export async function walkOrder(run: Run, parts: WalkParts): Promise<Float64Array | undefined> {
  const { root, order, page, chosen } = parts;
  const index = order.walk;
  if (index === undefined || page.first <= 0) return undefined;
  const wanted = page.offset + page.first;
  if (chosen.count <= Math.max(sortedBelow, wanted * 8)) return undefined;
  const range = root.choices.find(({ call }) => isRangeOf(call, index));
  const walk = range === undefined ? wholeWalk(index, parts) : rangeWalk(run, range.call, parts);
  if (walk === undefined) return undefined;
  const steps = await expectSteps(run, parts, wanted);
  if (range === undefined && steps >= chosen.count * stepsPerRecord) return undefined;
  const rest = await restBeside(run, parts, range);
  if (rest === undefined) return undefined;
  const batch = range === undefined || rest.held !== undefined ? steps : wanted;
  const span = run.profiler?.begin(order);
  const found = await gather(run, walk, rest, { wanted, batch });
  span?.end(found.length);
  // Nodes without a value come last and are in no index: only a range leaves none of them out.
  if (range === undefined && found.length < wanted) {
    run.profiler?.note(order, "walked its index in vain: some nodes have no value");
    return undefined;
  }
  run.profiler?.note(order, "walked its index as far as the page");
  countUids(run, order.keys[0]?.use, found.length);
  return finish(run, order, found, page);
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
  if (isOther && chosen.count <= heldMax) {
    const span = run.profiler?.begin(chosen.choice);
    const held = await findCandidates(run, chosen.choice.call, page.after);
    span?.end(held.uids.length);
    run.profiler?.note(chosen.choice, "taken: held beside the walk");
    return { filter: chosen.choice.rest, list: undefined, held };
  }
  if (range !== undefined) return { filter: range.rest, list: undefined, held: undefined };
  if (written === undefined) return undefined;
  const list = listOfRoot(run, written.call);
  return list === undefined ? undefined : { filter: written.rest, list, held: undefined };
}

/** The rarer the candidates are among the index's nodes, the longer the walk. */
async function expectSteps(run: Run, parts: WalkParts, wanted: number): Promise<number> {
  const { count } = parts.chosen;
  if (count === Infinity) return wanted;
  const predicate = parts.order.keys[0]?.predicate.id ?? -1;
  const counted = run.reader.countLists([{ kind: "presence", predicate }]);
  const present = (counted instanceof Promise ? await counted : counted)[0] ?? 0;
  return (wanted * present) / Math.max(1, Math.min(count, present));
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
  const range = rangeOf(call.index, call.operator, bounds, call.use);
  if (call.index.tokenizer === "exact" && [range.from, range.to].some(isCut)) return undefined;
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
): Promise<Float64Array> {
  const found: number[] = [];
  let range: TokenRange = { ...walk.range, reverse: walk.descending };
  const isPlain = isUnconditional(rest);
  let size = isPlain ? wanted : Math.min(batchMax, Math.max(batchMin, Math.ceil(expected * 1.5)));
  let last: Uint8Array | undefined;
  for (;;) {
    const batch = await readBatch(run, walk, range, last, size);
    for (const uid of await filterBatch(run, rest, batch.uids)) found.push(uid);
    if (found.length >= wanted || batch.last === undefined) return Float64Array.from(found);
    last = batch.last;
    range = walk.descending ? { ...range, to: last } : { ...range, from: last };
    size = Math.min(size * 2, batchMax);
    const pause = run.pace.check();
    if (pause !== undefined) await pause;
  }
}

/** Members of whole tokens from the range on, at least `size`; `last` is undefined at the end of the range. */
async function readBatch(
  run: Run,
  walk: Walk,
  range: TokenRange,
  done: Uint8Array | undefined,
  size: number,
): Promise<{ readonly uids: number[]; readonly last: Uint8Array | undefined }> {
  const uids: number[] = [];
  let current: Uint8Array | undefined;
  let isStopped = false;
  const scanned = run.reader.scanTokens(walk.index, range, (token, members) => {
    if (isSameToken(token, done) || isSameToken(token, walk.excluded)) return true;
    if (current === undefined || !isSameToken(token, current)) {
      if (uids.length >= size) {
        isStopped = true;
        return false;
      }
      current = token.slice();
    }
    for (const uid of members) if (uid > walk.after) uids.push(uid);
    return true;
  });
  if (scanned instanceof Promise) await scanned;
  return { uids, last: isStopped ? current : undefined };
}

function isUnconditional(rest: Rest): boolean {
  return rest.filter === undefined && rest.list === undefined && rest.held === undefined;
}

async function filterBatch(
  run: Run,
  rest: Rest,
  uids: readonly number[],
): Promise<readonly number[]> {
  if (uids.length === 0 || isUnconditional(rest)) return uids;
  let kept: UidSet = sortUnique(Float64Array.from(uids));
  if (rest.held !== undefined) {
    kept = await checkCandidates(run, { ...rest.held, uids: intersect(kept, rest.held.uids) });
  }
  if (rest.list !== undefined) {
    const cut = run.reader.intersectList(rest.list, kept);
    kept = intersect(kept, cut instanceof Promise ? await cut : cut);
  }
  if (rest.filter !== undefined) kept = await applyFilter(run, rest.filter, kept);
  if (kept.length === uids.length) return uids;
  const passing = new Set(kept);
  return uids.filter((uid) => passing.has(uid));
}

/** One key: the tokens were the order. More: the ties of the last token are complete, so sorting what was found is right. */
async function finish(
  run: Run,
  order: WalkParts["order"],
  found: Float64Array,
  page: BoundPage,
): Promise<Float64Array> {
  if (order.keys.length === 1) return found.slice(page.offset, page.offset + page.first);
  if (found.length === 0) return emptyUidSet;
  return orderMembers(run, order, sortUnique(found), page, true);
}

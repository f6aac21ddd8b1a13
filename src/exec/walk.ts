/**
 * A range root ordered by its own predicate: the index is walked in order, only as far as the page needs, and the
 * filter is applied to each batch on the way. Top ten of 8,000 nodes: some dozen records instead of all.
 */
import { sortUnique } from "../base/sorted.ts";
import type { TokenRange } from "../graph/reader.ts";
import { emptyUidSet } from "../model/uid.ts";
import type { ValueKind } from "../model/value.ts";
import type { BlockPlan, CallPlan, OrderPlan } from "../plan/plan.ts";
import type { BoundPage } from "./bind.ts";
import { bindValues } from "./call.ts";
import { applyFilter } from "./filter.ts";
import { isCutToken, isSameToken, rangeOf } from "./index-tokens.ts";
import { orderMembers } from "./order.ts";
import { excludedToken } from "./root.ts";
import { countUids, type Run } from "./run.ts";

/** undefined where walking is not the way for these literals. */
export async function walkRoot(
  run: Run,
  plan: BlockPlan,
  page: BoundPage,
): Promise<Float64Array | undefined> {
  const call = plan.root?.call;
  const { order } = plan;
  if (call?.kind !== "compare" || order?.kind !== "values" || page.first <= 0) return undefined;
  const { index } = call;
  if (index === undefined) return undefined;
  const bounds = bindValues(run, call.values, kindOf(call), call.operator, true);
  const range = rangeOf(index, call.operator, bounds, call.use);
  const hasCut = index.tokenizer === "exact" && [range.from, range.to].some(isCut);
  if (hasCut) return undefined;
  const walk: Walk = {
    index: index.id,
    range,
    excluded: excludedToken(call, range),
    descending: order.keys[0]?.descending === true,
    after: page.after,
  };
  const wanted = page.offset + page.first;
  const found = await gather(run, plan, walk, wanted);
  countUids(run, order.keys[0]?.use, found.length);
  return finish(run, order, found, page);
}

function kindOf(call: Extract<CallPlan, { kind: "compare" }>): ValueKind {
  const kind = call.use.predicate?.definition.kind ?? "default";
  return kind === "uid" ? "default" : kind;
}

function isCut(token: Uint8Array | undefined): boolean {
  return token !== undefined && isCutToken(token);
}

interface Walk {
  readonly index: number;
  readonly range: TokenRange;
  readonly excluded: Uint8Array | undefined;
  readonly descending: boolean;
  readonly after: number;
}

const batchMax = 8192;

/** At least `wanted` nodes that pass the filter, in order of their tokens; whole tokens, so that ties are complete. */
async function gather(
  run: Run,
  plan: BlockPlan,
  walk: Walk,
  wanted: number,
): Promise<Float64Array> {
  const found: number[] = [];
  let range: TokenRange = { ...walk.range, reverse: walk.descending };
  let size = plan.filter === undefined ? wanted : Math.max(32, wanted * 2);
  let last: Uint8Array | undefined;
  for (;;) {
    const batch = await readBatch(run, walk, range, last, size);
    for (const uid of await filterBatch(run, plan, batch.uids)) found.push(uid);
    if (found.length >= wanted || batch.last === undefined) return Float64Array.from(found);
    last = batch.last;
    range = walk.descending ? { ...range, to: last } : { ...range, from: last };
    size = Math.min(size * 4, batchMax);
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
    if (current !== undefined && uids.length >= size && !isSameToken(token, current)) {
      isStopped = true;
      return false;
    }
    if (current === undefined || !isSameToken(token, current)) current = token.slice();
    for (const uid of members) if (uid > walk.after) uids.push(uid);
    return true;
  });
  if (scanned instanceof Promise) await scanned;
  return { uids, last: isStopped ? current : undefined };
}

async function filterBatch(
  run: Run,
  plan: BlockPlan,
  uids: readonly number[],
): Promise<readonly number[]> {
  if (plan.filter === undefined || uids.length === 0) return uids;
  const passing = new Set(await applyFilter(run, plan.filter, sortUnique(Float64Array.from(uids))));
  return uids.filter((uid) => passing.has(uid));
}

/** One key: the tokens were the order. More: the ties of the last token are complete, so sorting what was found is right. */
async function finish(
  run: Run,
  order: Extract<OrderPlan, { kind: "values" }>,
  found: Float64Array,
  page: BoundPage,
): Promise<Float64Array> {
  if (order.keys.length === 1) return found.slice(page.offset, page.offset + page.first);
  if (found.length === 0) return emptyUidSet;
  return orderMembers(run, order, sortUnique(found), page, true);
}

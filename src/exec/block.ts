/**
 * One block from its root to its finished frames. Price: the root's lists, then one read for each level; the page of a
 * root without filter or order is cut from its list by seeking.
 */
import { must } from "../base/assert.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { sortUnique } from "../base/sorted.ts";
import type { ListRef } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { BlockPlan, CallPlan, FilterPlan, RootChoice } from "../plan/plan.ts";
import { bindPage, cutPage, isWholePage, type BoundPage } from "./bind.ts";
import { exact, checkCandidates, type Candidates } from "./candidates.ts";
import { chooseRoot, pickChoice } from "../optimizer/root-choice.ts";
import { computeFields } from "./computed.ts";
import { applyFilter } from "./filter.ts";
import type { BlockResult, Frame } from "./frame.ts";
import { groupMembers } from "./groups.ts";
import { runLevel } from "./level.ts";
import type { BlockRun, LevelFrame } from "./level-frame.ts";
import { checkOrder, orderMembers } from "./order.ts";
import type { Profiler } from "./profile.ts";
import { runRecurse } from "./recurse.ts";
import { countMembers } from "./lookup.ts";
import { findCandidates, pageRoot } from "./root.ts";
import { placesIn } from "./rows.ts";
import { emptyVariable, slotNumber, variableOf, type Run } from "./run.ts";
import { runShortest } from "./shortest.ts";
import { findSimilar } from "./functions/similar.ts";
import { functionOf } from "./functions.ts";
import { gatherVariables } from "./variables.ts";
import { walkOrder } from "./walk.ts";

/** Runs a block; its variables are set in the run when it is done. */
export function runBlock(run: Run, plan: BlockPlan): Promise<BlockResult> {
  return run.profiler === undefined ? runKind(run, plan) : runProfiled(run, plan, run.profiler);
}

async function runProfiled(run: Run, plan: BlockPlan, profiler: Profiler): Promise<BlockResult> {
  const span = profiler.begin(plan);
  const result = await runKind(run, plan);
  span.end(result.count ?? result.groups?.length ?? result.paths?.length ?? result.rows.length);
  return result;
}

function runKind(run: Run, plan: BlockPlan): Promise<BlockResult> {
  switch (plan.kind) {
    case "empty":
      return runEmpty(run, plan);
    case "shortest":
      return runPaths(run, plan);
    case "query":
    case "var":
      return runNodes(run, plan);
  }
}

function emptyFrame(plan: BlockPlan): Frame {
  return {
    level: plan.level,
    uids: emptyUidSet,
    fields: plan.level.fields.map(() => ({ kind: "nothing" })),
  };
}

/** A block of aggregates and math over variables: one row that is no node. */
async function runEmpty(run: Run, plan: BlockPlan): Promise<BlockResult> {
  const frame = {
    level: plan.level,
    uids: emptyUidSet,
    fields: plan.level.fields.map((): Frame["fields"][number] => ({ kind: "nothing" })),
  };
  const here: LevelFrame = {
    level: plan.level,
    frame,
    alive: undefined,
    parent: undefined,
    edges: undefined,
  };
  const computing = computeFields({ run, frames: [here] });
  if (computing instanceof Promise) await computing;
  return { frame, rows: Uint32Array.of(0), count: undefined, groups: undefined, paths: undefined };
}

async function runPaths(run: Run, plan: BlockPlan): Promise<BlockResult> {
  const span = run.profiler?.begin(plan.shortest ?? plan);
  const paths = await runShortest(run, plan);
  span?.end(paths.length);
  if (plan.variable !== undefined) {
    const path = paths[0]?.uids ?? emptyUidSet;
    const uids = new Float64Array(new Set(path)).sort();
    run.variables[plan.variable] = { ...emptyVariable, uids, path };
  }
  return {
    frame: emptyFrame(plan),
    rows: new Uint32Array(0),
    count: undefined,
    groups: undefined,
    paths,
  };
}

async function runNodes(run: Run, plan: BlockPlan): Promise<BlockResult> {
  if (isOnlyCount(plan)) {
    const count = await countNodes(run, plan);
    if (count !== undefined) return count;
  }
  const ordered = await findNodes(run, plan);
  if (plan.groupBy !== undefined) {
    const groups = await groupMembers(run, plan.groupBy, sortedUids(ordered), plan.root);
    setRootVariable(run, plan, sortedUids(ordered));
    return {
      frame: emptyFrame(plan),
      rows: new Uint32Array(0),
      count: undefined,
      groups,
      paths: undefined,
    };
  }
  const uids = sortedUids(ordered);
  // Filters further down may already use it; after @cascade it is set again.
  setRootVariable(run, plan, uids);
  const from = plan.recurse === undefined ? plan.root : undefined;
  const block: BlockRun = { run, frames: [], root: from };
  const root =
    plan.recurse === undefined
      ? await runLevel(block, plan.level, uids, undefined)
      : await runRecurse(block, plan, uids);
  const rows = finishRows(run, plan, root, ordered);
  const shown = plan.level.cascade === undefined ? uids : sortedUids(uidsOfRows(root, rows));
  setRootVariable(run, plan, shown);
  const gathering = gatherVariables(block, rows.length);
  if (gathering instanceof Promise) await gathering;
  const computing = computeFields(block);
  if (computing instanceof Promise) await computing;
  return { frame: root.frame, rows, count: undefined, groups: undefined, paths: undefined };
}

function isOnlyCount({ level }: BlockPlan): boolean {
  return (
    level.fields.length > 0 &&
    level.fields.every((field) => field.kind === "countUid" && field.variable === undefined)
  );
}

/** `{ q(func: has(p)) { count(uid) } }`: the head of the list alone. */
async function countNodes(run: Run, plan: BlockPlan): Promise<BlockResult | undefined> {
  const { root } = plan;
  if (root === undefined || root.accessPath !== "seek") return undefined;
  if (plan.filter !== undefined || plan.variable !== undefined || plan.recurse !== undefined) {
    return undefined;
  }
  const page = bindPage(run, plan.page);
  const list = functionOf(root.call).list(run, root.call);
  if (list === undefined || plan.groupBy !== undefined || page.after > 0) return undefined;
  const [written = root] = root.choices;
  const span = run.profiler?.begin(written);
  const { start, end } = cutPage(page, await countMembers(run, [list]));
  span?.end(end - start);
  run.profiler?.note(written, "taken: counted in the head of its list");
  return {
    frame: emptyFrame(plan),
    rows: new Uint32Array(0),
    count: end - start,
    groups: undefined,
    paths: undefined,
  };
}

function setRootVariable(run: Run, plan: BlockPlan, uids: UidSet): void {
  if (plan.variable !== undefined) run.variables[plan.variable] = { ...emptyVariable, uids };
}

function uidsOfRows(root: LevelFrame, rows: Uint32Array): Float64Array {
  return Float64Array.from(rows, (row) => must(root.frame.uids[row], "each row has its node"));
}

/** Ascending, each once. */
function sortedUids(uids: Float64Array): UidSet {
  for (let i = 1; i < uids.length; i++) {
    if (must(uids[i - 1], "each row has its node") >= must(uids[i], "each row has its node"))
      return sortUnique(uids.slice());
  }
  return uids;
}

/** Rows in the order of the answer, without the dead; with @cascade the page is cut here. */
function finishRows(
  run: Run,
  plan: BlockPlan,
  root: LevelFrame,
  ordered: Float64Array,
): Uint32Array {
  const rows = placesIn(root.frame.uids, ordered);
  if (plan.level.cascade === undefined) return rows;
  const alive = root.alive;
  const living = alive === undefined ? rows : rows.filter((row) => alive[row] === 1);
  const { start, end } = cutPage(bindPage(run, plan.page), living.length);
  return living.slice(start, end);
}

/** The root's nodes after filter, order and page, in order. */
async function findNodes(run: Run, plan: BlockPlan): Promise<Float64Array> {
  const { root, order } = plan;
  if (root === undefined) return emptyUidSet;
  const page = bindPage(run, plan.page);
  if (order !== undefined) checkOrder(run, order, page);
  const literal = bareUids(run, plan, page);
  if (literal !== undefined) return literal;
  const walked = root.accessPath === "walk" && order?.kind === "values" ? order.walk : undefined;
  const choosing = chooseRoot(functionOf, run, root, walked);
  const chosen = choosing instanceof Promise ? await choosing : choosing;
  if (root.accessPath === "walk" && order?.kind === "values") {
    const inOrder = await walkOrder(run, { root, order, page, chosen });
    if (inOrder !== undefined) return inOrder;
  }
  const choice = pickChoice(root, chosen, page);
  const { call, rest } = choice;
  if (root.accessPath === "seek") {
    const sought = await seekRoot(run, choice, page);
    if (sought !== undefined) {
      noteTaken(run, choice, "sought in its list, as far as the page");
      return sought;
    }
  }
  const isPaging = plan.level.cascade === undefined;
  const isCutEarly = isPaging && order === undefined && page.first > 0 && !isPath(run, call);
  const span = run.profiler?.begin(choice);
  const { among } = root;
  const found =
    among !== undefined && call.kind === "similar"
      ? exact(await findSimilar(run, call, (uids) => applyFilter(run, among, uids)))
      : await findCandidates(run, call, page.after);
  span?.end(found.uids.length);
  noteTaken(run, choice, isCutEarly ? "tested as far as the page" : "found all");
  if (isCutEarly) return takeFirst(run, found, rest, page);
  const passing = keepPassing(run, found, rest);
  const kept = passing instanceof Promise ? await passing : passing;
  if (order !== undefined) {
    return orderMembers(run, order, kept, page, isPaging);
  }
  const members = orderedByPath(run, call, kept);
  if (!isPaging || isWholePage(page)) return members;
  const { start, end } = cutPage(page, members.length);
  return members.slice(start, end);
}

function noteTaken(run: Run, choice: RootChoice, how: string): void {
  run.profiler?.note(choice, `taken: ${how}`);
}

/** All that pass: the check that an index leaves open, and the conditions. */
function keepPassing(
  run: Run,
  found: Candidates,
  rest: FilterPlan | undefined,
): MaybePromise<UidSet> {
  const checked = checkCandidates(run, found);
  if (rest === undefined) return checked;
  return andThen(checked, (uids) => applyFilter(run, rest, uids));
}

/** Candidates are checked batch by batch until the page is full. */
async function takeFirst(
  run: Run,
  found: Candidates,
  rest: FilterPlan | undefined,
  page: BoundPage,
): Promise<Float64Array> {
  const wanted = page.offset + page.first;
  if (rest === undefined && found.check === undefined) return found.uids.slice(page.offset, wanted);
  const kept: number[] = [];
  let from = 0;
  for (let size = firstBatch(wanted); from < found.uids.length && kept.length < wanted;) {
    const batch = found.uids.subarray(from, from + size);
    for (const uid of await keepPassing(run, { ...found, uids: batch }, rest)) kept.push(uid);
    from += size;
    size = Math.min(size * 4, batchMax);
  }
  return new Float64Array(kept.slice(page.offset, wanted));
}

function firstBatch(wanted: number): number {
  return Math.max(32, wanted * 2);
}

/** A root of bare literals keeps repeats, in ascending order (reference/dql 4.3.7). */
function bareUids(run: Run, plan: BlockPlan, page: BoundPage): Float64Array | undefined {
  const call = plan.root?.call;
  if (call?.kind !== "uid" || call.variables.length > 0 || plan.filter !== undefined) {
    return undefined;
  }
  if (plan.order !== undefined || !isWholePage(page) || page.after > 0) return undefined;
  return Float64Array.from(call.uids, (slot) => slotNumber(run, slot)).sort();
}

/** `uid(p)` of a path variable keeps the order of the path. */
function orderedByPath(run: Run, call: CallPlan, uids: UidSet): Float64Array {
  const path = pathOf(run, call);
  if (path === undefined) return uids;
  const kept = new Set(uids);
  return path.filter((uid) => kept.has(uid));
}

function isPath(run: Run, call: CallPlan): boolean {
  return pathOf(run, call) !== undefined;
}

function pathOf(run: Run, call: CallPlan): Float64Array | undefined {
  if (call.kind !== "uid") return undefined;
  const [variable, ...more] = call.variables;
  return variable === undefined || more.length > 0 ? undefined : variableOf(run, variable).path;
}

/** Batches of candidates for a filtered seek grow from a few pages to this. */
const batchMax = 8192;

/**
 * A root that is one list in the order of uids. Without a filter the page is cut in the list; with one, batches are
 * filtered until the page is full.
 */
async function seekRoot(
  run: Run,
  choice: RootChoice,
  page: BoundPage,
): Promise<Float64Array | undefined> {
  const list = functionOf(choice.call).list(run, choice.call);
  if (list === undefined) return undefined;
  if (choice.rest === undefined) {
    return isWholePage(page) && page.after === 0 ? undefined : readPage(run, choice, list, page);
  }
  if (page.first <= 0) return undefined;
  const wanted = page.offset + page.first;
  const found: number[] = [];
  let after = page.after;
  for (let size = firstBatch(wanted); found.length < wanted; size = Math.min(size * 4, batchMax)) {
    const batch = await readPage(run, choice, list, { first: size, offset: 0, after });
    for (const uid of await applyFilter(run, choice.rest, batch)) found.push(uid);
    if (batch.length < size) break;
    after = must(batch.at(-1), "a batch that is not empty");
  }
  return new Float64Array(found.slice(page.offset, wanted));
}

async function readPage(
  run: Run,
  choice: RootChoice,
  list: ListRef,
  page: BoundPage,
): Promise<UidSet> {
  const span = run.profiler?.begin(choice);
  const uids = await pageRoot(run, list, page);
  span?.end(uids.length);
  return uids;
}

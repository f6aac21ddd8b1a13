/**
 * Filters of a level: one set of candidates in, flags beside it out. What sets and indexes can answer narrows the
 * candidates first; all that must look into records is then read in one call.
 */
import type { UidSet } from "../model/uid.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import { areMany } from "../optimizer/filter-choice.ts";
import { functionOf } from "./functions.ts";
import type { PreparedCall } from "./functions/function.ts";
import {
  combine,
  finish,
  hasColumn,
  keepPassingAll,
  mergeFlags,
  narrow,
  noResults,
  type PreparedFilter,
} from "./filter-columns.ts";
import { countIn, orderParts } from "../optimizer/filter-order.ts";
import { countFlags } from "./profile.ts";
import { readRows } from "./read-rows.ts";
import {
  distinctTargets,
  flagMembers,
  keepByTarget,
  keepMembers,
  placesIn,
  type Edges,
} from "./rows.ts";
import { countUids, type Run } from "./run.ts";

/** Flags beside `candidates` (ascending, distinct): 1 where the node passes. */
export async function evaluateFilter(
  run: Run,
  filter: FilterPlan,
  candidates: UidSet,
): Promise<Uint8Array> {
  countCalls(run, filter, candidates.length);
  return evaluate(run, filter, candidates);
}

/** The candidates that pass. */
export async function applyFilter(
  run: Run,
  filter: FilterPlan,
  candidates: UidSet,
): Promise<UidSet> {
  if (candidates.length === 0) return candidates;
  if (filter.kind === "call") {
    countCalls(run, filter, candidates.length);
    const prepared = await prepareOne(run, filter.call, candidates);
    if (prepared.kind === "members") return prepared.members;
    return keepPassingAll(run, [withCall(prepared, filter.call)], candidates);
  }
  return keepMembers(candidates, await evaluateFilter(run, filter, candidates));
}

function countCalls(run: Run, filter: FilterPlan, uidCount: number): void {
  switch (filter.kind) {
    case "and":
    case "or":
      for (const part of filter.filters) countCalls(run, part, uidCount);
      return;
    case "not":
      countCalls(run, filter.filter, uidCount);
      return;
    case "call":
      if ("use" in filter.call) countUids(run, filter.call.use, uidCount);
      return;
    case "edge":
    case "constant":
      return;
  }
}

async function evaluate(run: Run, filter: FilterPlan, candidates: UidSet): Promise<Uint8Array> {
  const hasOwn = filter.kind === "call" || filter.kind === "edge";
  const span = hasOwn ? undefined : run.profiler?.begin(filter);
  if (filter.kind === "and") {
    const flags = await evaluateAnd(run, filter, candidates);
    run.profiler?.tell(filter, candidates.length, countFlags(flags));
    span?.end(0);
    return flags;
  }
  const prepared = await prepare(run, filter, candidates);
  const flags = await finish(run, prepared, candidates);
  span?.end(0);
  return flags;
}

type AndFilter = Extract<FilterPlan, { kind: "and" | "or" }>;

/**
 * What needs no record narrows the candidates for what does, and that for what walks edges. Of many candidates the part
 * with the fewest nodes is asked first; where nothing is left, the others only say what is wrong with them.
 */
async function evaluateAnd(run: Run, and: AndFilter, candidates: UidSet): Promise<Uint8Array> {
  const filters = areMany(candidates.length)
    ? await orderParts(and.filters, functionOf, countIn(functionOf, run))
    : and.filters;
  let current = candidates;
  const columns: {
    readonly filter: FilterPlan;
    readonly prepared: PreparedFilter;
    readonly of: UidSet;
  }[] = [];
  const asked: FilterPlan[] = [];
  const edges: FilterPlan[] = [];
  for (const filter of filters) {
    if (walksEdges(filter)) {
      edges.push(filter);
      continue;
    }
    const prepared = await prepare(run, filter, current);
    const pause = run.yielder.check(1);
    if (pause !== undefined) await pause;
    if (hasColumn(prepared)) {
      columns.push({ filter, prepared, of: current });
      continue;
    }
    asked.push(filter);
    current = keepMembers(current, await combine(run, prepared, current.length, noResults));
  }
  run.profiler?.tellOrder(and, [...asked, ...columns.map(({ filter }) => filter), ...edges]);
  if (columns.length > 0 && current.length > 0) {
    const left = current;
    const parts = columns.map(({ prepared, of }) => narrow(prepared, of, left));
    current = await keepPassingAll(run, parts, current);
  }
  for (const filter of edges) {
    current = keepMembers(current, await evaluate(run, filter, current));
  }
  return current === candidates
    ? new Uint8Array(candidates.length).fill(1)
    : flagMembers(candidates, current);
}

/** Such a part reads the edges of each candidate, and tests what they lead to. */
function walksEdges(filter: FilterPlan): boolean {
  switch (filter.kind) {
    case "edge":
      return true;
    case "not":
      return walksEdges(filter.filter);
    case "and":
    case "or":
      return filter.filters.some(walksEdges);
    default:
      return false;
  }
}

async function prepare(run: Run, filter: FilterPlan, candidates: UidSet): Promise<PreparedFilter> {
  switch (filter.kind) {
    case "and":
      if (areMany(candidates.length)) {
        return { kind: "flags", flags: await evaluate(run, filter, candidates) };
      }
      return prepareParts(run, filter, candidates);
    case "or":
      return prepareParts(run, filter, candidates);
    case "not":
      return { kind: "not", part: await prepare(run, filter.filter, candidates), of: filter };
    case "constant":
      return { kind: "flags", flags: new Uint8Array(candidates.length).fill(filter.value ? 1 : 0) };
    case "edge":
      return { kind: "flags", flags: await evaluateEdge(run, filter, candidates) };
    case "call":
      return prepareFlags(run, filter.call, candidates);
  }
}

async function prepareParts(
  run: Run,
  filter: AndFilter,
  candidates: UidSet,
): Promise<PreparedFilter> {
  const parts: PreparedFilter[] = [];
  let merged: Uint8Array | undefined;
  for (const one of filter.filters) {
    const part = await prepare(run, one, candidates);
    // Thousands of parts beside thousands of candidates would hold their product.
    if (part.kind !== "flags") parts.push(part);
    else if (merged === undefined) merged = part.flags;
    else mergeFlags(merged, part.flags, filter.kind === "and");
    const pause = run.yielder.check(part.kind === "flags" ? candidates.length : 1);
    if (pause !== undefined) await pause;
  }
  if (merged !== undefined) parts.unshift({ kind: "flags", flags: merged });
  return { kind: filter.kind, parts, of: filter };
}

async function prepareOne(run: Run, call: CallPlan, candidates: UidSet): Promise<PreparedCall> {
  const { profiler } = run;
  if (profiler === undefined) return functionOf(call).prepare(run, call, candidates);
  const span = profiler.begin(call);
  const prepared = await functionOf(call).prepare(run, call, candidates);
  if (prepared.kind === "members") profiler.tell(call, candidates.length, prepared.members.length);
  else if (candidates.length === 0) profiler.tell(call, 0, 0);
  if (candidates.length === 0) profiler.note(call, "nothing was left to test");
  else if (prepared.kind === "members") profiler.note(call, "tested by sets and indexes");
  else profiler.note(call, "tested by the nodes' own values");
  span.end(0);
  return prepared;
}

async function prepareFlags(run: Run, call: CallPlan, candidates: UidSet): Promise<PreparedFilter> {
  const prepared = await prepareOne(run, call, candidates);
  return prepared.kind === "column"
    ? withCall(prepared, call)
    : { kind: "flags", flags: flagMembers(candidates, prepared.members) };
}

function withCall({ request, test }: Extract<PreparedCall, { kind: "column" }>, call: CallPlan) {
  return { kind: "column", request, test, call } as const;
}

/** Nodes with at least one edge to a node that passes. */
async function evaluateEdge(
  run: Run,
  filter: Extract<FilterPlan, { kind: "edge" }>,
  candidates: UidSet,
): Promise<Uint8Array> {
  const { profiler } = run;
  if (profiler === undefined) return testEdges(run, filter, candidates);
  const span = profiler.begin(filter, candidates.length);
  const flags = await testEdges(run, filter, candidates);
  span.end(countFlags(flags));
  return flags;
}

async function testEdges(
  run: Run,
  filter: Extract<FilterPlan, { kind: "edge" }>,
  candidates: UidSet,
): Promise<Uint8Array> {
  const flags = new Uint8Array(candidates.length);
  const { predicate, reverse } = filter.use;
  if (predicate === undefined || candidates.length === 0) return flags;
  const index = predicate.reverseIndex;
  if (reverse && index === undefined) return flags;
  const [column] = await readRows(run, candidates, [
    reverse && index !== undefined
      ? { kind: "reverse", index: index.id, facets: false }
      : { kind: "edges", predicate: predicate.id, facets: false },
  ]);
  if (column?.kind !== "edges") return flags;
  let edges: Edges = column;
  if (filter.filter !== undefined && edges.targets.length > 0) {
    const targets = distinctTargets(edges);
    const passing = await evaluate(run, filter.filter, targets);
    edges = keepByTarget(edges, placesIn(targets, edges.targets), passing);
  }
  for (let i = 0; i < flags.length; i++) {
    if (edges.offsets[i] !== edges.offsets[i + 1]) flags[i] = 1;
  }
  return flags;
}

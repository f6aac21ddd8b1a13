/**
 * Filters of a level: one set of candidates in, flags beside it out. What sets and indexes can answer narrows the
 * candidates first; all that must look into records is then read in one call.
 */
import type { Column, Want } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import { prepareCall, type ColumnTest, type PreparedCall } from "./call.ts";
import { countFlags } from "./profile.ts";
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
    const flags = await finish(run, { ...prepared, call: filter.call }, candidates);
    return keepMembers(candidates, flags);
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
    const flags = await evaluateAnd(run, filter.filters, candidates);
    run.profiler?.tell(filter, candidates.length, countFlags(flags));
    span?.end(0);
    return flags;
  }
  const prepared = await prepare(run, filter, candidates);
  const flags = await finish(run, prepared, candidates);
  span?.end(0);
  return flags;
}

/** What needs no record narrows the candidates for what does. */
async function evaluateAnd(
  run: Run,
  filters: readonly FilterPlan[],
  candidates: UidSet,
): Promise<Uint8Array> {
  let current = candidates;
  const later: Prepared[] = [];
  for (const filter of filters) {
    const prepared = await prepare(run, filter, current);
    if (hasColumn(prepared)) {
      later.push(prepared);
      continue;
    }
    const narrowed = keepMembers(current, combine(run, prepared, current.length, []));
    if (narrowed !== current) {
      for (let i = 0; i < later.length; i++) {
        const before = later[i];
        if (before !== undefined) later[i] = narrow(before, current, narrowed);
      }
      current = narrowed;
    }
  }
  if (later.length > 0 && current.length > 0) {
    const flags = await finish(run, { kind: "and", parts: later, of: undefined }, current);
    current = keepMembers(current, flags);
  }
  return current === candidates
    ? new Uint8Array(candidates.length).fill(1)
    : flagMembers(candidates, current);
}

/** A filter whose sets are known, and whose columns are still to be read. `of`, `call`: whom its numbers are told of. */
type Prepared =
  | {
      readonly kind: "and" | "or";
      readonly parts: readonly Prepared[];
      readonly of: FilterPlan | undefined;
    }
  | { readonly kind: "not"; readonly part: Prepared; readonly of: FilterPlan }
  | { readonly kind: "flags"; readonly flags: Uint8Array }
  | {
      readonly kind: "column";
      readonly want: Want;
      readonly test: ColumnTest;
      readonly call: CallPlan;
    };

type PreparedColumn = Extract<Prepared, { kind: "column" }>;

async function prepare(run: Run, filter: FilterPlan, candidates: UidSet): Promise<Prepared> {
  switch (filter.kind) {
    case "and":
    case "or": {
      const parts: Prepared[] = [];
      for (const part of filter.filters) parts.push(await prepare(run, part, candidates));
      return { kind: filter.kind, parts, of: filter };
    }
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

async function prepareOne(run: Run, call: CallPlan, candidates: UidSet): Promise<PreparedCall> {
  const { profiler } = run;
  if (profiler === undefined) return prepareCall(run, call, candidates);
  const span = profiler.begin(call);
  const prepared = await prepareCall(run, call, candidates);
  if (prepared.kind === "members") {
    profiler.tell(call, candidates.length, prepared.members.length);
    profiler.note(call, "tested by sets and indexes");
  } else profiler.note(call, "tested by the nodes' own values");
  span.end(0);
  return prepared;
}

async function prepareFlags(run: Run, call: CallPlan, candidates: UidSet): Promise<Prepared> {
  const prepared = await prepareOne(run, call, candidates);
  return prepared.kind === "column"
    ? { ...prepared, call }
    : { kind: "flags", flags: flagMembers(candidates, prepared.members) };
}

function hasColumn(prepared: Prepared): boolean {
  switch (prepared.kind) {
    case "and":
    case "or":
      return prepared.parts.some(hasColumn);
    case "not":
      return hasColumn(prepared.part);
    case "flags":
      return false;
    case "column":
      return true;
  }
}

/** The same filter over a part of its candidates. */
function narrow(prepared: Prepared, from: UidSet, to: UidSet): Prepared {
  switch (prepared.kind) {
    case "and":
    case "or":
      return { ...prepared, parts: prepared.parts.map((part) => narrow(part, from, to)) };
    case "not":
      return { ...prepared, part: narrow(prepared.part, from, to) };
    case "flags":
      return { kind: "flags", flags: flagMembers(to, keepMembers(from, prepared.flags)) };
    case "column":
      return prepared;
  }
}

/** Reads all columns at once and combines the tests. */
async function finish(run: Run, prepared: Prepared, candidates: UidSet): Promise<Uint8Array> {
  const wants: Want[] = [];
  const tests: { readonly column: number; readonly of: PreparedColumn }[] = [];
  collect(prepared, wants, tests);
  const [only] = tests;
  const span =
    only === undefined || tests.length > 1 ? undefined : run.profiler?.begin(only.of.call);
  const read = wants.length === 0 ? [] : run.reader.readLevel(candidates, wants);
  const columns: readonly Column[] = read instanceof Promise ? await read : read;
  const results: [Prepared, Uint8Array][] = [];
  for (const { column, of } of tests) {
    const { test } = of;
    const values = columns[column];
    if (values === undefined) continue;
    const flags = new Uint8Array(candidates.length);
    for (let i = 0; i < flags.length; i++) {
      if ((i & 255) === 255) {
        const pause = run.pace.check();
        if (pause !== undefined) await pause;
      }
      if (test(values, i)) flags[i] = 1;
    }
    results.push([of, flags]);
    run.profiler?.tell(of.call, candidates.length, countFlags(flags));
  }
  span?.pause();
  return combine(run, prepared, candidates.length, results);
}

function collect(
  prepared: Prepared,
  wants: Want[],
  tests: { readonly column: number; readonly of: PreparedColumn }[],
): void {
  switch (prepared.kind) {
    case "and":
    case "or":
      for (const part of prepared.parts) collect(part, wants, tests);
      return;
    case "not":
      collect(prepared.part, wants, tests);
      return;
    case "flags":
      return;
    case "column": {
      const { want } = prepared;
      const same = wants.findIndex(
        (other) =>
          other.kind === "cells" && want.kind === "cells" && other.predicate === want.predicate,
      );
      const column = same >= 0 ? same : wants.push(want) - 1;
      tests.push({ column, of: prepared });
    }
  }
}

function combine(
  run: Run,
  prepared: Prepared,
  length: number,
  results: readonly (readonly [Prepared, Uint8Array])[],
): Uint8Array {
  switch (prepared.kind) {
    case "flags":
      return prepared.flags;
    case "column":
      return results.find(([of]) => of === prepared)?.[1] ?? new Uint8Array(length);
    case "not": {
      const flags = combine(run, prepared.part, length, results).map((flag) => 1 - flag);
      run.profiler?.tell(prepared.of, length, countFlags(flags));
      return flags;
    }
    case "and":
    case "or": {
      const isAnd = prepared.kind === "and";
      const out = new Uint8Array(length).fill(isAnd ? 1 : 0);
      for (const part of prepared.parts) {
        const flags = combine(run, part, length, results);
        for (let i = 0; i < length; i++) {
          if (isAnd) out[i] = (out[i] ?? 0) & (flags[i] ?? 0);
          else out[i] = (out[i] ?? 0) | (flags[i] ?? 0);
        }
      }
      if (prepared.of !== undefined) run.profiler?.tell(prepared.of, length, countFlags(out));
      return out;
    }
  }
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
  const read = run.reader.readLevel(candidates, [
    reverse && index !== undefined
      ? { kind: "reverse", index: index.id, facets: false }
      : { kind: "edges", predicate: predicate.id, facets: false },
  ]);
  const [column] = read instanceof Promise ? await read : read;
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

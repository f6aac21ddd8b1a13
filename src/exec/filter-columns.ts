/**
 * Parts of a filter whose sets are known and whose columns are still to be read. Few candidates are read in one call;
 * many slice by slice, and of an AND the test that leaves the fewest is read first, the others for what it leaves.
 */
import { leadBelow, sampleSize } from "../optimizer/filter-choice.ts";
import { concat } from "../base/sorted.ts";
import type { Column, ColumnRequest } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import { functionOf } from "./functions.ts";
import type { ColumnTest } from "./functions/function.ts";
import { countFlags } from "./profile.ts";
import { sliceRows } from "./read-rows.ts";
import { flagMembers, keepMembers } from "./rows.ts";
import type { Run } from "./run.ts";

/** A filter whose sets are known, and whose columns are still to be read. `of`, `call`: whom its numbers are told of. */
export type PreparedFilter =
  | {
      readonly kind: "and" | "or";
      readonly parts: readonly PreparedFilter[];
      readonly of: FilterPlan | undefined;
    }
  | { readonly kind: "not"; readonly part: PreparedFilter; readonly of: FilterPlan }
  | { readonly kind: "flags"; readonly flags: Uint8Array }
  | {
      readonly kind: "column";
      readonly request: ColumnRequest;
      readonly test: ColumnTest;
      readonly call: CallPlan;
    };

type PreparedColumn = Extract<PreparedFilter, { kind: "column" }>;

export function hasColumn(prepared: PreparedFilter): boolean {
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

/** The same filter over other flags: of a part of its candidates. */
function mapFlags(
  prepared: PreparedFilter,
  change: (flags: Uint8Array) => Uint8Array,
): PreparedFilter {
  switch (prepared.kind) {
    case "and":
    case "or":
      return { ...prepared, parts: prepared.parts.map((part) => mapFlags(part, change)) };
    case "not":
      return { ...prepared, part: mapFlags(prepared.part, change) };
    case "flags":
      return { kind: "flags", flags: change(prepared.flags) };
    case "column":
      return prepared;
  }
}

/** The same filter over those of its candidates that are left. */
export function narrow(prepared: PreparedFilter, from: UidSet, to: UidSet): PreparedFilter {
  return from === to
    ? prepared
    : mapFlags(prepared, (flags) => flagMembers(to, keepMembers(from, flags)));
}

/** Flags beside the candidates: reads the columns that are wanted, and combines the tests. */
export async function finish(
  run: Run,
  prepared: PreparedFilter,
  candidates: UidSet,
): Promise<Uint8Array> {
  if (candidates.length <= sliceRows || !hasColumn(prepared)) {
    return finishSlice(run, prepared, candidates);
  }
  const flags = new Uint8Array(candidates.length);
  for (let from = 0; from < candidates.length; from += sliceRows) {
    const to = Math.min(from + sliceRows, candidates.length);
    const slice = mapFlags(prepared, (all) => all.subarray(from, to));
    flags.set(await finishSlice(run, slice, candidates.subarray(from, to)), from);
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  return flags;
}

/** Those of the candidates that pass all `parts`, in the order in which the tests were asked. */
export async function keepPassingAll(
  run: Run,
  parts: readonly PreparedFilter[],
  candidates: UidSet,
): Promise<UidSet> {
  const first = candidates.subarray(0, sliceRows);
  if (first.length === candidates.length) return keepOfSlice(run, parts, candidates);
  const sample = parts.length === 1 ? 0 : sampleSize(candidates.length);
  const lead =
    sample === 0 ? -1 : await findLead(run, slicesOf(parts, 0, sample), first.subarray(0, sample));
  const kept: UidSet[] = [];
  for (let from = 0; from < candidates.length; from += sliceRows) {
    const slice = candidates.subarray(from, from + sliceRows);
    kept.push(await keepLed(run, slicesOf(parts, from, from + slice.length), slice, lead));
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  return joinParts(kept, candidates);
}

function slicesOf(
  parts: readonly PreparedFilter[],
  from: number,
  to: number,
): readonly PreparedFilter[] {
  return parts.map((part) => mapFlags(part, (flags) => flags.subarray(from, to)));
}

async function findLead(
  run: Run,
  parts: readonly PreparedFilter[],
  sample: UidSet,
): Promise<number> {
  const silent = { ...run, profiler: undefined };
  let lead = -1;
  let fewest = leadBelow(sample.length);
  for (const [p, part] of parts.entries()) {
    // The dear ones never lead: what they would spare the others costs less than they do.
    if (part.kind !== "column" || functionOf(part.call).isExpensive) continue;
    const left = countFlags(await readColumns(silent, part, sample));
    if (left >= fewest) continue;
    fewest = left;
    lead = p;
  }
  return lead;
}

async function keepLed(
  run: Run,
  parts: readonly PreparedFilter[],
  slice: UidSet,
  lead: number,
): Promise<UidSet> {
  const leader = parts[lead];
  if (leader === undefined) return keepOfSlice(run, parts, slice);
  const left = await keepOfSlice(run, [leader], slice);
  if (left.length === 0) return left;
  const others = parts.flatMap((part, p) => (p === lead ? [] : [narrow(part, slice, left)]));
  return keepOfSlice(run, others, left);
}

async function keepOfSlice(
  run: Run,
  parts: readonly PreparedFilter[],
  slice: UidSet,
): Promise<UidSet> {
  return keepMembers(slice, await finishSlice(run, { kind: "and", parts, of: undefined }, slice));
}

function joinParts(parts: readonly UidSet[], all: UidSet): UidSet {
  let length = 0;
  for (const part of parts) length += part.length;
  return length === all.length ? all : concat(parts);
}

/** Reads all columns at once and combines the tests. */
async function finishSlice(
  run: Run,
  prepared: PreparedFilter,
  candidates: UidSet,
): Promise<Uint8Array> {
  const only = run.profiler === undefined ? undefined : onlyColumn(prepared);
  const span = only === undefined ? undefined : run.profiler?.begin(only.call);
  const flags = await readColumns(run, prepared, candidates);
  span?.pause();
  return flags;
}

function onlyColumn(prepared: PreparedFilter): PreparedColumn | undefined {
  const tests: Test[] = [];
  collect(prepared, [], tests, new Map());
  return tests.length === 1 ? tests[0]?.of : undefined;
}

interface Test {
  readonly column: number;
  readonly of: PreparedColumn;
}

async function readColumns(
  run: Run,
  prepared: PreparedFilter,
  candidates: UidSet,
): Promise<Uint8Array> {
  const requests: ColumnRequest[] = [];
  const tests: Test[] = [];
  collect(prepared, requests, tests, new Map());
  const read = requests.length === 0 ? [] : run.reader.readLevel(candidates, requests);
  const columns: readonly Column[] = read instanceof Promise ? await read : read;
  const results = new Map<PreparedFilter, Uint8Array>();
  const inAnd = new Set(prepared.kind === "and" ? prepared.parts : []);
  // What one part of an AND refuses, the next ones need not look at.
  const alive =
    prepared.kind === "and" && tests.length > 1
      ? new Uint8Array(candidates.length).fill(1)
      : undefined;
  for (const { column, of } of tests) {
    const values = columns[column];
    if (values === undefined) continue;
    const flags = await testColumn(run, of.test, values, alive ?? candidates.length);
    results.set(of, flags);
    const pause = run.yielder.check(1);
    if (pause !== undefined) await pause;
    if (run.profiler !== undefined) {
      const asked = alive === undefined ? candidates.length : countFlags(alive);
      run.profiler.tell(of.call, asked, countFlags(flags));
    }
    if (alive !== undefined && inAnd.has(of)) {
      for (let i = 0; i < alive.length; i++) alive[i] = flags[i] ?? 0;
    }
  }
  return combine(run, prepared, candidates.length, results);
}

/** `rows`: how many, or flags of those that are asked. */
async function testColumn(
  run: Run,
  test: ColumnTest,
  values: Column,
  rows: number | Uint8Array,
): Promise<Uint8Array> {
  const alive = typeof rows === "number" ? undefined : rows;
  const flags = new Uint8Array(typeof rows === "number" ? rows : rows.length);
  for (let i = 0; i < flags.length; i++) {
    if ((i & 255) === 255) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
    }
    if (alive !== undefined && alive[i] === 0) continue;
    if (test(values, i)) flags[i] = 1;
  }
  return flags;
}

/** `cells`: the columns of values by their predicates. */
function collect(
  prepared: PreparedFilter,
  requests: ColumnRequest[],
  tests: Test[],
  cells: Map<number, number>,
): void {
  switch (prepared.kind) {
    case "and":
    case "or":
      for (const part of prepared.parts) collect(part, requests, tests, cells);
      return;
    case "not":
      collect(prepared.part, requests, tests, cells);
      return;
    case "flags":
      return;
    case "column": {
      const { request } = prepared;
      const same = request.kind === "cells" ? cells.get(request.predicate) : undefined;
      const column = same ?? requests.push(request) - 1;
      if (request.kind === "cells") cells.set(request.predicate, column);
      tests.push({ column, of: prepared });
    }
  }
}

/** Flags of a filter whose columns are tested. */
export async function combine(
  run: Run,
  prepared: PreparedFilter,
  length: number,
  results: ReadonlyMap<PreparedFilter, Uint8Array>,
): Promise<Uint8Array> {
  switch (prepared.kind) {
    case "flags":
      return prepared.flags;
    case "column":
      return results.get(prepared) ?? new Uint8Array(length);
    case "not": {
      const flags = (await combine(run, prepared.part, length, results)).map((flag) => 1 - flag);
      run.profiler?.tell(prepared.of, length, countFlags(flags));
      return flags;
    }
    case "and":
    case "or": {
      const isAnd = prepared.kind === "and";
      const out = new Uint8Array(length).fill(isAnd ? 1 : 0);
      for (const part of prepared.parts) {
        mergeFlags(
          out,
          flagsOf(part, results) ?? (await combine(run, part, length, results)),
          isAnd,
        );
        const pause = run.yielder.check(1);
        if (pause !== undefined) await pause;
      }
      if (prepared.of !== undefined) run.profiler?.tell(prepared.of, length, countFlags(out));
      return out;
    }
  }
}

/** What is known of a part without combining anything. */
function flagsOf(
  part: PreparedFilter,
  results: ReadonlyMap<PreparedFilter, Uint8Array>,
): Uint8Array | undefined {
  return part.kind === "flags" ? part.flags : results.get(part);
}

/** Puts flags of the same length into others. */
export function mergeFlags(into: Uint8Array, flags: Uint8Array, isAnd: boolean): void {
  if (isAnd) for (let i = 0; i < into.length; i++) into[i]! &= flags[i]!;
  else for (let i = 0; i < into.length; i++) into[i]! |= flags[i]!;
}

export const noResults: ReadonlyMap<PreparedFilter, Uint8Array> = new Map();

/**
 * Lists of indexes and values of nodes, as the functions of a query look them up. Price: an intersection starts with the
 * shortest list and seeks in the others.
 */
import { must } from "../base/assert.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { union, unionAll } from "../base/sorted.ts";
import type { Cell, ListRef } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { ValueKind } from "../model/value.ts";
import type { PredicateUse } from "../plan/plan.ts";
import { buildChoice, convertCell } from "./cells.ts";
import type { CellTest } from "./compare.ts";
import { columnBytes, readRows, sliceRows } from "./read-rows.ts";
import { keepMembers } from "./rows.ts";
import type { Run } from "./run.ts";

export function listOfToken(index: number, token: Uint8Array): Extract<ListRef, { kind: "token" }> {
  return { kind: "token", index, token };
}

export function intersectList(run: Run, list: ListRef, uids: UidSet): MaybePromise<UidSet> {
  return run.reader.intersectList(list, uids);
}

/** Lists read between two looks at the clock. */
const listsPerLook = 16;

const memberBytes = 8;

/** The members of lists. Of many lists a few at a time. */
export function readLists(run: Run, lists: readonly ListRef[]): MaybePromise<readonly UidSet[]> {
  return lists.length <= listsPerLook ? readSome(run, lists) : readMany(run, lists);
}

async function readMany(run: Run, lists: readonly ListRef[]): Promise<readonly UidSet[]> {
  const sets: UidSet[] = [];
  for (let from = 0; from < lists.length; from += listsPerLook) {
    for (const set of await readSome(run, lists.slice(from, from + listsPerLook))) sets.push(set);
    const pause = run.yielder.check(listsPerLook);
    if (pause !== undefined) await pause;
  }
  return sets;
}

function readSome(run: Run, lists: readonly ListRef[]): MaybePromise<readonly UidSet[]> {
  const sets = run.reader.readLists(lists);
  if (sets instanceof Promise) return sets.then((later) => charge(run, later));
  return charge(run, sets);
}

function charge(run: Run, sets: readonly UidSet[]): readonly UidSet[] {
  let members = 0;
  for (const set of sets) members += set.length;
  run.budget.charge(members);
  run.budget.chargeBytes(members * memberBytes);
  return sets;
}

/** Lists counted between two looks at the clock. */
const countsPerLook = 256;

/** How many members each has, from their heads. Of many lists some at a time. */
export function countLists(run: Run, lists: readonly ListRef[]): MaybePromise<Float64Array> {
  return lists.length <= countsPerLook ? run.reader.countLists(lists) : countMany(run, lists);
}

async function countMany(run: Run, lists: readonly ListRef[]): Promise<Float64Array> {
  const counts = new Float64Array(lists.length);
  for (let from = 0; from < lists.length; from += countsPerLook) {
    const counted = run.reader.countLists(lists.slice(from, from + countsPerLook));
    counts.set(counted instanceof Promise ? await counted : counted, from);
    const pause = run.yielder.check(countsPerLook);
    if (pause !== undefined) await pause;
  }
  return counts;
}

/** Members that are put together in one piece: sorting them takes some 5 ms. */
const joinedAtOnce = 65_536;

/** The members of all sets, ascending, each once. Of many members some at a time, which are then merged two by two. */
export function joinLists(run: Run, sets: readonly UidSet[]): MaybePromise<UidSet> {
  let members = 0;
  for (const set of sets) members += set.length;
  return members < joinedAtOnce ? unionAll(sets) : joinMany(run, sets);
}

async function joinMany(run: Run, sets: readonly UidSet[]): Promise<UidSet> {
  let row: UidSet[] = [];
  let few: UidSet[] = [];
  let members = 0;
  for (const set of sets) {
    few.push(set);
    members += set.length;
    if (members < joinedAtOnce) continue;
    row.push(unionAll(few));
    few = [];
    const pause = run.yielder.check(members);
    if (pause !== undefined) await pause;
    members = 0;
  }
  if (few.length > 0) row.push(unionAll(few));
  while (row.length > 1) {
    const merged: UidSet[] = [];
    for (let i = 0; i < row.length; i += 2) {
      const both = union(row[i] ?? emptyUidSet, row[i + 1] ?? emptyUidSet);
      merged.push(both);
      const pause = run.yielder.check(both.length);
      if (pause !== undefined) await pause;
    }
    row = merged;
  }
  return row[0] ?? emptyUidSet;
}

/** How many members lists have, from their heads. */
export async function countMembers(run: Run, lists: readonly ListRef[]): Promise<number> {
  const counted = countLists(run, lists);
  let sum = 0;
  for (const count of counted instanceof Promise ? await counted : counted) sum += count;
  return sum;
}

/** The list of the nodes that have a predicate; undefined where their values must be looked at. */
export function listOfPresent({ predicate, reverse }: PredicateUse): ListRef | undefined {
  if (predicate === undefined || predicate.definition.lang) return undefined;
  if (!reverse) return { kind: "presence", predicate: predicate.id };
  return predicate.reverseIndex === undefined
    ? undefined
    : { kind: "objects", index: predicate.reverseIndex.id };
}

/** The shortest list first, the others only where it has members. */
export async function intersectLists(
  run: Run,
  lists: readonly ListRef[],
  candidates: UidSet | undefined,
): Promise<UidSet> {
  if (lists.length === 0) return emptyUidSet;
  const counted = countLists(run, lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const order = lists
    .map((_, i) => i)
    .sort(
      (a, b) => must(counts[a], "each list is counted") - must(counts[b], "each list is counted"),
    );
  let found = candidates;
  for (const i of order) {
    const list = lists[i];
    if (list === undefined || counts[i] === 0) return emptyUidSet;
    const next: MaybePromise<UidSet> =
      found === undefined
        ? andThen(readLists(run, [list]), ([members]) => members ?? emptyUidSet)
        : intersectList(run, list, found);
    found = next instanceof Promise ? await next : next;
    if (found.length === 0) return found;
    const pause = run.yielder.check(1);
    if (pause !== undefined) await pause;
  }
  return found ?? emptyUidSet;
}

/**
 * Which of a node's cells a function looks at: the untagged one, those of one tag, with "." all; of a list any, of
 * predicates without languages all.
 */
export function buildCellsTest(
  use: PredicateUse,
  test: CellTest,
): (cells: readonly Cell[]) => boolean {
  const definition = use.predicate?.definition;
  const kind = (definition?.kind ?? "default") as ValueKind;
  const passes: CellTest = (cell) => test(cell.kind === kind ? cell : convertCell(cell, kind));
  const [tag] = use.languages;
  if (definition?.lang !== true || tag === ".") return (cells) => cells.some(passes);
  const choose = buildChoice(use.languages);
  return (cells) => {
    const cell = choose(cells);
    return cell !== undefined && passes(cell);
  };
}

/** The nodes of a set with a value that passes. */
export async function verifyCells(
  run: Run,
  use: PredicateUse,
  test: CellTest,
  uids: UidSet,
): Promise<UidSet> {
  if (uids.length === 0 || use.predicate === undefined) return emptyUidSet;
  const passes = buildCellsTest(use, test);
  const read = readRows(run, uids, [{ kind: "cells", predicate: use.predicate.id }]);
  const [column] = read instanceof Promise ? await read : read;
  if (column?.kind !== "cells") return emptyUidSet;
  const flags = new Uint8Array(uids.length);
  for (let i = 0; i < flags.length; i++) {
    if ((i & 255) === 255) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
    }
    const cells = column.cells[i];
    if (cells !== undefined && passes(cells)) flags[i] = 1;
  }
  if (uids.length > sliceRows) run.budget.releaseBytes(columnBytes([column]));
  return keepMembers(uids, flags);
}

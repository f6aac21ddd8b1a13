/**
 * What a block's fields define: uid and value variables, gathered from its frames (reference/dql 4.8, 4.11). Price: one
 * pass over the frames; no reads.
 */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import { drive, type MaybePromise, type Steps } from "../base/maybe.ts";
import { sortUnique, unionAll } from "../base/sorted.ts";
import type { Cell } from "../graph/reader.ts";
import { countedNode, emptyUidSet, type UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { EdgeField, FieldPlan, ValueField } from "../plan/plan.ts";
import { findFacet } from "./facets.ts";
import type { EdgeFrame, FieldColumn, ValueColumn, VariableResult } from "./frame.ts";
import type { BlockRun, LevelFrame } from "./level-frame.ts";
import { distinctTargets, type Edges } from "./rows.ts";
import { emptyVariable, queryFault, type Run } from "./run.ts";
import { addNumbers, makeColumn } from "./value-column.ts";

/** Node and value pairs before they are sorted and merged. */
interface Gathered {
  readonly values: Map<number, Value>;
  /** What the first frame gave, ascending; further ones are merged with it in the map. */
  first: ValueColumn | undefined;
  readonly sets: UidSet[];
  kind: "uid" | "value" | "constant";
  constant: Value | undefined;
}

/** Sets the variables that need no computing: uids, values, counts, facets. Those of no frame are empty. */
export function gatherVariables(block: BlockRun, rowCount: number): MaybePromise<void> {
  if (!block.frames.some(({ level }) => level.fields.some(definesVariable))) return undefined;
  return drive(gatherInSteps(block, rowCount));
}

function definesVariable(field: FieldPlan): boolean {
  if (field.variable !== undefined) return true;
  return (
    field.kind === "edge" &&
    field.facets?.fields.some(({ variable }) => variable !== undefined) === true
  );
}

/** A node and its value, gathered. */
const gatheredBytes = 32;

function* gatherInSteps({ run, frames }: BlockRun, rowCount: number): Steps<void> {
  const found = new Map<number, Gathered>();
  for (const here of frames) {
    const { fields } = here.level;
    for (let k = 0; k < fields.length; k++) {
      const field = fields[k];
      const column = here.frame.fields[k];
      if (field === undefined || column === undefined || !definesVariable(field)) continue;
      gatherField(found, here, field, column, rowCount);
      const rows = here.frame.uids.length;
      run.budget.chargeBytes(rows * gatheredBytes);
      const pause = run.yielder.checkSmall(
        rows + (column.kind === "edges" ? column.targets.length : 0),
      );
      if (pause !== undefined) yield pause;
    }
  }
  for (const [variable, gathered] of found) {
    run.variables[variable] = toResult(gathered);
    const pause = run.yielder.checkSmall(gathered.values.size);
    if (pause !== undefined) yield pause;
  }
}

function gather(found: Map<number, Gathered>, variable: number, kind: Gathered["kind"]): Gathered {
  const known = found.get(variable);
  if (known !== undefined) return known;
  const made: Gathered = {
    values: new Map(),
    first: undefined,
    sets: [],
    kind,
    constant: undefined,
  };
  found.set(variable, made);
  return made;
}

function toResult(gathered: Gathered): VariableResult {
  if (gathered.kind === "uid") return { ...emptyVariable, uids: unionAll(gathered.sets) };
  if (gathered.kind === "constant") return countVariable(gathered.constant);
  const { first } = gathered;
  if (first !== undefined && gathered.values.size > 0) {
    first.uids.forEach((uid, i) => {
      if (!gathered.values.has(uid)) gathered.values.set(uid, first.values[i] as Value);
    });
  }
  const isFirstAll = first !== undefined && gathered.values.size === 0;
  const values = isFirstAll ? first : makeColumn(gathered.values);
  return { ...emptyVariable, uids: values.uids, values };
}

/** A count(uid) is a constant to math(), and else the value of one node that stands for no real one. */
function countVariable(count: Value | undefined): VariableResult {
  if (count === undefined) return emptyVariable;
  const uids = Float64Array.of(countedNode);
  return { ...emptyVariable, uids, values: { uids, values: [count] }, constant: count };
}

function isAlive(here: LevelFrame, row: number): boolean {
  return here.alive === undefined || here.alive[row] === 1;
}

function gatherField(
  found: Map<number, Gathered>,
  here: LevelFrame,
  field: FieldPlan,
  column: FieldColumn,
  rowCount: number,
): void {
  if (field.kind === "edge") gatherFacets(found, here, field, column);
  if (field.variable === undefined) return;
  switch (field.kind) {
    case "uid":
      gather(found, field.variable, "uid").sets.push(aliveUids(here));
      return;
    case "value":
      gatherValues(gather(found, field.variable, "value"), here, field, column);
      return;
    case "count":
      if (column.kind !== "count") return;
      gatherRows(gather(found, field.variable, "value"), here, (row) => ({
        kind: "int",
        int: must(column.counts[row], "each row has its count"),
      }));
      return;
    case "countUid": {
      const count = here.parent === undefined ? rowCount : aliveUids(here).length;
      gather(found, field.variable, "constant").constant = { kind: "int", int: count };
      return;
    }
    case "edge":
      if (column.kind === "edges") {
        gather(found, field.variable, "uid").sets.push(aliveTargets(here, column));
      }
      return;
    case "checkpwd":
      if (column.kind !== "computed") return;
      gatherRows(gather(found, field.variable, "value"), here, (row) => column.values[row]);
      return;
    default:
      return;
  }
}

function gatherRows(
  gathered: Gathered,
  here: LevelFrame,
  valueOf: (row: number) => Value | undefined,
): void {
  const { uids } = here.frame;
  const kept = new Float64Array(uids.length);
  const values: Value[] = [];
  for (let row = 0; row < uids.length; row++) {
    const value = isAlive(here, row) ? valueOf(row) : undefined;
    if (value === undefined) continue;
    kept[values.length] = must(uids[row], "each row has its node");
    values.push(value);
  }
  if (gathered.first === undefined) {
    gathered.first = { uids: kept.subarray(0, values.length), values };
    return;
  }
  values.forEach((value, i) =>
    gathered.values.set(must(kept[i], "each value has its node"), value),
  );
}

function gatherValues(
  gathered: Gathered,
  here: LevelFrame,
  field: ValueField,
  column: FieldColumn,
): void {
  if (column.kind === "cell") {
    const whole = wholeColumn(here, column.cells);
    if (whole !== undefined && gathered.first === undefined) gathered.first = whole;
    else gatherRows(gathered, here, (row) => column.cells[row]?.value);
  }
  if (column.kind !== "cells") return;
  gatherRows(gathered, here, (row) => onlyValue(field, column.cells[row]));
}

/** The values of all nodes of a frame, where none is dead or without one. */
function wholeColumn(
  here: LevelFrame,
  cells: readonly (Cell | undefined)[],
): ValueColumn | undefined {
  if (here.alive !== undefined) return undefined;
  const values = makeArray<Value>(cells.length);
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row];
    if (cell === undefined) return undefined;
    values[row] = cell.value;
  }
  return { uids: here.frame.uids, values };
}

function onlyValue(field: ValueField, cells: readonly Cell[] | undefined): Value | undefined {
  if (field.form === "list" && cells !== undefined && cells.length > 1) {
    throw queryFault("Value variables not supported for predicate with list type.");
  }
  return cells?.[0]?.value;
}

function aliveUids(here: LevelFrame): UidSet {
  const { alive } = here;
  return alive === undefined
    ? here.frame.uids
    : here.frame.uids.filter((_, row) => alive[row] === 1);
}

function aliveTargets(here: LevelFrame, column: EdgeFrame): UidSet {
  if (column.targets.length === 0) return emptyUidSet;
  if (here.alive === undefined) return distinctTargets(column);
  const targets: number[] = [];
  for (let row = 0; row < here.frame.uids.length; row++) {
    if (!isAlive(here, row)) continue;
    for (
      let e = must(column.offsets[row], "each row has its edges");
      e < must(column.offsets[row + 1], "each row has its edges");
      e++
    ) {
      targets.push(must(column.targets[e], "each edge has its target"));
    }
  }
  return sortUnique(new Float64Array(targets));
}

/** Facet variables are keyed by the child; over several parents numbers are summed (reference/dql 4.11). */
function gatherFacets(
  found: Map<number, Gathered>,
  here: LevelFrame,
  field: EdgeField,
  column: FieldColumn,
): void {
  for (const { key, variable } of field.facets?.fields ?? []) {
    if (variable === undefined) continue;
    const gathered = gather(found, variable, "value");
    if (column.kind !== "edges" || column.facets === undefined) continue;
    for (let row = 0; row < here.frame.uids.length; row++) {
      if (!isAlive(here, row)) continue;
      addFacets(gathered.values, column, key, row);
    }
  }
}

/** The facet variables of edges as they stand, for what is below them; after @cascade they are gathered again. */
export function announceFacets(run: Run, field: EdgeField, edges: Edges): void {
  for (const { key, variable } of field.facets?.fields ?? []) {
    if (variable === undefined) continue;
    const found = new Map<number, Value>();
    for (let row = 0; row + 1 < edges.offsets.length; row++) addFacets(found, edges, key, row);
    const values = makeColumn(found);
    run.variables[variable] = { ...emptyVariable, uids: values.uids, values };
  }
}

function addFacets(found: Map<number, Value>, edges: Edges, key: string, row: number): void {
  for (
    let e = must(edges.offsets[row], "each row has its edges");
    e < must(edges.offsets[row + 1], "each row has its edges");
    e++
  ) {
    const value = findFacet(edges.facets?.[e], key);
    if (value !== undefined)
      addFacet(found, must(edges.targets[e], "each edge has its target"), value);
  }
}

function addFacet(values: Map<number, Value>, uid: number, value: Value): void {
  const known = values.get(uid);
  values.set(uid, known === undefined ? value : addNumbers(known, value));
}

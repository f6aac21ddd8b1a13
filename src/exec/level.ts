/**
 * One level of a block: everything its nodes are asked for in one read, then each edge field's targets are filtered,
 * ordered and paged as one set and become the level below.
 */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import type { Cell, Column, EdgeColumn, ColumnRequest } from "../graph/reader.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { ValueKind } from "../model/value.ts";
import type { CountField, EdgeField, FieldPlan, Level, ValueField } from "../plan/plan.ts";
import { bindPage } from "./bind.ts";
import { buildChoice, convertCell } from "./cells.ts";
import { checkPasswords } from "./check-password.ts";
import { expandFields } from "./expand.ts";
import { evaluateFilter } from "./filter.ts";
import { buildFacetTest, compareByFacets, hasFacetTest } from "./facets.ts";
import type { EdgeFrame, FieldColumn, Frame } from "./frame.ts";
import { countFlags } from "./profile.ts";
import { groupEdges } from "./groups.ts";
import { areManyNodes } from "../optimizer/column-choice.ts";
import { readIndexColumn } from "./index-column.ts";
import { makeLevelFrame, type BlockRun, type LevelFrame } from "./level-frame.ts";
import { addRequest, isPagedInList } from "./level-requests.ts";
import { checkOrder, orderEdges } from "./order.ts";
import { readRows } from "./read-rows.ts";
import {
  distinctTargets,
  keepByTarget,
  keepEdges,
  pageEdges,
  placesIn,
  sortEdges,
  type Edges,
} from "./rows.ts";
import { countUids, raiseRefusal, type Run } from "./run.ts";
import { announceFacets } from "./variables.ts";

/** Runs a level over distinct ascending uids. */
export async function runLevel(
  block: BlockRun,
  level: Level,
  uids: UidSet,
  parent: LevelFrame | undefined,
): Promise<LevelFrame> {
  const here = makeLevelFrame(level, uids, parent);
  await fillLevel(block, here);
  return here;
}

/** Reads a level's fields, and runs the levels below. */
export async function fillLevel(block: BlockRun, here: LevelFrame): Promise<void> {
  const { level, alive } = here;
  const { uids, fields } = here.frame;
  block.frames.push(here);
  if (uids.length === 0) {
    if (block.follow === undefined) checkEmpty(block.run, level);
    return;
  }
  const span = block.run.profiler?.begin(level, uids.length);
  const expanding = expandFields(block.run, level, uids);
  const expanded = expanding === undefined ? undefined : await expanding;
  const all = expanded === undefined ? level.fields : [...level.fields, ...expanded.fields];
  const columns = await runFields(block, here, all);
  for (let k = 0; k < fields.length; k++) fields[k] = columns[k] ?? { kind: "nothing" };
  if (expanded !== undefined) {
    fields[expanded.at] = {
      kind: "expanded",
      fields: expanded.fields,
      columns: columns.slice(level.fields.length),
    };
  }
  if (alive !== undefined) markAlive(here, alive);
  span?.end(alive === undefined ? uids.length : countFlags(alive));
}

/** What is wrong with a level is raised though no node has come so far; its functions are not looked at. */
function checkEmpty(run: Run, level: Level): void {
  for (const field of level.fields) {
    if (field.kind === "refused") raiseRefusal(run, field.refusal);
    if (field.kind !== "edge") continue;
    if (field.order !== undefined) checkOrder(run, field.order, bindPage(run, field.page));
    if (field.level !== undefined) checkEmpty(run, field.level);
  }
}

/** Reads what the fields need in one call, then finishes each. */
async function runFields(
  block: BlockRun,
  here: LevelFrame,
  fields: readonly FieldPlan[],
): Promise<FieldColumn[]> {
  const { run } = block;
  const uids = here.frame.uids;
  for (const field of fields) if (field.kind === "refused") raiseRefusal(run, field.refusal);
  const indexed = mayReadIndexes(uids.length, fields)
    ? await readFromIndexes(block, here, fields)
    : undefined;
  if (indexed !== undefined) {
    run.profiler?.note(here.level, "values from indexes, no record read");
    return indexed;
  }
  const requests: ColumnRequest[] = [];
  const requestOf = fields.map((field) => addRequest(block, requests, field, here.level));
  const read = readRows(run, uids, requests);
  const columns = read instanceof Promise ? await read : read;
  if (columns.some(hasManyEdges)) await rest(run);
  const finished: FieldColumn[] = [];
  for (let k = 0; k < fields.length; k++) {
    const request = must(requestOf[k], "each field was asked about");
    const field = fields[k];
    if (field === undefined) continue;
    if ("use" in field && request >= 0) countUids(run, field.use, uids.length);
    const done = finishField(block, here, field, columns[request]);
    finished.push(done instanceof Promise ? await done : done);
    if (uids.length > manyEdges) await rest(run);
  }
  joinGroups(fields, finished);
  return finished;
}

/** Groups that are printed in the list of a sibling are put beside its edges. */
function joinGroups(fields: readonly FieldPlan[], columns: FieldColumn[]): void {
  fields.forEach((field, k) => {
    if (field.kind !== "edge" || field.groupsOf === undefined) return;
    const edges = columns[k];
    const groups = columns[field.groupsOf];
    const grouped = fields[field.groupsOf];
    const plan = grouped?.kind === "edge" ? grouped.groupBy : undefined;
    if (edges?.kind !== "edges" || groups?.kind !== "groups" || plan === undefined) return;
    columns[k] = { ...edges, groups: { ...groups, plan, areFirst: field.groupsOf < k } };
    columns[field.groupsOf] = { ...groups, areBeside: true };
  });
}

/** All fields of a large level from indexes alone; undefined where one of them needs the records. */
async function readFromIndexes(
  block: BlockRun,
  here: LevelFrame,
  fields: readonly FieldPlan[],
): Promise<FieldColumn[] | undefined> {
  const { uids } = here.frame;
  const columns: FieldColumn[] = [];
  for (const field of fields) {
    if (field.kind !== "value") {
      const done = finishField(block, here, field, undefined);
      columns.push(done instanceof Promise ? await done : done);
      continue;
    }
    const root = here.parent === undefined ? block.root : undefined;
    const cells = await readIndexColumn(block.run, field.predicate, uids, root);
    if (cells === undefined) return undefined;
    countUids(block.run, field.use, uids.length);
    columns.push({ kind: "cell", cells });
  }
  return columns;
}

function mayReadIndexes(nodes: number, fields: readonly FieldPlan[]): boolean {
  return areManyNodes(nodes) && fields.some(isIndexable) && fields.every(isReadFree);
}

function isIndexable(field: FieldPlan): boolean {
  return field.kind === "value" && field.form === "one" && field.facets === undefined;
}

/** Fields that no record is read for, if indexes can answer. */
function isReadFree(field: FieldPlan): boolean {
  switch (field.kind) {
    case "value":
      return isIndexable(field) && field.facetFilter === undefined;
    case "uid":
    case "countUid":
    case "val":
    case "aggregate":
    case "math":
    case "absent":
      return true;
    default:
      return false;
  }
}

function finishField(
  block: BlockRun,
  here: LevelFrame,
  field: FieldPlan,
  column: Column | undefined,
): FieldColumn | Promise<FieldColumn> {
  switch (field.kind) {
    case "uid":
      return { kind: "uid" };
    case "countUid":
      return { kind: "listCount" };
    case "value":
      return column?.kind === "cells" ? finishValue(block.run, field, column.cells) : nothing;
    case "count":
      return column === undefined ? nothing : finishCount(block.run, field, column);
    case "edge":
      return column?.kind === "edges" ? finishEdge(block, here, field, column) : nothing;
    case "checkpwd":
      return column?.kind === "cells" ? checkPasswords(block.run, field, column.cells) : nothing;
    case "val":
    case "aggregate":
    case "math":
      // Filled when the block's variables are known (`computed.ts`).
      return { kind: "computed", values: [] };
    case "expand":
    case "absent":
    case "refused":
      return nothing;
  }
}

const nothing: FieldColumn = { kind: "nothing" };

function finishValue(
  run: Run,
  field: ValueField,
  cells: Extract<Column, { kind: "cells" }>["cells"],
): FieldColumn {
  const kind = field.predicate.definition.kind;
  if (kind === "uid") return nothing;
  const passes =
    field.facetFilter === undefined ? undefined : buildFacetTest(run, field.facetFilter);
  if (field.form === "one") {
    if (passes === undefined && field.use.languages.length === 0) {
      return { kind: "cell", cells: pickUntagged(cells, kind) };
    }
    const choose = buildChoice(field.use.languages);
    const chosen = cells.map((row) => {
      const cell = row === undefined ? undefined : choose(row);
      if (cell === undefined || (passes !== undefined && !passes(cell.facets))) return undefined;
      return cell.kind === kind ? cell : convertCell(cell, kind);
    });
    return { kind: "cell", cells: chosen };
  }
  const rows = cells.map((row) => {
    const kept = passes === undefined ? row : row?.filter((cell) => passes(cell.facets));
    if (kept === undefined || kept.length === 0) return undefined;
    return kept.every((cell) => cell.kind === kind)
      ? kept
      : kept.map((cell) => convertCell(cell, kind));
  });
  return { kind: "cells", cells: rows };
}

/** Hot: nearly every field. Untagged stands first (`graph/reader.ts`). */
function pickUntagged(
  rows: Extract<Column, { kind: "cells" }>["cells"],
  kind: ValueKind,
): (Cell | undefined)[] {
  const picked = makeArray<Cell | undefined>(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const cell = rows[i]?.[0];
    if (cell === undefined || cell.language !== "") continue;
    picked[i] = cell.kind === kind ? cell : convertCell(cell, kind);
  }
  return picked;
}

async function finishCount(run: Run, field: CountField, column: Column): Promise<FieldColumn> {
  if (column.kind === "count") return { kind: "count", counts: column.counts };
  const passes =
    field.facetFilter === undefined ? undefined : buildFacetTest(run, field.facetFilter);
  if (column.kind === "cells") {
    const choose = buildCounted(field);
    const counts = Float64Array.from(column.cells, (row) => {
      const counted = row === undefined ? [] : choose(row);
      return passes === undefined
        ? counted.length
        : counted.filter((cell) => passes(cell.facets)).length;
    });
    return { kind: "count", counts };
  }
  const passing = await filterEdges(run, field, column);
  const edges = field.page === undefined ? passing : pageEdges(passing, bindPage(run, field.page));
  const counts = new Float64Array(edges.offsets.length - 1);
  for (let i = 0; i < counts.length; i++) {
    counts[i] = (edges.offsets[i + 1] ?? 0) - (edges.offsets[i] ?? 0);
  }
  return { kind: "count", counts };
}

/** The cells that count(p) counts: those that p would print. */
function buildCounted({ predicate, use }: CountField): (cells: readonly Cell[]) => readonly Cell[] {
  if (!predicate.definition.lang || use.languages.includes("*")) return (cells) => cells;
  const choose = buildChoice(use.languages);
  return (cells) => {
    const chosen = choose(cells);
    return chosen === undefined ? [] : [chosen];
  };
}

/** Facet filter, then filter. */
async function filterEdges(
  run: Run,
  field: Pick<EdgeField, "filter" | "facetFilter">,
  column: EdgeColumn,
): Promise<Edges> {
  let edges: Edges = column;
  if (hasFacetTest(field.facetFilter)) {
    const passes = buildFacetTest(run, field.facetFilter);
    const facets = edges.facets;
    edges = keepEdges(
      edges,
      Uint8Array.from(edges.targets, (_, e) => (passes(facets?.[e]) ? 1 : 0)),
    );
  }
  if (field.filter !== undefined && edges.targets.length > 0) {
    const isMany = edges.targets.length > manyEdges;
    const distinct = distinctTargets(edges);
    if (isMany) await rest(run);
    const flags = await evaluateFilter(run, field.filter, distinct);
    const places = placesIn(distinct, edges.targets);
    if (isMany) await rest(run);
    edges = keepByTarget(edges, places, flags);
  }
  return edges;
}

/** Edges of a field after filter, order and page; what stands below is not looked at. */
export async function arrangeEdges(
  run: Run,
  field: EdgeField,
  column: EdgeColumn,
  isPaging: boolean,
): Promise<Edges> {
  let edges = await filterEdges(run, field, column);
  const facetOrder = field.facets?.order ?? [];
  if (facetOrder.length > 0) edges = sortEdges(edges, compareByFacets(edges, facetOrder));
  const page = bindPage(run, field.page);
  if (field.order !== undefined) {
    edges = await orderEdges(run, field.order, edges, { page, isPaging });
  }
  return isPaging && !isPagedInList(field) ? pageEdges(edges, page) : edges;
}

/** From so many edges on each pass over them is followed by a look at the clock. */
const manyEdges = 10_000;

function hasManyEdges(column: Column): boolean {
  return column.kind === "edges" && column.targets.length > manyEdges;
}

/** Lets others run where the slice of time is used up. */
async function rest(run: Run): Promise<void> {
  const pause = run.yielder.check();
  if (pause !== undefined) await pause;
}

async function finishEdge(
  block: BlockRun,
  here: LevelFrame,
  field: EdgeField,
  column: EdgeColumn,
): Promise<FieldColumn> {
  const { run } = block;
  const child = field.level;
  const isCascading = block.follow === undefined && child?.cascade !== undefined;
  const span = run.profiler?.begin(field, column.targets.length);
  let edges = await arrangeEdges(run, field, column, !isCascading);
  span?.end(edges.targets.length);
  if (edges.targets.length > manyEdges) await rest(run);
  const distinct = edges.targets.length === 0 ? emptyUidSet : distinctTargets(edges);
  if (edges.targets.length > manyEdges) await rest(run);
  if (field.variable !== undefined) {
    // Filters further down may already use it; after @cascade it is set again (`variables.ts`).
    run.variables[field.variable] = {
      uids: distinct,
      path: undefined,
      values: undefined,
      constant: undefined,
    };
  }
  if (field.groupBy !== undefined) return groupEdges(run, field.groupBy, edges);
  if (block.follow !== undefined) return block.follow(here, edges, field);
  if (child === undefined) {
    return makeEdges(edges, new Uint32Array(0), undefined);
  }
  announceFacets(run, field, edges);
  const below = await runLevel(block, child, distinct, here);
  if (below.alive !== undefined) {
    edges = keepByTarget(edges, placesIn(distinct, edges.targets), below.alive);
    edges = pageEdges(edges, bindPage(run, field.page));
  }
  if (edges.targets.length > manyEdges) await rest(run);
  const final = makeEdges(edges, placesIn(distinct, edges.targets), below.frame);
  below.edges = final;
  return final;
}

function makeEdges(
  { offsets, targets, facets }: Edges,
  rows: Uint32Array,
  child: Frame | undefined,
): EdgeFrame {
  return { kind: "edges", offsets, targets, facets, rows, child };
}

/** Takes out the nodes that lack a required field. */
export function markAlive(here: LevelFrame, alive: Uint8Array): void {
  const cascade = here.level.cascade;
  if (cascade === undefined) return;
  for (const k of cascade.required) {
    const column = here.frame.fields[k];
    if (column !== undefined) clearAbsent(column, alive);
  }
  for (const column of here.frame.fields) {
    if (column.kind !== "expanded") continue;
    column.fields.forEach((field, k) => {
      const name =
        "use" in field && field.use !== undefined
          ? (field.use.reverse ? "~" : "") + field.use.name
          : "";
      const inner = column.columns[k];
      if (inner !== undefined && (cascade.names === undefined || cascade.names.includes(name))) {
        clearAbsent(inner, alive);
      }
    });
  }
}

function clearAbsent(column: FieldColumn, alive: Uint8Array): void {
  switch (column.kind) {
    case "cell":
    case "cells":
      for (let i = 0; i < alive.length; i++) if (column.cells[i] === undefined) alive[i] = 0;
      return;
    case "edges":
      for (let i = 0; i < alive.length; i++) {
        if (column.offsets[i] === column.offsets[i + 1]) alive[i] = 0;
      }
      return;
    case "groups":
      for (let i = 0; i < alive.length; i++) if (column.byRow[i] === undefined) alive[i] = 0;
      return;
    case "nothing":
      alive.fill(0);
      return;
    default:
      return;
  }
}

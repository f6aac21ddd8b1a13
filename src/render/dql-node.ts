/**
 * One node and what is below it, as JSON of the native endpoint. Small answers are written in one go; large ones in
 * steps of the same pieces, between which other requests run.
 */
import { assert, must } from "../base/assert.ts";
import type { EdgeFrame, Frame } from "../exec/frame.ts";
import type { Steps } from "../base/maybe.ts";
import type { EdgeField, FieldPlan } from "../plan/plan.ts";
import {
  closeBrace,
  closeBracket,
  memberNameOf,
  openBrace,
  openBracket,
  separate,
  writeEdgeFacets,
  writeGroups,
  writeGroupsFieldInSteps,
  writeScalar,
  writeUid,
  type Arrival,
  type DqlRender,
  type FieldAt,
} from "./dql-field.ts";
import type { JsonWriter } from "./json-writer.ts";
import { writeNormalizedInSteps } from "./normalize.ts";
import type { RenderYielder } from "./render-yielder.ts";

/** count(uid): objects beside the nodes; under @normalize only those with an alias. */
export function writeCounts(
  { writer }: DqlRender,
  fields: readonly FieldPlan[],
  { count, normalize }: { readonly count: number; readonly normalize: boolean },
  start: number,
): void {
  for (const field of fields) {
    if (field.kind !== "countUid" || (normalize && !field.aliased)) continue;
    separate(writer, start);
    writer.byte(openBrace);
    writer.bytes(memberNameOf(field));
    writer.ascii(String(count));
    writer.byte(closeBrace);
  }
}

export function writeNormalized(render: DqlRender, frame: Frame, row: number, start: number): void {
  const isDone = writeNormalizedInSteps(
    { render, renderYielder: undefined },
    { frame, row },
    start,
  ).next();
  assert(isDone.done === true, "without a tempo there is nothing to wait for");
}

/** A node as a member of a list; nothing where it has no key. */
export function writeListed(render: DqlRender, frame: Frame, row: number, start: number): void {
  const { writer } = render;
  const before = writer.length;
  separate(writer, start);
  if (!writeNode(render, frame, row, undefined)) writer.rewind(before);
}

/** Writes a node's object; false, with something half written, where it has no key. */
function writeNode(
  render: DqlRender,
  frame: Frame,
  row: number,
  arrival: Arrival | undefined,
): boolean {
  const uid = must(frame.uids[row], "each row has its node");
  const start = openNode(render, uid);
  const { fields } = frame.level;
  for (let k = 0; k < fields.length; k++) {
    const field = fields[k];
    const column = frame.fields[k];
    if (field !== undefined && column !== undefined) {
      writeField(render, { field, column, uid, row }, start);
    }
  }
  return closeNode(render, frame, uid, { start, arrival });
}

function openNode({ writer, above }: DqlRender, uid: number): number {
  writer.byte(openBrace);
  above?.push(uid);
  return writer.length;
}

function closeNode(
  render: DqlRender,
  frame: Frame,
  uid: number,
  { start, arrival }: { readonly start: number; readonly arrival: Arrival | undefined },
): boolean {
  const { writer, above } = render;
  above?.pop();
  if (writer.length === start) return false;
  if (arrival?.facets !== undefined) writeEdgeFacets(writer, arrival, start);
  const { fields } = frame.level;
  if (render.options.debug && !fields.some((field) => field.kind === "uid" && !field.aliased)) {
    separate(writer, start);
    writer.ascii('"uid":');
    writeUid(render, uid);
  }
  writer.byte(closeBrace);
  return true;
}

function writeField(render: DqlRender, at: FieldAt, start: number): void {
  const { field, column, row } = at;
  switch (column.kind) {
    case "edges":
      if (field.kind === "edge") writeEdges(render, field, column, row, start);
      return;
    case "expanded":
      for (let k = 0; k < column.fields.length; k++) {
        const inner = column.fields[k];
        const innerColumn = column.columns[k];
        if (inner !== undefined && innerColumn !== undefined) {
          writeField(render, { ...at, field: inner, column: innerColumn }, start);
        }
      }
      return;
    default:
      writeScalar(render, at, start);
  }
}

function writeEdges(
  render: DqlRender,
  field: EdgeField,
  column: EdgeFrame,
  row: number,
  start: number,
): void {
  const { child } = column;
  if (child === undefined) return;
  const list = openList(render, field, column, row, start);
  for (let e = list.from; e < list.to; e++) {
    if (isAbove(render, column, e)) continue;
    const childRow = must(column.rows[e], "each edge has its row");
    if (field.normalize) {
      writeNormalized(render, child, childRow, list.first);
      continue;
    }
    const mark = beginMember(render, list);
    const arrival = { field, facets: column.facets?.[e] };
    if (!writeNode(render, child, childRow, arrival)) render.writer.rewind(mark);
    else if (field.single) break;
  }
  closeList(render, { field, column, row }, child, list);
}

/** The edges of one node. */
interface EdgesAt {
  readonly field: EdgeField;
  readonly column: EdgeFrame;
  readonly row: number;
}

/** A list of edges that is being written. */
interface OpenList {
  /** Where the writer was before it, and where its first member begins. */
  readonly before: number;
  readonly first: number;
  /** Its part of the column. */
  readonly from: number;
  readonly to: number;
}

function openList(
  { writer }: DqlRender,
  field: EdgeField,
  column: EdgeFrame,
  row: number,
  start: number,
): OpenList {
  const before = writer.length;
  separate(writer, start);
  writer.bytes(memberNameOf(field));
  if (!field.single) writer.byte(openBracket);
  const from = must(column.offsets[row], "each row has its edges");
  const to = must(column.offsets[row + 1], "each row has its edges");
  const list = { before, first: writer.length, from, to };
  if (column.groups?.areFirst === true) writeGroupsBeside(writer, column.groups, row, list);
  return list;
}

/** The groups of a sibling that shares the list's key. */
function writeGroupsBeside(
  writer: JsonWriter,
  { plan, byRow }: NonNullable<EdgeFrame["groups"]>,
  row: number,
  list: OpenList,
): void {
  const groups = byRow[row];
  if (groups === undefined || groups.length === 0) return;
  separate(writer, list.first);
  writeGroups(writer, plan, groups);
}

function closeList(
  render: DqlRender,
  { field, column, row }: EdgesAt,
  child: Frame,
  list: OpenList,
): void {
  const { writer } = render;
  const { before, first, from, to } = list;
  if (column.groups?.areFirst === false) writeGroupsBeside(writer, column.groups, row, list);
  const { normalize } = field;
  if (to > from) writeCounts(render, child.level.fields, { count: to - from, normalize }, first);
  if (writer.length === first) writer.rewind(before);
  else if (!field.single) writer.byte(closeBracket);
}

function isAbove({ above }: DqlRender, column: EdgeFrame, edge: number): boolean {
  return above?.includes(must(column.targets[edge], "each edge has its target")) === true;
}

/** Returns where to go back to when the member turns out to be nothing. */
function beginMember({ writer }: DqlRender, list: OpenList): number {
  const mark = writer.length;
  separate(writer, list.first);
  return mark;
}

/** `writeListed`, in steps. */
export function* writeListedInSteps(
  render: DqlRender,
  renderYielder: RenderYielder,
  node: { readonly frame: Frame; readonly row: number },
  start: number,
): Steps<void> {
  const { writer } = render;
  const before = writer.length;
  separate(writer, start);
  const isWritten = yield* writeNodeInSteps(render, renderYielder, node, undefined);
  if (!isWritten) writer.rewind(before);
}

/** `writeNode`, in steps. */
function* writeNodeInSteps(
  render: DqlRender,
  renderYielder: RenderYielder,
  { frame, row }: { readonly frame: Frame; readonly row: number },
  arrival: Arrival | undefined,
): Steps<boolean> {
  const uid = must(frame.uids[row], "each row has its node");
  const start = openNode(render, uid);
  const { fields } = frame.level;
  for (let k = 0; k < fields.length; k++) {
    const field = fields[k];
    const column = frame.fields[k];
    if (field === undefined || column === undefined) continue;
    const at = { field, column, uid, row };
    if (isNested(column.kind)) yield* writeFieldInSteps(render, renderYielder, at, start);
    else writeScalar(render, at, start);
  }
  return closeNode(render, frame, uid, { start, arrival });
}

function isNested(kind: FieldAt["column"]["kind"]): boolean {
  return kind === "edges" || kind === "expanded" || kind === "groups";
}

function* writeFieldInSteps(
  render: DqlRender,
  renderYielder: RenderYielder,
  at: FieldAt,
  start: number,
): Steps<void> {
  const { field, column } = at;
  if (column.kind === "edges" && field.kind === "edge") {
    yield* writeEdgesInSteps(render, renderYielder, { field, column, row: at.row }, start);
  } else if (column.kind === "expanded") {
    for (let k = 0; k < column.fields.length; k++) {
      const inner = column.fields[k];
      const innerColumn = column.columns[k];
      if (inner === undefined || innerColumn === undefined) continue;
      yield* writeFieldInSteps(
        render,
        renderYielder,
        { ...at, field: inner, column: innerColumn },
        start,
      );
    }
  } else if (column.kind === "groups")
    yield* writeGroupsFieldInSteps(render, renderYielder, at, start);
  else writeField(render, at, start);
}

function* writeEdgesInSteps(
  render: DqlRender,
  renderYielder: RenderYielder,
  at: EdgesAt,
  start: number,
): Steps<void> {
  const { field, column, row } = at;
  const { child } = column;
  if (child === undefined) return;
  const isDeep = child.fields.some(({ kind }) => isNested(kind));
  const list = openList(render, field, column, row, start);
  for (let e = list.from; e < list.to; e++) {
    const pause = renderYielder.next();
    if (pause !== undefined) yield pause;
    if (isAbove(render, column, e)) continue;
    const childRow = must(column.rows[e], "each edge has its row");
    if (field.normalize) {
      yield* writeNormalizedInSteps(
        { render, renderYielder },
        { frame: child, row: childRow },
        list.first,
      );
      continue;
    }
    const mark = beginMember(render, list);
    const arrival = { field, facets: column.facets?.[e] };
    const isWritten = isDeep
      ? yield* writeNodeInSteps(render, renderYielder, { frame: child, row: childRow }, arrival)
      : writeNode(render, child, childRow, arrival);
    if (!isWritten) render.writer.rewind(mark);
    else if (field.single) break;
  }
  closeList(render, at, child, list);
}

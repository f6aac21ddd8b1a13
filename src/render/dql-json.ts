/**
 * Frames → the JSON of the native endpoint, exactly as dql.md 4.4, 4.7, 4.11, 4.15, 4.17, 4.20 has it: objects that
 * produce no key vanish, facets of an edge stand in the child, counts of a list are objects of their own.
 */
import type { BlockResult, ExecutionResult, EdgeFrame, Frame, Path } from "../exec/frame.ts";
import { printFloat } from "../model/float.ts";
import { printValueJson } from "../model/print-value.ts";
import type { BlockPlan, EdgeField, FieldPlan, Plan } from "../plan/plan.ts";
import {
  closeBrace,
  closeBracket,
  comma,
  keyOf,
  openBrace,
  openBracket,
  separate,
  writeEdgeFacets,
  writeFacets,
  writeGroups,
  writeScalar,
  writeUid,
  type Arrival,
  type DqlRender,
  type DqlRenderOptions,
  type FieldAt,
} from "./dql-field.ts";
import { takeWriter } from "./json-writer.ts";
import { normalizeNode } from "./normalize.ts";

/** The value of `data`. Throws Fault E_LIMIT and, for @normalize, E_QUERY. */
export function renderDql(
  plan: Plan,
  result: ExecutionResult,
  options: DqlRenderOptions,
): Uint8Array {
  const writer = takeWriter(options.limits.resultBytesMax);
  try {
    const { hugeUids } = result;
    const render: DqlRender = { writer, options, hugeUids, above: undefined };
    writer.byte(openBrace);
    const paths: [BlockPlan, Path][] = [];
    plan.blocks.forEach((block, i) => {
      const answer = result.blocks[i];
      if (answer === undefined) return;
      for (const path of answer.paths ?? []) paths.push([block, path]);
      if (block.kind !== "shortest" && block.name !== "") writeBlock(render, block, answer);
    });
    if (paths.length > 0) writePaths(render, paths);
    writer.byte(closeBrace);
    return writer.slice(0);
  } finally {
    writer.release();
  }
}

function writeBlock(render: DqlRender, block: BlockPlan, answer: BlockResult): void {
  const { writer } = render;
  // A block that is grouped and has no group has no key either (dql.md 4.15).
  if (answer.groups?.length === 0) return;
  separate(writer, 1);
  writer.text(`"${block.name}":`);
  writer.byte(openBracket);
  const start = writer.length;
  if (block.kind === "empty") writeEmptyBlock(render, answer, start);
  else if (answer.groups !== undefined && block.groupBy !== undefined) {
    writeGroups(writer, block.groupBy, answer.groups);
  } else {
    render.above = block.ignoreReflex ? [] : undefined;
    writeCounts(render, block.level.fields, answer.count ?? answer.rows.length, start);
    const isOnlyCounted = block.level.fields.every((field) => field.kind === "countUid");
    for (const row of isOnlyCounted ? [] : answer.rows) {
      if (block.normalize) writeNormalized(render, answer.frame, row, start);
      else writeListed(render, answer.frame, row, start);
    }
  }
  writer.byte(closeBracket);
}

/** Each aggregate is an object of its own, null where there was nothing (dql.md 4.9). */
function writeEmptyBlock(render: DqlRender, answer: BlockResult, start: number): void {
  const { writer } = render;
  answer.frame.level.fields.forEach((field, k) => {
    const column = answer.frame.fields[k];
    if (column?.kind !== "computed") return;
    const [value] = column.values;
    separate(writer, start);
    writer.byte(openBrace);
    writer.bytes(keyOf(field));
    writer.text(value === undefined ? "null" : printValueJson(value) || "null");
    writer.byte(closeBrace);
  });
}

/** count(uid): objects beside the nodes. */
function writeCounts(
  render: DqlRender,
  fields: readonly FieldPlan[],
  count: number,
  start: number,
): void {
  const { writer } = render;
  for (const field of fields) {
    if (field.kind !== "countUid") continue;
    separate(writer, start);
    writer.byte(openBrace);
    writer.bytes(keyOf(field));
    writer.ascii(String(count));
    writer.byte(closeBrace);
  }
}

function writeListed(render: DqlRender, frame: Frame, row: number, start: number): void {
  const { writer } = render;
  const before = writer.length;
  separate(writer, start);
  if (!writeNode(render, frame, row, undefined)) writer.rewind(before);
}

function writeNormalized(render: DqlRender, frame: Frame, row: number, start: number): void {
  for (const object of normalizeNode(render, frame, row)) {
    separate(render.writer, start);
    render.writer.bytes(object);
  }
}

/** Writes a node's object; false, with something half written, where it has no key. */
function writeNode(
  render: DqlRender,
  frame: Frame,
  row: number,
  arrival: Arrival | undefined,
): boolean {
  const { writer, above } = render;
  const uid = frame.uids[row] ?? 0;
  writer.byte(openBrace);
  const start = writer.length;
  above?.push(uid);
  const { fields } = frame.level;
  for (let k = 0; k < fields.length; k++) {
    const field = fields[k];
    const column = frame.fields[k];
    if (field !== undefined && column !== undefined) {
      writeField(render, { field, column, uid, row }, start);
    }
  }
  above?.pop();
  if (writer.length === start) return false;
  if (arrival?.facets !== undefined) writeEdgeFacets(writer, arrival, start);
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
  const { writer } = render;
  const before = writer.length;
  separate(writer, start);
  writer.bytes(keyOf(field));
  if (!field.single) writer.byte(openBracket);
  const first = writer.length;
  const from = column.offsets[row] ?? 0;
  const to = column.offsets[row + 1] ?? 0;
  for (let e = from; e < to; e++) {
    const childRow = column.rows[e] ?? 0;
    if (render.above?.includes(column.targets[e] ?? 0) === true) continue;
    if (field.normalize) {
      writeNormalized(render, child, childRow, first);
      continue;
    }
    const mark = writer.length;
    separate(writer, first);
    if (!writeNode(render, child, childRow, { field, facets: column.facets?.[e] })) {
      writer.rewind(mark);
    } else if (field.single) break;
  }
  if (to > from) writeCounts(render, child.level.fields, to - from, first);
  if (writer.length === first) writer.rewind(before);
  else if (!field.single) writer.byte(closeBracket);
}

/** `_path_`: each path as objects nested along its hops, after all blocks (dql.md 4.17). */
function writePaths(render: DqlRender, paths: readonly (readonly [BlockPlan, Path])[]): void {
  const { writer } = render;
  separate(writer, 1);
  writer.ascii('"_path_":[');
  const first = writer.length;
  for (const [block, path] of paths) {
    separate(writer, first);
    for (let i = 0; i < path.uids.length; i++) {
      const hop = i === 0 ? undefined : path.hops[i - 1];
      const field = hop === undefined ? undefined : block.level.fields[hop.field];
      if (field !== undefined) {
        writer.byte(comma);
        writer.bytes(keyOf(field));
      }
      writer.ascii('{"uid":');
      writer.uid(path.uids[i] ?? 0);
      if (i === 0) writer.ascii(`,"_weight_":${printFloat(path.weight)}`);
      if (field?.kind === "edge" && field.facets !== undefined) {
        writeFacets(writer, field.facets, hop?.facets, field.key, 0);
      }
    }
    for (let i = 0; i < path.uids.length; i++) writer.byte(closeBrace);
  }
  writer.byte(closeBracket);
}

/**
 * Frames → the JSON of the native endpoint, exactly as dql.md 4.4, 4.7, 4.11, 4.15, 4.17, 4.20 has it: objects that
 * produce no key vanish, facets of an edge stand in the child, counts of a list are objects of their own.
 */
import { Buffer } from "node:buffer";
import type {
  BlockResult,
  ExecutionResult,
  EdgeFrame,
  FieldColumn,
  Frame,
  Group,
  Path,
} from "../exec/frame.ts";
import type { Cell } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import type { Limits } from "../model/limits.ts";
import { printFloat } from "../model/float.ts";
import { printValueJson } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import type { BlockPlan, EdgeField, FacetsPlan, FieldPlan, GroupPlan, Plan } from "../plan/plan.ts";
import { takeWriter, type JsonWriter } from "./json-writer.ts";
import { normalizeNode } from "./normalize.ts";

export interface DqlRenderOptions {
  readonly limits: Limits;
  /** Every object with a key gets its uid. */
  readonly debug: boolean;
}

/** What the writing of one answer carries along. */
export interface DqlRender {
  readonly writer: JsonWriter;
  readonly options: DqlRenderOptions;
  readonly hugeUids: ReadonlyMap<number, string> | undefined;
  /** @ignorereflex: the uids above the node being written; undefined where it is off. */
  above: number[] | undefined;
}

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

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

/** A comma, unless the object or list was only opened. */
export function separate(writer: JsonWriter, start: number): void {
  if (writer.length > start) writer.byte(comma);
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
    for (const row of answer.rows) {
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

/** Facets of the edge that led to a node. */
export interface Arrival {
  readonly field: EdgeField;
  readonly facets: Facets | undefined;
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

/** One field of one node. */
export interface FieldAt {
  readonly field: FieldPlan;
  readonly column: FieldColumn;
  readonly uid: number;
  readonly row: number;
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

/** Everything but edges and expand(). */
export function writeScalar(render: DqlRender, at: FieldAt, start: number): void {
  const { writer } = render;
  const { field, column, row } = at;
  switch (column.kind) {
    case "uid":
      separate(writer, start);
      writer.bytes(keyOf(field));
      writeUid(render, at.uid);
      return;
    case "cell": {
      const cell = column.cells[row];
      if (cell !== undefined) writeCell(writer, field, cell, start);
      return;
    }
    case "cells": {
      const cells = column.cells[row];
      if (cells === undefined || field.kind !== "value") return;
      if (field.form === "all") writeLanguages(writer, field, cells, start);
      else writeListCells(writer, field, cells, start);
      return;
    }
    case "computed": {
      const value = column.values[row];
      const json = value === undefined ? "" : printValueJson(value);
      if (json === "") return;
      separate(writer, start);
      writer.bytes(keyOf(field));
      writer.text(json);
      return;
    }
    case "count":
      separate(writer, start);
      writer.bytes(keyOf(field));
      writer.ascii(String(column.counts[row] ?? 0));
      return;
    case "groups": {
      const groups = column.byRow[row];
      if (groups === undefined || groups.length === 0) return;
      if (field.kind !== "edge" || field.groupBy === undefined) return;
      separate(writer, start);
      writer.bytes(keyOf(field));
      writer.byte(openBracket);
      writeGroups(writer, field.groupBy, groups);
      writer.byte(closeBracket);
      return;
    }
    default:
      return;
  }
}

function writeUid(render: DqlRender, uid: number): void {
  const huge = render.hugeUids?.get(uid);
  if (huge === undefined) render.writer.uid(uid);
  else render.writer.ascii(`"${huge}"`);
}

const keys = new WeakMap<FieldPlan, Buffer>();

/** `"key":`, made once for each field of a plan. Keys are not escaped (dql.md 4.20). */
export function keyOf(field: FieldPlan): Uint8Array {
  const known = keys.get(field);
  if (known !== undefined) return known;
  const key = Buffer.from(`"${field.key}":`);
  keys.set(field, key);
  return key;
}

function facetsOf(field: FieldPlan): FacetsPlan | undefined {
  return field.kind === "value" || field.kind === "edge" ? field.facets : undefined;
}

function writeCell(writer: JsonWriter, field: FieldPlan, cell: Cell, start: number): void {
  if (cell.json.length === 0) return;
  const facets = facetsOf(field);
  if (facets !== undefined) writeFacets(writer, facets, cell.facets, field.key, start);
  separate(writer, start);
  writer.bytes(keyOf(field));
  writer.bytes(cell.json);
}

/** `name@*`: a key for each tag. */
function writeLanguages(
  writer: JsonWriter,
  field: FieldPlan,
  cells: readonly Cell[],
  start: number,
): void {
  const facets = facetsOf(field);
  // The facets of one value stand under the plain key, as in the reference; those of further values under their tags.
  let isFirst = true;
  for (const cell of cells) {
    if (cell.json.length === 0) continue;
    const key = cell.language === "" ? field.key : `${field.key}@${cell.language}`;
    if (facets !== undefined && cell.facets !== undefined) {
      writeFacets(writer, facets, cell.facets, isFirst ? field.key : key, start);
      isFirst = false;
    }
    separate(writer, start);
    writer.text(`"${key}":`);
    writer.bytes(cell.json);
  }
}

function writeListCells(
  writer: JsonWriter,
  field: FieldPlan,
  cells: readonly Cell[],
  start: number,
): void {
  const printed = cells.filter((cell) => cell.json.length > 0);
  if (printed.length === 0) return;
  const facets = facetsOf(field);
  if (facets !== undefined) writeListFacets(writer, facets, printed, field.key, start);
  separate(writer, start);
  writer.bytes(keyOf(field));
  writer.byte(openBracket);
  const first = writer.length;
  for (const cell of printed) {
    separate(writer, first);
    writer.bytes(cell.json);
  }
  writer.byte(closeBracket);
}

/** The facets asked for, under the keys they get. */
export function shownFacets(
  plan: FacetsPlan,
  facets: Facets | undefined,
  key: string,
): readonly { readonly key: string; readonly value: Value }[] {
  if (facets === undefined) return [];
  if (plan.all) return facets.map((facet) => ({ key: `${key}|${facet.key}`, value: facet.value }));
  const shown: { key: string; value: Value }[] = [];
  for (const facet of facets) {
    // Of a facet that is asked for twice the alias wins, as in the reference.
    const asked = plan.fields.filter((field) => field.key === facet.key);
    const field = asked.find(({ alias }) => alias !== undefined) ?? asked[0];
    if (field === undefined) continue;
    shown.push({ key: field.alias ?? `${key}|${facet.key}`, value: facet.value });
  }
  return shown;
}

function writeFacets(
  writer: JsonWriter,
  plan: FacetsPlan,
  facets: Facets | undefined,
  key: string,
  start: number,
): void {
  for (const shown of shownFacets(plan, facets, key)) {
    const json = printValueJson(shown.value);
    if (json === "") continue;
    separate(writer, start);
    writer.text(`"${shown.key}":${json}`);
  }
}

export function writeEdgeFacets(writer: JsonWriter, arrival: Arrival, start: number): void {
  const plan = arrival.field.facets;
  if (plan !== undefined) writeFacets(writer, plan, arrival.facets, arrival.field.key, start);
}

/** Facets of list values: place in the list → value. */
function writeListFacets(
  writer: JsonWriter,
  plan: FacetsPlan,
  cells: readonly Cell[],
  key: string,
  start: number,
): void {
  const byKey = new Map<string, string[]>();
  cells.forEach((cell, i) => {
    for (const shown of shownFacets(plan, cell.facets, key)) {
      const entries = byKey.get(shown.key) ?? [];
      entries.push(`"${i}":${printValueJson(shown.value)}`);
      byKey.set(shown.key, entries);
    }
  });
  for (const [shownKey, entries] of [...byKey].sort(([a], [b]) => (a < b ? -1 : 1))) {
    separate(writer, start);
    writer.text(`"${shownKey}":{${entries.join(",")}}`);
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

function writeGroups(writer: JsonWriter, plan: GroupPlan, groups: readonly Group[]): void {
  writer.ascii('{"@groupby":[');
  const first = writer.length;
  for (const group of groups) {
    separate(writer, first);
    writer.byte(openBrace);
    const start = writer.length;
    plan.keys.forEach(({ key }, i) => {
      const value = group.keys[i];
      if (value === undefined) return;
      separate(writer, start);
      writer.text(`"${key}":`);
      if (typeof value === "number") writer.uid(value);
      else writer.bytes(value.json);
    });
    plan.aggregates.forEach((aggregate, i) => {
      const value = group.aggregates[i];
      const json =
        aggregate.kind === "count"
          ? String(group.members)
          : value === undefined
            ? ""
            : printValueJson(value);
      if (json === "") return;
      separate(writer, start);
      writer.text(`"${aggregate.key}":${json}`);
    });
    writer.byte(closeBrace);
  }
  writer.ascii("]}");
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

/** What one field of one node writes, but for edges: keys, values, facets, groups (reference/dql 4.11, 4.15, 4.20). */
import { must } from "../base/assert.ts";
import { Buffer } from "node:buffer";
import type { Steps } from "../base/maybe.ts";
import type { FieldColumn, Group, GroupsColumn } from "../exec/frame.ts";
import type { Cell } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import type { Limits } from "../model/limits.ts";
import { printValueJson, quoteJson } from "../model/print-value.ts";
import type { Value } from "../model/value.ts";
import type { EdgeField, FacetsPlan, FieldPlan, GroupPlan } from "../plan/plan.ts";
import type { JsonWriter } from "./json-writer.ts";
import type { RenderYielder } from "./render-yielder.ts";

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

/** Facets of the edge that led to a node. */
export interface Arrival {
  readonly field: EdgeField;
  readonly facets: Facets | undefined;
}

/** One field of one node. */
export interface FieldAt {
  readonly field: FieldPlan;
  readonly column: FieldColumn;
  readonly uid: number;
  readonly row: number;
}

export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const comma = 0x2c;

/** A comma, unless the object or list was only opened. */
export function separate(writer: JsonWriter, start: number): void {
  if (writer.length > start) writer.byte(comma);
}

/** Everything but edges and expand(). */
export function writeScalar(render: DqlRender, at: FieldAt, start: number): void {
  const { writer } = render;
  const { field, column, row } = at;
  switch (column.kind) {
    case "uid":
      separate(writer, start);
      writer.bytes(memberNameOf(field));
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
      writer.bytes(memberNameOf(field));
      writer.text(json);
      return;
    }
    case "count":
      separate(writer, start);
      writer.bytes(memberNameOf(field));
      writer.ascii(String(must(column.counts[row], "each row has its count")));
      return;
    case "groups": {
      const groups = groupsOf(column, row);
      if (groups === undefined || field.kind !== "edge" || field.groupBy === undefined) return;
      separate(writer, start);
      writer.bytes(memberNameOf(field));
      writer.byte(openBracket);
      writeGroups(writer, field.groupBy, groups);
      writer.byte(closeBracket);
      return;
    }
    default:
      return;
  }
}

/** The groups of a row, where they are printed at their own field. */
function groupsOf({ byRow, areBeside }: GroupsColumn, row: number): readonly Group[] | undefined {
  const groups = byRow[row];
  return groups === undefined || groups.length === 0 || areBeside === true ? undefined : groups;
}

/** The groups of a field, in steps. */
export function* writeGroupsFieldInSteps(
  { writer }: DqlRender,
  renderYielder: RenderYielder,
  { field, column, row }: FieldAt,
  start: number,
): Steps<void> {
  const groups = column.kind === "groups" ? groupsOf(column, row) : undefined;
  if (groups === undefined || field.kind !== "edge" || field.groupBy === undefined) return;
  separate(writer, start);
  writer.bytes(memberNameOf(field));
  writer.byte(openBracket);
  yield* writeGroupsInSteps(writer, renderYielder, field.groupBy, groups);
  writer.byte(closeBracket);
}

export function writeUid(render: DqlRender, uid: number): void {
  const huge = render.hugeUids?.get(uid);
  if (huge === undefined) render.writer.uid(uid);
  else render.writer.ascii(`"${huge}"`);
}

const keys = new WeakMap<FieldPlan, Buffer>();

/** `"key":`, made once for each field of a plan. Keys are not escaped (reference/dql 4.20). */
export function memberNameOf(field: FieldPlan): Uint8Array {
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
  if (cell.jsonLength === 0) return;
  const facets = facetsOf(field);
  if (facets !== undefined) writeFacets(writer, facets, cell.facets, field.key, start);
  separate(writer, start);
  writer.bytes(memberNameOf(field));
  writer.cell(cell);
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
    if (cell.jsonLength === 0) continue;
    const key = cell.language === "" ? field.key : `${field.key}@${cell.language}`;
    if (facets !== undefined && cell.facets !== undefined) {
      writeFacets(writer, facets, cell.facets, isFirst ? field.key : key, start);
      isFirst = false;
    }
    separate(writer, start);
    // A store may hold tags from before they were checked.
    writer.text(`${quoteJson(key)}:`);
    writer.cell(cell);
  }
}

function writeListCells(
  writer: JsonWriter,
  field: FieldPlan,
  cells: readonly Cell[],
  start: number,
): void {
  const printed = cells.filter((cell) => cell.jsonLength > 0);
  if (printed.length === 0) return;
  const facets = facetsOf(field);
  if (facets !== undefined) writeListFacets(writer, facets, printed, field.key, start);
  separate(writer, start);
  writer.bytes(memberNameOf(field));
  writer.byte(openBracket);
  const first = writer.length;
  for (const cell of printed) {
    separate(writer, first);
    writer.cell(cell);
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

export function writeFacets(
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

export function writeGroups(writer: JsonWriter, plan: GroupPlan, groups: readonly Group[]): void {
  writer.ascii('{"@groupby":[');
  const first = writer.length;
  for (const group of groups) {
    separate(writer, first);
    writeGroup(writer, plan, group);
  }
  writer.ascii("]}");
}

/** `writeGroups`, in steps. */
export function* writeGroupsInSteps(
  writer: JsonWriter,
  renderYielder: RenderYielder,
  plan: GroupPlan,
  groups: readonly Group[],
): Steps<void> {
  writer.ascii('{"@groupby":[');
  const first = writer.length;
  for (const group of groups) {
    const pause = renderYielder.next();
    if (pause !== undefined) yield pause;
    separate(writer, first);
    writeGroup(writer, plan, group);
  }
  writer.ascii("]}");
}

function writeGroup(writer: JsonWriter, plan: GroupPlan, group: Group): void {
  writer.byte(openBrace);
  const start = writer.length;
  plan.keys.forEach(({ key }, i) => {
    const value = group.keys[i];
    if (value === undefined) return;
    separate(writer, start);
    writer.text(`"${key}":`);
    if (typeof value === "number") writer.uid(value);
    else writer.cell(value);
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

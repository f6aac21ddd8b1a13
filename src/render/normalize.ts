/** @normalize: a node as flat objects, one for each way through its branches (dql.md 4.13). */
import { Buffer } from "node:buffer";
import type { EdgeFrame, Frame } from "../exec/frame.ts";
import { Fault } from "../model/fault.ts";
import { nameLimit } from "../model/limits.ts";
import type { EdgeField, FieldPlan } from "../plan/plan.ts";
import { shownFacets, writeScalar, type Arrival, type DqlRender } from "./dql-field.ts";
import { printValueJson } from "../model/print-value.ts";

/** One key with its JSON; several values where the same key came from several levels. */
interface Entry {
  readonly key: string;
  readonly json: readonly string[];
}

type Flat = readonly Entry[];

/** The objects of a node, as JSON. Throws Fault E_QUERY over the limit of rows. */
export function normalizeNode(render: DqlRender, frame: Frame, row: number): readonly Buffer[] {
  const { rows } = flatten(render, frame, row, undefined);
  return rows.filter((flat) => flat.length > 0).map(printFlat);
}

function printFlat(flat: Flat): Buffer {
  const members = flat.map(({ key, json }) => {
    const [only = "null"] = json;
    return `"${key}":${json.length === 1 ? only : `[${json.join(",")}]`}`;
  });
  return Buffer.from(`{${members.join(",")}}`);
}

function flatten(
  render: DqlRender,
  frame: Frame,
  row: number,
  arrival: Arrival | undefined,
): { readonly rows: readonly Flat[] } {
  const uid = frame.uids[row] ?? 0;
  const own: Entry[] = [];
  const branches: (readonly Flat[])[] = [];
  render.above?.push(uid);
  const visit = (field: FieldPlan, column: Frame["fields"][number] | undefined): void => {
    if (column === undefined) return;
    if (column.kind === "expanded") {
      column.fields.forEach((inner, k) => visit(inner, column.columns[k]));
    } else if (column.kind === "edges" && field.kind === "edge") {
      const branch = flattenEdges(render, field, column, row);
      if (branch.length > 0) branches.push(branch);
    } else if (field.aliased || field.kind === "uid") {
      own.push(...scalarEntries(render, { field, column, uid, row }));
    }
  };
  frame.level.fields.forEach((field, k) => visit(field, frame.fields[k]));
  render.above?.pop();
  if (own.length > 0 || branches.length > 0) own.push(...facetEntries(arrival));
  if (branches.length === 0) return { rows: [own] };
  let rows: readonly Flat[] = [own];
  for (const branch of branches) rows = cross(render, rows, branch);
  return { rows: rows.map((flat) => sortKeys(flat)) };
}

/** Rows of all of a field's targets, one after another. */
function flattenEdges(
  render: DqlRender,
  field: EdgeField,
  column: EdgeFrame,
  row: number,
): readonly Flat[] {
  const { child } = column;
  if (child === undefined) return [];
  const rows: Flat[] = [];
  for (let e = column.offsets[row] ?? 0; e < (column.offsets[row + 1] ?? 0); e++) {
    if (render.above?.includes(column.targets[e] ?? 0) === true) continue;
    const arrival = { field, facets: column.facets?.[e] };
    for (const flat of flatten(render, child, column.rows[e] ?? 0, arrival).rows) {
      if (flat.length > 0) rows.push(flat);
    }
  }
  rows.push(...countRows(child, column, row));
  return rows;
}

/** A count(uid) with an alias is a row of its own beside those of the nodes that it counts. */
function countRows({ level }: Frame, { offsets }: EdgeFrame, row: number): readonly Flat[] {
  const count = (offsets[row + 1] ?? 0) - (offsets[row] ?? 0);
  if (count === 0) return [];
  return level.fields
    .filter((field) => field.kind === "countUid" && field.aliased)
    .map(({ key }) => [{ key, json: [String(count)] }]);
}

function cross(render: DqlRender, left: readonly Flat[], right: readonly Flat[]): readonly Flat[] {
  const rows: Flat[] = [];
  for (const a of left) {
    for (const b of right) {
      if (rows.length >= render.options.limits.normalizeNodeMax) {
        const text = "Couldn't evaluate @normalize directive - too many results";
        throw new Fault("E_QUERY", nameLimit("normalize-node", text));
      }
      rows.push([...a, ...b]);
    }
  }
  return rows;
}

/** Keys in order, equal ones merged; the plain uid goes where objects were flattened. */
function sortKeys(flat: Flat): Flat {
  const merged = new Map<string, readonly string[]>();
  for (const { key, json } of flat) {
    if (key !== "uid") merged.set(key, [...(merged.get(key) ?? []), ...json]);
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, json]) => ({ key, json }));
}

/** What a field writes, taken apart into keys again. */
function scalarEntries(render: DqlRender, at: Parameters<typeof writeScalar>[1]): readonly Entry[] {
  const { writer } = render;
  const start = writer.length;
  writeScalar(render, at, start);
  if (writer.length === start) return [];
  const text = writer.slice(start).toString();
  writer.rewind(start);
  return splitMembers(text);
}

/** Cuts `"a":1,"b":[2]` at the commas between members. */
function splitMembers(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  let depth = 0;
  let isQuoted = false;
  let from = 0;
  let colon = -1;
  const close = (end: number): void => {
    entries.push({ key: text.slice(from + 1, colon - 1), json: [text.slice(colon + 1, end)] });
    from = end + 1;
    colon = -1;
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isQuoted) {
      if (character === "\\") i++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    else if (character === ":" && depth === 0 && colon < 0) colon = i;
    else if (character === "," && depth === 0) close(i);
  }
  close(text.length);
  return entries;
}

function facetEntries(arrival: Arrival | undefined): readonly Entry[] {
  const plan = arrival?.field.facets;
  if (arrival === undefined || plan === undefined) return [];
  return shownFacets(plan, arrival.facets, arrival.field.key).map(({ key, value }) => ({
    key,
    json: [printValueJson(value)],
  }));
}

/** @normalize: a node as flat objects, one for each way through its branches (reference/dql 4.13). */
import { must } from "../base/assert.ts";
import type { Steps } from "../base/maybe.ts";
import type { EdgeFrame, FieldColumn, Frame } from "../exec/frame.ts";
import { Fault } from "../model/fault.ts";
import { makeSizeFault, nameLimit } from "../model/limits.ts";
import type { Limits } from "../model/limits.ts";
import type { EdgeField, FieldPlan } from "../plan/plan.ts";
import {
  separate,
  shownFacets,
  writeScalar,
  type Arrival,
  type DqlRender,
  type FieldAt,
} from "./dql-field.ts";
import { printValueJson } from "../model/print-value.ts";
import type { RenderYielder } from "./render-yielder.ts";

/** One key with its JSON; several values where the same key came from several levels. */
interface Entry {
  readonly key: string;
  readonly json: readonly string[];
}

/** A flat object that is being put together. */
interface Flat {
  readonly entries: readonly Entry[];
  /** Characters that its values come to, at least: what is too much is known before it is written. */
  readonly size: number;
}

/** Where the objects of a node go. `renderYielder`: undefined for an answer that is written at once. */
interface Flattening {
  readonly render: DqlRender;
  readonly renderYielder: RenderYielder | undefined;
}

/**
 * Writes the objects of a node as members of the list that began at `start`. Throws Fault E_QUERY over the limit of
 * rows, E_LIMIT over that of the answer's bytes.
 */
export function* writeNormalizedInSteps(
  at: Flattening,
  node: { readonly frame: Frame; readonly row: number },
  start: number,
): Steps<void> {
  const { writer } = at.render;
  yield* flatten(at, { ...node, arrival: undefined }, ({ entries }) => {
    if (entries.length === 0) return;
    separate(writer, start);
    writer.text(printFlat(entries));
  });
}

function printFlat(entries: readonly Entry[]): string {
  const members = entries.map(({ key, json }) => {
    const [only = "null"] = json;
    return `"${key}":${json.length === 1 ? only : `[${json.join(",")}]`}`;
  });
  return `{${members.join(",")}}`;
}

function makeFlat(entries: readonly Entry[]): Flat {
  let size = 0;
  for (const { key, json } of entries) {
    if (key !== "uid") for (const one of json) size += one.length;
  }
  return { entries, size };
}

/** Holds the rows of one list against the limits. */
class RowCount {
  readonly #limits: Limits;
  #count = 0;
  #size = 0;

  constructor({ options }: DqlRender) {
    this.#limits = options.limits;
  }

  /** Each row stands in the answer at least once, so that too many here are too many there. */
  add(size: number): void {
    const { normalizeNodeMax, resultBytesMax } = this.#limits;
    if (++this.#count > normalizeNodeMax) {
      const text = "Couldn't evaluate @normalize directive - too many results";
      throw new Fault("E_QUERY", nameLimit("normalize-node", text));
    }
    this.#size += size;
    if (this.#size > resultBytesMax) throw makeSizeFault(this.#size, resultBytesMax);
  }
}

/** A node, and how it was reached. */
interface NodeAt {
  readonly frame: Frame;
  readonly row: number;
  readonly arrival: Arrival | undefined;
}

type FlatSink = (row: Flat) => void;

/** Gives the rows of a node and of what is below it, one after another. */
function* flatten(at: Flattening, { frame, row, arrival }: NodeAt, sink: FlatSink): Steps<void> {
  const { render } = at;
  const uid = must(frame.uids[row], "each row has its node");
  const own: Entry[] = [];
  const edges: { readonly field: EdgeField; readonly column: EdgeFrame }[] = [];
  const visit = (field: FieldPlan, column: FieldColumn | undefined): void => {
    if (column === undefined) return;
    if (column.kind === "expanded") {
      column.fields.forEach((inner, k) => visit(inner, column.columns[k]));
    } else if (column.kind === "edges" && field.kind === "edge") edges.push({ field, column });
    else if (field.aliased || field.kind === "uid") {
      addScalar(render, { field, column, uid, row }, own);
    }
  };
  frame.level.fields.forEach((field, k) => visit(field, frame.fields[k]));
  const branches: (readonly Flat[])[] = [];
  render.above?.push(uid);
  for (const { field, column } of edges) {
    const branch = yield* flattenEdges(at, field, column, row);
    if (branch.length > 0) branches.push(branch);
  }
  render.above?.pop();
  if (own.length > 0 || branches.length > 0) own.push(...facetEntries(arrival));
  if (branches.length === 0) sink(makeFlat(own));
  else yield* multiply(at, makeFlat(own), branches, sink);
}

/** Rows of all of a field's targets, one after another. */
function* flattenEdges(
  at: Flattening,
  field: EdgeField,
  column: EdgeFrame,
  row: number,
): Steps<readonly Flat[]> {
  const { render, renderYielder } = at;
  const { child } = column;
  if (child === undefined) return [];
  const rows: Flat[] = [];
  const count = new RowCount(render);
  const add = (flat: Flat): void => {
    if (flat.entries.length === 0) return;
    count.add(flat.size);
    rows.push(flat);
  };
  for (
    let e = must(column.offsets[row], "each row has its edges");
    e < must(column.offsets[row + 1], "each row has its edges");
    e++
  ) {
    const pause = renderYielder?.next();
    if (pause !== undefined) yield pause;
    if (render.above?.includes(must(column.targets[e], "each edge has its target")) === true)
      continue;
    const arrival = { field, facets: column.facets?.[e] };
    yield* flatten(
      at,
      { frame: child, row: must(column.rows[e], "each edge has its row"), arrival },
      add,
    );
  }
  countRows(child, column, row).forEach(add);
  return rows;
}

/** A count(uid) with an alias is a row of its own beside those of the nodes that it counts. */
function countRows({ level }: Frame, { offsets }: EdgeFrame, row: number): readonly Flat[] {
  const count =
    must(offsets[row + 1], "each row has its edges") - must(offsets[row], "each row has its edges");
  if (count === 0) return [];
  return level.fields
    .filter((field) => field.kind === "countUid" && field.aliased)
    .map(({ key }) => makeFlat([{ key, json: [String(count)] }]));
}

/** Every way to take one row of each branch; the rows of the last one are given away as they come. */
function* multiply(
  at: Flattening,
  own: Flat,
  branches: readonly (readonly Flat[])[],
  sink: FlatSink,
): Steps<void> {
  let left: readonly Flat[] = [own];
  for (const [i, branch] of branches.entries()) {
    const isLast = i === branches.length - 1;
    const rows: Flat[] = [];
    const count = new RowCount(at.render);
    for (const a of left) {
      for (const b of branch) {
        const pause = at.renderYielder?.next();
        if (pause !== undefined) yield pause;
        const size = a.size + b.size;
        count.add(size);
        const entries = [...a.entries, ...b.entries];
        if (isLast) sink({ entries: sortKeys(entries), size });
        else rows.push({ entries, size });
      }
    }
    left = rows;
  }
}

/** Keys in order, equal ones merged; the plain uid goes where objects were flattened. Sorts in place. */
function sortKeys(entries: Entry[]): readonly Entry[] {
  entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  let count = 0;
  for (const entry of entries) {
    if (entry.key === "uid") continue;
    const last = entries[count - 1];
    if (last?.key === entry.key) {
      entries[count - 1] = { key: entry.key, json: [...last.json, ...entry.json] };
    } else entries[count++] = entry;
  }
  entries.length = count;
  return entries;
}

/** What a field writes, taken apart into keys again. */
function addScalar(render: DqlRender, at: FieldAt, entries: Entry[]): void {
  const { writer } = render;
  const start = writer.length;
  writeScalar(render, at, start);
  if (writer.length === start) return;
  const text = writer.textFrom(start);
  writer.rewind(start);
  splitMembers(text, entries);
}

/** Cuts `"a":1,"b":[2]` at the commas between members. */
function splitMembers(text: string, entries: Entry[]): void {
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
}

function facetEntries(arrival: Arrival | undefined): readonly Entry[] {
  const plan = arrival?.field.facets;
  if (arrival === undefined || plan === undefined) return [];
  return shownFacets(plan, arrival.facets, arrival.field.key).map(({ key, value }) => ({
    key,
    json: [printValueJson(value)],
  }));
}

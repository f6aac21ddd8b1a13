/** A level's read in slices, so that a large one lets other requests run. */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Cell, Column, EdgeColumn, ColumnRequest } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import type { UidSet } from "../model/uid.ts";
import type { Run } from "./run.ts";

type CellColumn = Extract<Column, { kind: "cells" }>;

/** Rows read between two looks at the clock: with a hundred edges each some 3 ms. */
export const sliceRows = 512;

/**
 * `reader.readLevel` for the nodes of a level. One call up to `sliceRows` of them; beyond, the columns of the slices are
 * put together, which costs some 5 ns a cell or edge.
 */
export function readRows(
  run: Run,
  uids: UidSet,
  requests: readonly ColumnRequest[],
): MaybePromise<readonly Column[]> {
  if (requests.length === 0) return [];
  if (uids.length > sliceRows) return readSlices(run, uids, requests);
  const columns = run.reader.readLevel(uids, requests);
  if (columns instanceof Promise) {
    return columns.then((later) => charge(run, uids.length * requests.length, later));
  }
  return charge(run, uids.length * requests.length, columns);
}

/** Looks at the time, too: a request may have thousands of small levels. */
function charge(
  run: Run,
  cells: number,
  columns: readonly Column[],
): MaybePromise<readonly Column[]> {
  run.budget.chargeBytes(edgeBytesOf(columns));
  const pause = run.yielder.checkSmall(cells + countEdges(columns));
  return pause === undefined ? columns : pause.then(() => columns);
}

async function readSlices(
  run: Run,
  uids: UidSet,
  requests: readonly ColumnRequest[],
): Promise<readonly Column[]> {
  const slices: (readonly Column[])[] = [];
  for (let from = 0; from < uids.length; from += sliceRows) {
    const read = run.reader.readLevel(uids.subarray(from, from + sliceRows), requests);
    const slice = read instanceof Promise ? await read : read;
    slices.push(slice);
    run.budget.chargeBytes(columnBytes(slice));
    const pause = run.yielder.check(sliceRows * requests.length + countEdges(slice));
    if (pause !== undefined) await pause;
  }
  return requests.map((_, w) => joinColumns(slices.map((slice) => slice[w])));
}

function countEdges(columns: readonly Column[]): number {
  let count = 0;
  for (const column of columns) if (column.kind === "edges") count += column.targets.length;
  return count;
}

/** A target, its row in the level below, and what is made of both on the way. */
const edgeBytes = 24;
const facetsBytes = 64;

function edgeBytesOf(columns: readonly Column[]): number {
  let bytes = 0;
  for (const column of columns) {
    if (column.kind !== "edges") continue;
    const each = column.facets === undefined ? edgeBytes : edgeBytes + facetsBytes;
    bytes += column.targets.length * each;
  }
  return bytes;
}

const rowBytes = 16;
/** A cell as an object, beside what it prints. */
const cellBytes = 128;

/** Memory that columns hold, about. */
export function columnBytes(columns: readonly Column[]): number {
  let bytes = edgeBytesOf(columns);
  for (const column of columns) {
    if (column.kind === "edges") bytes += column.offsets.length * 4;
    else if (column.kind === "count") bytes += column.counts.length * 8;
    else bytes += cellBytesOf(column);
  }
  return bytes;
}

function cellBytesOf({ cells }: CellColumn): number {
  let bytes = cells.length * rowBytes;
  for (let i = 0; i < cells.length; i++) {
    const row = cells[i];
    if (row === undefined) continue;
    for (const cell of row) bytes += cellBytes + cell.jsonLength;
  }
  return bytes;
}

function joinColumns(parts: readonly (Column | undefined)[]): Column {
  const [first] = parts;
  switch (first?.kind) {
    case "count": {
      const counts = parts.map((part) => (part?.kind === "count" ? part.counts : noNumbers));
      return { kind: "count", counts: joinNumbers(counts) };
    }
    case "edges":
      return joinEdges(parts.filter((part) => part?.kind === "edges"));
    default:
      return { kind: "cells", cells: joinCells(parts.filter((part) => part?.kind === "cells")) };
  }
}

function joinCells(parts: readonly CellColumn[]): CellColumn["cells"] {
  const rowCount = parts.reduce((sum, part) => sum + part.cells.length, 0);
  const joined = makeArray<readonly Cell[] | undefined>(rowCount);
  let at = 0;
  for (const { cells } of parts) {
    for (let i = 0; i < cells.length; i++) joined[at++] = cells[i];
  }
  return joined;
}

const noNumbers = new Float64Array(0);

function joinNumbers(parts: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function joinEdges(parts: readonly EdgeColumn[]): EdgeColumn {
  const rowCount = parts.reduce((sum, part) => sum + part.offsets.length - 1, 0);
  const offsets = new Uint32Array(rowCount + 1);
  let row = 0;
  let base = 0;
  for (const part of parts) {
    for (let i = 1; i < part.offsets.length; i++)
      offsets[++row] = base + must(part.offsets[i], "each row has its edges");
    base += part.targets.length;
  }
  const targets = joinNumbers(parts.map((part) => part.targets));
  return { kind: "edges", offsets, targets, facets: joinFacets(parts) };
}

function joinFacets(parts: readonly EdgeColumn[]): readonly (Facets | undefined)[] | undefined {
  if (parts.every((part) => part.facets === undefined)) return undefined;
  const joined: (Facets | undefined)[] = [];
  for (const part of parts) {
    for (let e = 0; e < part.targets.length; e++) joined.push(part.facets?.[e]);
  }
  return joined;
}

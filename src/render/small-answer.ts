/**
 * Whether an answer is surely small, for the many that are: found in one pass over its columns, which makes no objects.
 * What is not surely small is measured (`answer-size.ts`).
 */
import { must } from "../base/assert.ts";
import type { ExecutionResult, FieldColumn, Frame } from "../exec/frame.ts";
import type { Cell } from "../graph/reader.ts";

/** Answers of so many objects take less than a slice of time. */
export const shownAtOnce = 1000;
/** And those of so many bytes in values: long texts are few objects. */
export const bytesAtOnce = 256 * 1024;

/** Frames that are looked at; one that several edges lead to counts each time. */
const visitsMax = 64;

/** No more than `shownAtOnce` objects, nodes and edges, and `bytesAtOnce` of values. */
export function isSurelySmall({ blocks }: ExecutionResult): boolean {
  tally.count = tally.shown = tally.bytes = tally.visits = 0;
  for (let b = 0; b < blocks.length; b++) {
    const { frame, rows, groups } = must(blocks[b], "within bounds");
    tally.count += groups?.length ?? 0;
    if (rows.length > shownAtOnce || frame.uids.length > shownAtOnce) return false;
    tally.shown += rows.length;
    // Rows of a block may name a node several times.
    if (!addFrame(frame, rows.length > 0 ? mostAlike(rows) : 1)) return false;
  }
  return tally.shown <= shownAtOnce && tally.bytes <= bytesAtOnce;
}

const tally = { count: 0, shown: 0, bytes: 0, visits: 0 };

/** `ways`: at most so many lead to one of its nodes. False: it is not surely small. */
function addFrame({ uids, fields, level }: Frame, ways: number): boolean {
  tally.count += uids.length;
  tally.visits++;
  if (isOver()) return false;
  for (let k = 0; k < fields.length; k++) {
    const column = fields[k];
    if (column === undefined) continue;
    if (!addColumn(column, ways)) return false;
    const field = level.fields[k];
    // A few nodes are many rows when their branches are multiplied.
    if (field?.kind === "edge" && field.normalize) return false;
  }
  return true;
}

function addColumn(column: FieldColumn, ways: number): boolean {
  switch (column.kind) {
    case "edges": {
      const { targets, rows, child } = column;
      tally.count += targets.length;
      // Each edge shows what it leads to once for each way to where it begins.
      tally.shown += targets.length * ways;
      if (column.groups !== undefined || isOver()) return false;
      return child === undefined || addFrame(child, ways * mostAlike(rows));
    }
    case "cell":
      addCells(column.cells);
      return true;
    case "cells":
      for (let i = 0; i < column.cells.length; i++) addCells(column.cells[i]);
      return true;
    case "expanded":
    case "groups":
      return false;
    default:
      return true;
  }
}

function isOver(): boolean {
  return tally.count > shownAtOnce || tally.shown > shownAtOnce || tally.visits > visitsMax;
}

function addCells(cells: readonly (Cell | undefined)[] | undefined): void {
  if (cells === undefined) return;
  for (let i = 0; i < cells.length; i++) tally.bytes += cells[i]?.jsonLength ?? 0;
}

/** How often each row was seen; all zero between two calls. */
const seen = new Uint16Array(shownAtOnce + 1);

/** How often the most frequent of at most `shownAtOnce` rows occurs, at least 1. */
function mostAlike(rows: ArrayLike<number>): number {
  let most = 1;
  for (let i = 0; i < rows.length; i++) {
    const row = must(rows[i], "within bounds");
    // A row beyond the table: any of them may be the same one.
    if (row > shownAtOnce) most = rows.length;
    else {
      const count = must(seen[row], "a row of the table") + 1;
      seen[row] = count;
      if (count > most) most = count;
    }
  }
  for (let i = 0; i < rows.length; i++) seen[must(rows[i], "within bounds")] = 0;
  return most;
}

/** When the writing of a large answer lets other requests run (reference/dql 5.3), and what it charges. */
import { drive } from "../base/maybe.ts";
import type { ExecutionResult, GroupsColumn } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import type { Cell } from "../graph/reader.ts";
import { countShown, listFrames } from "./answer-size.ts";
import { bytesAtOnce, isSurelySmall, shownAtOnce } from "./small-answer.ts";

/** Worth writing in steps. */
export function isLarge(result: ExecutionResult): boolean {
  if (isSurelySmall(result)) return false;
  let count = 0;
  let bytes = 0;
  let isNested = false;
  for (const { frame, groups } of result.blocks) {
    count += groups?.length ?? 0;
    for (const one of listFrames(frame)) {
      const { uids, fields, level } = one;
      count += uids.length;
      for (const column of fields) {
        if (column.kind === "groups") count += countGroups(column);
        else if (column.kind === "edges") count += column.targets.length;
        else if (column.kind !== "expanded") {
          if (column.kind === "cell") bytes += cellsBytes(column.cells);
          else if (column.kind === "cells") bytes += listsBytes(column.cells);
          continue;
        }
        if (one !== frame || column.kind === "expanded") isNested = true;
      }
      // A few nodes are many rows when their branches are multiplied.
      if (level.fields.some((field) => field.kind === "edge" && field.normalize)) return true;
    }
  }
  if (bytes > bytesAtOnce) return true;
  if (count > shownAtOnce || !isNested) return count > shownAtOnce;
  return Number(drive(countShown(result, undefined))) > shownAtOnce;
}

function countGroups({ byRow }: GroupsColumn): number {
  return byRow.reduce((sum, groups) => sum + (groups?.length ?? 0), 0);
}

function cellsBytes(cells: readonly (Cell | undefined)[]): number {
  // More of them are worth steps by their number.
  if (cells.length > shownAtOnce) return 0;
  let bytes = 0;
  for (let i = 0; i < cells.length; i++) bytes += cells[i]?.jsonLength ?? 0;
  return bytes;
}

function listsBytes(lists: readonly (readonly Cell[] | undefined)[]): number {
  let bytes = 0;
  for (const list of lists) if (list !== undefined) bytes += cellsBytes(list);
  return bytes;
}

/** Members between two looks at the time, and bytes. */
const membersPerLook = 128;
const bytesPerLook = 1024 * 1024;

/** The members that were written of one answer, and who says when to wait. */
export class RenderYielder {
  readonly yielder: Yielder;
  /** What grows while the answer is written. */
  readonly #written: { readonly length: number };
  #count = 0;
  #charged = 0;

  constructor(yielder: Yielder, written: { readonly length: number }) {
    this.yielder = yielder;
    this.#written = written;
  }

  /** A promise: wait for it before the next member. */
  next(): Promise<void> | undefined {
    const isTime =
      ++this.#count % membersPerLook === 0 || this.#written.length - this.#charged >= bytesPerLook;
    return isTime ? this.#look() : undefined;
  }

  #look(): Promise<void> | undefined {
    const more = this.#written.length - this.#charged;
    if (more > 0) {
      this.#charged += more;
      this.yielder.budget.chargeBytes(more);
    }
    return this.yielder.check(membersPerLook);
  }
}

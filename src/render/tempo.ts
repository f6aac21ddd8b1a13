/** When the writing of a large answer lets other requests run (architecture 5), and what it charges. */
import { drive } from "../base/maybe.ts";
import type { ExecutionResult, GroupsColumn } from "../exec/frame.ts";
import type { Pace } from "../exec/pace.ts";
import { countShown, listFrames } from "./answer-size.ts";

/** Answers of so many objects take less than a slice of time. */
const shownAtOnce = 1000;

/** Worth writing in steps. */
export function isLarge(result: ExecutionResult): boolean {
  let count = 0;
  let isNested = false;
  for (const { frame, groups } of result.blocks) {
    count += groups?.length ?? 0;
    for (const one of listFrames(frame)) {
      const { uids, fields, level } = one;
      count += uids.length;
      for (const column of fields) {
        if (column.kind === "groups") count += countGroups(column);
        else if (column.kind === "edges") count += column.targets.length;
        else if (column.kind !== "expanded") continue;
        if (one !== frame || column.kind === "expanded") isNested = true;
      }
      // A few nodes are many rows when their branches are multiplied.
      if (level.fields.some((field) => field.kind === "edge" && field.normalize)) return true;
    }
  }
  if (count > shownAtOnce || !isNested) return count > shownAtOnce;
  return Number(drive(countShown(result, undefined))) > shownAtOnce;
}

function countGroups({ byRow }: GroupsColumn): number {
  return byRow.reduce((sum, groups) => sum + (groups?.length ?? 0), 0);
}

/** Members between two looks at the time. */
const membersPerLook = 128;

/** The members that were written of one answer, and who says when to wait. */
export class Tempo {
  readonly pace: Pace;
  /** What grows while the answer is written. */
  readonly #written: { readonly length: number };
  #count = 0;
  #charged = 0;

  constructor(pace: Pace, written: { readonly length: number }) {
    this.pace = pace;
    this.#written = written;
  }

  /** A promise: wait for it before the next member. */
  next(): Promise<void> | undefined {
    return ++this.#count % membersPerLook === 0 ? this.#look() : undefined;
  }

  #look(): Promise<void> | undefined {
    const more = this.#written.length - this.#charged;
    if (more > 0) {
      this.#charged += more;
      this.pace.budget.chargeBytes(more);
    }
    return this.pace.check(membersPerLook);
  }
}

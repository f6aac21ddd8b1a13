/** When the writing of a large answer lets other requests run (architecture 5). */
import type { ExecutionResult, FieldColumn, Frame, GroupsColumn } from "../exec/frame.ts";
import type { Pace } from "../exec/pace.ts";

/** Answers of so many rows take less than a slice of time. */
const rowsAtOnce = 1000;

/** Worth writing in steps. */
export function isLarge(result: ExecutionResult): boolean {
  const frames = new Set<Frame>();
  let count = 0;
  for (const { frame, groups } of result.blocks) {
    if (frame !== undefined) collectFrames(frame, frames);
    count += groups?.length ?? 0;
  }
  for (const { uids, fields, level } of frames) {
    count += uids.length;
    for (const column of fields) if (column.kind === "groups") count += countGroups(column);
    // A few nodes are many rows when their branches are multiplied.
    if (level.fields.some((field) => field.kind === "edge" && field.normalize)) return true;
  }
  return count > rowsAtOnce;
}

function countGroups({ byRow }: GroupsColumn): number {
  return byRow.reduce((sum, groups) => sum + (groups?.length ?? 0), 0);
}

function collectFrames(frame: Frame, found: Set<Frame>): void {
  if (found.has(frame)) return;
  found.add(frame);
  const visit = (column: FieldColumn): void => {
    if (column.kind === "edges" && column.child !== undefined) collectFrames(column.child, found);
    if (column.kind === "expanded") column.columns.forEach(visit);
  };
  frame.fields.forEach(visit);
}

/** Members between two looks at the time. */
const membersPerLook = 128;

/** The members that were written of one answer, and who says when to wait. */
export class Tempo {
  readonly #pace: Pace;
  #count = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** A promise: wait for it before the next member. */
  next(): Promise<void> | undefined {
    return ++this.#count % membersPerLook === 0 ? this.#pace.check() : undefined;
  }
}

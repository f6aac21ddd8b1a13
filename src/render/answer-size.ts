/**
 * How large an answer will be, before it is written. A node stands in an answer as often as ways lead to it: hundreds of
 * nodes can be billions of objects. Columns are gone through from the leaves up, each edge once: 9 million edges in
 * 30 ms, where writing what they become would take hours.
 */
import { must } from "../base/assert.ts";
import type { Steps } from "../base/maybe.ts";
import type { EdgeFrame, ExecutionResult, FieldColumn, Frame } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import type { Limits } from "../model/limits.ts";
import { makeSizeFault } from "../model/limits.ts";
import type { FieldPlan } from "../plan/plan.ts";

/** From so many objects on their bytes are added up, too: fewer are written in less time than a refusal is worth. */
export const manyShown = 20_000;

type Visit = (field: FieldPlan, column: FieldColumn) => void;

/** The columns of a frame, those that expand() became among them. */
export function eachColumn({ level, fields }: Frame, visit: Visit): void {
  for (let k = 0; k < fields.length; k++) {
    const column = fields[k];
    const field = level.fields[k];
    if (column === undefined || field === undefined) continue;
    if (column.kind !== "expanded") {
      visit(field, column);
      continue;
    }
    for (let i = 0; i < column.columns.length; i++) {
      const inner = column.columns[i];
      const innerField = column.fields[i];
      if (inner !== undefined && innerField !== undefined) visit(innerField, inner);
    }
  }
}

/** A frame and all below it, each before those that its edges lead to. */
export function listFrames(root: Frame): readonly Frame[] {
  const found = new Set([root]);
  for (const frame of found) {
    eachColumn(frame, (_, column) => {
      if (column.kind === "edges" && column.child !== undefined) found.add(column.child);
    });
  }
  return [...found];
}

/** For each row of a frame how many objects it becomes, those below it included; undefined: each becomes one. */
type Ways = Map<Frame, Float64Array>;

function addWays(ways: Ways, frame: Frame, { offsets, rows, child }: EdgeFrame): void {
  if (child === undefined) return;
  const rowCount = frame.uids.length;
  let sums = ways.get(frame);
  if (sums === undefined) ways.set(frame, (sums = new Float64Array(rowCount).fill(1)));
  const below = ways.get(child);
  for (let row = 0; row < rowCount; row++) {
    const start = must(offsets[row], "a row has its bounds");
    const end = must(offsets[row + 1], "a row has its bounds");
    let sum = 0;
    if (below === undefined) sum = end - start;
    else
      for (let e = start; e < end; e++)
        sum += must(below[must(rows[e], "each row has its size")], "each row has its size");
    sums[row]! += sum;
  }
}

/** Objects that the blocks of a result become, as far as edges multiply them. */
export function* countShown(result: ExecutionResult, yielder: Yielder | undefined): Steps<number> {
  let count = 0;
  for (const { frame, rows, groups } of result.blocks) {
    count += groups?.length ?? 0;
    if (frame.uids.length === 0) continue;
    const ways: Ways = new Map();
    for (const one of listFrames(frame).toReversed()) {
      let edges = 0;
      eachColumn(one, (_, column) => {
        if (column.kind !== "edges") return;
        addWays(ways, one, column);
        edges += column.targets.length;
      });
      const pause = yielder?.check(edges);
      if (pause !== undefined) yield pause;
    }
    const sums = ways.get(frame);
    if (sums === undefined) count += rows.length;
    else
      for (let i = 0; i < rows.length; i++)
        count += must(sums[must(rows[i], "each row has its size")], "each row has its size");
  }
  return count;
}

/** `"0x1f"` and the like. */
export function uidBytes(uid: number): number {
  let digits = 1;
  for (let rest = uid; rest >= 16; rest = Math.floor(rest / 16)) digits++;
  return digits + 4;
}

/** Of an answer that takes `least` bytes. Throws Fault E_LIMIT. */
export function checkAnswer(
  least: number,
  { resultBytesMax }: Pick<Limits, "resultBytesMax">,
): void {
  if (least > resultBytesMax) throw makeSizeFault(least, resultBytesMax);
}

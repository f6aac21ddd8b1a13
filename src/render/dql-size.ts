/**
 * Bytes that the native endpoint's JSON takes at least, before it is written. What is hard to tell beforehand (facets,
 * computed values, groups, @normalize) counts as nothing.
 */
import { must } from "../base/assert.ts";
import type { Steps } from "../base/maybe.ts";
import type { BlockResult, EdgeFrame, ExecutionResult, FieldColumn, Frame } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import type { BlockPlan, FieldPlan, Plan } from "../plan/plan.ts";
import { eachColumn, listFrames, uidBytes } from "./answer-size.ts";
import { memberNameOf } from "./dql-field.ts";

/** Bytes of each row's object, at least; 0: it may have no key, and vanish. */
type Sizes = Map<Frame, Float64Array>;

/** Bytes that the DQL JSON of a result takes, at least: what is hard to tell beforehand counts as nothing. */
export function* leastDqlBytes(
  plan: Plan,
  result: ExecutionResult,
  yielder: Yielder,
): Steps<number> {
  let bytes = 0;
  for (let b = 0; b < plan.blocks.length; b++) {
    const block = plan.blocks[b];
    const answer = result.blocks[b];
    if (block === undefined || answer === undefined || !isAddable(block, answer)) continue;
    const sizes: Sizes = new Map();
    for (const frame of listFrames(answer.frame).toReversed()) {
      let cells = 0;
      const sums = new Float64Array(frame.uids.length);
      eachColumn(frame, (field, column) => {
        addField(sums, frame, { field, column }, sizes);
        cells += column.kind === "edges" ? column.targets.length : sums.length;
      });
      for (let row = 0; row < sums.length; row++)
        if (must(sums[row], "each row has its size") > 0) sums[row]! += 1;
      sizes.set(frame, sums);
      const pause = yielder.checkSmall(cells);
      if (pause !== undefined) yield pause;
    }
    const sums = sizes.get(answer.frame);
    for (const row of answer.rows) bytes += sums?.[row] ?? 0;
  }
  return bytes;
}

function isAddable(block: BlockPlan, answer: BlockResult): boolean {
  if (block.kind === "empty" || block.kind === "shortest" || block.name === "") return false;
  return !block.normalize && !block.ignoreReflex && answer.groups === undefined;
}

/** Each key comes with a comma, or with the brace that its object begins with. */
function addField(
  sums: Float64Array,
  frame: Frame,
  { field, column }: { readonly field: FieldPlan; readonly column: FieldColumn },
  sizes: Sizes,
): void {
  const own = memberNameOf(field).length + 1;
  switch (column.kind) {
    case "uid":
      for (let row = 0; row < sums.length; row++)
        sums[row]! += own + uidBytes(must(frame.uids[row], "each row has its uid"));
      return;
    case "cell":
      for (let row = 0; row < sums.length; row++) {
        const bytes = column.cells[row]?.jsonLength ?? 0;
        if (bytes > 0) sums[row]! += own + bytes;
      }
      return;
    case "count":
      for (let row = 0; row < sums.length; row++) sums[row]! += own + 1;
      return;
    case "edges":
      if (field.kind === "edge" && !field.normalize) addEdges(sums, column, sizes, field.single);
      return;
    default:
  }
}

function addEdges(
  sums: Float64Array,
  { child, offsets, rows }: EdgeFrame,
  sizes: Sizes,
  isSingle: boolean,
): void {
  const below = child === undefined ? undefined : sizes.get(child);
  if (below === undefined) return;
  for (let row = 0; row < sums.length; row++) {
    const start = must(offsets[row], "a row has its bounds");
    const end = must(offsets[row + 1], "a row has its bounds");
    // Of several targets of a single edge one is shown.
    if (isSingle && end - start > 1) continue;
    let sum = 0;
    for (let e = start; e < end; e++)
      sum += must(below[must(rows[e], "each row has its size")], "each row has its size");
    sums[row]! += sum;
  }
}

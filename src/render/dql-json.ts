/**
 * Frames → the JSON of the native endpoint, exactly as reference/dql 4.4, 4.7, 4.11, 4.15, 4.17, 4.20 has it: objects
 * that produce no key vanish, facets of an edge stand in the child, counts of a list are objects of their own.
 */
import { assert, must } from "../base/assert.ts";
import { drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import type { BlockResult, ExecutionResult, Path } from "../exec/frame.ts";
import type { Yielder } from "../exec/yielder.ts";
import { printFloat } from "../model/float.ts";
import { printValueJson } from "../model/print-value.ts";
import type { BlockPlan, Plan } from "../plan/plan.ts";
import {
  closeBrace,
  closeBracket,
  comma,
  memberNameOf,
  openBrace,
  openBracket,
  separate,
  writeFacets,
  writeGroups,
  writeGroupsInSteps,
  type DqlRender,
  type DqlRenderOptions,
} from "./dql-field.ts";
import { writeCounts, writeListed, writeListedInSteps, writeNormalized } from "./dql-node.ts";
import { writeNormalizedInSteps } from "./normalize.ts";
import { checkAnswer, countShown, manyShown } from "./answer-size.ts";
import { leastDqlBytes } from "./dql-size.ts";
import { takeWriter } from "./json-writer.ts";
import { isLarge, RenderYielder } from "./render-yielder.ts";

/** The value of `data`. Throws Fault E_LIMIT and, for @normalize, E_QUERY. */
export function renderDql(
  plan: Plan,
  result: ExecutionResult,
  options: DqlRenderOptions,
): Uint8Array {
  const bytes = drive(writeAnswer(plan, result, options, undefined));
  assert(!(bytes instanceof Promise), "an answer without a pace is written at once");
  return bytes;
}

/** `renderDql`, which lets other requests run while it writes a large answer: 10 MB take 100 ms. */
export function renderDqlYielding(
  plan: Plan,
  result: ExecutionResult,
  options: DqlRenderOptions,
  yielder: Yielder,
): MaybePromise<Uint8Array> {
  const isInSteps = isLarge(result) || plan.blocks.some(({ normalize }) => normalize);
  return drive(writeAnswer(plan, result, options, isInSteps ? yielder : undefined));
}

function* writeAnswer(
  plan: Plan,
  result: ExecutionResult,
  options: DqlRenderOptions,
  yielder: Yielder | undefined,
): Steps<Uint8Array> {
  const least = yielder === undefined ? 0 : yield* measure(plan, result, options, yielder);
  const writer = takeWriter(options.limits.resultBytesMax);
  try {
    writer.reserve(least);
    const renderYielder = yielder === undefined ? undefined : new RenderYielder(yielder, writer);
    const { hugeUids } = result;
    const render: DqlRender = { writer, options, hugeUids, above: undefined };
    writer.byte(openBrace);
    const paths: [BlockPlan, Path][] = [];
    for (let i = 0; i < plan.blocks.length; i++) {
      const block = plan.blocks[i];
      const answer = result.blocks[i];
      if (block === undefined || answer === undefined) continue;
      for (const path of answer.paths ?? []) paths.push([block, path]);
      if (block.kind === "shortest" || block.name === "") continue;
      if (renderYielder === undefined) writeBlock(render, block, answer);
      else yield* writeBlockInSteps(render, renderYielder, block, answer);
    }
    if (paths.length > 0) writePaths(render, paths);
    writer.byte(closeBrace);
    return writer.whole();
  } finally {
    writer.release();
  }
}

/** Bytes that the answer takes at least, where that is worth knowing. Refuses what no limit would let be written. */
function* measure(
  plan: Plan,
  result: ExecutionResult,
  { limits }: DqlRenderOptions,
  yielder: Yielder,
): Steps<number> {
  const shown = yield* countShown(result, yielder);
  yielder.budget.expect(shown);
  if (shown < manyShown) return 0;
  const least = yield* leastDqlBytes(plan, result, yielder);
  checkAnswer(least, limits);
  return least;
}

function writeBlock(render: DqlRender, block: BlockPlan, answer: BlockResult): void {
  const start = openBlock(render, block, answer);
  if (start === undefined) return;
  for (const row of listRows(block, answer)) {
    if (block.normalize) writeNormalized(render, answer.frame, row, start);
    else writeListed(render, answer.frame, row, start);
  }
  render.writer.byte(closeBracket);
}

function* writeBlockInSteps(
  render: DqlRender,
  renderYielder: RenderYielder,
  block: BlockPlan,
  answer: BlockResult,
): Steps<void> {
  const start = openBlock(render, block, answer, renderYielder);
  if (start === undefined) return;
  const { frame, groups } = answer;
  if (groups !== undefined && block.groupBy !== undefined) {
    yield* writeGroupsInSteps(render.writer, renderYielder, block.groupBy, groups);
  }
  for (const row of listRows(block, answer)) {
    const pause = renderYielder.next();
    if (pause !== undefined) yield pause;
    const node = { frame, row };
    if (block.normalize) yield* writeNormalizedInSteps({ render, renderYielder }, node, start);
    else yield* writeListedInSteps(render, renderYielder, node, start);
  }
  render.writer.byte(closeBracket);
}

/**
 * Everything before the nodes; returns where they begin, undefined where the block is not printed. `tempo`: groups are
 * left to be written in steps.
 */
function openBlock(
  render: DqlRender,
  block: BlockPlan,
  answer: BlockResult,
  renderYielder?: RenderYielder,
): number | undefined {
  const { writer } = render;
  // A block that is grouped and has no group has no key either (reference/dql 4.15).
  if (answer.groups?.length === 0) return undefined;
  separate(writer, 1);
  writer.text(`"${block.name}":`);
  writer.byte(openBracket);
  const start = writer.length;
  if (block.kind === "empty") writeEmptyBlock(render, block, answer, start);
  else if (answer.groups !== undefined && block.groupBy !== undefined) {
    if (renderYielder === undefined) writeGroups(writer, block.groupBy, answer.groups);
  } else {
    render.above = block.ignoreReflex ? [] : undefined;
    const count = answer.count ?? answer.rows.length;
    writeCounts(render, block.level.fields, { count, normalize: block.normalize }, start);
  }
  return start;
}

const noRows: readonly number[] = [];

/** The nodes that are printed as objects. */
function listRows(block: BlockPlan, answer: BlockResult): ArrayLike<number> & Iterable<number> {
  if (block.kind === "empty" || (answer.groups !== undefined && block.groupBy !== undefined)) {
    return noRows;
  }
  const isOnlyCounted = block.level.fields.every((field) => field.kind === "countUid");
  return isOnlyCounted ? noRows : answer.rows;
}

/** Each aggregate is an object of its own, null where there was nothing (reference/dql 4.9). */
function writeEmptyBlock(
  { writer }: DqlRender,
  { normalize }: BlockPlan,
  answer: BlockResult,
  start: number,
): void {
  answer.frame.level.fields.forEach((field, k) => {
    const column = answer.frame.fields[k];
    if (column?.kind !== "computed" || (normalize && !field.aliased)) return;
    const [value] = column.values;
    separate(writer, start);
    writer.byte(openBrace);
    writer.bytes(memberNameOf(field));
    writer.text(value === undefined ? "null" : printValueJson(value) || "null");
    writer.byte(closeBrace);
  });
}

/** `_path_`: each path as objects nested along its hops, after all blocks (reference/dql 4.17). */
function writePaths(render: DqlRender, paths: readonly (readonly [BlockPlan, Path])[]): void {
  const { writer } = render;
  separate(writer, 1);
  writer.ascii('"_path_":[');
  const first = writer.length;
  for (const [block, path] of paths) {
    separate(writer, first);
    for (let i = 0; i < path.uids.length; i++) {
      const hop = i === 0 ? undefined : path.hops[i - 1];
      const field = hop === undefined ? undefined : block.level.fields[hop.field];
      if (field !== undefined) {
        writer.byte(comma);
        writer.bytes(memberNameOf(field));
      }
      writer.ascii('{"uid":');
      writer.uid(must(path.uids[i], "each row has its node"));
      if (i === 0) writer.ascii(`,"_weight_":${printFloat(path.weight)}`);
      if (field?.kind === "edge" && field.facets !== undefined) {
        writeFacets(writer, field.facets, hop?.facets, field.key, 0);
      }
    }
    for (let i = 0; i < path.uids.length; i++) writer.byte(closeBrace);
  }
  writer.byte(closeBracket);
}

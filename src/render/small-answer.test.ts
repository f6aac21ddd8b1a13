import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../test/support/runs.ts";
import { drive } from "../base/maybe.ts";
import type { BlockResult, EdgeFrame, ExecutionResult, Frame } from "../exec/frame.ts";
import { countShown } from "./answer-size.ts";
import { isSurelySmall, shownAtOnce } from "./small-answer.ts";

const level = { id: 0, block: 0, path: [], fields: [], cascade: undefined };

/** Levels of nodes; each node of a level leads to nodes of the next, which several may share. */
const levels = fc.array(fc.array(fc.array(fc.nat(30), { maxLength: 12 }), { maxLength: 12 }), {
  minLength: 1,
  maxLength: 6,
});

function toFrame(nodes: readonly (readonly number[])[], below: Frame | undefined): Frame {
  const uids = Float64Array.from(nodes, (_, i) => i + 1);
  if (below === undefined || below.uids.length === 0) return { level, uids, fields: [] };
  const edges = nodes.map((targets) => targets.map((target) => target % below.uids.length));
  const offsets = new Uint32Array(nodes.length + 1);
  edges.forEach((rows, i) => (offsets[i + 1] = offsets[i]! + rows.length));
  const rows = Uint32Array.from(edges.flat());
  const column: EdgeFrame = {
    kind: "edges",
    offsets,
    targets: Float64Array.from(rows, (row) => below.uids[row]!),
    rows,
    facets: undefined,
    child: below,
  };
  // Two fields that lead to the same nodes: ways add up.
  return { level, uids, fields: nodes.length % 2 === 0 ? [column] : [column, column] };
}

function toResult(given: readonly (readonly (readonly number[])[])[]): ExecutionResult {
  let frame: Frame | undefined;
  for (const nodes of given.toReversed()) frame = toFrame(nodes, frame);
  const rows = Uint32Array.from(frame!.uids, (_, i) => i);
  const block: BlockResult = {
    frame: frame!,
    rows,
    count: undefined,
    groups: undefined,
    paths: undefined,
  };
  return { blocks: [block], variables: [], hugeUids: undefined, numUids: new Map() };
}

test("what is called small shows no more objects than that", () => {
  fc.assert(
    fc.property(levels, (given) => {
      const result = toResult(given);
      if (!isSurelySmall(result)) return;
      expect(Number(drive(countShown(result, undefined)))).toBeLessThanOrEqual(shownAtOnce);
    }),
    { numRuns: runs(1000) },
  );
});

test("an answer of a few hundred nodes that each stand once is small", () => {
  const leaves = Array.from({ length: 400 }, () => []);
  const roots = Array.from({ length: 20 }, (_, i) =>
    Array.from({ length: 20 }, (_x, k) => 20 * i + k),
  );
  expect(isSurelySmall(toResult([roots, leaves]))).toBe(true);
});

test("a few nodes that multiply are not", () => {
  const all = Array.from({ length: 10 }, () => Array.from({ length: 10 }, (_x, k) => k));
  expect(isSurelySmall(toResult([all, all, all, all, all]))).toBe(false);
});

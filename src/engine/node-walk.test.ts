/** Goal: a walk comes by every edge once, in order, in pieces of a bounded size, wherever it is taken up again. */
import { expect, test } from "vitest";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../../test/support/memory-graph.ts";
import { NodeWalk } from "./node-walk.ts";

const schema = makeTestSchema([
  definePredicate("to", "uid", { list: true }),
  definePredicate("name", "string"),
]);

/** Edges of the nodes 1, 2, 3 … */
const counts = [
  1,
  63,
  64,
  65,
  5000,
  2048,
  2047,
  4096,
  ...Array.from({ length: 40 }, () => 100),
  ...Array.from({ length: 70 }, (_, i) => i % 3),
  3000,
];

const facts: TestFact[] = counts.flatMap((count, i) => [
  ...Array.from({ length: count }, (_, k) => ({
    subject: i + 1,
    predicate: "to",
    object: 1000 + 7 * k + i,
  })),
  {
    subject: i + 1,
    predicate: "name",
    object: { kind: "string", text: `n${i}` } as const,
  },
]);
const graph = new MemoryGraph(schema, facts);

test.each([false, true])("all edges, taken up anew: %s", async (isAnew) => {
  const predicate = schema.predicate("to")!;
  let walk = new NodeWalk({ after: 0 });
  let nodes = 0;
  const seen: string[] = [];
  for (;;) {
    const { uids, column } = await walk.next(graph, predicate);
    if (column.kind !== "edges") throw new Error("edges were asked for");
    const { offsets, targets } = column;
    expect(offsets[uids.length]).toBeLessThanOrEqual(2048);
    for (let row = 0; row < uids.length; row++) {
      for (let e = offsets[row]!; e < offsets[row + 1]!; e++) {
        seen.push(`${uids[row]} ${targets[e]}`);
      }
    }
    if (walk.isDone) break;
    if (!isAnew) continue;
    nodes += walk.nodes;
    walk = new NodeWalk(walk.place);
  }
  const wanted = facts
    .filter(({ predicate: name }) => name === "to")
    .map(({ subject, object }) => `${subject} ${object as number}`);
  expect(seen).toEqual(wanted);
  expect(nodes + walk.nodes).toBe(counts.filter((count) => count > 0).length);
});

test("cells come with their nodes", async () => {
  const walk = new NodeWalk({ after: 0 });
  let cells = 0;
  while (!walk.isDone) {
    const { column } = await walk.next(graph, schema.predicate("name")!);
    if (column.kind !== "cells") throw new Error("cells were asked for");
    cells += column.cells.length;
  }
  expect(cells).toBe(counts.length);
  expect(walk.nodes).toBe(counts.length);
});

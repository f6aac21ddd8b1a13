/** shortest and @recurse against their plain twins: all paths by hand, and a walk that marks its edges. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { TestFact } from "../support/memory-graph.ts";
import { definePredicate, makeTestSchema, MemoryGraph } from "../support/memory-graph.ts";
import { queryDql } from "../support/run-dql.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { runs } from "../support/runs.ts";

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

const schema = makeTestSchema([
  definePredicate("road", "uid", { list: true }),
  definePredicate("rail", "uid", { list: true }),
]);

const nodeCount = 6;
const node = fc.integer({ min: 1, max: nodeCount });
// Weights are powers of two, so that no two sets of edges weigh the same.
const edges = fc
  .uniqueArray(fc.tuple(node, node), { maxLength: 14, selector: ([a, b]) => `${a} ${b}` })
  .map((pairs) => pairs.map(([from, to], i): Edge => ({ from, to, weight: 2 ** i })));

function toFacts(list: readonly Edge[], predicate = "road"): TestFact[] {
  return list.map(({ from, to, weight }) => ({
    subject: from,
    predicate,
    object: to,
    facets: [{ key: "km", value: { kind: "int", int: weight } }],
  }));
}

/** Every path without loops, cheapest first. */
function allPaths(
  list: readonly Edge[],
  from: number,
  to: number,
): { uids: number[]; cost: number }[] {
  const found: { uids: number[]; cost: number }[] = [];
  const walk = (uids: number[], cost: number): void => {
    const last = uids[uids.length - 1] ?? 0;
    if (last === to) {
      found.push({ uids, cost });
      return;
    }
    for (const edge of list) {
      if (edge.from === last && !uids.includes(edge.to))
        walk([...uids, edge.to], cost + edge.weight);
    }
  };
  walk([from], 0);
  return found.sort((a, b) => a.cost - b.cost);
}

interface PathNode {
  readonly uid: string;
  readonly _weight_?: number;
  readonly road?: PathNode;
}

function readPath(path: PathNode): { uids: number[]; cost: number } {
  const uids: number[] = [];
  for (let at: PathNode | undefined = path; at !== undefined; at = at.road)
    uids.push(Number(at.uid));
  return { uids, cost: path._weight_ ?? 0 };
}

async function findPaths(list: readonly Edge[], args: string): Promise<unknown> {
  const graph = new MemoryGraph(schema, toFacts(list));
  const answer = (await queryDql(graph, `{ shortest(${args}) { road @facets(km) } }`)) as {
    _path_?: PathNode[];
  };
  return (answer._path_ ?? []).map(readPath);
}

test("the cheapest path is the cheapest of all paths", async () => {
  await fc.assert(
    fc.asyncProperty(edges, node, node, async (list, from, to) => {
      const wanted = allPaths(list, from, to).slice(0, 1);
      expect(await findPaths(list, `from: ${from}, to: ${to}`)).toEqual(wanted);
    }),
    { numRuns: runs(200) },
  );
});

test("without weights the path with the fewest edges is found, over all fields", async () => {
  await fc.assert(
    fc.asyncProperty(edges, edges, node, node, async (roads, rails, from, to) => {
      const graph = new MemoryGraph(schema, [...toFacts(roads), ...toFacts(rails, "rail")]);
      const text = `{ p as shortest(from: ${from}, to: ${to}) { road rail } q(func: uid(p)) { uid } }`;
      const answer = (await queryDql(graph, text)) as {
        _path_?: { _weight_: number }[];
        q: { uid: string }[];
      };
      const even = [...roads, ...rails].map((edge) => ({ ...edge, weight: 1 }));
      const [best] = allPaths(even, from, to);
      expect(answer._path_?.[0]?._weight_).toBe(best?.cost);
      const uids = answer.q.map(({ uid }) => Number(uid));
      expect(uids.length).toBe(best?.uids.length ?? 0);
      uids.slice(1).forEach((uid, i) => {
        expect(even.some((edge) => edge.from === uids[i] && edge.to === uid)).toBe(true);
      });
    }),
    { numRuns: runs(200) },
  );
});

test("k paths are the k cheapest of all paths, within their weights", async () => {
  const bounds = fc.record({
    k: fc.integer({ min: 2, max: 5 }),
    min: fc.nat(40),
    max: fc.nat(4000),
  });
  await fc.assert(
    fc.asyncProperty(edges, node, node, bounds, async (list, from, to, { k, min, max }) => {
      fc.pre(from !== to);
      const wanted = allPaths(list, from, to).filter(({ cost }) => cost >= min && cost <= max);
      const args = `from: ${from}, to: ${to}, numpaths: ${k}, minweight: ${min}, maxweight: ${max}`;
      expect(await findPaths(list, args)).toEqual(wanted.slice(0, k));
    }),
    { numRuns: runs(200) },
  );
});

const line: Edge[] = [1, 2, 3].map((from) => ({ from, to: from + 1, weight: 1 }));

test.each([
  ["from: 1, to: 1", [{ uids: [1], cost: 0 }]],
  ["from: 1, to: 4, depth: 0", []],
  ["from: 1, to: 4, depth: 2", []],
  ["from: 1, to: 4, depth: 3", [{ uids: [1, 2, 3, 4], cost: 3 }]],
  ["from: 4, to: 1", []],
  ["from: 1, to: 9", []],
  ["from: uid(none), to: 1", []],
])("shortest(%s)", async (args, wanted) => {
  const none = args.includes("none") ? "none as var(func: uid(0x9)) @filter(has(road))" : "";
  const graph = new MemoryGraph(schema, toFacts(line));
  const text = `{ ${none} shortest(${args}) { road @facets(km) } }`;
  const answer = (await queryDql(graph, text)) as { _path_?: PathNode[] };
  expect((answer._path_ ?? []).map(readPath)).toEqual(wanted);
});

test.each([
  ["{ shortest(from: 1, to: 4, numpaths: many) { road } }", 'strconv.ParseUint: parsing "many"'],
  [
    "{ shortest(from: 1, to: 4, maxweight: heavy) { road } }",
    'strconv.ParseFloat: parsing "heavy"',
  ],
  [
    "{ v as var(func: uid(1, 2)) shortest(from: uid(v), to: 4) { road } }",
    "from variable(v) should only expand to 1 uid",
  ],
  ["{ q(func: uid(1)) @recurse(loop: true) { uid road } }", "Depth must be > 0 when loop is true"],
])("%s is refused", async (text, message) => {
  await expect(queryDql(new MemoryGraph(schema, toFacts(line)), text)).rejects.toThrow(message);
});

test("edges beyond the limit are refused", async () => {
  const graph = new MemoryGraph(schema, toFacts(line));
  const limits = { ...defaultLimits, queryEdgeMax: 2 };
  for (const text of [
    "{ shortest(from: 1, to: 4) { road } }",
    "{ q(func: uid(1)) @recurse { uid road } }",
  ]) {
    await expect(queryDql(graph, text, { limits })).rejects.toThrow(
      "Exceeded query edge limit = 2. Found 3 edges.",
    );
  }
});

interface TreeNode {
  uid: string;
  road?: TreeNode[];
  rail?: TreeNode[];
}

/** Breadth first, by predicate and place: each edge belongs to whoever comes first. */
function recurse(facts: readonly TestFact[], root: number, depthMax: number): TreeNode {
  const taken = new Set<string>();
  const tree: TreeNode = { uid: `0x${root}` };
  let level: Map<number, TreeNode>[] = [new Map([[root, tree]])];
  for (let depth = 1; depth < depthMax && level.length > 0; depth++) {
    const next: Map<number, TreeNode>[] = [];
    for (const nodes of level) {
      for (const predicate of ["road", "rail"] as const) {
        const below = new Map<number, TreeNode>();
        const followed: [TreeNode, number][] = [];
        for (const [uid, owner] of [...nodes].sort(([a], [b]) => a - b)) {
          for (const to of targetsOf(facts, uid, predicate)) {
            const key = `${predicate} ${uid} ${to}`;
            if (taken.has(key)) continue;
            taken.add(key);
            if (!below.has(to)) below.set(to, { uid: `0x${to}` });
            followed.push([owner, to]);
          }
        }
        for (const [owner, to] of followed) {
          const target = below.get(to);
          if (target !== undefined) (owner[predicate] ??= []).push(target);
        }
        if (below.size > 0) next.push(below);
      }
    }
    level = next;
  }
  return tree;
}

function targetsOf(facts: readonly TestFact[], uid: number, predicate: string): number[] {
  return facts
    .filter((fact) => fact.subject === uid && fact.predicate === predicate)
    .map(({ object }) => Number(object))
    .sort((a, b) => a - b);
}

test("@recurse takes each edge once, level by level", async () => {
  await fc.assert(
    fc.asyncProperty(
      edges,
      edges,
      node,
      fc.integer({ min: 1, max: 6 }),
      async (roads, rails, root, depth) => {
        const facts = [...toFacts(roads), ...toFacts(rails, "rail")];
        const text = `{ q(func: uid(${root})) @recurse(depth: ${depth}) { uid road rail } }`;
        const answer = await queryDql(new MemoryGraph(schema, facts), text);
        expect(answer).toEqual({ q: [recurse(facts, root, depth)] });
      },
    ),
    { numRuns: runs(200) },
  );
});

test("@recurse with loop: true goes round until its depth ends", async () => {
  const circle: Edge[] = [
    { from: 1, to: 2, weight: 1 },
    { from: 2, to: 1, weight: 1 },
  ];
  const text = "{ q(func: uid(1)) @recurse(depth: 4, loop: true) { uid road } }";
  expect(await queryDql(new MemoryGraph(schema, toFacts(circle)), text)).toEqual({
    q: [
      {
        uid: "0x1",
        road: [{ uid: "0x2", road: [{ uid: "0x1", road: [{ uid: "0x2" }] }] }],
      },
    ],
  });
});

test("@cascade takes out the nodes from the leaves up", async () => {
  const text = "{ q(func: uid(1)) @recurse(depth: 3) @cascade { uid road } }";
  // Node 3 is the last level shown: its edge counts although it leads beyond.
  expect(await queryDql(new MemoryGraph(schema, toFacts(line)), text)).toEqual({
    q: [{ uid: "0x1", road: [{ uid: "0x2", road: [{ uid: "0x3" }] }] }],
  });
  const all = "{ q(func: uid(1)) @recurse @cascade { uid road } }";
  expect(await queryDql(new MemoryGraph(schema, toFacts(line)), all)).toEqual({ q: [] });
});

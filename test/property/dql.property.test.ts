/**
 * Goal: for random small graphs and questions the planner and executor say what an evaluator says that goes node by
 * node through the facts: filter logic, order, pages, @cascade, counts, variables. The evaluator is the documentation.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Value } from "../../src/model/value.ts";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../support/memory-graph.ts";
import { queryDql } from "../support/run-dql.ts";
import { runs } from "../support/runs.ts";

const schema = makeTestSchema([
  definePredicate("name", "string", { indexes: [{ tokenizer: "exact" }] }),
  definePredicate("age", "int", { indexes: [{ tokenizer: "int" }] }),
  definePredicate("size", "int"),
  definePredicate("friend", "uid", { list: true, reverse: true, count: true }),
  definePredicate("boss", "uid", { reverse: true }),
]);

interface Node {
  readonly uid: number;
  readonly name: string | undefined;
  readonly age: number | undefined;
  readonly size: number | undefined;
  readonly friend: readonly number[];
  readonly boss: number | undefined;
}

type World = ReadonlyMap<number, Node>;

const names = ["ada", "bo", "cy", "dee"];
const uidMax = 9;
const uids = fc.integer({ min: 1, max: uidMax });

const world: fc.Arbitrary<World> = fc
  .tuple(
    ...Array.from({ length: uidMax }, (_, i) =>
      fc.record({
        uid: fc.constant(i + 1),
        name: fc.option(fc.constantFrom(...names), { nil: undefined }),
        age: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
        size: fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined }),
        friend: fc.uniqueArray(uids, { maxLength: 4 }),
        boss: fc.option(uids, { nil: undefined }),
      }),
    ),
  )
  .map((nodes) => new Map(nodes.map((node) => [node.uid, node])));

function factsOf(world: World): readonly TestFact[] {
  const facts: TestFact[] = [];
  for (const node of world.values()) {
    const add = (predicate: string, object: Value | number): void => {
      facts.push({ subject: node.uid, predicate, object });
    };
    if (node.name !== undefined) add("name", { kind: "string", text: node.name });
    if (node.age !== undefined) add("age", { kind: "int", int: node.age });
    if (node.size !== undefined) add("size", { kind: "int", int: node.size });
    for (const target of node.friend) add("friend", target);
    if (node.boss !== undefined) add("boss", node.boss);
  }
  return facts;
}

/** A test of one node: its text in the query, and what it means. */
interface Test {
  readonly text: string;
  readonly holds: (node: Node, world: World) => boolean;
}

const call: fc.Arbitrary<Test> = fc.oneof(
  fc.constantFrom(...names).map((name) => ({
    text: `eq(name, "${name}")`,
    holds: (node: Node) => node.name === name,
  })),
  fc.integer({ min: 0, max: 4 }).map((age) => ({
    text: `ge(age, ${age})`,
    holds: (node: Node) => node.age !== undefined && node.age >= age,
  })),
  fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 })).map(([a, b]) => ({
    text: `between(size, ${a}, ${b})`,
    holds: (node: Node) => node.size !== undefined && node.size >= a && node.size <= b,
  })),
  fc.integer({ min: 0, max: 3 }).map((count) => ({
    text: `lt(count(friend), ${count})`,
    holds: (node: Node) => node.friend.length < count,
  })),
  fc.integer({ min: 0, max: 3 }).map((count) => ({
    text: `ge(count(~boss), ${count})`,
    holds: (node: Node, world: World) => bosses(node.uid, world).length >= count,
  })),
  uids.map((uid) => ({
    text: `uid(${uid}, ${uid + 2})`,
    holds: (node: Node) => node.uid === uid || node.uid === uid + 2,
  })),
  uids.map((uid) => ({
    text: `uid_in(friend, ${uid})`,
    holds: (node: Node) => node.friend.includes(uid),
  })),
  fc.constant({ text: "has(age)", holds: (node: Node) => node.age !== undefined }),
  fc.constant({ text: "has(boss)", holds: (node: Node) => node.boss !== undefined }),
);

function bosses(uid: number, world: World): readonly number[] {
  return [...world.values()].filter((node) => node.boss === uid).map((node) => node.uid);
}

const { filter } = fc.letrec<{ filter: Test }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    call,
    fc.tuple(tie("filter"), tie("filter"), fc.constantFrom("and", "or")).map(([a, b, word]) => ({
      text: `(${a.text} ${word} ${b.text})`,
      holds: (node: Node, world: World) =>
        word === "and"
          ? a.holds(node, world) && b.holds(node, world)
          : a.holds(node, world) || b.holds(node, world),
    })),
    tie("filter").map((part) => ({
      text: `(not ${part.text})`,
      holds: (node: Node, world: World) => !part.holds(node, world),
    })),
  ),
}));

interface Order {
  readonly key: "age" | "size" | "name";
  readonly descending: boolean;
}

interface Page {
  readonly first: number | undefined;
  readonly offset: number | undefined;
  readonly after: number | undefined;
}

const order: fc.Arbitrary<readonly Order[]> = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom<Order["key"]>("age", "size", "name"),
    descending: fc.boolean(),
  }),
  { maxLength: 2, selector: (key) => key.key },
);

/** Negative `first` only without order, where it is allowed. */
const arrangement: fc.Arbitrary<{ readonly order: readonly Order[]; readonly page: Page }> = fc
  .record({
    order,
    page: fc.record({
      first: fc.option(fc.integer({ min: -4, max: 4 }), { nil: undefined }),
      offset: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
      after: fc.option(uids, { nil: undefined }),
    }),
  })
  .filter(({ order: keys, page }) => keys.length === 0 || (page.first ?? 0) >= 0);

function argumentsOf(keys: readonly Order[], page: Page): readonly string[] {
  return [
    ...keys.map(({ key, descending }) => `${descending ? "orderdesc" : "orderasc"}: ${key}`),
    ...(page.first === undefined ? [] : [`first: ${page.first}`]),
    ...(page.offset === undefined ? [] : [`offset: ${page.offset}`]),
    ...(page.after === undefined ? [] : [`after: ${page.after}`]),
  ];
}

function arrange(nodes: readonly Node[], keys: readonly Order[]): readonly Node[] {
  return [...nodes].sort((a, b) => {
    for (const { key, descending } of keys) {
      const left = a[key];
      const right = b[key];
      if (left === right) continue;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      return (left < right ? -1 : 1) * (descending ? -1 : 1);
    }
    // Beside other keys a descending one that both lack turns them around.
    const isTurned =
      keys.length > 1 &&
      keys.some(
        ({ key, descending }) => descending && a[key] === undefined && b[key] === undefined,
      );
    return isTurned ? b.uid - a.uid : a.uid - b.uid;
  });
}

function cut<T>(list: readonly T[], page: Page): readonly T[] {
  const first = page.first ?? 0;
  if (first < 0) return list.slice(Math.max(0, list.length + first));
  const offset = page.offset ?? 0;
  return first === 0 ? list.slice(offset) : list.slice(offset, offset + first);
}

interface Question {
  readonly root: Test;
  readonly filter: Test | undefined;
  readonly at: { readonly order: readonly Order[]; readonly page: Page };
  readonly edge: "friend" | "~boss";
  readonly edgeFilter: Test | undefined;
  readonly edgeAt: { readonly order: readonly Order[]; readonly page: Page };
  readonly cascade: boolean;
}

const root: fc.Arbitrary<Test> = fc.oneof(
  fc.constant({ text: "has(age)", holds: (node: Node) => node.age !== undefined }),
  fc.constant({ text: "has(friend)", holds: (node: Node) => node.friend.length > 0 }),
  fc.constantFrom(...names).map((name) => ({
    text: `eq(name, "${name}")`,
    holds: (node: Node) => node.name === name,
  })),
  fc.constantFrom("lt", "le", "gt", "ge").chain((operator) =>
    fc.integer({ min: 0, max: 4 }).map((age) => ({
      text: `${operator}(age, ${age})`,
      holds: (node: Node) => node.age !== undefined && compare(operator, node.age, age),
    })),
  ),
  fc.integer({ min: 1, max: 3 }).map((count) => ({
    text: `ge(count(friend), ${count})`,
    holds: (node: Node) => node.friend.length >= count,
  })),
  uids.map((uid) => ({
    text: `uid(${uid}, ${uid + 1}, ${uid + 3})`,
    holds: (node: Node) => [uid, uid + 1, uid + 3].includes(node.uid),
  })),
);

function compare(operator: string, a: number, b: number): boolean {
  if (operator === "lt") return a < b;
  if (operator === "le") return a <= b;
  return operator === "gt" ? a > b : a >= b;
}

const question: fc.Arbitrary<Question> = fc.record({
  root,
  filter: fc.option(filter, { nil: undefined }),
  at: arrangement,
  edge: fc.constantFrom<Question["edge"]>("friend", "~boss"),
  edgeFilter: fc.option(filter, { nil: undefined }),
  edgeAt: arrangement,
  cascade: fc.boolean(),
});

function textOf(asked: Question): string {
  const rootArguments = [`func: ${asked.root.text}`, ...argumentsOf(asked.at.order, asked.at.page)];
  const edgeArguments = argumentsOf(asked.edgeAt.order, asked.edgeAt.page);
  const edge =
    asked.edge +
    (edgeArguments.length === 0 ? "" : ` (${edgeArguments.join(", ")})`) +
    (asked.edgeFilter === undefined ? "" : ` @filter(${asked.edgeFilter.text})`);
  return `{
    q(${rootArguments.join(", ")}) ${asked.filter === undefined ? "" : `@filter(${asked.filter.text})`}
      ${asked.cascade ? "@cascade" : ""} { uid name e: ${edge} { uid age } }
  }`;
}

/** Node by node: after, filter, order, then the page, or with @cascade what has everything and then the page. */
function answer(asked: Question, world: World): unknown {
  const list = (
    nodes: readonly Node[],
    test: Test | undefined,
    at: Question["at"],
    show: (node: Node) => unknown,
  ): readonly unknown[] => {
    const passing = nodes
      .filter((node) => node.uid > (at.page.after ?? 0))
      .filter((node) => test === undefined || test.holds(node, world));
    const arranged = arrange(passing, at.order);
    if (!asked.cascade) return cut(arranged, at.page).map(show);
    return cut(
      arranged.map(show).filter((shown) => shown !== undefined),
      at.page,
    );
  };
  const showChild = (node: Node): unknown => {
    if (node.age === undefined) {
      return asked.cascade ? undefined : { uid: `0x${node.uid.toString(16)}` };
    }
    return { uid: `0x${node.uid.toString(16)}`, age: node.age };
  };
  const showRoot = (node: Node): unknown => {
    const targets = asked.edge === "friend" ? node.friend : bosses(node.uid, world);
    const ascending = [...targets].sort((a, b) => a - b).map((uid) => nodeAt(world, uid));
    const children = list(ascending, asked.edgeFilter, asked.edgeAt, showChild);
    if (asked.cascade && (node.name === undefined || children.length === 0)) return undefined;
    return {
      uid: `0x${node.uid.toString(16)}`,
      ...(node.name === undefined ? {} : { name: node.name }),
      ...(children.length === 0 ? {} : { e: children }),
    };
  };
  const isUidRoot = asked.root.text.startsWith("uid(");
  const all = isUidRoot ? [...world.values(), ...beyond(world)] : [...world.values()];
  const nodes = all.filter((node) => asked.root.holds(node, world));
  return { q: list(nodes, asked.filter, asked.at, showRoot) };
}

function nodeAt(world: World, uid: number): Node {
  return world.get(uid) ?? bareNode(uid);
}

function bareNode(uid: number): Node {
  return { uid, name: undefined, age: undefined, size: undefined, friend: [], boss: undefined };
}

/** uid() names nodes whether they have facts or not. */
function beyond(world: World): readonly Node[] {
  return Array.from({ length: 4 }, (_, i) => bareNode(world.size + 1 + i));
}

test("questions of two levels are answered as the plain evaluator answers them", async () => {
  await fc.assert(
    fc.asyncProperty(world, question, async (facts, asked) => {
      const graph = new MemoryGraph(schema, factsOf(facts));
      expect(await queryDql(graph, textOf(asked))).toEqual(answer(asked, facts));
    }),
    { numRuns: runs(400) },
  );
});

test("variables carry sets and values from block to block", async () => {
  await fc.assert(
    fc.asyncProperty(world, filter, fc.boolean(), async (facts, test, descending) => {
      const graph = new MemoryGraph(schema, factsOf(facts));
      const direction = descending ? "orderdesc" : "orderasc";
      const text = `{
        q(func: uid(f), ${direction}: val(a)) @filter(${test.text}) { uid val(a) twice: math(a + a) }
        var(func: has(friend)) { f as friend { a as age } }
        all() { sum(val(a)) max(val(a)) }
      }`;
      const friends = [...new Set([...facts.values()].flatMap((node) => node.friend))]
        .map((uid) => nodeAt(facts, uid))
        .sort((a, b) => a.uid - b.uid);
      const ages = friends.flatMap((node) => (node.age === undefined ? [] : [node.age]));
      const passing = friends.filter((node) => test.holds(node, facts));
      const withAge = passing.filter((node) => node.age !== undefined);
      const shown = withAge.length === 0 ? passing : arrange(withAge, [{ key: "age", descending }]);
      expect(await queryDql(graph, text)).toEqual({
        q: shown.map((node) => ({
          uid: `0x${node.uid.toString(16)}`,
          ...(node.age === undefined ? {} : { "val(a)": node.age, twice: node.age * 2 }),
        })),
        all: [
          { "sum(val(a))": ages.length === 0 ? null : ages.reduce((a, b) => a + b, 0) },
          { "max(val(a))": ages.length === 0 ? null : Math.max(...ages) },
        ],
      });
    }),
    { numRuns: runs(200) },
  );
});

test("an order of conditions, a double negation and a condition that always holds change nothing", async () => {
  await fc.assert(
    fc.asyncProperty(world, filter, filter, async (facts, a, b) => {
      const graph = new MemoryGraph(schema, factsOf(facts));
      const ask = async (condition: string): Promise<unknown> =>
        queryDql(graph, `{ q(func: has(friend)) @filter(${condition}) { uid } }`);
      const plain = await ask(`${a.text} and ${b.text}`);
      expect(await ask(`${b.text} and ${a.text}`)).toEqual(plain);
      expect(await ask(`not (not (${a.text} and ${b.text}))`)).toEqual(plain);
      expect(await ask(`${a.text} and ge(count(friend), 0) and ${b.text}`)).toEqual(plain);
    }),
    { numRuns: runs(150) },
  );
});

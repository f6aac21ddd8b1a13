/**
 * Goal: the ways that only large sets take (seeking, walking an index, held candidates, columns from an index) say what
 * a plain computation over the same nodes says. Method: 3,000 generated nodes, one question for each way.
 */
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import { expect, test } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import type { Value } from "../../src/model/value.ts";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../support/memory-graph.ts";
import { systemClock } from "../../src/base/clock.ts";
import { profilePlan } from "../../src/exec/explain.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { makeFreeBudget } from "../../src/model/request-budget.ts";
import { queryDql } from "../support/run-dql.ts";

const schema = makeTestSchema([
  definePredicate("kind", "string", { indexes: [{ tokenizer: "exact" }] }),
  definePredicate("price", "int", { indexes: [{ tokenizer: "int" }] }),
  definePredicate("stars", "int", { indexes: [{ tokenizer: "int" }] }),
  definePredicate("words", "string", {
    indexes: [{ tokenizer: "term" }, { tokenizer: "trigram" }],
  }),
  definePredicate("open", "bool", { indexes: [{ tokenizer: "bool" }] }),
  definePredicate("likes", "uid", { list: true, reverse: true }),
  definePredicate("parts", "uid", { list: true, reverse: true, count: true }),
  definePredicate("place", "geo", { indexes: [{ tokenizer: "geo" }] }),
]);

interface Item {
  readonly uid: number;
  readonly kind: string;
  readonly price: number | undefined;
  readonly stars: number;
  readonly words: string;
  readonly open: boolean;
  readonly likes: readonly number[];
  readonly parts: readonly number[];
  /** Degrees north and east. */
  readonly place: number;
}

const itemCount = 3000;
const vocabulary = ["amber", "basin", "cedar", "drift", "ember", "fjord"];

function makeItems(): readonly Item[] {
  const random = makeSeededRandom(7);
  const below = (bound: number): number => Math.floor(random.next() * bound);
  return Array.from({ length: itemCount }, (_, i) => ({
    uid: i + 1,
    kind: below(3) === 0 ? "lamp" : "chair",
    price: below(20) === 0 ? undefined : below(900),
    stars: below(5) + 1,
    words: `${vocabulary[below(6)] ?? ""} ${vocabulary[below(6)] ?? ""}`,
    open: below(2) === 0,
    likes: below(4) === 0 ? [below(40) + 1] : [],
    parts: Array.from({ length: below(3) * below(4) }, (_, k) => ((i * 7 + k * 13) % 900) + 1),
    place: below(60),
  }));
}

const items = makeItems();

function factsOf(item: Item): readonly TestFact[] {
  const fact = (predicate: string, object: Value | number): TestFact => ({
    subject: item.uid,
    predicate,
    object,
  });
  return [
    fact("dgraph.type", { kind: "string", text: "Item" }),
    fact("kind", { kind: "string", text: item.kind }),
    ...(item.price === undefined ? [] : [fact("price", { kind: "int", int: item.price })]),
    fact("stars", { kind: "int", int: item.stars }),
    fact("words", { kind: "string", text: item.words }),
    fact("open", { kind: "bool", bool: item.open }),
    ...item.likes.map((target) => fact("likes", target)),
    ...item.parts.map((target) => fact("parts", target)),
    fact("place", {
      kind: "geo",
      geometry: { type: "Point", coordinates: [item.place, item.place] },
    }),
  ];
}

const graph = new MemoryGraph(schema, items.flatMap(factsOf));

function hex(uid: number): string {
  return `0x${uid.toString(16)}`;
}

function uidsOf(found: readonly Item[]): unknown {
  return { q: found.map((item) => ({ uid: hex(item.uid) })) };
}

/** Missing prices last in both directions, ties by uid. */
function byPrice(found: readonly Item[], descending = false): readonly Item[] {
  return [...found].sort((a, b) => {
    if (a.price === b.price) return a.uid - b.uid;
    if (a.price === undefined) return 1;
    if (b.price === undefined) return -1;
    return descending ? b.price - a.price : a.price - b.price;
  });
}

test("a page of a type with a condition is sought in the list", async () => {
  const expected = items.filter((item) => item.open && item.uid > 100).slice(3, 10);
  const text =
    "{ q(func: type(Item), first: 7, offset: 3, after: 100) @filter(eq(open, true)) { uid } }";
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("a rare condition becomes the root of a type", async () => {
  const expected = items.filter((item) => item.price === 17 && item.kind === "lamp");
  const text = '{ q(func: type(Item)) @filter(eq(kind, "lamp") and eq(price, 17)) { uid } }';
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("a range in order is walked, with ties complete for the second key", async () => {
  const passing = items.filter(
    (item) => item.price !== undefined && item.price >= 200 && item.price <= 800 && item.open,
  );
  const inOrder = [...passing].sort(
    (a, b) => (b.price ?? 0) - (a.price ?? 0) || a.stars - b.stars || a.uid - b.uid,
  );
  for (const offset of [0, 1, 2, 3, 5, 40, passing.length - 5]) {
    const expected = inOrder.slice(offset, offset + 12);
    const text = `{ q(func: between(price, 200, 800), orderdesc: price, orderasc: stars, first: 12, offset: ${offset}) @filter(eq(open, true)) { uid } }`;
    expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
  }
});

test("a type in order is walked along the whole index", async () => {
  const expected = byPrice(items.filter((item) => item.kind === "chair")).slice(0, 9);
  const text =
    '{ q(func: type(Item), orderasc: price, first: 9) @filter(eq(kind, "chair")) { uid } }';
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("a page that reaches nodes without a value is sorted instead", async () => {
  const expected = byPrice(items, true).slice(itemCount - 10);
  const text = `{ q(func: type(Item), orderdesc: price, first: 20, offset: ${itemCount - 10}) { uid } }`;
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("words and an order: the words' nodes are held beside the walk", async () => {
  const passing = items.filter((item) => /amber|cedar/.test(item.words) && item.open);
  const expected = byPrice(passing, true).slice(0, 10);
  const text =
    '{ q(func: type(Item), orderdesc: price, first: 10) @filter(anyofterms(words, "amber cedar") and eq(open, true)) { uid } }';
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("an expression is checked only as far as the page goes", async () => {
  const matching = items.filter((item) => /er fjo/.test(item.words));
  expect(matching.length).toBeGreaterThan(6);
  const text = "{ q(func: regexp(words, /er fjo/), first: 5, offset: 1) { uid } }";
  expect(await queryDql(graph, text)).toEqual(uidsOf(matching.slice(1, 6)));
});

test("an edge condition finds its nodes from the other side", async () => {
  const expected = items.filter((item) => item.likes.includes(5));
  const text = "{ q(func: type(Item)) @filter(uid_in(likes, 5)) { uid } }";
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("aggregates and groups come from the index of few values", async () => {
  const open = items.filter((item) => item.open);
  const sum = open.reduce((total, item) => total + item.stars, 0);
  const text = `{
    var(func: type(Item)) @filter(eq(open, true)) { s as stars }
    q() { sum(val(s)) avg(val(s)) }
    g(func: type(Item)) @filter(eq(open, true)) @groupby(stars) { count(uid) }
  }`;
  const counts = [1, 2, 3, 4, 5]
    .map((stars) => ({ stars, count: open.filter((item) => item.stars === stars).length }))
    .sort((a, b) => a.count - b.count || a.stars - b.stars);
  expect(await queryDql(graph, text)).toEqual({
    q: [{ "sum(val(s))": sum }, { "avg(val(s))": sum / open.length }],
    g: [{ "@groupby": counts }],
  });
});

test("an order without first stops at a thousand", async () => {
  const text = "{ q(func: type(Item), orderasc: stars) { uid } }";
  const expected = [...items].sort((a, b) => a.stars - b.stars || a.uid - b.uid).slice(0, 1000);
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test("many candidates of a filter meet the lists of an index", async () => {
  const expected = items.filter((item) => item.kind === "lamp" && !item.open && item.stars !== 3);
  const text =
    '{ q(func: has(words)) @filter(eq(kind, "lamp") and not eq(open, true) and not eq(stars, 3)) { uid } }';
  expect(await queryDql(graph, text)).toEqual(uidsOf(expected));
});

test.each<[string, (item: Item) => boolean]>([
  ["le(stars, 2)", (item) => item.stars <= 2],
  ["lt(stars, 2)", (item) => item.stars < 2],
  ["gt(stars, 3)", (item) => item.stars > 3],
  ["between(stars, 2, 4)", (item) => item.stars >= 2 && item.stars <= 4],
  ["ge(price, 880)", (item) => (item.price ?? 0) >= 880],
  ["ge(price, 3)", (item) => (item.price ?? 0) >= 3],
  ["has(price)", (item) => item.price !== undefined],
  ["has(likes)", (item) => item.likes.length > 0],
  ["has(~likes)", (item) => items.some((other) => other.likes.includes(item.uid))],
  ["regexp(words, /er fjo/)", (item) => /er fjo/.test(item.words)],
  ["regexp(words, /^c.*t$/)", (item) => /^c.*t$/.test(item.words)],
  ["not regexp(words, /ember/)", (item) => !item.words.includes("ember")],
  ["not (has(price) and gt(stars, 1))", (item) => item.price === undefined || item.stars <= 1],
  ["has(likes) or le(stars, 1)", (item) => item.likes.length > 0 || item.stars <= 1],
  ['eq(words, "amber fjord")', (item) => item.words === "amber fjord"],
  ["near(place, [7, 7], 1000)", (item) => item.place === 7],
  ["eq(count(parts), 3)", (item) => item.parts.length === 3],
  ["eq(count(parts), 0)", (item) => item.parts.length === 0],
  ["not eq(count(parts), 0)", (item) => item.parts.length > 0],
  ["ge(count(parts), 4)", (item) => item.parts.length >= 4],
  ["ge(count(parts), 0)", () => true],
  ["gt(count(parts), 0)", (item) => item.parts.length > 0],
  ["le(count(parts), 2)", (item) => item.parts.length <= 2],
  ["lt(count(parts), 1)", (item) => item.parts.length < 1],
  ["lt(count(parts), 0)", () => false],
  ["between(count(parts), 2, 4)", (item) => item.parts.length >= 2 && item.parts.length <= 4],
  ["between(count(parts), 0, 2)", (item) => item.parts.length <= 2],
  ["between(count(parts), 4, 2)", () => false],
  ["between(count(parts), 1, 0)", () => false],
  ["ge(count(~parts), 6)", (item) => pointersAt(item.uid) >= 6],
  ["lt(count(~parts), 2)", (item) => pointersAt(item.uid) < 2],
  [
    "ge(price, 100) and eq(stars, 2) and regexp(words, /^c/) and le(count(parts), 3)",
    (item) =>
      (item.price ?? 0) >= 100 &&
      item.stars === 2 &&
      item.words.startsWith("c") &&
      item.parts.length <= 3,
  ],
  [
    'eq(kind, "lamp") or (has(likes) and (eq(stars, 1) and not eq(open, true)))',
    (item) => item.kind === "lamp" || (item.likes.length > 0 && item.stars === 1 && !item.open),
  ],
  ['eq(price, -5) and ge(stars, 1) and has(likes) and anyofterms(words, "amber")', () => false],
])("%s of many candidates, from an index or by values", async (condition, holds) => {
  const text = `{ v as var(func: has(words)) q(func: uid(v)) @filter(${condition}) { uid } }`;
  expect(await queryDql(graph, text)).toEqual(uidsOf(items.filter(holds)));
});

/** Conditions that only values tell: no index, so that the columns are read slice by slice. */
test("many candidates are tested by their values in any order", async () => {
  const plain = makeTestSchema([definePredicate("a", "int"), definePredicate("b", "string")]);
  const facts = Array.from({ length: itemCount }, (_, i): TestFact[] => [
    { subject: i + 1, predicate: "dgraph.type", object: { kind: "string", text: "Item" } },
    { subject: i + 1, predicate: "a", object: { kind: "int", int: i % 7 } },
    { subject: i + 1, predicate: "b", object: { kind: "string", text: `b${i % 11}` } },
  ]).flat();
  const bare = new MemoryGraph(plain, facts);
  const holds = (i: number): boolean => i % 7 <= 4 && i % 11 === 3;
  const expected = Array.from({ length: itemCount }, (_, i) => i).filter(holds);
  for (const condition of [
    'le(a, 4) and eq(b, "b3")',
    'eq(b, "b3") and le(a, 4)',
    'regexp(b, /^b3$/) and not gt(a, 4) and (eq(b, "b3") or eq(b, "b4"))',
  ]) {
    const text = `{ q(func: type(Item)) @filter(${condition}) { uid } }`;
    expect(await queryDql(bare, text), condition).toEqual({
      q: expected.map((i) => ({ uid: hex(i + 1) })),
    });
  }
});

test.each<[string, (item: Item) => boolean]>([
  ["eq(count(parts), 3)", (item) => item.parts.length === 3],
  ["ge(count(parts), 4)", (item) => item.parts.length >= 4],
  ["le(count(parts), 2)", (item) => item.parts.length > 0 && item.parts.length <= 2],
  ["between(count(parts), 2, 3)", (item) => item.parts.length === 2 || item.parts.length === 3],
  ["gt(count(~parts), 5)", (item) => pointersAt(item.uid) > 5],
])(
  "%s at a root, alone, paged, with conditions, and in place of another root",
  async (root, holds) => {
    const found = items.filter(holds);
    expect(await queryDql(graph, `{ q(func: ${root}) { uid } }`)).toEqual(uidsOf(found));
    const page = `{ q(func: ${root}, first: 5, offset: 2) { uid } n(func: ${root}) { count(uid) } }`;
    expect(await queryDql(graph, page)).toEqual({
      ...(uidsOf(found.slice(2, 7)) as object),
      n: [{ count: found.length }],
    });
    const open = `{ q(func: ${root}) @filter(eq(open, true)) { uid } }`;
    expect(await queryDql(graph, open)).toEqual(uidsOf(found.filter((item) => item.open)));
  },
);

test("a rare count becomes the root of a type, and zero never does", async () => {
  const many = items.filter((item) => item.parts.length === 6);
  const rare = "{ q(func: type(Item)) @filter(eq(count(parts), 6)) { uid } }";
  expect(await queryDql(graph, rare)).toEqual(uidsOf(many));
  const none = items.filter((item) => item.parts.length === 0 && item.price === 17);
  const zero = "{ q(func: type(Item)) @filter(eq(count(parts), 0) and eq(price, 17)) { uid } }";
  expect(await queryDql(graph, zero)).toEqual(uidsOf(none));
});

test("a root of counts that is refused is refused whatever else finds its nodes", async () => {
  const text = "{ q(func: ge(count(parts), 0)) @filter(eq(price, 17)) { uid } }";
  await expect(queryDql(graph, text)).rejects.toThrow("zero counts (not tracked)");
});

test("the parts of an AND are asked by how few nodes they have, and nothing of no nodes", async () => {
  const ask = async (condition: string) => {
    const text = `{ v as var(func: has(words)) q(func: uid(v)) @filter(${condition}) { uid } }`;
    const plan = buildPlan(parseQuery(text, new Map()), schema);
    const { report } = await profilePlan(plan, undefined, graph, {
      clock: systemClock,
      limits: defaultLimits,
      budget: makeFreeBudget(systemClock),
    });
    const filter = report.steps[1]?.steps?.find((step) => step.step === "filter");
    return (filter?.steps ?? []).map(({ text: line, in: before, notes }) => [
      line.split(" (")[0],
      before,
      notes?.join(),
    ]);
  };
  const stars = items.filter((item) => item.stars === 2);
  const rare = items.filter((item) => item.price === 17);
  expect(await ask("eq(stars, 2) and regexp(words, /e/) and eq(price, 17)")).toEqual([
    ['eq price "17"', itemCount, "tested by sets and indexes"],
    ['eq stars "2"', rare.length, "tested by the nodes' own values"],
    [
      'regexp words "e"',
      rare.filter((item) => stars.includes(item)).length,
      "tested by the nodes' own values",
    ],
  ]);
  const nothing = await ask('eq(stars, 2) and eq(kind, "lamp") and eq(price, -1)');
  expect(nothing).toEqual([
    ['eq price "-1"', itemCount, "tested by sets and indexes"],
    ['eq stars "2"', 0, "nothing was left to test"],
    ['eq kind "lamp"', 0, "nothing was left to test"],
  ]);
});

function pointersAt(uid: number): number {
  return items.filter((item) => item.parts.includes(uid)).length;
}

/**
 * Goal: what the choices of an execution weigh (`costs.ts`) decides how long an answer takes, never what it
 * says. Method: the same questions with the weights as they are, with the least, the greatest, and chosen ones.
 */
import { afterEach, expect, test, vi } from "vitest";
import { makeSeededRandom } from "../base/random.ts";
import * as costs from "./costs.ts";
import type { Value } from "../model/value.ts";

afterEach(() => {
  vi.doUnmock("./costs.ts");
  vi.resetModules();
});

const itemCount = 1200;

/** Everything that executes is loaded anew with these weights, and asked. */
async function askWith(weights: Readonly<Record<string, number>>): Promise<readonly string[]> {
  vi.resetModules();
  vi.doMock("./costs.ts", () => weights);
  const { MemoryGraph, definePredicate, makeTestSchema } =
    await import("../../test/support/memory-graph.ts");
  const { runDql } = await import("../../test/support/run-dql.ts");
  const loaded = await import("./costs.ts");
  expect(loaded.listsFrom).toBe(weights["listsFrom"]);
  const random = makeSeededRandom(11);
  const below = (bound: number): number => Math.floor(random.next() * bound);
  const words = ["amber", "basin", "cedar", "drift", "ember", "fjord"];
  const facts = Array.from({ length: itemCount }, (_, i) => {
    const text = (value: string): Value => ({ kind: "string", text: value });
    const has: [string, Value | number][] = [
      ["dgraph.type", text("Item")],
      ["kind", text(below(3) === 0 ? "lamp" : "chair")],
      ["stars", { kind: "int", int: below(5) + 1 }],
      ["words", text(`${words[below(6)] ?? ""} ${words[below(6)] ?? ""}`)],
      ["place", { kind: "geo", geometry: { type: "Point", coordinates: [i % 60, i % 60] } }],
    ];
    if (below(20) > 0) has.push(["price", { kind: "int", int: below(300) }]);
    const parts = below(3) * below(4);
    for (let k = 0; k < parts; k++) has.push(["parts", ((i * 7 + k * 13) % 300) + 1]);
    return has.map(([predicate, object]) => ({ subject: i + 1, predicate, object }));
  });
  const schema = makeTestSchema([
    definePredicate("kind", "string", { indexes: [{ tokenizer: "exact" }] }),
    definePredicate("price", "int", { indexes: [{ tokenizer: "int" }] }),
    definePredicate("stars", "int", { indexes: [{ tokenizer: "int" }] }),
    definePredicate("words", "string", {
      indexes: [{ tokenizer: "term" }, { tokenizer: "trigram" }],
    }),
    definePredicate("parts", "uid", { list: true, reverse: true, count: true }),
    definePredicate("place", "geo", { indexes: [{ tokenizer: "geo" }] }),
  ]);
  const graph = new MemoryGraph(schema, facts.flat());
  const answers: string[] = [];
  for (const text of questions) answers.push(await runDql(graph, text));
  return answers;
}

const conditions = [
  'eq(kind, "lamp")',
  "eq(price, [17, 20, 99])",
  "ge(price, 290)",
  "ge(price, 3)",
  "between(stars, 2, 4)",
  "has(price)",
  "has(~parts)",
  'anyofterms(words, "amber fjord")',
  'allofterms(words, "amber cedar")',
  "regexp(words, /er fjo/)",
  "near(place, [7, 7], 1000)",
  "eq(count(parts), 3)",
  "ge(count(~parts), 4)",
  "uid_in(parts, [3, 4, 5, 100])",
  "not eq(stars, 3)",
];

const pairs = conditions.flatMap((one, i) =>
  [1, 4, 9].map((step) => [one, conditions[(i + step) % conditions.length] ?? one] as const),
);

const questions = [
  ...pairs.map(
    ([one, other]) =>
      `{ q(func: type(Item)) @filter(${one} and ${other}) { uid } o(func: type(Item)) @filter(${one} or not ${other}) { count(uid) } }`,
  ),
  ...conditions
    .filter((one) => !one.startsWith("not") && !one.startsWith("uid_in"))
    .map(
      (one) =>
        `{ q(func: ${one}, orderdesc: price, orderasc: stars, first: 9, offset: 4) @filter(ge(stars, 2)) { uid price } a(func: ${one}, first: 5, after: 0x20) { uid } c(func: ${one}) { count(uid) } }`,
    ),
  "{ q(func: between(price, 20, 280), orderasc: price, first: 30) { price parts(orderdesc: price, first: 3) { price stars } } }",
  "{ v as var(func: has(words)) { p as price s as stars } q() { min(val(p)) max(val(p)) sum(val(s)) } g(func: uid(v)) @groupby(stars) { count(uid) } o(func: uid(v), orderdesc: val(p), first: 7) { uid } }",
  "{ q(func: type(Item), orderasc: kind, orderdesc: price, first: 20, offset: 300) { uid } }",
  "{ q(func: uid(1, 2, 3)) { parts @filter(ge(price, 100)) (first: 2) { uid ~parts(first: 3) { stars } } count(~parts) } }",
];

const names = Object.keys(costs);
const all = (value: number): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, value]));

test("the least and the greatest weights give the same answers", async () => {
  const expected = await askWith({ ...costs });
  expect(expected.every((answer) => answer.startsWith("{"))).toBe(true);
  const shares = { filterPassShare: 0.5 };
  expect(await askWith({ ...all(1), ...shares })).toEqual(expected);
  expect(await askWith({ ...all(1e9), ...shares })).toEqual(expected);
}, 120_000);

test("chosen weights give the same answers", async () => {
  const expected = await askWith({ ...costs });
  const random = makeSeededRandom(Number(process.env["WEFT_SEED"] ?? 5));
  for (let i = 0; i < 4; i++) {
    const chosen = names.map((name) => [name, Math.ceil(random.next() ** 4 * 5000)] as const);
    expect(await askWith({ ...Object.fromEntries(chosen), filterPassShare: 0.1 })).toEqual(
      expected,
    );
  }
}, 120_000);

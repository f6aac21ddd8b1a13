/** Goal: a plan that is bound to other values is the plan that they would have had. */
import { buildPlan, parseQuery } from "../exec/dql.ts";
import { expect, test } from "vitest";
import { definePredicate, makeTestSchema } from "../../test/support/memory-graph.ts";
import { PlanCache } from "./plan-cache.ts";

const schema = makeTestSchema([
  definePredicate("name", "string", { indexes: [{ tokenizer: "exact" }] }),
  definePredicate("age", "int", { indexes: [{ tokenizer: "int" }] }),
  definePredicate("friend", "uid", { list: true, reverse: true }),
]);

function openCache() {
  const cache = new PlanCache();
  let builds = 0;
  const textsOf = (text: string, values: Record<string, string>): readonly string[] => {
    const variables = new Map(Object.entries(values));
    const planned = cache.plan({ namespace: 0, text, variables }, schema, () => {
      builds++;
      const document = parseQuery(text, variables);
      return { document, plan: buildPlan(document, schema) };
    });
    return planned.texts ?? planned.plan.slots.map(({ literal }) => literal.text);
  };
  return { textsOf, built: () => builds };
}

function freshTexts(text: string, values: Record<string, string>): readonly string[] {
  const document = parseQuery(text, new Map(Object.entries(values)));
  return buildPlan(document, schema).slots.map(({ literal }) => literal.text);
}

test("requests that differ in the values of query variables share a plan", () => {
  const text =
    'query q($n: string, $a: int = 7, $page: int) { q(func: eq(name, $n), first: $page) @filter(ge(age, $a)) { friend @filter(eq(name, ["x", $n])) { uid } } }';
  const { textsOf, built } = openCache();
  for (const values of [
    { $n: "ada", $a: "3", $page: "10" },
    { $n: 'b"en', $page: "2" },
    { $n: "", $a: "", $page: "0x3" },
  ]) {
    expect(textsOf(text, values)).toEqual(freshTexts(text, values));
  }
  expect(built()).toBe(1);
  expect(() => textsOf(text, { $n: "ada", $page: "two" })).toThrow("Expected an int but got two");
  expect(() => textsOf(text, { $other: "1" })).toThrow("Type of variable $other not specified");
});

test("values that shape the tree have plans of their own", () => {
  const text = "query q($ids: string) { q(func: uid($ids)) { name } }";
  const { textsOf, built } = openCache();
  expect(textsOf(text, { $ids: "0x1" })).toEqual(["0x1"]);
  expect(textsOf(text, { $ids: "0x22" })).toEqual(["0x22"]);
  expect(built()).toBe(1);
  expect(textsOf(text, { $ids: "[0x1, 0x2]" })).toEqual(["0x1", "0x2"]);
  expect(textsOf(text, { $ids: "[0x1, 0x2]" })).toEqual(["0x1", "0x2"]);
  expect(built()).toBe(2);
  expect(textsOf(text, { $ids: "0x5" })).toEqual(["0x5"]);
  expect(built()).toBe(2);
});

test("long texts push out others sooner", () => {
  const { textsOf, built } = openCache();
  const longText = (i: number): string => {
    const fields = Array.from({ length: 3000 }, (_, k) => `n${i}_${k}`);
    return `{ q(func: uid(${i})) { ${fields.join(" ")} } }`;
  };
  const short = '{ q(func: eq(name, "x")) { name } }';
  textsOf(short, {});
  for (let i = 0; i < 100; i++) textsOf(longText(i), {});
  expect(built()).toBe(101);
  textsOf(short, {});
  expect(built()).toBe(102);
  textsOf(longText(99), {});
  expect(built()).toBe(102);
});

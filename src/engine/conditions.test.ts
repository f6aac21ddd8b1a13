/** Goal: a condition without a query says nothing, except in a request that sets a unique predicate. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import { openMemoryStore } from "../stores/open.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore() });
  const text = `
    email: string @unique @index(exact) @upsert .
    name: string @index(exact) .`;
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
});

afterEach(() => engine.close());

/** The names that are there afterwards and the answer's queries, or the refusal. */
async function mutate(...mutations: readonly (readonly [string, object])[]): Promise<unknown> {
  const list = mutations.map(([cond, set]) => ({ cond, set }));
  const body = { kind: "json", text: JSON.stringify({ mutations: list }) } as const;
  try {
    const answer = await engine.mutate({
      namespace: 0,
      body,
      startTs: 0,
      commitNow: true,
      timeoutMs: 0,
    });
    const queries = answer.queries && new TextDecoder().decode(answer.queries);
    const found = await askEngine(engine, "{ q(func: has(name), orderasc: name) { name } }");
    const { q } = JSON.parse(found) as { q: { name: string }[] };
    return [q.map(({ name }) => name).join(" "), queries];
  } catch (error) {
    return (error as Error).message;
  }
}

const plain = { name: "plain" };
const unique = { name: "unique", email: "a@b" };
const isFalse = '@if(eq(name, "x"))';
const isTrue = '@if(not eq(name, "x"))';

test("without a unique predicate it is not even looked at", async () => {
  expect(await mutate([isFalse, plain])).toEqual(["plain", undefined]);
  expect(await mutate(["@if(eq(len(v), 1)", { name: "more" }])).toEqual(["more plain", undefined]);
});

test("with one it decides, also of the request's other mutations", async () => {
  expect(await mutate([isFalse, unique])).toEqual(["", "{}"]);
  expect(await mutate([isFalse, plain], ["", unique])).toEqual(["unique", "{}"]);
  expect(await mutate([isTrue, plain], [isFalse, { email: "c@d", name: "no" }])).toEqual([
    "plain unique",
    "{}",
  ]);
  expect(await mutate([isTrue, { email: "e@f", name: "yes" }])).toEqual(["plain unique yes", "{}"]);
  // What is not written may have a value that is taken.
  expect(await mutate([isFalse, { ...unique, uid: "_:b" }])).toEqual(["plain unique yes", "{}"]);
  expect(await mutate([isTrue, { ...unique, uid: "_:b" }])).toContain("duplicate value");
});

test("with one it is refused where it is wrong", async () => {
  expect(await mutate(["@if(eq(len(v), 1)", unique])).toBe(
    "invalid cond value: unbalanced parentheses",
  );
  expect(await mutate(["@if(eq(len(v), 1))", unique])).toContain(
    "Some variables are used but not defined",
  );
});

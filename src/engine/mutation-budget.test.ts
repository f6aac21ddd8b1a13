// Goal: a mutation has the budget of any request: what it works out is charged, and what goes over it is not written.
import { afterEach, beforeEach, expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import { systemClock } from "../base/clock.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import { RequestBudget } from "../model/request-budget.ts";
import { openMemoryStore } from "../stores/open.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore() });
  const text = "name: string @index(exact) .\nkey: string @unique @index(hash) @upsert .";
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
});

afterEach(() => engine.close());

const facts = (predicate: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `_:n${i} <${predicate}> "value ${i}" .`).join("\n");

function mutate(text: string, limits: Partial<Limits>, timeoutMs = 0): Promise<unknown> {
  const given = { clock: systemClock, limits: { ...defaultLimits, ...limits }, timeoutMs };
  const budget = new RequestBudget(given);
  const body = { kind: "rdf", text } as const;
  return engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0, budget });
}

async function countNames(): Promise<string> {
  return askEngine(engine, "{ q(func: has(name)) { count(uid) } }");
}

const nothing = '{"q":[{"count":0}]}';

test.each(["name", "key"])("the work of its facts is counted: %s", async (predicate) => {
  const text = `{ set {\n${facts(predicate, 3000)}\n} }`;
  await expect(mutate(text, { queryWorkMax: 5000 })).rejects.toThrow("--limit query-work");
  expect(await countNames()).toBe(nothing);
  await mutate(text, { queryWorkMax: 100_000 });
});

test("its time ends while changes are worked out", async () => {
  const text = `{ set {\n${facts("name", 20_000)}\n} }`;
  await expect(mutate(text, { queryTimeoutMs: 30 })).rejects.toThrow("--limit query-timeout");
  await expect(mutate(text, {}, 30)).rejects.toThrow(/deadline exceeded$/);
  expect(await countNames()).toBe(nothing);
});

test("its time ends while passwords are hashed", async () => {
  await engine.alter({ kind: "schema", text: "secret: password .", runInBackground: false }, 0);
  const before = Date.now();
  await expect(mutate(`{ set {\n${facts("secret", 300)}\n} }`, {}, 300)).rejects.toThrow(
    /deadline exceeded$/,
  );
  // All of them take some 15 s.
  expect(Date.now() - before).toBeLessThan(10_000);
});

test("many deletes of an upsert are counted, too", async () => {
  await mutate(`{ set {\n${facts("name", 3000)}\n} }`, {});
  const text =
    "upsert { query { v as var(func: has(name)) } mutation { delete { uid(v) <name> * . } } }";
  await expect(mutate(text, { queryWorkMax: 8000 })).rejects.toThrow("--limit query-work");
  expect(await countNames()).toBe('{"q":[{"count":3000}]}');
  await mutate(text, {});
  expect(await countNames()).toBe(nothing);
});

test("what its facts become is held", async () => {
  const text = `{ set {\n${facts("name", 3000)}\n} }`;
  await expect(mutate(text, { queryMemoryMax: 1_000_000 })).rejects.toThrow("--limit query-memory");
  expect(await countNames()).toBe(nothing);
  await mutate(text, { queryMemoryMax: 2_000_000 });
});

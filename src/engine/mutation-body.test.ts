// Goal: a long body is read in slices: others have their turn meanwhile, and its budget ends it before it is read.
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import { RequestBudget } from "../model/request-budget.ts";
import { openMemoryStore } from "../stores/open.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore() });
});

afterEach(() => engine.close());

type Kind = "rdf" | "json";

function mutate(kind: Kind, text: string, limits: Partial<Limits> = {}): Promise<unknown> {
  const budget = new RequestBudget({
    clock: systemClock,
    limits: { ...defaultLimits, ...limits },
  });
  const body = { kind, text };
  return engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0, budget });
}

const count = 60_000;
const fill = (one: string): string => one.repeat(count);

/** Bodies with a fault at their very end, and what it is told with. */
const bodies: readonly (readonly [name: string, kind: Kind, text: string, fault: RegExp])[] = [
  ["facts", "rdf", `{ set {\n${fill('_:a <p> "x" .\n')}_:a\n} }`, /while lexing|empty required/],
  ["blank lines and comments", "rdf", `{ set {\n${fill(" \n#\n\n")}_:a\n} }`, /while lexing|empty/],
  ["objects of a list", "json", `{"set":[${fill('{"p":1},')}{]}`, /Error parsing JSON/],
  ["objects below objects", "json", `{"set":{"a":{"b":[${fill('{"p":1},')}{]}}}`, /parsing JSON/],
  ["values of a list", "json", `{"set":{"a":[${fill('"x",')}]}}`, /Error parsing JSON/],
  ["members of an object", "json", `{"set":{${fill('"a":null,')}}}`, /Error parsing JSON/],
  ["one text", "json", `{"set":{"a":"${fill("0123456789")}\n"}}`, /Error parsing JSON/],
  ["one escaped text", "json", `{"set":{"a":"${fill("\\n\\u00e9")}\n"}}`, /Error parsing JSON/],
];

test.each(bodies)("%s: read in slices", async (_name, kind, text, fault) => {
  await expect(mutate(kind, text)).rejects.toThrow(fault);
  await expect(mutate(kind, text, { queryWorkMax: 100 })).rejects.toThrow("--limit query-work");
});

test("others have their turn while a body is read", async () => {
  let scheduler = 0;
  const turn = (): void => {
    scheduler++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const [, kind, text, fault] = bodies[0]!;
  await expect(mutate(kind, text)).rejects.toThrow(fault);
  clearImmediate(next);
  expect(scheduler).toBeGreaterThan(3);
});

test("facets of many keys and of many elements are looked up, not looked through", async () => {
  const keys = Array.from({ length: 30_000 }, (_, i) => `"p${i}":"x","p${i}|f":${i}`).join();
  const elements = Array.from({ length: 30_000 }, () => '"x"').join();
  const facets = Array.from({ length: 2000 }, (_, i) => `"l|f${i}":{"${i}":1}`).join();
  const began = performance.now();
  await expect(mutate("json", `{"set":{${keys},"z":1,"z|f":[]}}`)).rejects.toThrow("facet: z|f");
  await expect(mutate("json", `{"set":{"l":[${elements}],${facets}}}`)).resolves.toBeDefined();
  expect(performance.now() - began).toBeLessThan(8000);
});

test("a number of many digits is no matter of seconds", async () => {
  const digits = "9".repeat(2_000_000);
  const began = performance.now();
  await expect(mutate("json", `{"set":{"uid":"0x1","p":${digits}}}`)).resolves.toBeDefined();
  expect(performance.now() - began).toBeLessThan(2000);
});

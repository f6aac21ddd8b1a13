// Goal: a large answer is written in steps, the same bytes as at once, and others run meanwhile.
import { buildPlan, parseQuery } from "../exec/dql.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { execute } from "../exec/execute.ts";
import type { Yielder } from "../exec/yielder.ts";
import { defaultLimits } from "../model/limits.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../../test/support/memory-graph.ts";
import { renderDql, renderDqlYielding } from "./dql-json.ts";

const nodeCount = 1500;
let graph: MemoryGraph;

beforeAll(() => {
  const schema = makeTestSchema(
    [
      definePredicate("name", "string", { indexes: [{ tokenizer: "exact" }] }),
      definePredicate("friend", "uid", { list: true }),
      definePredicate("boss", "uid"),
    ],
    [{ name: "Person", fields: ["name", "friend"] }],
  );
  const facts: TestFact[] = [];
  for (let uid = 1; uid <= nodeCount; uid++) {
    const text = (value: string): { kind: "string"; text: string } => ({
      kind: "string",
      text: value,
    });
    if (uid % 3 > 0) facts.push({ subject: uid, predicate: "name", object: text(`node ${uid}`) });
    facts.push({ subject: uid, predicate: "dgraph.type", object: text("Person") });
    const since = { key: "since", value: { kind: "int", int: BigInt(uid) } } as const;
    facts.push({
      subject: uid,
      predicate: "friend",
      object: 1 + ((uid * 7) % nodeCount),
      facets: [since],
    });
    facts.push({ subject: uid, predicate: "friend", object: 1 + ((uid * 11) % nodeCount) });
    facts.push({ subject: 1, predicate: "friend", object: uid });
    facts.push({ subject: uid, predicate: "boss", object: 1 + (uid % 9) });
  }
  graph = new MemoryGraph(schema, facts);
});

const queries = {
  "a list of nodes": "{ q(func: has(friend)) { name } }",
  "three levels, with facets and empty nodes":
    "{ q(func: has(friend), first: 300) { name friend @facets { name boss { name } } count(friend) } }",
  "one node with a long list":
    "{ q(func: uid(1)) { friend { name friend { uid boss { name friend (first: 1) { name } } } } } }",
  "flattened, at the root and on an edge":
    "{ a(func: has(boss)) @normalize { n: name boss { b: name } } b(func: uid(1)) { friend @normalize { n: name } } }",
  "expanded, beside counts":
    "{ q(func: has(friend)) { expand(_all_) { name } count(uid) } n(func: has(name)) { count(uid) } }",
  "without those above it":
    "{ q(func: has(friend), first: 400) @ignorereflex { name friend { name friend { uid } } } }",
};

describe.each(Object.entries(queries))("%s", (_, text) => {
  test.each([true, false])("debug %s", async (debug) => {
    const plan = buildPlan(parseQuery(text, new Map()), graph.schema);
    const limits = defaultLimits;
    const result = await execute(plan, undefined, graph, {
      clock: systemClock,
      limits,
      budget: makeFreeBudget(systemClock),
    });
    let pauses = 0;
    const check = (): Promise<void> => {
      pauses++;
      return new Promise((resolve) => void setImmediate(resolve));
    };
    const yielder: Yielder = { budget: makeFreeBudget(systemClock), check, checkSmall: check };
    const written = renderDqlYielding(plan, result, { limits, debug }, yielder);
    expect(written).toBeInstanceOf(Promise);
    const at = Buffer.from(renderDql(plan, result, { limits, debug }));
    expect(Buffer.from(await written).toString()).toBe(at.toString());
    expect(pauses).toBeGreaterThan(5);
  });
});

test("a small answer is written at once", async () => {
  const plan = buildPlan(parseQuery("{ q(func: uid(1, 2)) { name } }", new Map()), graph.schema);
  const limits = defaultLimits;
  const shared = { clock: systemClock, limits, budget: makeFreeBudget(systemClock) };
  const result = await execute(plan, undefined, graph, shared);
  const { budget } = shared;
  const check = (): Promise<void> => Promise.reject(new Error("not asked"));
  const yielder: Yielder = { budget, check, checkSmall: check };
  expect(renderDqlYielding(plan, result, { limits, debug: false }, yielder)).not.toBeInstanceOf(
    Promise,
  );
});

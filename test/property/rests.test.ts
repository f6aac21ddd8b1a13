/**
 * Goal: work on one huge level rests every few milliseconds, stops at its deadline, and says what small work says.
 * Method: a clock that goes on by a millisecond with every look, and turns that are counted.
 */
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import { expect, test } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { execute } from "../../src/exec/execute.ts";
import { makeFreeBudget, RequestBudget } from "../../src/model/request-budget.ts";
import { makeYielder } from "../../src/exec/yielder.ts";
import { defaultLimits } from "../../src/model/limits.ts";
import { renderDqlYielding } from "../../src/render/dql-json.ts";
import { renderRdf, renderRdfYielding } from "../../src/render/rdf.ts";
import {
  MemoryGraph,
  definePredicate,
  makeTestSchema,
  type TestFact,
} from "../support/memory-graph.ts";

const targetCount = 6000;

const schema = makeTestSchema([
  definePredicate("to", "uid", { list: true }),
  definePredicate("number", "int"),
  definePredicate("name", "string"),
]);

const numberOf = (i: number): number => (i * 7919) % 4001;
const nameOf = (i: number): string => `n${i % 50}`;

function makeFacts(): readonly TestFact[] {
  const facts: TestFact[] = [];
  for (let i = 1; i <= targetCount; i++) {
    const subject = 100 + i;
    // Some have no number: they come last.
    if (i % 100 !== 0) {
      facts.push({ subject, predicate: "number", object: { kind: "int", int: numberOf(i) } });
    }
    facts.push({ subject, predicate: "name", object: { kind: "string", text: nameOf(i) } });
    facts.push({ subject: 1, predicate: "to", object: subject });
    if (i % 2 === 0) facts.push({ subject: 2, predicate: "to", object: subject });
  }
  return facts;
}

const graph = new MemoryGraph(schema, makeFacts());

interface Told {
  readonly said: unknown;
  readonly rests: number;
  readonly ticks: number;
}

/** Every look at the clock is a millisecond later. */
async function run(text: string, deadlineMs = Infinity, limits = defaultLimits): Promise<Told> {
  let ticks = 0;
  let rests = 0;
  const clock: Clock = { tickMs: () => ++ticks, nowMs: () => ticks };
  const scheduler = {
    next(): Promise<void> {
      rests++;
      return Promise.resolve();
    },
    end(): void {},
    isBusy: false,
    alone: <T>(_: unknown, work: () => T): T => work(),
    turn: (): Promise<void> => Promise.resolve(),
  };
  const plan = buildPlan(parseQuery(text, new Map()), schema);
  const timeoutMs = deadlineMs === Infinity ? 0 : deadlineMs;
  const budget = new RequestBudget({ clock, limits: { ...limits, queryTimeoutMs: 0 }, timeoutMs });
  const context = { clock, limits, budget, scheduler };
  const result = await execute(plan, undefined, graph, context);
  const options = { limits, debug: false };
  const bytes = await renderDqlYielding(plan, result, options, makeYielder(context));
  return { said: JSON.parse(Buffer.from(bytes).toString()) as unknown, rests, ticks };
}

const all = Array.from({ length: targetCount }, (_, i) => i + 1);
const hasNumber = (i: number): boolean => i % 100 !== 0;
const hex = (i: number): string => `0x${(100 + i).toString(16)}`;
const uids = (found: readonly number[]): unknown => found.map((i) => ({ uid: hex(i) }));

/** Missing ones last, ties by uid. */
function byNumber(found: readonly number[], sign = 1): readonly number[] {
  return [...found].sort((a, b) => {
    if (hasNumber(a) !== hasNumber(b)) return hasNumber(a) ? -1 : 1;
    return (hasNumber(a) ? sign * (numberOf(a) - numberOf(b)) : 0) || a - b;
  });
}

const even = all.filter((i) => i % 2 === 0);
const numbered = all.filter(hasNumber);

test.each<[string, string, () => unknown]>([
  [
    "edges in order, the first ones",
    "{ q(func: uid(1, 2)) { to (orderasc: number, first: 7, offset: 2) { uid } } }",
    () => [{ to: uids(byNumber(all).slice(2, 9)) }, { to: uids(byNumber(even).slice(2, 9)) }],
  ],
  [
    "edges in order, nearly all",
    "{ q(func: uid(1, 2)) { to (orderdesc: number, first: 2900) { uid } } }",
    () => [
      { to: uids(byNumber(all, -1).slice(0, 2900)) },
      { to: uids(byNumber(even, -1).slice(0, 2900)) },
    ],
  ],
  [
    "edges in order of two keys, as far as a thousand",
    "{ q(func: uid(1)) { to (orderasc: name, orderasc: number) { uid } } }",
    () => {
      const inOrder = [...byNumber(all)].sort((a, b) =>
        nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0,
      );
      return [{ to: uids(inOrder.slice(0, 1000)) }];
    },
  ],
  [
    "edges in order of a variable, which leaves those without it out",
    "{ var(func: uid(1)) { to { n as number } } q(func: uid(1, 2)) { to (orderasc: val(n), first: 3000) { uid } } }",
    () => [
      { to: uids(byNumber(numbered).slice(0, 3000)) },
      { to: uids(byNumber(even.filter(hasNumber)).slice(0, 3000)) },
    ],
  ],
  [
    "nodes in order of a variable",
    "{ var(func: uid(1)) { to { n as number } } q(func: uid(n), orderdesc: val(n)) { uid } }",
    () => uids(byNumber(numbered, -1)),
  ],
  [
    "groups of a huge level",
    "{ q(func: uid(1)) { to @groupby(name) { count(uid) max(number) } } }",
    () => {
      const groups = Array.from({ length: 50 }, (_, g) => {
        const own = all.filter((i) => i % 50 === g);
        const numbers = own.filter(hasNumber).map(numberOf);
        return { name: `n${g}`, count: own.length, "max(number)": Math.max(...numbers) };
      });
      groups.sort((a, b) => (a.name < b.name ? -1 : 1));
      return [{ to: [{ "@groupby": groups }] }];
    },
  ],
  [
    "many groups",
    "{ v as var(func: has(number)) q(func: uid(v)) @groupby(number) { count(uid) } }",
    () => {
      const counts = new Map<number, number>();
      for (const i of numbered) counts.set(numberOf(i), (counts.get(numberOf(i)) ?? 0) + 1);
      const groups = Array.from(counts, ([number, count]) => ({ number, count }));
      groups.sort((a, b) => a.count - b.count || a.number - b.number);
      return [{ "@groupby": groups }];
    },
  ],
  [
    "edges that pass by their values",
    '{ q(func: uid(1, 2)) { to @filter(le(number, 2000) and eq(name, "n6")) { uid } } }',
    () => {
      const passes = (i: number): boolean =>
        hasNumber(i) && numberOf(i) <= 2000 && nameOf(i) === "n6";
      return [{ to: uids(all.filter(passes)) }, { to: uids(even.filter(passes)) }];
    },
  ],
  [
    "flat objects of a huge node",
    "{ q(func: uid(1)) @normalize { to { n: name m: number } } }",
    () => all.map((i) => ({ ...(hasNumber(i) ? { m: numberOf(i) } : {}), n: nameOf(i) })),
  ],
  [
    "flat objects below a node",
    "{ q(func: uid(1, 2)) { to @normalize { n: name } } }",
    () => [{ to: all.map((i) => ({ n: nameOf(i) })) }, { to: even.map((i) => ({ n: nameOf(i) })) }],
  ],
  [
    "branches that are multiplied",
    "{ q(func: uid(1)) @normalize { a: to (first: 90) { a: name } b: to (first: 90) { b: name } } }",
    () => {
      const first = all.slice(0, 90).map(nameOf);
      return first.flatMap((a) => first.map((b) => ({ a, b })));
    },
  ],
  [
    "branches that are multiplied below a node",
    "{ q(func: uid(100, 1)) { to (first: 1) @normalize { uid } a: to @normalize { n: name } } }",
    () => [{ a: all.map((i) => ({ n: nameOf(i) })), to: [{ uid: hex(1) }] }],
  ],
])("%s: with rests, and stopped in time", async (_, text, expected) => {
  const told = await run(text);
  expect(told.said).toEqual({ q: expected() });
  expect(told.rests).toBeGreaterThan(3);
  for (const share of [0.3, 0.6, 0.9]) {
    const late = run(text, Math.floor(told.ticks * share));
    await expect(late).rejects.toThrow("context deadline exceeded");
  }
});

test("what is flattened is stopped by the limits before it is printed", async () => {
  const text =
    "{ q(func: uid(1)) @normalize { a: to (first: 2000) { a: name } b: to (first: 2000) { b: name } } }";
  const limits = { ...defaultLimits, normalizeNodeMax: 1e9, resultBytesMax: 100_000 };
  await expect(run(text)).rejects.toThrow("Couldn't evaluate @normalize directive");
  await expect(run(text, Infinity, limits)).rejects.toThrow("is bigger than threshold: 100000");
  const tooMany = "{ q(func: uid(1)) @normalize { to { n: name } } }";
  await expect(
    run(tooMany, Infinity, { ...defaultLimits, normalizeNodeMax: 5999 }),
  ).rejects.toThrow("too many results");
  await run(tooMany, Infinity, { ...defaultLimits, normalizeNodeMax: 6000 });
});

test("RDF of a huge level is written in slices, and stops at the deadline", async () => {
  let ticks = 0;
  const clock: Clock = { tickMs: () => ++ticks, nowMs: () => ticks };
  const limits = defaultLimits;
  const context = { clock, limits, budget: makeFreeBudget(clock) };
  const plan = buildPlan(
    parseQuery("{ q(func: uid(1, 2)) { to { number name } } }", new Map()),
    schema,
  );
  const result = await execute(plan, undefined, graph, context);
  const before = ticks;
  const written = renderRdfYielding(plan, result, { limits }, makeYielder(context));
  expect(written).toBeInstanceOf(Promise);
  const bytes = await written;
  expect(ticks - before).toBeGreaterThan(100);
  expect(Buffer.from(bytes).equals(renderRdf(plan, result, { limits }))).toBe(true);
  const late = makeYielder({ clock, budget: new RequestBudget({ clock, limits, timeoutMs: 20 }) });
  await expect(async () => renderRdfYielding(plan, result, { limits }, late)).rejects.toThrow(
    "context deadline exceeded",
  );
});

/** Runs that are watched (slow-query log, traces) take turns as others do. */
import { expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import { RequestObserver } from "../model/request-observer.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { queryDefaults } from "./engine.ts";
import { openEngine } from "./open.ts";

test("long runs that were watched have left their places to others", async () => {
  let nowMs = 1000;
  // Each look at the clock takes as long as a slice: a few hundred rows are a long run.
  const clock: Clock = { nowMs: () => nowMs, tickMs: () => (nowMs += 5) };
  const engine = await openEngine({ store: openMemoryStore({ derive: deriveFill }), clock });
  await engine.alter({ kind: "schema", text: "name: string .", runInBackground: false }, 0);
  const facts = Array.from({ length: 6000 }, (_, i) => `_:n${i} <name> "n${i}" .`).join("\n");
  const body = { kind: "rdf" as const, text: `{ set { ${facts} } }` };
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
  const text = '{ q(func: has(name)) @filter(eq(name, "n7") or eq(name, "n5999")) { name } }';
  const observers: RequestObserver[] = [];
  for (let i = 0; i < 4; i++) {
    const budget = makeFreeBudget(clock);
    const observer = new RequestObserver(clock);
    budget.observer = observer;
    observers.push(observer);
    const answer = await engine.query({ ...queryDefaults, namespace: 0, text, budget });
    expect(JSON.parse(new TextDecoder().decode(answer.data))).toEqual({
      q: [{ name: "n7" }, { name: "n5999" }],
    });
  }
  expect(observers.map(({ plans }) => plans.length)).toEqual([1, 1, 1, 1]);
  await engine.close();
});

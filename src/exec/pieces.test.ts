import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { makeFreeBudget, RequestBudget } from "../model/request-budget.ts";
import { SolePieces } from "./pieces.ts";

const budget = makeFreeBudget(systemClock);

test("one at a time, with twice the time between them that they take", async () => {
  let nowMs = 0;
  const pieces = new SolePieces({ nowMs: () => 0, tickMs: () => nowMs });
  const told: string[] = [];
  const piece = (name: string, ms: number): unknown =>
    pieces.run(budget, () => {
      told.push(name);
      nowMs += ms;
      return name;
    });
  expect(piece("short", 1)).toBe("short");
  expect(piece("long", 60)).toBe("long");
  const began = performance.now();
  const next = piece("next", 30);
  const last = piece("last", 1);
  setImmediate(() => told.push("another request"));
  expect(await next).toBe("next");
  setImmediate(() => told.push("and another"));
  expect(await last).toBe("last");
  expect(told).toEqual(["short", "long", "another request", "next", "and another", "last"]);
  expect(performance.now() - began).toBeGreaterThan(80);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(piece("at once", 1)).toBe("at once");
});

test("nobody waits for those that fail, or are over before they begin", async () => {
  const pieces = new SolePieces(systemClock);
  const fail = (): never => {
    throw new Error("no document");
  };
  expect(() => pieces.run(budget, fail)).toThrow("no document");
  const long = performance.now() + 10;
  void pieces.run(budget, () => {
    while (performance.now() < long);
  });
  const limits = { queryTimeoutMs: 0, queryWorkMax: 0, queryMemoryMax: 0 };
  const gone = new RequestBudget({ clock: systemClock, limits, signal: { aborted: true } });
  let hasBegun = false;
  const failing = pieces.run(budget, fail);
  const left = pieces.run(gone, () => (hasBegun = true));
  const next = pieces.run(budget, () => "next");
  await expect(failing).rejects.toThrow("no document");
  await expect(left).rejects.toThrow("context canceled");
  expect(await next).toBe("next");
  expect(hasBegun).toBe(false);
});

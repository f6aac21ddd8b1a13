// Goal: the keys that a client sends with a commit are read in slices, and those that are known are left out.
import { expect, test } from "vitest";
import { makeFairScheduler } from "../exec/fair-scheduler.ts";
import { makeYielder } from "../exec/yielder.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import { parseKey, printKey } from "../write/conflict.ts";
import { readClaimedKeys } from "./claimed-keys.ts";

/** Every look at the time is five milliseconds later: each slice is over at its first look. */
function makeSlowYielder() {
  let nowMs = 0;
  const clock = { nowMs: () => 0, tickMs: () => (nowMs += 5) };
  const budget = makeFreeBudget(clock);
  return makeYielder({ clock, budget, scheduler: makeFairScheduler(clock) });
}

test("others have their turns between the keys of a commit", async () => {
  const texts = Array.from({ length: 256 * 20 }, (_, i) => `key ${i}`);
  let turns = 0;
  let isDone = false;
  const takeTurn = (): void => {
    if (isDone) return;
    turns++;
    setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const claimed = await readClaimedKeys(texts, new Set(), makeSlowYielder());
  isDone = true;
  expect(claimed.size).toBe(texts.length);
  expect(turns).toBeGreaterThanOrEqual(10);
});

test("keys that the transaction noted itself are left out, any other text is some key", async () => {
  const noted = parseKey("1a2b3c");
  const texts = [printKey(noted), "zz", "not a number", "zz"];
  const claimed = await readClaimedKeys(texts, new Set([noted]), makeSlowYielder());
  expect([...claimed]).toEqual([parseKey("zz"), parseKey("not a number")]);
});

// Goal: what rests while it sorts or selects gives what a plain sort gives, and stops when it is told to.
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeSeededRandom } from "../base/random.ts";
import { systemClock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import { yieldingFrom, selectYielding, sortYielding } from "./yielding-sort.ts";
import type { Yielder } from "./yielder.ts";

function countingYielder(stopAt = Infinity): Yielder & { looks: number } {
  return {
    looks: 0,
    budget: makeFreeBudget(systemClock),
    check() {
      if (++this.looks >= stopAt) throw new Fault("E_DEADLINE", "context deadline exceeded");
      return this.looks % 3 === 0 ? Promise.resolve() : undefined;
    },
    checkSmall() {
      return this.check();
    },
  };
}

function makeKeys(length: number, distinct: number, seed: number): Uint32Array {
  const random = makeSeededRandom(seed);
  return Uint32Array.from({ length }, () => Math.floor(random.next() * distinct));
}

test("sorted as a stable sort sorts, whatever the length", async () => {
  const lengths = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 4000, max: 9000 }));
  await fc.assert(
    fc.asyncProperty(lengths, fc.integer({ min: 1, max: 5000 }), async (length, distinct) => {
      const keys = makeKeys(length, distinct, length + distinct);
      const places = Uint32Array.from({ length }, (_, i) => i);
      const compare = (a: number, b: number): number => (keys[a] ?? 0) - (keys[b] ?? 0);
      const expected = Array.from(places).sort(compare);
      expect(Array.from(await sortYielding(countingYielder(), places.slice(), compare))).toEqual(
        expected,
      );
      const inOrder = (a: number, b: number): number => compare(a, b) || a - b;
      const first = await selectYielding(countingYielder(), places, 25, inOrder);
      expect(Array.from(first)).toEqual(expected.slice(0, 25));
    }),
    { numRuns: 30 },
  );
});

test("both look at the clock often, and stop when it is over", async () => {
  const keys = makeKeys(yieldingFrom * 4, 1000, 3);
  const places = Uint32Array.from(keys, (_, i) => i);
  const compare = (a: number, b: number): number => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b;
  const yielder = countingYielder();
  await sortYielding(yielder, places.slice(), compare);
  expect(yielder.looks).toBeGreaterThan(places.length / 512);
  await expect(sortYielding(countingYielder(9), places.slice(), compare)).rejects.toThrow(
    "deadline",
  );
  await expect(selectYielding(countingYielder(9), places, 10, compare)).rejects.toThrow("deadline");
});

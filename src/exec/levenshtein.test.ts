import fc from "fast-check";
import { expect, test } from "vitest";
import { buildDistanceTest, withinDistance } from "./levenshtein.ts";
import { runs } from "../../test/support/runs.ts";

/** The plain twin: the whole table. */
function distanceOf(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  let row = Array.from({ length: left.length + 1 }, (_, i) => i);
  right.forEach((character, j) => {
    const next = [j + 1];
    left.forEach((other, i) => {
      const replaced = (row[i] ?? 0) + (other === character ? 0 : 1);
      next.push(Math.min(replaced, (row[i + 1] ?? 0) + 1, (next[i] ?? 0) + 1));
    });
    row = next;
  });
  return row[left.length] ?? 0;
}

test("the band agrees with the whole table", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), maxLength: 12 });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 13 }), (a, b, max) => {
      const expected = distanceOf(a, b) <= max;
      expect(withinDistance(a, b, max)).toBe(expected);
      expect(buildDistanceTest(a, max)(b)).toBe(expected);
    }),
    { numRuns: runs(2000) },
  );
});

test("characters count, not bytes or units", () => {
  expect(withinDistance("Crème Brûlée for Two", "Creme Brulee for Two", 3)).toBe(true);
  expect(withinDistance("Crème Brûlée for Two", "Creme Brulee for Two", 2)).toBe(false);
  expect(withinDistance("😀", "a", 1)).toBe(true);
});

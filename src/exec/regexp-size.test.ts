import { expect, test } from "vitest";
import { compileRegexp } from "./regexp-match.ts";
import { regexpSizeMax, sizeOfRegexp } from "./regexp-size.ts";

test.each([
  ["abc", 3],
  ["a{3}", 3],
  ["a{2,5}b", 6],
  ["a{2,}", 2],
  ["(ab){10}", 40],
  ["((a{10}){10}){10}", 1220],
  ["[abc]{4}", 4],
  ["[]a{9}]x", 2],
  ["[^\\]{9}]x", 2],
  ["\\{3}", 3],
  ["\\pL{2}", 20],
  ["\\p{Greek}a", 11],
  ["a{x}", 3],
  ["((a", 1],
])("%s has %i parts", (source, size) => expect(sizeOfRegexp(source)).toBe(size));

test("a short expression that stands for a long one is refused before it is compiled", () => {
  expect(() => compileRegexp(".{1000}".repeat(60), "")).toThrow("expression too large");
  expect(() => compileRegexp("(((a{100}){100}){100})", "")).toThrow("expression too large");
  expect(compileRegexp(".{1000}", "")("a".repeat(1000))).toBe(true);
  expect(sizeOfRegexp(".{1000}".repeat(60))).toBeGreaterThan(regexpSizeMax);
});

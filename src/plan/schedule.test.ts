/** The order of blocks whose variables depend on each other (reference/dql 4.8). */
import { parseQuery } from "../exec/dql.ts";
import { expect, test } from "vitest";
import { scheduleBlocks } from "./variables.ts";

const schedule = (...blocks: string[]): readonly number[] =>
  scheduleBlocks(parseQuery(`{ ${blocks.join(" ")} }`, new Map()));

test("each block comes after those whose variables it uses, else in the order of the text", () => {
  const order = schedule(
    "q(func: uid(c)) { uid }",
    "c as var(func: uid(a)) @filter(uid(b))",
    "free(func: uid(1)) { uid }",
    "b as var(func: uid(2))",
    "a as var(func: uid(b, b))",
  );
  expect(order).toEqual([2, 3, 4, 1, 0]);
});

test("a circle is refused", () => {
  expect(() =>
    schedule("a as var(func: uid(b))", "b as var(func: uid(a))", "q(func: uid(a)) { uid }"),
  ).toThrow("Query couldn't be executed");
});

test("a chain of two thousand, the last one first", () => {
  const blocks = Array.from({ length: 1_999 }, (_, i) =>
    i === 1_998 ? `v${i} as var(func: uid(1))` : `v${i} as var(func: uid(v${i + 1}))`,
  );
  const order = schedule("q(func: uid(v0)) { uid }", ...blocks);
  expect(order).toEqual(Array.from({ length: 2_000 }, (_, i) => 1_999 - i));
});

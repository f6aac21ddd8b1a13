// Goal: the text of a vector is read in one pass, however many brackets end it.
import { expect, test } from "vitest";
import { parseVector } from "./vector.ts";

test("brackets too many at the end are let pass", () => {
  expect(Array.from(parseVector("[1, 2]]]"))).toEqual([1, 2]);
  expect(Array.from(parseVector("[]]"))).toEqual([]);
});

test("a text of brackets is refused at once", () => {
  expect(() => parseVector(`[${"]".repeat(300_000)}1]`)).toThrow("cannot convert []]");
});

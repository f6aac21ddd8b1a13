// Goal: a list of operations is cut where its elements end, whatever stands in their texts.
import { expect, test } from "vitest";
import { joinAnswers, splitBatch } from "./graphql-batch.ts";

test("elements come as they stand there", () => {
  const one = String.raw`{"query":"{ a(x: \"],[\") }","variables":{"big":9007199254740993,"list":[[1],{}]}}`;
  const other = `{"query" : "\\\\"}`;
  expect(splitBatch(` [ ${one} ,\n${other}, 3]`, 3)).toEqual([one, other, "3"]);
  expect(splitBatch("[{}]", 1)).toEqual(["{}"]);
});

test("too many, none, and no list are refused", () => {
  expect(() => splitBatch("[{},{}]", 1)).toThrow(
    "A request may have 1 operations, not 2 (--graphql batch)",
  );
  expect(() => splitBatch("[]", 1)).toThrow("an empty list of operations");
  expect(() => splitBatch("[{}", 1)).toThrow("is not JSON");
});

test("answers become a list", () => {
  const texts = ['{"data":1}', "{}"].map((text) => new TextEncoder().encode(text));
  expect(joinAnswers(texts).toString()).toBe('[{"data":1},{}]');
});

// Goal: files that wait and files that compute take turns.
import { expect, test } from "vitest";
import { takeTurns } from "./test-order.ts";

test("one of each in turn, and then what is left of the longer", () => {
  expect(takeTurns(["a", "b"], ["1", "2", "3", "4"])).toEqual(["a", "1", "b", "2", "3", "4"]);
  expect(takeTurns(["a", "b"], [])).toEqual(["a", "b"]);
});

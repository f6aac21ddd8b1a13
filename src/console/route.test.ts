import { expect, test } from "vitest";
import { linkTo, readRoute } from "./route.ts";

test.each([
  ["", "graphql", []],
  ["#/data/type/A%2FB", "data", ["type", "A/B"]],
  ["#/elsewhere/x", "graphql", []],
  ["#/data/node/%E0%A4%A", "data", ["node", "%E0%A4%A"]],
])("the view of %j", (hash, view, rest) => expect(readRoute(hash)).toEqual({ view, rest }));

test("a link leads back to what it names", () =>
  expect(readRoute(linkTo("data", "type", "a/b#%"))).toEqual({
    view: "data",
    rest: ["type", "a/b#%"],
  }));

import { expect, test } from "vitest";
import { findJsonPlaces } from "./json-places.ts";

test("values with their paths, kinds and ends, down to a depth", () => {
  const text =
    ' {"a": "x\\"}", "b" : [1, {"c": [2]}], "d": {}, "e": null, "f": -1.5e3, "g":true } ';
  const places = findJsonPlaces(text, 2);
  expect(places.map(({ path, kind }) => `${path.join(".")}:${kind}`)).toEqual([
    ":object",
    "a:string",
    "b:array",
    "b.:number",
    "b.:object",
    "d:object",
    "e:null",
    "f:number",
    "g:bool",
  ]);
  expect(text.slice(0, places[0]?.end)).toBe(" {");
  expect(text.slice(0, places[1]?.end).endsWith('x\\"}"')).toBe(true);
  expect(text.slice(0, places[7]?.end).endsWith("-1.5e3")).toBe(true);
});

test("deep nesting and odd keys do no harm", () => {
  const deep = `{"k\\u0065y":${"[".repeat(100_000)}${"]".repeat(100_000)},"after":1}`;
  expect(findJsonPlaces(deep, 1).map(({ path }) => path.join())).toEqual(["", "key", "after"]);
});

import { expect, test } from "vitest";
import * as fc from "fast-check";
import { indentJson } from "./json-text.ts";

test("numbers keep all the digits that were sent", () =>
  expect(indentJson('{"a":9007199254740993,"b":1.10}')).toBe(
    '{\n  "a": 9007199254740993,\n  "b": 1.10\n}',
  ));

test("signs in texts are left alone, empty objects and lists stay on their line", () =>
  expect(indentJson('{"a":"{,:\\"}","b":[],"c": { }}')).toBe(
    '{\n  "a": "{,:\\"}",\n  "b": [],\n  "c": {}\n}',
  ));

test("what is cut off is shown as far as it goes", () =>
  expect(indentJson('{"a":["b')).toBe('{\n  "a": [\n    "b'));

test("is what JSON.stringify makes, for every value", () =>
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
    }),
  ));

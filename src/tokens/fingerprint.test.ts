import { expect, test } from "vitest";
import { convertValue } from "../model/convert.ts";
import type { ValueKind } from "../model/value.ts";
import { fingerprintKey, fingerprintValue } from "./fingerprint.ts";

function sortByFingerprint(kind: ValueKind, texts: readonly string[]): string[] {
  const withPrints = texts.map((text) => {
    const value = convertValue({ kind: "default", text }, kind);
    return { text, print: fingerprintValue(value) };
  });
  withPrints.sort((a, b) => (a.print < b.print ? -1 : 1));
  return withPrints.map(({ text }) => text);
}

// Orders that clients of the reference have seen.
test.each<[ValueKind, string[]]>([
  ["string", ["red", "deep blue", "green", "Green"]],
  ["string", ["r", "p", "q"]],
  ["string", ["y", ""]],
  ["int", ["1", "-2", "3"]],
  ["int", ["5", "6"]],
  ["float", ["2", "1.5"]],
  ["bigfloat", ["1.5", "2"]],
  ["datetime", ["2020-01-01T00:00:00Z", "2021-06-01T10:00:00+02:00"]],
  ["geo", ["{'type':'Point','coordinates':[3,4]}", "{'type':'Point','coordinates':[1,2]}"]],
])("values of kind %s are listed in the known order %j", (kind, texts) => {
  expect(sortByFingerprint(kind, [...texts].sort())).toEqual(texts);
});

test("a fingerprint is eight latin1 characters", () => {
  expect(fingerprintKey("x")).toMatch(/^[\0-\xff]{8}$/);
  expect(fingerprintKey("x")).toBe(fingerprintKey("x"));
  expect(fingerprintKey("x")).not.toBe(fingerprintKey("y"));
});

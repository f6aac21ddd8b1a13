import { expect, test } from "vitest";
import { compareText } from "../model/text-order.ts";
import { collationOf, textOrder } from "./collate.ts";

test.each([
  ["sv", "ask Ask zink Zorn Ål Äng Ögla"],
  ["de", "Ähre Apfel ofen Ofen Öl Strasse straße Zaun"],
  ["es", "nube Nuez ñu ola oso"],
  ["en", "10 9 Co co-op cone CONE cône coop"],
])("texts in %s are collated", (tag, sorted) => {
  const words = sorted.split(" ");
  expect([...words].reverse().sort(collationOf(tag))).toEqual(words);
});

test("a tag that is no language is English where there is an index, and bytes where there is none", () => {
  expect(collationOf("xx")).toBeUndefined();
  const words = ["b", "A", "B", "a"];
  expect([...words].sort(textOrder("xx", true))).toEqual(["a", "A", "b", "B"]);
  expect([...words].sort(textOrder("xx", false))).toEqual(["A", "B", "a", "b"]);
  expect(textOrder("", true)).toBe(compareText);
});

test("what collates as equal is ordered by bytes", () => {
  expect(collationOf("en")?.("é", "e\u0301")).not.toBe(0);
});

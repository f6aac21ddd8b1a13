/** URLs of requests to services outside (reference/graphql 8.4). */
import { expect, test } from "vitest";
import type { JsonValue } from "../operation/json.ts";
import { fillUrl, shownUrl } from "./request-url.ts";

const fill = (template: string, values: Readonly<Record<string, JsonValue>>): string =>
  fillUrl(template, new Map(Object.entries(values)));

test.each([
  ["http://a/$x/b", { x: "1/2" }, "http://a/1%2F2/b"],
  ["http://a/$x", { x: [1, 2] }, "http://a/1%2C2"],
  ["http://a/$x", { x: { name: "George", id: 1 } }, "http://a/id%2C1%2Cname%2CGeorge"],
  ["http://a/?n=$n", { n: "Michael Compton" }, "http://a/?n=Michael+Compton"],
  ["http://a?z=1&i=$i", { i: [1, 2] }, "http://a?i=1&i=2&z=1"],
  ["http://a/?o=$o", { o: { id: 1, name: "G" } }, "http://a/?o%5Bid%5D=1&o%5Bname%5D=G"],
  ["http://a/?o=$o", { o: [{ id: 1 }, { id: 2 }] }, "http://a/?o%5Bid%5D=1&o%5Bid%5D=2"],
  ["http://a/?x=$x&y=$y&z=$z", { x: null, z: [] }, "http://a/?x="],
  ["/relative/$x#part", { x: "é" }, "/relative/%C3%A9"],
])("%s", (template, values, url) => {
  expect(fill(template, values)).toBe(url);
});

test("errors show neither credentials nor parameters", () => {
  expect(shownUrl("https://me:pass@a.example/b?key=1#c")).toBe("https://a.example/b");
});

// Goal: conflict keys that clients carry between requests come back as they were.
import { expect, test } from "vitest";
import { nodeKey, parseKey, printKey } from "./conflict.ts";

test("a key that was printed is the same key again", () => {
  for (let uid = 1; uid < 200; uid += 7) {
    const key = nodeKey(3, uid);
    expect(parseKey(printKey(key))).toBe(key);
  }
});

test("each of a key's eight bytes is in what is printed", () => {
  const key = "\u0001\u0002\u0003\u0004\u00fc\u00fd\u00fe\u00ff";
  expect(printKey(key)).toBe(0x01020304fcfdfeffn.toString(36));
  expect(parseKey(printKey(key))).toBe(key);
  expect(printKey("\0\0\0\0\0\0\0\u0007")).toBe("7");
  expect(parseKey("7")).toBe("\0\0\0\0\0\0\0\u0007");
});

test("a text that is no key is one of its own, the same each time", () => {
  const texts = ["", "A", "not a key", "-1", "0".repeat(14)];
  const keys = texts.map(parseKey);
  for (const key of keys) expect(key.length).toBe(8);
  expect(new Set([...keys, parseKey("0")]).size).toBe(texts.length + 1);
  expect(texts.map(parseKey)).toEqual(keys);
});

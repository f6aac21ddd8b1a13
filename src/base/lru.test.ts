import { expect, it } from "vitest";
import { Lru } from "./lru.ts";

it("keeps what was used last", () => {
  const lru = new Lru<string, number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect([lru.get("a"), lru.get("b"), lru.get("c")]).toEqual([1, undefined, 3]);
  expect(lru.peek("a")).toBe(1);
  lru.delete("a");
  expect(lru.size).toBe(1);
});

it("is bounded by weight", () => {
  const lru = new Lru<string, string>(10, (text) => text.length);
  lru.set("a", "aaaa");
  lru.set("b", "bbbb");
  lru.set("c", "cccc");
  expect([lru.weight, lru.get("a")]).toEqual([8, undefined]);
  lru.set("d", "d".repeat(11));
  expect(lru.get("d")).toBeUndefined();
  lru.clear();
  expect([lru.size, lru.weight]).toEqual([0, 0]);
});

it("keeps fewer entries of long keys", () => {
  const lru = Lru.byLength<number>(4, 10);
  for (let i = 0; i < 6; i++) lru.set(`${i}`, i);
  expect(lru.size).toBe(4);
  lru.set("x".repeat(25), 6);
  expect([lru.size, lru.weight]).toEqual([2, 35]);
  lru.set("y".repeat(41), 7);
  expect([lru.size, lru.get("5"), lru.get("4")]).toEqual([2, 5, undefined]);
});

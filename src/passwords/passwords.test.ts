/** Passwords in a thread of their own: right answers, and no more that wait than may. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import { comparePassword, hashPassword } from "./passwords.ts";

test("a hash is of its password, and of no other", async () => {
  const hash = await hashPassword("plum and pear");
  expect(hash).toMatch(/^\$2b\$10\$/);
  expect(await comparePassword("plum and pear", hash)).toBe(true);
  expect(await comparePassword("plum and pears", hash)).toBe(false);
  expect(await comparePassword("plum", "no hash at all")).toBe(false);
});

test("who asks for one waits for one of each other, however many those have", async () => {
  const hash = await hashPassword("plum and pear");
  const order: string[] = [];
  const ask = (name: string, asker: object): Promise<number> =>
    comparePassword("x", hash, asker).then(() => order.push(name));
  const many = {};
  const all = Array.from({ length: 8 }, () => ask("many", many));
  await Promise.all([...all, ask("one", {})]);
  // Two are with the thread already, and one of the many is at most before it.
  expect(order.indexOf("one")).toBeLessThanOrEqual(3);
});

test("more than may wait are refused, and the pool of the process is free meanwhile", async () => {
  const hash = await hashPassword("plum and pear");
  const outcomes: string[] = [];
  const many = Array.from({ length: 210 }, () =>
    comparePassword("x", hash).then(
      () => outcomes.push("compared"),
      (error: unknown) => outcomes.push(error instanceof Fault ? error.code : "other"),
    ),
  );
  // Reading a file waits for a thread of the pool: none of them compares passwords.
  for (let i = 0; i < 8; i++) await readFile(import.meta.filename);
  expect(outcomes.filter((one) => one === "compared").length).toBeLessThan(100);
  expect(outcomes.filter((one) => one === "E_OVERLOADED").length).toBe(10);
  await Promise.all(many.slice(0, 3));
  expect(outcomes).toContain("compared");
});

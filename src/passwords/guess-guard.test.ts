// Goal: wrong passwords for one node are slowed down, right ones for it and those of others are not.
import { expect, test } from "vitest";
import { GuessGuard } from "./guess-guard.ts";

const wrong = (): Promise<boolean> => Promise.resolve(false);
const right = (): Promise<boolean> => Promise.resolve(true);

test("after ten wrong ones each waits longer than the one before, whoever asks; others do not", async () => {
  const guard = new GuessGuard();
  let nowMs = 0;
  const guess = (compare: () => Promise<boolean>, hash = "a"): Promise<boolean> =>
    guard.run(hash, () => nowMs, compare);
  for (let i = 0; i < 10; i++) expect(await guess(wrong)).toBe(false);
  await expect(guess(right)).rejects.toThrow(
    "too many wrong passwords have been given: try again in 1 s",
  );
  expect(await guess(right, "b")).toBe(true);
  nowMs += 1000;
  expect(await guess(wrong)).toBe(false);
  await expect(guess(wrong)).rejects.toThrow("try again in 2 s");
  nowMs += 2000;
  expect(await guess(right)).toBe(true);
  for (let i = 0; i < 9; i++) expect(await guess(wrong)).toBe(false);
  expect(await guess(right)).toBe(true);
});

test("many who know it come at once; many who guess at once are no way round", async () => {
  const guard = new GuessGuard();
  const all = (compare: () => Promise<boolean>): Promise<PromiseSettledResult<boolean>[]> =>
    Promise.allSettled(Array.from({ length: 40 }, () => guard.run("a", () => 0, compare)));
  const known = await all(right);
  expect(known.every(({ status }) => status === "fulfilled")).toBe(true);
  expect(await guard.run("a", () => 0, wrong)).toBe(false);
  const guessed = await all(wrong);
  expect(guessed.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
});

test("what could not be compared is no guess, and old ones are forgotten", async () => {
  const guard = new GuessGuard();
  let nowMs = 0;
  const guess = (compare: () => Promise<boolean>): Promise<boolean> =>
    guard.run("a", () => nowMs, compare);
  for (let i = 0; i < 30; i++) {
    await expect(guess(() => Promise.reject(new Error("busy")))).rejects.toThrow("busy");
  }
  for (let i = 0; i < 10; i++) await guess(wrong);
  await expect(guess(wrong)).rejects.toThrow("try again in 1 s");
  nowMs += 16 * 60_000;
  for (let i = 0; i < 10; i++) expect(await guess(wrong)).toBe(false);
});

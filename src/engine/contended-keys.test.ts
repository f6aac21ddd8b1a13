// Goal: those who lost the same keys go on in the order of their first loss, nobody waits for ever, and who lost others
// does not wait.
import { expect, test } from "vitest";
import { ContendedKeys, Contender } from "./contended-keys.ts";

function wanting(...keys: string[]): Contender {
  const contender = new Contender();
  contender.wanted = [keys];
  return contender;
}

test("one after the other, by what they share", async () => {
  const contended = new ContendedKeys();
  const order: string[] = [];
  const enter = (name: string, contender: Contender): Contender => {
    const turn = contended.enter(contender, Infinity) ?? Promise.resolve();
    void turn.then(() => order.push(name));
    return contender;
  };
  const a = enter("a", wanting("x", "y"));
  const b = enter("b", wanting("y", "z"));
  enter("c", wanting("z"));
  const other = enter("other", wanting("w"));
  await Promise.resolve();
  expect(order).toEqual(["a", "other"]);
  expect(contended.isTaken(wanting("y"))).toBe(true);
  expect(contended.isTaken(wanting("v"))).toBe(false);
  expect(contended.isTaken(a)).toBe(false);
  contended.leave(a);
  contended.leave(other);
  await Promise.resolve();
  // One that came later and needs nothing of b's but its last key waits for it.
  expect(order).toEqual(["a", "other", "b"]);
  contended.leave(b);
  await Promise.resolve();
  expect(order).toEqual(["a", "other", "b", "c"]);
});

test("the oldest goes first again when it finds that it needs more", async () => {
  const contended = new ContendedKeys();
  const old = wanting("x");
  expect(contended.enter(old, Infinity)).toBeUndefined();
  const young = wanting("y");
  expect(contended.enter(young, Infinity)).toBeUndefined();
  old.wanted = [["x", "y"]];
  expect(contended.enter(old, Infinity)).toBeUndefined();
  // What it does meanwhile is in vain, unless it is done first.
  expect(contended.isTaken(young)).toBe(true);
  const turn = contended.enter(young, Infinity);
  contended.leave(old);
  await turn;
  expect(contended.isTaken(young)).toBe(false);
  contended.leave(young);
  expect(contended.isTaken(wanting("x", "y"))).toBe(false);
});

test("a slow one is waited for so long, and is judged by the store alone then", async () => {
  const contended = new ContendedKeys();
  const slow = wanting("x");
  void contended.enter(slow, Infinity);
  const next = wanting("x");
  await contended.enter(next, Infinity);
  expect(contended.isTaken(slow)).toBe(false);
  // It has lost again: it is the oldest still.
  expect(contended.enter(slow, Infinity)).toBeUndefined();
  expect(contended.isTaken(next)).toBe(true);
  contended.leave(slow);
  contended.leave(next);
});

test("who waits does so for its own time at most", async () => {
  const contended = new ContendedKeys();
  const first = wanting("x");
  void contended.enter(first, Infinity);
  await contended.enter(wanting("x"), 1);
  expect(contended.isTaken(first)).toBe(false);
  contended.leave(first);
});

// Goal: who gives no sign for long enough hangs; a stop of everybody makes nobody late.
import { expect, test } from "vitest";
import { beatMs, Pulse } from "./pulse.ts";

const child = { name: "child" };

function turnsUntilHanging(pulse: Pulse<object>, turnsMax: number): number | undefined {
  for (let turn = 1; turn <= turnsMax; turn++) if (pulse.turn().includes(child)) return turn;
  return undefined;
}

test("silence is counted from the last sign, and told once", () => {
  const pulse = new Pulse<object>(4 * beatMs);
  pulse.note(child);
  expect(pulse.turn()).toEqual([]);
  expect(pulse.turn()).toEqual([]);
  pulse.note(child);
  expect(turnsUntilHanging(pulse, 100)).toBe(5);
  expect(turnsUntilHanging(pulse, 100)).toBeUndefined();
});

test("who has not given a first sign, or has gone, is not watched", () => {
  const pulse = new Pulse<object>(beatMs);
  expect(turnsUntilHanging(pulse, 10)).toBeUndefined();
  pulse.note(child);
  pulse.forget(child);
  expect(turnsUntilHanging(pulse, 10)).toBeUndefined();
});

test("0 is for ever", () => {
  const pulse = new Pulse<object>(0);
  pulse.note(child);
  expect(turnsUntilHanging(pulse, 10_000)).toBeUndefined();
});

import { describe, expect, test } from "vitest";
import { StartTimeGiver, unpackStartTime } from "./start-time.ts";

const clock = { ms: 0, tickMs: () => clock.ms, nowMs: () => clock.ms };

function open(floorTs = 0): StartTimeGiver {
  clock.ms = 0;
  return new StartTimeGiver({ slot: 3, floorTs, clock });
}

/** Takes start times until there is none, at most `max`. */
function takeAll(
  giver: StartTimeGiver,
  commit: number,
  sameSince?: number,
  max = 100_000,
): number[] {
  const taken: number[] = [];
  while (taken.length < max) {
    const time = giver.give(commit, sameSince);
    if (time === undefined) break;
    taken.push(time);
  }
  return taken;
}

const commitsOf = (times: readonly number[]): number[] => [
  ...new Set(times.map((time) => unpackStartTime(time).commit)),
];

describe("start times", () => {
  test("of one commit number are 255, each once", () => {
    const taken = takeAll(open(), 7);
    expect(new Set(taken).size).toBe(255);
    expect(commitsOf(taken)).toEqual([7]);
  });

  test("are taken of all numbers since which nothing changed, and grow", () => {
    const giver = open();
    const taken = [...takeAll(giver, 7), ...takeAll(giver, 12, 7)];
    expect(new Set(taken).size).toBe(255 * 6);
    expect(commitsOf(taken)).toEqual([7, 8, 9, 10, 11, 12]);
    expect(taken).toEqual(taken.toSorted((a, b) => a - b));
  });

  test("never lie before what was changed, nor before the process had its slot", () => {
    expect(commitsOf(takeAll(open(), 12, 10))).toEqual([10, 11, 12]);
    expect(commitsOf(takeAll(open(11), 12, 3))).toEqual([11, 12]);
    const giver = open();
    takeAll(giver, 12, 7, 300);
    expect(commitsOf(takeAll(giver, 13))).toEqual([13]);
  });

  test("are of the newest number once that is half a minute old", () => {
    const giver = open();
    takeAll(giver, 12, 7, 300);
    clock.ms = 31_000;
    expect(commitsOf(takeAll(giver, 12, 7))).toEqual([12]);
  });

  test("that were not given are known", () => {
    const giver = open();
    takeAll(giver, 12, 7, 10);
    expect(giver.mayHaveGiven({ commit: 7, slot: 3, serial: 10 })).toBe(true);
    expect(giver.mayHaveGiven({ commit: 7, slot: 3, serial: 11 })).toBe(false);
    expect(giver.mayHaveGiven({ commit: 12, slot: 3, serial: 1 })).toBe(false);
  });

  test("ask for more empty commits the longer nothing changes", () => {
    const giver = open();
    const asked: number[] = [];
    let newest = 1;
    for (let i = 0; i < 5000; i++) {
      expect(giver.give(newest, 1)).toBeDefined();
      const due = giver.emptiesDue(newest);
      if (due > 0) asked.push(due);
      newest += due;
    }
    expect(asked).toEqual([1, 2, 4, 8, 16]);
  });

  test("ask for one empty commit where each is followed by a change", () => {
    const giver = open();
    const asked: number[] = [];
    for (let newest = 1; newest < 20; newest++) {
      for (let i = 0; i < 250; i++) {
        giver.give(newest, newest);
        const due = giver.emptiesDue(newest);
        if (due > 0) asked.push(due);
      }
    }
    expect(asked).toEqual(Array.from({ length: 19 }, () => 1));
  });
});

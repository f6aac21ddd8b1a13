// Goal: each choice has a side on which it is taken, a side on which it is not, and the place where they meet.
import { expect, test } from "vitest";
import {
  areManyNodes,
  columnTokens,
  countsOn,
  isCountKept,
  isSought,
  takesColumn,
} from "./column-choice.ts";
import {
  areMany,
  countMembersMax,
  countsCells,
  leadBelow,
  rangeBudget,
  rangeStep,
  sampleSize,
  takesLists,
  takesOpenLists,
  takesPresence,
  takesReverse,
  takesTexts,
} from "./filter-choice.ts";
import { checkCost, costOf } from "./query-cost.ts";
import { countedMembersMax, countsRangeOn } from "./root-choice.ts";
import { isHeld, isSorted, isWalkLong, ranksMembers, stepsOfWalk } from "./walk-choice.ts";

/** What is true up to a number, and false from the next one on. */
const upTo: readonly [string, (n: number) => boolean, number][] = [
  ["few candidates are tested by their values", (n) => !areMany(n), 191],
  ["lists of an eq, for 200 candidates", (n) => takesLists(n, 200), 200 * 64],
  ["lists whose members are looked at again, for 200", (n) => takesOpenLists(n, 200), 100],
  ["the list of a predicate, for 200", (n) => takesPresence(n, 200), 200 * 64],
  ["cells that are counted", countsCells, 64],
  ["texts that are split into words", takesTexts, 16],
  ["targets whose lists are read", takesReverse, 64],
  ["candidates of which no sample is worth it", (n) => sampleSize(n) === 0, 2047],
  ["tokens of a range that are counted on", countsRangeOn, 127],
  ["nodes that are sorted for a page of 10", (n) => isSorted(n, 10), 256],
  ["nodes that are sorted for a page of 100", (n) => isSorted(n, 100), 800],
  ["steps of a walk for 300 candidates", (n) => !isWalkLong(n, 300), 599],
  ["nodes that are held beside a walk", isHeld, 50_000],
  ["nodes that are read from records", (n) => !areManyNodes(n), 511],
  ["members of an index column for 512 nodes", (n) => takesColumn(n, 512), 512 * 64],
  ["tokens of an index column that are counted", countsOn, 4095],
  ["commits for which a count of tokens is kept", isCountKept, 9999],
  ["members that are sought among 160", (n) => isSought(n, 160), 9],
  [
    "members by whose ranks 100 edges of a node are sorted",
    (n) => ranksMembers(100, n, 1, 100),
    50,
  ],
];

test.each(upTo)("%s", (_, holds, last) => {
  expect([holds(last), holds(last + 1)]).toEqual([true, false]);
});

test("an area without cells is not counted", () => expect(countsCells(0)).toBe(false));

test("few nodes with few edges kept are not worth ranks", () => {
  expect(ranksMembers(10_000, 100, 100, 13)).toBe(true);
  expect(ranksMembers(10_000, 100, 100, 12)).toBe(false);
});

test("what counting may cost grows with the candidates", () => {
  expect(countMembersMax(200)).toBe(3200);
  expect(countedMembersMax()).toBe(4096);
  expect(rangeBudget(400)).toBe(100);
  expect(rangeStep(20)).toBe(3);
  expect(columnTokens(4095)).toBe(511);
  expect(sampleSize(2048)).toBe(64);
  expect(leadBelow(64)).toBe(32);
});

test("a walk is longer the rarer its candidates are among the nodes with a value", () => {
  expect(stepsOfWalk(10, 1000, 1000)).toBe(10);
  expect(stepsOfWalk(10, 1000, 100)).toBe(100);
  expect(stepsOfWalk(10, 1000, 5000)).toBe(10);
  expect(stepsOfWalk(10, 1000, 0)).toBe(10_000);
  expect(stepsOfWalk(10, 1000, Infinity)).toBe(10);
});

test("a query may cost as much as the limit, and no more", () => {
  expect(() => checkCost(100, 100)).not.toThrow();
  expect(() => checkCost(101, 100)).toThrow("expected to cost 101 records, more than 100");
});

test("a list costs a record; tokens and members of lists are parts of one, rounded up together", () => {
  expect(costOf({ records: 3, lists: 2, tokens: 0, uids: 0 })).toBe(5);
  expect(costOf({ records: 0, lists: 0, tokens: 4, uids: 400 })).toBe(4);
  expect(costOf({ records: 0, lists: 0, tokens: 1, uids: 100 })).toBe(1);
});

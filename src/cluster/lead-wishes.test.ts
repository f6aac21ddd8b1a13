// Goal: a leader gives way to machines that reach each other and not it, where they are more, and to nobody else.
import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import type { LeadWish } from "../log/replicated-log.ts";
import { LeadVote } from "./lead-wishes.ts";

/** What comes of looks of which each finds all who ask asking still. */
async function vote(
  asked: Readonly<Record<string, readonly string[]>>,
  {
    connected = [],
    term = 3,
    grows = true,
  }: { connected?: string[]; term?: number; grows?: boolean },
): Promise<readonly string[]> {
  let count = 0;
  const wishes = async (): Promise<readonly LeadWish[]> => {
    if (grows) count++;
    return Object.entries(asked).map(([node, reaches]) => {
      return { node, address: `${node}:1`, term, count, reaches };
    });
  };
  const options = { lease: { wishes }, clock: systemClock, term: 3, freshMs: 10_000 };
  const leader = new LeadVote(options);
  const looks = [];
  for (let i = 0; i < 4; i++) looks.push(await leader.look(new Set(connected)));
  // Not before they have asked for two looks.
  expect(looks.slice(0, 2)).toEqual([[], []]);
  return looks[3] ?? [];
}

test.each([
  ["two that reach each other, and nobody follows", { b: ["c"], c: ["b"] }, {}, ["b", "c"]],
  ["one alone", { b: [] }, {}, []],
  ["two of which one does not reach the other", { b: ["c"], c: [] }, {}, []],
  ["as many as it reaches", { b: ["c"], c: ["b"] }, { connected: ["d"] }, []],
  ["three of five", { b: ["c", "d"], c: ["b"], d: ["b"] }, { connected: ["e"] }, ["b", "c", "d"]],
  ["those that follow again", { b: ["c"], c: ["b"] }, { connected: ["c"] }, []],
  ["wishes against another leader", { b: ["c"], c: ["b"] }, { term: 2 }, []],
  ["wishes of before", { b: ["c"], c: ["b"] }, { grows: false }, []],
] as const)("%s", async (_name, asked, given, expected) => {
  expect(await vote(asked, { ...given } as Parameters<typeof vote>[1])).toEqual(expected);
});

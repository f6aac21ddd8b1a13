/** Histories as a sound server makes them, and the same with one thing wrong. */
import { expect, test } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { findAnomalies } from "./checker.ts";
import type { Attempt, Step } from "./history.ts";
import { asLists, type RegisterStep } from "./registers.ts";

const append = (key: string, value: number): Step => ({ kind: "append", key, value });
const read = (key: string, ...list: number[]): Step => ({ kind: "read", key, list });
let clock = 0;

/** One after the other, unless times are given. */
function ok(steps: readonly Step[], startMs = ++clock, endMs = ++clock): Attempt {
  return { outcome: "ok", startMs, endMs, steps };
}

function kindsOf(history: readonly Attempt[], final: Record<string, number[]> = {}): string[] {
  return [
    ...new Set(findAnomalies(history, new Map(Object.entries(final))).map(({ kind }) => kind)),
  ];
}

test("transactions one after the other, and write skew, are allowed", () => {
  const line = [ok([append("x", 1)]), ok([read("x", 1), append("x", 2)]), ok([read("x", 1, 2)])];
  expect(kindsOf(line, { x: [1, 2] })).toEqual([]);
  const skew = [
    ok([read("x"), append("y", 1)], 1000, 1010),
    ok([read("y"), append("x", 2)], 1001, 1011),
  ];
  expect(kindsOf(skew, { x: [2], y: [1] })).toEqual([]);
});

test("an unknown outcome may be either, a failed one may not be there", () => {
  const unknown: Attempt = { outcome: "unknown", startMs: 1, endMs: 2, steps: [append("x", 1)] };
  expect(kindsOf([unknown, ok([read("x", 1)])], { x: [1] })).toEqual([]);
  expect(kindsOf([unknown, ok([read("x")])], { x: [] })).toEqual([]);
  const failed: Attempt = { ...unknown, outcome: "failed" };
  expect(kindsOf([failed, ok([read("x", 1)])], { x: [] })).toContain("G1a");
  expect(kindsOf([failed], { x: [1] })).toEqual(["G1a"]);
});

test("each wrong history is told", () => {
  const both = [append("x", 1), append("x", 2)];
  expect(kindsOf([ok(both), ok([read("x", 1)])], { x: [1, 2] })).toContain("G1b");
  expect(kindsOf([ok([append("x", 1)])], { x: [] })).toEqual(["lost"]);
  expect(kindsOf([ok([append("x", 1)])], { x: [1, 1] })).toContain("duplicate");
  const twice = [ok([append("x", 1)], 1, 9), ok([append("x", 2)], 1, 9), ok([read("x", 2)])];
  expect(kindsOf(twice, { x: [1, 2] })).toContain("contradiction");
  expect(kindsOf([ok([read("x"), append("x", 1), read("x")])], { x: [1] })).toContain("own");
});

test("cycles of each kind are told, also those that time closes", () => {
  const at = (steps: readonly Step[]): Attempt => ok(steps, 1, 99);
  const g0 = [at([append("x", 1), append("y", 1001)]), at([append("x", 2), append("y", 1002)])];
  expect(kindsOf(g0, { x: [1, 2], y: [1002, 1001] })).toEqual(["G0"]);
  const g1c = [at([append("x", 1), read("y", 2)]), at([append("y", 2), read("x", 1)])];
  expect(kindsOf(g1c, { x: [1], y: [2] })).toEqual(["G1c"]);
  // One half of a transaction is seen, the other is not.
  const half = [at([append("x", 1), append("y", 2)]), at([read("x", 1), read("y")])];
  expect(kindsOf(half, { x: [1], y: [2] })).toEqual(["G-single"]);
  const lostUpdate = [at([read("x"), append("x", 1)]), at([read("x"), append("x", 2)])];
  expect(kindsOf(lostUpdate, { x: [1, 2] })).toEqual(["G-single"]);
  const stale = [ok([append("x", 1)], 1, 2), ok([read("x")], 3, 4)];
  expect(kindsOf(stale, { x: [1] })).toEqual(["G-single"]);
  expect(kindsOf([stale[0]!, ok([read("x")], 1, 4)], { x: [1] })).toEqual([]);
});

/** What a server would do that runs one transaction at a time. */
function makeHistory(seed: number): { history: Attempt[]; final: Map<string, number[]> } {
  const random = makeSeededRandom(seed);
  const final = new Map<string, number[]>();
  const history: Attempt[] = [];
  const pickKey = (): string => `k${Math.floor(random.next() * 5)}`;
  for (let i = 1; i <= 300; i++) {
    const steps: Step[] = [];
    for (let step = 0; step < 3; step++) {
      const key = pickKey();
      const list = final.get(key) ?? [];
      if (random.next() < 0.5) steps.push(read(key, ...list));
      else {
        const value = i * 10 + step;
        final.set(key, [...list, value]);
        steps.push(append(key, value));
      }
    }
    history.push(ok(steps, i * 10 - random.next() * 30, i * 10 + random.next() * 30));
  }
  return { history, final };
}

test("a long sound history is clean, and any value that is taken out of it, or read late, is told", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { history, final } = makeHistory(seed);
    expect(findAnomalies(history, final)).toEqual([]);
    const lost = new Map([...final].map(([key, list]) => [key, list.slice(0, -1)]));
    expect(findAnomalies(history, lost).length).toBeGreaterThan(0);
    const at = history.findLastIndex(({ steps }) => {
      const [first] = steps;
      return first?.kind === "read" && first.list.length > 20;
    });
    const steps = history[at]!.steps.map((step, i) =>
      i === 0 && step.kind === "read" ? { ...step, list: step.list.slice(0, 3) } : step,
    );
    const stale = history.with(at, { ...history[at]!, steps });
    expect(findAnomalies(stale, final).map(({ kind }) => kind)).toContain("G-single");
  }
});

function kindsOfRegisters(
  history: readonly (readonly RegisterStep[])[],
  final: Record<string, number>,
  isBeside = false,
): string[] {
  const attempts = history.map((steps) => {
    const { outcome, startMs, endMs } = isBeside ? ok([], 1, 99) : ok([]);
    return { outcome, startMs, endMs, steps };
  });
  const lists = asLists(attempts, new Map(Object.entries(final)));
  return [...new Set(findAnomalies(lists.history, lists.final).map(({ kind }) => kind))];
}

test("registers are judged by what their writers had read", () => {
  const see = (key: string, value?: number): RegisterStep => ({ kind: "read", key, value });
  const put = (key: string, value: number): RegisterStep => ({ kind: "write", key, value });
  const line = [
    [see("x"), put("x", 1), put("x", 2)],
    [see("x", 2), put("x", 3)],
    [see("x", 3), see("y")],
  ];
  expect(kindsOfRegisters(line, { x: 3 })).toEqual([]);
  // Both stood on the same value, and both were acknowledged.
  const lost = [
    [see("x"), put("x", 1)],
    [see("x", 1), put("x", 2)],
    [see("x", 1), put("x", 3)],
  ];
  expect(kindsOfRegisters(lost, { x: 3 }, true)).toContain("lost");
  expect(kindsOfRegisters([line[0]!, [see("x", 1)]], { x: 2 })).toContain("G1b");
  expect(kindsOfRegisters([line[0]!, [see("x")]], { x: 2 })).toEqual(["G-single"]);
  expect(kindsOfRegisters([line[0]!, [see("x", 9)]], { x: 2 })).toContain("G1a");
  const half = [
    [see("x"), see("y"), put("x", 1), put("y", 2)],
    [see("x", 1), see("y")],
  ];
  expect(kindsOfRegisters(half, { x: 1, y: 2 }, true)).toEqual(["G-single"]);
  const skew = [
    [see("x"), see("y"), put("x", 1)],
    [see("x"), see("y"), put("y", 2)],
  ];
  expect(kindsOfRegisters(skew, { x: 1, y: 2 }, true)).toEqual([]);
  const circle = [
    [see("x"), put("x", 1), see("y", 2)],
    [see("y"), put("y", 2), see("x", 1)],
  ];
  expect(kindsOfRegisters(circle, { x: 1, y: 2 }, true)).toContain("G1c");
});

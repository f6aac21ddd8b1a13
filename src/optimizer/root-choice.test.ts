// Goal: the root with the fewest nodes is taken; what need not be counted is not.
import { describe, expect, test } from "vitest";
import { must } from "../base/assert.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import { plainDefinition } from "../model/definition.ts";
import type { CallPlan, CallPlans, PredicateUse, RootChoice, RootPlan } from "../plan/plan.ts";
import { chooseRoot, pickChoice } from "./root-choice.ts";
import type { CallStatistics } from "./statistics.ts";

type CompareCall = CallPlans["compare"];

const callUse = (name: string, languages: readonly string[]): PredicateUse => ({
  name,
  reverse: false,
  languages,
  predicate: undefined,
});
const callOf = (name: string): CallPlan => ({ kind: "has", use: callUse(name, []) });

const nameOf = (call: CallPlan): string => ("use" in call ? (call.use?.name ?? "") : "");

/** Calls are counted by what stands in the table, and noted. */
function makeStatistics(counts: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const checked: string[] = [];
  const statistics: CallStatistics<undefined> = {
    count: (_, call) => {
      asked.push(nameOf(call));
      return Promise.resolve(counts[nameOf(call)] ?? Infinity);
    },
    looksAt: () => Promise.resolve(Infinity),
    checkRoot: (_, call) => void checked.push(nameOf(call)),
    isCounted: (call) => counts[nameOf(call)] !== undefined,
    isFree: (call) => nameOf(call) === "free",
    isOneList: () => false,
    guess: () => "condition",
    reads: () => ({ rechecks: false, filter: "values" }),
  };
  return { of: () => statistics, asked, checked };
}

const rootOf = (accessPath: RootPlan["accessPath"], ...names: readonly string[]): RootPlan => {
  const choices = names.map((name): RootChoice => ({ call: callOf(name), rest: undefined }));
  return { call: callOf(names[0] ?? ""), among: undefined, accessPath, choices };
};

async function choose(root: RootPlan, counts: Readonly<Record<string, number>>) {
  const { of, asked, checked } = makeStatistics(counts);
  const chosen = await chooseRoot(of, undefined, root, undefined);
  return { ...chosen, name: nameOf(chosen.choice.call), asked, checked };
}

test("a root without a choice is not counted", async () => {
  const { name, asked } = await choose(rootOf("set", "a"), { a: 5 });
  expect([name, asked]).toEqual(["a", []]);
});

test("the fewest nodes win; the root as written is checked", async () => {
  const chosen = await choose(rootOf("set", "a", "b", "c"), { a: 5000, b: 400, c: 700 });
  expect(chosen).toMatchObject({ name: "b", count: 400, writtenCount: 5000, checked: ["a"] });
  expect(chosen.asked).toEqual(["a", "b", "c"]);
});

test("counting ends at a root of few nodes", async () => {
  const chosen = await choose(rootOf("set", "a", "b", "c"), { a: 5000, b: 48, c: 1 });
  expect(chosen).toMatchObject({ name: "b", asked: ["a", "b"] });
});

test("what nothing tells of is taken only where nothing else is", async () => {
  expect(await choose(rootOf("set", "a", "b"), { b: 9999 })).toMatchObject({ name: "b" });
  expect(await choose(rootOf("set", "a", "b"), {})).toMatchObject({ name: "a", count: Infinity });
});

test("a page in the order of uids stays with its own list where most nodes pass", async () => {
  const root = rootOf("seek", "a", "b");
  const often = await choose(root, { a: 5000, b: 4000 });
  expect(nameOf(pickChoice(root, often, { first: 5, offset: 0 }).call)).toBe("a");
  const rare = await choose(root, { a: 5000, b: 100 });
  expect(nameOf(pickChoice(root, rare, { first: 5, offset: 0 }).call)).toBe("b");
  // Without a page all are needed: the fewest win.
  expect(nameOf(pickChoice(root, often, { first: 0, offset: 0 }).call)).toBe("b");
});

test("a page counts what it passes over, and whether the others are worth a look at each node", async () => {
  const root = rootOf("seek", "a", "b");
  const chosen = await choose(root, { a: 5000, b: 500 });
  const pick = (first: number, offset: number): string =>
    nameOf(pickChoice(root, chosen, { first, offset }).call);
  // Batches of a: 10 for each node of the page. Nodes of b: 2.5 for its list, and two for each of the page.
  expect(pick(1, 0)).toBe("b");
  expect(pick(1, 50)).toBe("b");
  const often = await choose(root, { a: 5000, b: 2000 });
  const pickOften = (first: number, offset: number): string =>
    nameOf(pickChoice(root, often, { first, offset }).call);
  expect([pickOften(20, 0), pickOften(21, 0), pickOften(1, 20)]).toEqual(["a", "b", "b"]);
  expect(pickOften(-5, 0)).toBe("b");
});

test("only a root that is sought in the order of uids is preferred to fewer nodes", async () => {
  const root = rootOf("set", "a", "b");
  const chosen = await choose(root, { a: 5000, b: 4000 });
  expect(nameOf(pickChoice(root, chosen, { first: 5, offset: 0 }).call)).toBe("b");
  const first = await choose(rootOf("seek", "a", "b"), { a: 4000, b: 5000 });
  expect(nameOf(pickChoice(rootOf("seek", "a", "b"), first, { first: 5, offset: 0 }).call)).toBe(
    "a",
  );
});

describe("comparisons", () => {
  const valueIndex: PredicateIndex = {
    id: 7,
    tokenizer: "int",
    options: [],
    version: 1,
    state: "ready",
  };
  const comparison = (
    name: string,
    options: Partial<CompareCall> & { readonly upsert?: boolean; readonly slots?: number[] } = {},
  ): CallPlan => {
    const { upsert = false, slots = [0], ...rest } = options;
    const definition = { ...plainDefinition(name, "int"), upsert };
    const predicate = {
      id: 1,
      definition,
      indexes: [valueIndex],
      reverseIndex: undefined,
      countIndex: undefined,
      reverseCountIndex: undefined,
      formerScalar: false,
    };
    return {
      kind: "compare",
      operator: "eq",
      use: { name, reverse: false, languages: [], predicate },
      values: { slots, variable: undefined },
      index: valueIndex,
      refusal: undefined,
      ...rest,
    } as CompareCall;
  };
  const rootOfCalls = (...calls: readonly CallPlan[]): RootPlan => {
    const choices = calls.map((call): RootChoice => ({ call, rest: undefined }));
    return { call: must(calls[0], "a root"), among: undefined, accessPath: "walk", choices };
  };
  async function chooseWalked(
    root: RootPlan,
    counts: Readonly<Record<string, number>>,
    walked: PredicateIndex | undefined,
  ) {
    const { of, asked, checked } = makeStatistics(counts);
    const { choice, count, writtenCount } = await chooseRoot(of, undefined, root, walked);
    return { name: nameOf(choice.call), count, writtenCount, asked, checked };
  }
  const counts = { written: 9000, other: 700, third: 80 };
  const range = { operator: "ge" } as const;

  test("a range of the index that is walked is not counted, as the root or another choice", async () => {
    const written = rootOfCalls(comparison("written", range), callOf("other"));
    expect(await chooseWalked(written, counts, valueIndex)).toMatchObject({
      name: "other",
      writtenCount: Infinity,
      asked: ["other"],
      checked: ["written"],
    });
    const other = rootOfCalls(callOf("written"), comparison("other", range), callOf("third"));
    expect(await chooseWalked(other, counts, valueIndex)).toMatchObject({
      name: "third",
      asked: ["written", "third"],
    });
  });

  test("counted are ranges of another index, an eq, and all where nothing is walked", async () => {
    const root = rootOfCalls(callOf("written"), comparison("other", range));
    const asked = ["written", "other"];
    expect(await chooseWalked(root, counts, undefined)).toMatchObject({ asked });
    const walked = { ...valueIndex, id: 8 };
    expect(await chooseWalked(root, counts, walked)).toMatchObject({ asked });
    const unindexed = rootOfCalls(
      callOf("written"),
      comparison("other", { ...range, index: undefined }),
    );
    expect(await chooseWalked(unindexed, counts, valueIndex)).toMatchObject({ asked });
    const equal = rootOfCalls(callOf("written"), comparison("other"));
    expect(await chooseWalked(equal, counts, valueIndex)).toMatchObject({ asked });
  });

  test("a value that is a name is taken without counting it, or anything else", async () => {
    const root = rootOfCalls(comparison("written", { upsert: true }), callOf("other"));
    expect(await chooseWalked(root, counts, undefined)).toEqual({
      name: "written",
      count: 1,
      writtenCount: 1,
      asked: [],
      checked: ["written"],
    });
  });

  const noName: readonly [string, Parameters<typeof comparison>[1]][] = [
    ["without @upsert", {}],
    ["a range", { upsert: true, ...range }],
    ["two values", { upsert: true, slots: [0, 1] }],
    ["without an index", { upsert: true, index: undefined }],
    ["an unknown predicate", { use: callUse("written", []) }],
  ];
  test.each(noName)("is no name: %s", async (_, options) => {
    const root = rootOfCalls(comparison("written", options), callOf("other"));
    expect(await chooseWalked(root, counts, undefined)).toMatchObject({ name: "other" });
  });

  test("is no name: a value in one language", async () => {
    const call = comparison("written", { upsert: true });
    const { predicate } = call.kind === "compare" ? call.use : callUse("written", []);
    const use = { ...callUse("written", ["en"]), predicate };
    const root = rootOfCalls({ ...call, use } as CallPlan, callOf("other"));
    expect(await chooseWalked(root, counts, undefined)).toMatchObject({ name: "other" });
  });
});

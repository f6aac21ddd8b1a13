// Goal: the root with the fewest nodes is taken; what need not be counted is not.
import { expect, test } from "vitest";
import type { CallPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import { orderParts } from "./filter-order.ts";
import { chooseRoot, pickChoice } from "./root-choice.ts";
import type { CallStatistics } from "./statistics.ts";

const callOf = (name: string): CallPlan => ({
  kind: "has",
  use: { name, reverse: false, languages: [], predicate: undefined },
});

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

test("parts of an AND: free ones, then the counted by their nodes, then the others as they stand", async () => {
  const { of, asked } = makeStatistics({ many: 900, few: 3 });
  const filters = ["unknown", "many", "free", "few", "other"].map(
    (name) => ({ kind: "call", call: callOf(name) }) as const,
  );
  const order = await orderParts(filters, of, (call) => of().count(undefined, call));
  const names = order.map((part) => (part.kind === "call" ? nameOf(part.call) : part.kind));
  expect(names).toEqual(["free", "few", "many", "unknown", "other"]);
  expect(asked).toEqual(["many", "few"]);
});

test("one counted part is first without being counted", async () => {
  const { of, asked } = makeStatistics({ many: 900 });
  const filters = ["unknown", "many"].map(
    (name) => ({ kind: "call", call: callOf(name) }) as const,
  );
  const order = await orderParts(filters, of, (call) => of().count(undefined, call));
  expect(order).toEqual([filters[1], filters[0]]);
  expect(asked).toEqual([]);
});

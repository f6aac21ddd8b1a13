// Goal: in which order the parts of an AND are asked of many candidates.
import { expect, test } from "vitest";
import { Fault } from "../model/fault.ts";
import type { CallPlan, FilterPlan } from "../plan/plan.ts";
import { countIn, orderParts, partOfFilter } from "./filter-order.ts";
import type { CallStatistics } from "./statistics.ts";

const callOf = (name: string): CallPlan => ({
  kind: "has",
  use: { name, reverse: false, languages: [], predicate: undefined },
});
const nameOf = (call: CallPlan): string => ("use" in call ? (call.use?.name ?? "") : "");
const part = (name: string): FilterPlan => ({ kind: "call", call: callOf(name) });
const not = (name: string): FilterPlan => ({ kind: "not", filter: part(name) });

/** A number is what a call finds; "free" reads nothing of candidates; a fault is what counting it ends in. */
type Known = Readonly<Record<string, number | "free" | Error>>;

function makeStatistics(known: Known) {
  const asked: string[] = [];
  const statistics: CallStatistics<undefined> = {
    count: (_, call) => {
      asked.push(nameOf(call));
      const count = known[nameOf(call)];
      if (count instanceof Error) return Promise.reject(count);
      return Promise.resolve(typeof count === "number" ? count : Infinity);
    },
    looksAt: () => Promise.resolve(Infinity),
    checkRoot: () => undefined,
    isCounted: (call) => known[nameOf(call)] !== undefined && known[nameOf(call)] !== "free",
    isFree: (call) => known[nameOf(call)] === "free",
    isOneList: () => false,
    guess: () => "condition",
    reads: () => ({ rechecks: false, filter: "values" }),
  };
  return { of: () => statistics, asked };
}

const show = (filter: FilterPlan): string =>
  filter.kind === "call" ? nameOf(filter.call) : filter.kind;

async function order(known: Known, parts: readonly FilterPlan[]) {
  const { of, asked } = makeStatistics(known);
  const ordered = await orderParts(parts, of, countIn(of, undefined));
  return { ordered: ordered.map(show), asked };
}

test("nothing is moved where no part is counted", async () => {
  const parts = [part("a"), { kind: "constant", value: false } as const, part("free")];
  expect(await order({ free: "free" }, parts)).toEqual({
    ordered: ["a", "constant", "free"],
    asked: [],
  });
});

test("one counted part is asked before those that nothing is known of, without being counted", async () => {
  expect(await order({ many: 900 }, [part("a"), part("many"), part("b")])).toEqual({
    ordered: ["many", "a", "b"],
    asked: [],
  });
});

test("free parts and constants come before what is counted, even where that finds nothing", async () => {
  const parts = [
    part("none"),
    part("some"),
    part("free"),
    { kind: "constant", value: true },
  ] as const;
  expect((await order({ none: 0, some: 5, free: "free" }, parts)).ordered).toEqual([
    "free",
    "constant",
    "none",
    "some",
  ]);
});

test("of the counted parts the one that finds least is first; equal ones stay as they stand", async () => {
  const parts = ["x", "many", "few", "alike", "y"].map(part);
  expect(await order({ many: 900, few: 3, alike: 3 }, parts)).toEqual({
    ordered: ["few", "alike", "many", "x", "y"],
    asked: ["many", "few", "alike"],
  });
});

test("what stands in a NOT, an OR or behind an edge is not counted: it comes last, as it stands", async () => {
  const edge: FilterPlan = {
    kind: "edge",
    use: { name: "p", reverse: false, languages: [], predicate: undefined },
    filter: undefined,
  };
  const parts = [not("few"), edge, part("few"), part("many")];
  expect((await order({ few: 3, many: 900 }, parts)).ordered).toEqual([
    "few",
    "many",
    "not",
    "edge",
  ]);
});

test("a part whose arguments are wrong is asked last: that is when it is refused", async () => {
  const parts = [part("wrong"), part("many")];
  const wrong = new Fault("E_QUERY", "no such place");
  expect((await order({ wrong, many: 900 }, parts)).ordered).toEqual(["many", "wrong"]);
});

test("any other error while counting is one of the query", async () => {
  const parts = [part("broken"), part("many")];
  await expect(order({ broken: new Error("torn"), many: 900 }, parts)).rejects.toThrow("torn");
});

test("numbers are told of calls themselves, and of other parts by the part", () => {
  const call = callOf("a");
  expect(partOfFilter({ kind: "call", call })).toBe(call);
  const other = not("a");
  expect(partOfFilter(other)).toBe(other);
});

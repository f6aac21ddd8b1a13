import { describe, expect, test } from "vitest";
import type { Cell, Column, ColumnRequest } from "../graph/reader.ts";
import type { Predicate } from "../graph/schema.ts";
import type { PredicateKind } from "../model/definition.ts";
import type { Value } from "../model/value.ts";
import type { GroupAggregatePlan, GroupPlan, PredicateUse } from "../plan/plan.ts";
import { makeCell } from "./cells.ts";
import type { Group } from "./frame.ts";
import { groupRows } from "./groupby.ts";
import { systemClock } from "../base/clock.ts";
import { makeFreeBudget } from "../model/request-budget.ts";
import type { Run } from "./run.ts";

const int = (value: number): Value => ({ kind: "int", int: value });
const text = (value: string): Value => ({ kind: "string", text: value });

type Data = Record<string, Record<number, readonly (Value | number)[]>>;

const data: Data = {
  rank: { 2: [text("mate")], 3: [text("cook")], 4: [text("mate")], 5: [text("stowaway")] },
  age: { 2: [int(34)], 3: [int(34)], 4: [int(19)] },
  works: { 2: [20, 21], 3: [20], 4: [] },
  nick: { 2: [text("Rope"), text("Brine")] },
  alive: { 2: [{ kind: "bool", bool: false }], 4: [{ kind: "bool", bool: true }] },
  secret: { 2: [{ kind: "password", hash: "h" }] },
  fortune: { 2: [{ kind: "bigfloat", big: { mantissa: 1n, exponent: 0 } }] },
};
const names = Object.keys(data);

function useOf(name: string, kind: PredicateKind = "string"): PredicateUse {
  const id = names.indexOf(name);
  const predicate = { id, definition: { name, kind } } as unknown as Predicate;
  return { name, reverse: false, languages: [], predicate: id < 0 ? undefined : predicate };
}

function readColumn(uids: Float64Array, request: ColumnRequest): Column {
  const own =
    request.kind === "cells" || request.kind === "edges"
      ? data[names[request.predicate] ?? ""]
      : {};
  const rows = Array.from(uids, (uid) => own?.[uid] ?? []);
  if (request.kind === "cells") {
    const toCells = (row: readonly (Value | number)[]): Cell[] =>
      row
        .filter((value) => typeof value !== "number")
        .map((value) => makeCell(value, "", undefined));
    return {
      kind: "cells",
      cells: rows.map((row) => (row.length === 0 ? undefined : toCells(row))),
    };
  }
  const offsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, i) => (offsets[i + 1] = (offsets[i] ?? 0) + row.length));
  return {
    kind: "edges",
    offsets,
    targets: Float64Array.from(rows.flat().map(Number)),
    facets: undefined,
  };
}

const run = {
  reader: {
    readLevel: (uids: Float64Array, requests: ColumnRequest[]) =>
      requests.map((request) => readColumn(uids, request)),
  },
  numUids: new Map(),
  bound: new Map(),
  yielder: { check: () => undefined, checkSmall: () => undefined },
  budget: makeFreeBudget(systemClock),
} as unknown as Run;

function group(keys: readonly PredicateUse[], ...aggregates: GroupAggregatePlan[]): GroupPlan {
  return { keys: keys.map((use) => ({ key: use.name, use })), aggregates };
}

const count: GroupAggregatePlan = { kind: "count", key: "count", variable: undefined };
const aggregate = (name: "sum" | "max", use: PredicateUse): GroupAggregatePlan => ({
  kind: "aggregate",
  key: name,
  function: name,
  use,
  variable: undefined,
});

function print(groups: readonly Group[] | undefined): string[] | undefined {
  return groups?.map(({ keys, members, aggregates }) => {
    const shown = keys.map((key) =>
      typeof key === "number" ? `0x${key.toString(16)}` : (key?.text ?? ""),
    );
    const values = aggregates.map((value) => (value?.kind === "int" ? String(value.int) : "-"));
    return `${shown.join(",")} ${String(members)} ${values.join(",")}`.trim();
  });
}

async function groupsOf(plan: GroupPlan, ...uids: number[]): Promise<string[] | undefined> {
  const rows = await groupRows(run, plan, {
    offsets: Uint32Array.of(0, uids.length),
    targets: Float64Array.from(uids),
  });
  return print(rows[0]);
}

const rank = useOf("rank");
const age = useOf("age", "int");

describe("groups", () => {
  test("are ordered by size, then by filled aggregates, then by keys", async () => {
    const plan = group([rank], count, aggregate("sum", age));
    expect(await groupsOf(plan, 2, 3, 4, 5)).toEqual([
      "stowaway 1 -,-",
      "cook 1 -,34",
      "mate 2 -,53",
    ]);
  });

  test("by two keys need both", async () => {
    expect(await groupsOf(group([rank, age], count), 2, 3, 4, 5)).toEqual([
      "cook,34 1 -",
      "mate,19 1 -",
      "mate,34 1 -",
    ]);
  });

  test("leave out a key that none of a row's nodes has", async () => {
    expect(await groupsOf(group([rank, useOf("nosuch")], count), 2, 3)).toEqual([
      "cook, 1 -",
      "mate, 1 -",
    ]);
    expect(await groupsOf(group([rank, useOf("nick")], count), 3, 4)).toEqual([
      "cook, 1 -",
      "mate, 1 -",
    ]);
    expect(await groupsOf(group([rank, useOf("nick")], count), 2, 3)).toEqual(["mate,Rope 1 -"]);
  });

  test("by keys without an order stand by their aggregates", async () => {
    const plan = group([useOf("alive", "bool")], aggregate("max", age));
    expect(await groupsOf(plan, 2, 4)).toEqual(["true 1 19", "false 1 34"]);
  });

  test("are never made of passwords", async () => {
    expect(await groupsOf(group([useOf("secret", "password")], count), 2)).toBeUndefined();
    expect(await groupsOf(group([rank, useOf("secret", "password")], count), 2)).toEqual([
      "mate, 1 -",
    ]);
  });

  test("refuse a count of a predicate where there is one", async () => {
    const plan = { ...group([rank], count), refusal: "not this" };
    await expect(groupsOf(plan, 2)).rejects.toThrow("not this");
    expect(await groupsOf({ ...plan, keys: [{ key: "n", use: useOf("nosuch") }] }, 2)).toBe(
      undefined,
    );
  });

  test("by edges hold a node once for each of its targets", async () => {
    expect(await groupsOf(group([useOf("works", "uid")], count), 2, 3, 4)).toEqual([
      "0x15 1 -",
      "0x14 2 -",
    ]);
  });

  test("by a list take its first value", async () => {
    expect(await groupsOf(group([useOf("nick")], count), 2, 3)).toEqual(["Rope 1 -"]);
  });

  test("are made for each row, and none is undefined", async () => {
    const rows = await groupRows(run, group([rank], count), {
      offsets: Uint32Array.of(0, 2, 2, 4),
      targets: Float64Array.of(2, 3, 2, 4),
    });
    expect(rows.map(print)).toEqual([["cook 1 -", "mate 1 -"], undefined, ["mate 2 -"]]);
  });

  test("by an unknown predicate there are none", async () => {
    expect(await groupsOf(group([useOf("nosuch")], count), 2, 3)).toBeUndefined();
    expect(await groupsOf(group([rank], aggregate("sum", useOf("nosuch"))), 3)).toEqual([
      "cook 1 -",
    ]);
  });

  test("refuse an aggregate that its type does not have", async () => {
    const plan = group([rank], aggregate("sum", useOf("fortune", "bigfloat")));
    await expect(groupsOf(plan, 2)).rejects.toThrow('Aggregator "sum" could not apply on fortune');
  });
});

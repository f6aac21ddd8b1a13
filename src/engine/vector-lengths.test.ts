// Goal: vectors of one indexed predicate have one length; others are refused in the words of its metric.
import { beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "../stores/open.ts";
import { systemClock } from "../base/clock.ts";
import { askEngine } from "../../test/support/ask-engine.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let engine: OpenEngine;

beforeEach(async () => {
  engine = await openEngine({ store: openMemoryStore() });
  const text = `
    e: float32vector @index(hnsw) .
    c: float32vector @index(hnsw(metric: "cosine")) .
    d: float32vector @index(hnsw(metric: "dotproduct")) .
    plain: float32vector .`;
  await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
});

/** The refusal of a schema, "" when there is none. */
async function alter(text: string): Promise<string> {
  try {
    await engine.alter({ kind: "schema", text, runInBackground: false }, 0);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** The refusal of a mutation, "" when there is none. */
async function mutate(text: string, startTs = 0, commitNow = true): Promise<string> {
  const body = { kind: "rdf", text } as const;
  try {
    await engine.mutate({ namespace: 0, body, startTs, commitNow, timeoutMs: 0 });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const set = (facts: string): string => `{ set { ${facts} } }`;

test.each([
  ["e", "euclidean distance"],
  ["c", "cosine distance"],
  ["d", "dot product"],
])("of %s in the words of its metric", async (name, metric) => {
  expect(await mutate(set(`<0x1> <${name}> "[1, 2]" .`))).toBe("");
  expect(await mutate(set(`<0x2> <${name}> "[1]" .`))).toBe(
    `can not compute ${metric} on vectors of different lengths`,
  );
  expect(await mutate(set(`<0x2> <${name}> "[3, 4]" .`))).toBe("");
});

test("those of one request are compared with each other", async () => {
  expect(await mutate(set(`<0x1> <e> "[1, 2]" .\n<0x2> <e> "[1]" .`))).toContain("different");
  expect(await mutate(set(`<0x1> <e> "[1, 2]" .\n<0x2> <c> "[1]" .`))).toBe("");
});

test("what the request replaces or removes is not compared with", async () => {
  expect(await mutate(set(`<0x1> <e> "[1, 2]" .`))).toBe("");
  expect(await mutate(set(`<0x1> <e> "[1]" .\n<0x1> <plain> "[1]" .`))).toBe("");
  expect(await mutate(`{ delete { <0x1> <e> * . } set { <0x2> <e> "[1, 2]" . } }`)).toBe("");
  expect(await mutate(set(`<0x2> <plain> "[1, 2]" .\n<0x3> <e> "[1]" .`))).toContain("different");
});

test("an open transaction sees its own", async () => {
  const body = { kind: "rdf", text: set(`<0x1> <e> "[1, 2]" .`) } as const;
  const { startTs } = await engine.mutate({
    namespace: 0,
    body,
    startTs: 0,
    commitNow: false,
    timeoutMs: 0,
  });
  expect(await mutate(set(`<0x2> <e> "[1]" .`), startTs, false)).toContain("different");
  expect(await mutate(set(`<0x2> <e> "[1]" .`))).toBe("");
});

test("without an index any length goes", async () => {
  expect(await mutate(set(`<0x1> <plain> "[1, 2]" .\n<0x2> <plain> "[1]" .`))).toBe("");
});

const several = `<0x1> <plain> "[1, 2]" .\n<0x2> <plain> "[]" .\n<0x3> <plain> "[1]" .`;

test.each([
  ["hnsw", "euclidean distance"],
  [`hnsw(metric: "cosine")`, "cosine distance"],
])("%s comes to vectors of one length only", async (index, metric) => {
  const wanted = `plain: float32vector @index(${index}) .`;
  expect(await mutate(set(several))).toBe("");
  expect(await alter(`other: string .\n${wanted}`)).toBe(
    `can not compute ${metric} on vectors of different lengths: ` +
      "predicate plain has 2 numbers at 0x1 and 1 numbers at 0x3",
  );
  // The schema is as it was: other lengths go on being written.
  expect(await mutate(set(`<0x4> <plain> "[1, 2, 3]" .`))).toBe("");
  expect(await askEngine(engine, "schema(pred: [plain, other]) { index_specs }")).toBe(
    `{"schema":[{"predicate":"plain"}]}`,
  );
  expect(await mutate(`{ delete { <0x3> <plain> * .\n<0x4> <plain> * . } }`)).toBe("");
  expect(await alter(wanted)).toBe("");
  expect(await mutate(set(`<0x5> <plain> "[1]" .`))).toContain("different");
});

test("a vector among many is found, and what changes meanwhile is looked at again", async () => {
  // Each look at the clock ends a step: it takes fifty of them to look at all, and a few turns to write one.
  let nowMs = 0;
  const clock = { ...systemClock, tickMs: () => (nowMs += 10) };
  engine = await openEngine({ store: openMemoryStore(), clock });
  await alter("plain: float32vector .");
  const vectors = (from: number, to: number): string =>
    Array.from(
      { length: to - from },
      (_, i) => `<0x${(from + i).toString(16)}> <plain> "[1, 2]" .`,
    ).join("\n");
  expect(await mutate(set(vectors(1, 3000)))).toBe("");
  expect(await mutate(set(`<0x${(2999).toString(16)}> <plain> "[1]" .`))).toBe("");
  expect(await alter("plain: float32vector @index(hnsw) .")).toContain(
    "0x1 and 1 numbers at 0xbb7",
  );
  expect(await mutate(set(vectors(2999, 3000)))).toBe("");
  const refusal = alter("plain: float32vector @index(hnsw) .");
  expect(await mutate(set(`<0x1> <plain> "[1]" .`))).toBe("");
  expect(await refusal).toContain("different");
});

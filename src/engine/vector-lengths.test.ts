// Goal: vectors of one indexed predicate have one length; others are refused in the words of its metric.
import { beforeEach, expect, test } from "vitest";
import { openMemoryStore } from "../stores/memory.ts";
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

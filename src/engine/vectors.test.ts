/**
 * Goal: a search by the process's vector index finds what comparing all vectors finds, whatever was written meanwhile.
 * Two engines on one store: one keeps an index, the other compares.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeSeededRandom } from "../base/random.ts";
import { systemClock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Store } from "../store/store.ts";
import { openMemoryStore } from "../stores/memory.ts";
import { deriveFill } from "../write/fill.ts";
import type { QueryAnswer } from "./engine.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let store: Store;
let keeping: OpenEngine;
let comparing: OpenEngine;
let random: Random;

const dimensions = 16;

beforeEach(async () => {
  random = makeSeededRandom(11);
  store = openMemoryStore({ clock: systemClock, derive: deriveFill });
  keeping = await openEngine({ store, vectors: { bytesMax: 1 << 28, nodesMin: 100 } });
  comparing = await openEngine({ store, vectors: { bytesMax: 0 }, resumes: false });
});

afterEach(async () => {
  await keeping.close();
  await comparing.close();
  await store.close();
});

function makeVector(): number[] {
  return Array.from({ length: dimensions }, () => Math.round((random.next() - 0.5) * 2000) / 1000);
}

const print = (vector: readonly number[]): string => JSON.stringify(vector);

async function alter(metric: string): Promise<void> {
  const text = `v: float32vector @index(hnsw(metric: "${metric}")) .`;
  await keeping.alter({ kind: "schema", text, runInBackground: false }, 0);
}

async function write(set: string, deletes = "", startTs = 0): Promise<number> {
  const text = `{ set { ${set} } delete { ${deletes} } }`;
  const body = { kind: "rdf", text } as const;
  const commitNow = startTs === 0;
  const answer = await keeping.mutate({ namespace: 0, body, startTs, commitNow, timeoutMs: 0 });
  return answer.startTs;
}

async function fill(from: number, count: number): Promise<void> {
  for (let start = from; start < from + count; start += 500) {
    const uids = Array.from({ length: Math.min(500, from + count - start) }, (_, i) => start + i);
    await write(uids.map((uid) => `<${uid}> <v> "${print(makeVector())}" .`).join("\n"));
  }
}

function query(engine: OpenEngine, text: string, startTs: number): Promise<QueryAnswer> {
  return engine.query({
    namespace: 0,
    text,
    variables: new Map(),
    startTs,
    readOnly: false,
    bestEffort: false,
    debug: false,
    format: "json",
    timeoutMs: 0,
  });
}

async function ask(engine: OpenEngine, args: string, startTs = 0): Promise<string[]> {
  const answer = await query(engine, `{ q(func: similar_to(v, ${args})) { uid } }`, startTs);
  const { q } = JSON.parse(new TextDecoder().decode(answer.data)) as { q: { uid: string }[] };
  return q.map(({ uid }) => uid);
}

/** Resolves when the index is whole and all of it linked. */
async function useIndex(): Promise<void> {
  await ask(keeping, `1, "${print(makeVector())}"`);
  await until(() => {
    const [index] = keeping.vectorIndexes;
    return index?.state === "serving" && index.unlinked === 0;
  });
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The part of the true ten nearest that the index finds. */
async function measureRecall(questions: number): Promise<number> {
  let hits = 0;
  for (let i = 0; i < questions; i++) {
    const args = `10, "${print(makeVector())}"`;
    const wanted = new Set(await ask(comparing, args));
    const found = await ask(keeping, args);
    expect(found).toHaveLength(10);
    hits += found.filter((uid) => wanted.has(uid)).length;
  }
  return hits / (questions * 10);
}

describe.each(["euclidean", "cosine", "dotproduct"])("%s", (metric) => {
  test("the index finds the nearest, after changes too", { timeout: 60_000 }, async () => {
    await alter(metric);
    await fill(1, 2000);
    await useIndex();
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
    await fill(1, 200);
    await fill(3000, 300);
    const gone = Array.from({ length: 300 }, (_, i) => `<${500 + i}> <v> * .`);
    await write("", gone.join("\n"));
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
    await useIndex();
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
    expect(keeping.vectorIndexes).toMatchObject([{ state: "serving", nodes: 2000 }]);
  });
});

test("a graph that is mostly dead is made anew", { timeout: 60_000 }, async () => {
  await alter("euclidean");
  await fill(1, 1500);
  await useIndex();
  await fill(1, 1400);
  await useIndex();
  expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
});

describe("with an index", () => {
  const at = (n: number): string => print([n, ...Array.from({ length: dimensions - 1 }, () => 9)]);

  beforeEach(async () => {
    await alter("euclidean");
    await fill(1, 300);
    await useIndex();
  });

  test("a write is found by the next search, a removed one is not", async () => {
    await write(`<1000> <v> "${at(9)}" .`);
    expect(await ask(keeping, `1, "${at(9)}"`)).toEqual(["0x3e8"]);
    await write("", "<1000> <v> * .");
    expect(await ask(keeping, `1, "${at(9)}"`)).not.toContain("0x3e8");
  });

  test("the threshold leaves out what is farther, ef is taken", async () => {
    await write(`<1000> <v> "${at(9)}" .\n<1001> <v> "${at(10)}" .`);
    const found = await ask(keeping, `5, "${at(9)}", distance_threshold: 0.5, ef: 200`);
    expect(found).toEqual(["0x3e8"]);
  });

  test("a transaction sees its own vectors, and nobody else does", async () => {
    const startTs = await write(`<1000> <v> "${at(9)}" .`, "", await begin());
    await write(`<1> <v> "${at(10)}" .`, "", startTs);
    expect(await ask(keeping, `2, "${at(9)}"`, startTs)).toEqual(["0x1", "0x3e8"]);
    const others = await ask(keeping, `2, "${at(9)}"`);
    expect(others).not.toContain("0x3e8");
    expect(others).toEqual(await ask(comparing, `2, "${at(9)}"`));
  });

  test("a transaction reads what was there when it began", async () => {
    const startTs = await begin();
    const before = await ask(keeping, `3, "${at(9)}"`, startTs);
    await write(`<1000> <v> "${at(9)}" .`);
    expect(await ask(keeping, `3, "${at(9)}"`)).toContain("0x3e8");
    expect(await ask(keeping, `3, "${at(9)}"`, startTs)).toEqual(before);
  });

  test("vectors of another length are refused as ever", async () => {
    const words = "can not compute euclidean distance on vectors of different lengths";
    await expect(ask(keeping, `3, "[1, 2]"`)).rejects.toThrow(words);
    await write(`<1000> <v> "[1, 2]" .`);
    await expect(ask(keeping, `3, "${at(9)}"`)).rejects.toThrow(words);
  });

  test("dropped data is not found", async () => {
    await keeping.alter({ kind: "dropData" }, 0);
    expect(await ask(keeping, `3, "${at(9)}"`)).toEqual([]);
  });
});

async function begin(): Promise<number> {
  return (await query(keeping, "{ q(func: uid(0x1)) { uid } }", 0)).startTs;
}

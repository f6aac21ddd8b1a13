/**
 * Goal: a search by the process's vector index finds what comparing all vectors finds, whatever was written meanwhile.
 * Two engines on one store: one keeps an index, the other compares. In memory and on LMDB.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeSeededRandom } from "../base/random.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { Logger } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { VectorIndexFacts, VectorLimits } from "../graph/vector-indexes.ts";
import type { Store } from "../store/store.ts";
import { openWriter, type Writer, openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { queryDefaults, type QueryAnswer } from "./engine.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let kept: Kept;
let store: Store;
let keeping: OpenEngine;
let comparing: OpenEngine;
let random: Random;

const dimensions = 16;

/** A store that outlives the process that has it open. */
interface Kept {
  open(): Promise<Store>;
  /** The process ends. */
  close(): Promise<void>;
  remove(): void;
}

function keepInMemory(): Kept {
  const memory = openMemoryStore({ clock: systemClock, derive: deriveFill });
  return { open: () => Promise.resolve(memory), close: async () => {}, remove() {} };
}

function keepInLmdb(): Kept {
  const dir = mkdtempSync(join(tmpdir(), "weft-"));
  const shared = { dir, clock: systemClock, logger: silentLogger, isLinked: false, noSync: true };
  let writer: Writer | undefined;
  return {
    open: async () => (writer = await openWriter({ ...shared, derive: deriveFill })).store,
    close: async () => await writer?.close(),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

async function openBoth(vectors: VectorLimits, logger?: Logger): Promise<void> {
  store = await kept.open();
  const log = logger === undefined ? {} : { logger };
  keeping = await openEngine({ store, vectors, ...log });
  comparing = await openEngine({ store, vectors: { bytesMax: 0 }, resumes: false });
}

async function closeBoth(): Promise<void> {
  await keeping.close();
  await comparing.close();
  await kept.close();
}

const limits: VectorLimits = { bytesMax: 1 << 28, nodesMin: 100 };

afterEach(async () => {
  await closeBoth();
  kept.remove();
});

function makeVector(): number[] {
  return Array.from({ length: dimensions }, () => Math.round((random.next() - 0.5) * 2000) / 1000);
}

const print = (vector: readonly number[]): string => JSON.stringify(vector);

async function alter(metric: string): Promise<void> {
  const text = `v: float32vector @index(hnsw(metric: "${metric}")) .`;
  await keeping.alter({ kind: "schema", text, runInBackground: false }, 0);
}

async function write(set: string, deletes = "", startTs = 0, namespace = 0): Promise<number> {
  const text = `{ set { ${set} } delete { ${deletes} } }`;
  const body = { kind: "rdf", text } as const;
  const commitNow = startTs === 0;
  const answer = await keeping.mutate({ namespace, body, startTs, commitNow, timeoutMs: 0 });
  return answer.startTs;
}

async function fill(from: number, count: number, namespace = 0): Promise<void> {
  for (let start = from; start < from + count; start += 500) {
    const uids = Array.from({ length: Math.min(500, from + count - start) }, (_, i) => start + i);
    const facts = uids.map((uid) => `<${uid}> <v> "${print(makeVector())}" .`);
    await write(facts.join("\n"), "", 0, namespace);
  }
}

function query(
  engine: OpenEngine,
  text: string,
  startTs: number,
  namespace = 0,
): Promise<QueryAnswer> {
  return engine.query({ ...queryDefaults, namespace, text, startTs, readOnly: false });
}

async function ask(
  engine: OpenEngine,
  args: string,
  startTs = 0,
  namespace = 0,
): Promise<string[]> {
  const text = `{ q(func: similar_to(v, ${args})) { uid } }`;
  const answer = await query(engine, text, startTs, namespace);
  const { q } = JSON.parse(new TextDecoder().decode(answer.data)) as { q: { uid: string }[] };
  return q.map(({ uid }) => uid);
}

/** Resolves when the index is whole and all of it linked. */
async function useIndex(): Promise<void> {
  await ask(keeping, `1, "${print(makeVector())}"`);
  await untilState(({ state, unlinked }) => state === "serving" && unlinked === 0);
}

function untilState(isTrue: (index: VectorIndexFacts) => boolean): Promise<void> {
  return until(() => {
    const [index] = keeping.vectorIndexes;
    return index !== undefined && isTrue(index);
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

describe.each([
  ["memory", keepInMemory],
  ["LMDB", keepInLmdb],
])("%s", (_name, keep) => {
  beforeEach(async () => {
    random = makeSeededRandom(11);
    kept = keep();
    await openBoth(limits);
  });

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
      expect(keeping.vectorIndexes).toMatchObject([
        { namespace: 0, predicate: "v", state: "serving", nodes: 2000 },
      ]);
    });
  });

  test("after a restart it is made anew", { timeout: 60_000 }, async () => {
    await alter("cosine");
    await fill(1, 1000);
    await useIndex();
    await write("", "<7> <v> * .");
    await closeBoth();
    await openBoth(limits);
    expect(keeping.vectorIndexes).toEqual([]);
    expect(await measureRecall(5)).toBeGreaterThanOrEqual(0.95);
    await useIndex();
    expect(keeping.vectorIndexes).toMatchObject([{ state: "serving", nodes: 999 }]);
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
  });

  test("a graph that is mostly dead is made anew", { timeout: 60_000 }, async () => {
    await alter("euclidean");
    await fill(1, 1500);
    await useIndex();
    const bytes = keeping.vectorIndexes[0]!.bytes;
    await fill(1, 1400);
    await useIndex();
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
    // Writes beside the copy, and those that it must not bring back.
    await fill(100, 50);
    await write("", "<1> <v> * .\n<1450> <v> * .");
    // A search takes in what was written.
    await useIndex();
    await untilState(({ state, unlinked, bytes: now }) => {
      return state === "serving" && unlinked === 0 && now < bytes * 1.2;
    });
    expect(keeping.vectorIndexes[0]!.nodes).toBe(1498);
    expect(await measureRecall(20)).toBeGreaterThanOrEqual(0.95);
  });

  test("what takes too much memory is compared, and told once", { timeout: 60_000 }, async () => {
    const warnings: object[] = [];
    const logger = {
      ...silentLogger,
      warn: (_: string, fields = {}) => void warnings.push(fields),
    };
    await closeBoth();
    // Some 600 vectors.
    await openBoth({ bytesMax: 200_000, nodesMin: 100 }, logger);
    await alter("euclidean");
    await fill(1, 300);
    await useIndex();
    await fill(301, 700);
    const question = `10, "${print(makeVector())}"`;
    expect(await ask(keeping, question)).toEqual(await ask(comparing, question));
    expect(await ask(keeping, question)).toEqual(await ask(comparing, question));
    expect(keeping.vectorIndexes).toMatchObject([{ predicate: "v", state: "full", bytes: 0 }]);
    expect(warnings).toEqual([{ namespace: 0, predicate: "v", bytesMax: 200_000 }]);
    await keeping.close();
    keeping = await openEngine({ store, vectors: { bytesMax: 200_000, nodesMin: 100 }, logger });
    await ask(keeping, question);
    expect(keeping.vectorIndexes).toMatchObject([{ state: "full" }]);
    expect(warnings).toHaveLength(2);
  });
});

test("an index goes with its namespace", { timeout: 60_000 }, async () => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
  random = makeSeededRandom(11);
  kept = keepInMemory();
  await openBoth(limits, logger);
  const namespace = await keeping.createNamespace();
  const schema = `v: float32vector @index(hnsw(metric: "euclidean")) .`;
  await keeping.alter({ kind: "schema", text: schema, runInBackground: false }, namespace);
  await fill(1, 300, namespace);
  await ask(keeping, `1, "${print(makeVector())}"`, 0, namespace);
  await untilState(({ state }) => state === "serving");
  await alter("euclidean");
  await fill(1, 300);
  await ask(keeping, `1, "${print(makeVector())}"`);
  await until(() => keeping.vectorIndexes.every(({ state }) => state === "serving"));
  await keeping.deleteNamespace(namespace);
  await expect.poll(() => keeping.vectorIndexes, { timeout: 20_000 }).toHaveLength(1);
  expect(keeping.vectorIndexes).toMatchObject([{ namespace: 0, state: "serving" }]);
  expect(warnings).toEqual([]);
});

describe("with an index", () => {
  const at = (n: number): string => print([n, ...Array.from({ length: dimensions - 1 }, () => 9)]);

  beforeEach(async () => {
    random = makeSeededRandom(11);
    kept = keepInLmdb();
    await openBoth(limits);
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

  test("vectors of another length are refused, in searches and in writes", async () => {
    const words = "can not compute euclidean distance on vectors of different lengths";
    await expect(ask(keeping, `3, "[1, 2]"`)).rejects.toThrow(words);
    await expect(write(`<1000> <v> "[1, 2]" .`)).rejects.toThrow(words);
    await expect(write(`<1> <v> "[1, 2]" .`)).rejects.toThrow(words);
    await expect(write(`<1000> <v> "${at(9)}" .\n<1001> <v> "[1, 2]" .`)).rejects.toThrow(words);
    expect(await ask(keeping, `3, "${at(9)}"`)).toHaveLength(3);
  });

  test("dropped data is not found", async () => {
    await keeping.alter({ kind: "dropData" }, 0);
    expect(await ask(keeping, `3, "${at(9)}"`)).toEqual([]);
  });
});

async function begin(): Promise<number> {
  return (await query(keeping, "{ q(func: uid(0x1)) { uid } }", 0)).startTs;
}

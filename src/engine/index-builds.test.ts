/**
 * Goal: indexes over data that is there are built beside reads and writes, and taken up, refused or dropped in the
 * middle (reference/dql 1.6, 2.10).
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { askEngine } from "../../test/support/ask-engine.ts";
import { systemClock } from "../base/clock.ts";
import { checkGraph } from "../graph/check.ts";
import { indexPrefix, keyKind, prefixRange } from "../codec/key.ts";
import type { FillJob, FillResult, Store } from "../store/store.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

let store: Store;
let engine: OpenEngine;
/** Called before each slice. */
let beforeSlice: () => Promise<void>;

const nodes = 300;
/** So little that rounds are short. */
const buildBytes = 1000;

beforeEach(async () => {
  const memory = openMemoryStore({ clock: systemClock, derive: deriveFill });
  const fillSlice = memory.fill.bind(memory);
  store = memory;
  store.fill = async (job: FillJob): Promise<FillResult> => {
    await beforeSlice();
    const result = await fillSlice({ ...job, limit: Math.min(job.limit, 20) });
    // Slow slices: the next one is small too.
    return { ...result, tookMs: 1000 };
  };
  beforeSlice = async () => {};
  engine = await openEngine({ store, buildBytes });
  await alter("name: string .\nfriend: [uid] .");
  const facts = Array.from({ length: nodes }, (_, i) => {
    const uid = `<${i + 1}>`;
    return `${uid} <name> "n${i % 7}" .\n${uid} <friend> <${1 + (i % 5)}> .`;
  });
  await write(facts.join("\n"));
});

afterEach(async () => {
  await engine.close();
  await store.close();
});

function alter(text: string, runInBackground = false, by = engine): Promise<void> {
  return by.alter({ kind: "schema", text, runInBackground }, 0);
}

async function write(set: string, deletes = ""): Promise<void> {
  const body = { kind: "rdf", text: `{ set { ${set} } delete { ${deletes} } }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

async function read(text: string): Promise<unknown> {
  return JSON.parse(await askEngine(engine, text)) as unknown;
}

/** Holds the builder before its second slice until it is let go. */
function holdSecondSlice(): { readonly held: Promise<void>; readonly letGo: () => void } {
  let letGo = (): void => {};
  let tell = (): void => {};
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const held = new Promise<void>((resolve) => (tell = resolve));
  let slices = 0;
  beforeSlice = async () => {
    if (++slices !== 2) return;
    tell();
    await released;
  };
  return { held, letGo: () => letGo() };
}

async function check(): Promise<string[]> {
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  await checkGraph({ open: () => store.snapshot(), report, acl: false });
  return problems;
}

async function untilBuilt(): Promise<void> {
  while ((await engine.indexProgress()).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const countOf = (name: string): string => `{ q(func: eq(name, "${name}")) { count(uid) } }`;

test("while an index is built, everything is as without it", async () => {
  const { held, letGo } = holdSecondSlice();
  await alter("name: string @index(hash) .", true);
  await held;
  await expect(read(countOf("n3"))).rejects.toThrow("Predicate name is not indexed");
  expect(await read("schema(pred: [name]) { index tokenizer }")).toEqual({
    schema: [{ predicate: "name" }],
  });
  expect(await engine.indexProgress()).toMatchObject([
    { namespace: 0, predicate: "name", index: "hash" },
  ]);
  await write(`<1000> <name> "n3" .`, `<4> <name> * .`);
  letGo();
  await untilBuilt();
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 43 }] });
  expect(await read("schema(pred: [name]) { index tokenizer }")).toEqual({
    schema: [{ predicate: "name", index: true, tokenizer: ["hash"] }],
  });
  expect(await check()).toEqual([]);
});

test("the kept index answers while another one is added", async () => {
  await alter("name: string @index(hash) .");
  const { held, letGo } = holdSecondSlice();
  await alter("name: string @index(hash, term) .", true);
  await held;
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 43 }] });
  letGo();
  await untilBuilt();
  expect(await read(`{ q(func: anyofterms(name, "n3 n4")) { count(uid) } }`)).toEqual({
    q: [{ count: 86 }],
  });
});

test("a second change of the schema is refused, mutations go on", async () => {
  const { held, letGo } = holdSecondSlice();
  const first = alter("name: string @index(hash) .");
  await held;
  await expect(alter("other: int .")).rejects.toThrow("errIndexingInProgress. Please retry");
  await write(`<1> <brandNew> "x" .`);
  letGo();
  await first;
  await alter("other: int .");
});

test("counts of mirrors are right when edges come and go between the slices", async () => {
  let slices = 0;
  beforeSlice = async () => {
    const i = ++slices;
    if (i > 12) return;
    await write(
      `<${i * 17}> <friend> <2> .\n<${2000 + i}> <friend> <3> .`,
      `<${i * 9}> <friend> * .`,
    );
  };
  await alter("friend: [uid] @reverse @count .");
  expect(slices).toBeGreaterThan(12);
  expect(await check()).toEqual([]);
});

test("a predicate that is dropped in the middle leaves nothing behind", async () => {
  const { held, letGo } = holdSecondSlice();
  await alter("name: string @index(hash) .", true);
  await held;
  const schema = await engine.schema(0);
  const index = schema.predicate("name")?.indexes[0]?.id ?? 0;
  await engine.alter({ kind: "dropPredicate", predicate: "name" }, 0);
  letGo();
  await untilBuilt();
  await alter("name: string @index(hash) .");
  await write(`<1> <name> "n3" .`);
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 1 }] });
  await expect.poll(() => countRows(schema.storageId, index)).toBe(0);
  expect(await check()).toEqual([]);
});

async function countRows(storageId: number, index: number): Promise<number> {
  const snapshot = await store.snapshot();
  let rows = 0;
  await snapshot.scan(prefixRange(indexPrefix(storageId, keyKind.index, index)), () => {
    rows++;
    return true;
  });
  snapshot.close();
  return rows;
}

test("a slice that fails is tried again", async () => {
  let failures = 0;
  beforeSlice = async () => {
    if (++failures < 3) throw new Error("the disk is busy");
  };
  await alter("name: string @index(hash) .");
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 43 }] });
});

test("what another process asks for is built by the one that builds", async () => {
  const other = await openEngine({ store, resumes: false });
  await alter("name: string @index(hash) .", false, other);
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 43 }] });
  await other.close();
});

test("a build that was left in the middle is taken up where it stood", async () => {
  const { held, letGo } = holdSecondSlice();
  await alter("name: string @index(hash) .", true);
  await held;
  const closing = engine.close();
  letGo();
  await closing;
  engine = await openEngine({ store });
  await untilBuilt();
  expect(await read(countOf("n3"))).toEqual({ q: [{ count: 43 }] });
  expect(await check()).toEqual([]);
});

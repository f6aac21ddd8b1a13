/**
 * Goal: an index that is gathered in rounds is right whatever is written between its slices, when the log is too
 * short to tell what that was, and when its process ends. On both engines.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { silentLogger } from "../base/log.ts";
import { makeSeededRandom } from "../base/random.ts";
import { systemClock } from "../base/clock.ts";
import { checkGraph } from "../graph/check.ts";
import type { Derive, Store } from "../store/store.ts";
import { openMemoryStore, openWriter } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { openEngine } from "./open.ts";
import type { OpenEngine } from "./open.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function openMemory(): Promise<Store> {
  return Promise.resolve(openMemoryStore({ clock: systemClock, derive: deriveFill }));
}

async function openLmdb(): Promise<Store> {
  const dir = mkdtempSync(join(tmpdir(), "weft-"));
  const shared = { dir, clock: systemClock, logger: silentLogger, isLinked: false };
  const writer = await openWriter({ ...shared, derive: deriveFill, noSync: true });
  closers.push(async () => {
    await writer.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return writer.store;
}

/** Calls `before` before each slice that the store is asked for. */
function watchSlices(store: Store, before: () => Promise<void>): Store {
  return {
    ...store,
    fill: async (job) => {
      await before();
      return await store.fill(job);
    },
  };
}

async function write(engine: OpenEngine, set: string, deletes: string): Promise<void> {
  const body = { kind: "rdf", text: `{ set { ${set} } delete { ${deletes} } }` } as const;
  await engine.mutate({ namespace: 0, body, startTs: 0, commitNow: true, timeoutMs: 0 });
}

function alter(engine: OpenEngine, text: string): Promise<void> {
  return engine.alter({ kind: "schema", text, runInBackground: false }, 0);
}

async function check(store: Store): Promise<string[]> {
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  await checkGraph({ open: () => store.snapshot(), report, acl: false });
  return problems;
}

const words = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak", "pine", "yew"];
const nodes = 200;

/** A change of some node, as facts to set and to delete. */
function makeChange(next: () => number): { set: string; deletes: string } {
  const pick = (count: number): number => Math.floor(next() * count);
  const word = (): string => words[pick(words.length)]!;
  const uid = `<${1 + pick(nodes * 1.2)}>`;
  const to = `<${1 + pick(12)}>`;
  const changes = [
    { set: `${uid} <name> "${word()} ${word()}" .`, deletes: "" },
    { set: `${uid} <name> "${word()}"@en .\n${uid} <tags> "${word()}" .`, deletes: "" },
    { set: `${uid} <to> ${to} (since=${pick(100)}) .`, deletes: `${uid} <tags> "${word()}" .` },
    { set: "", deletes: `${uid} <name> * .` },
    { set: "", deletes: `${uid} <to> ${to} .\n${uid} <tags> * .` },
    { set: "", deletes: `${uid} <to> * .` },
  ];
  return changes[pick(changes.length)]!;
}

const plain = "name: string @lang .\ntags: [string] .\nto: [uid] .";
const indexed = `
name: string @lang @index(term, exact, trigram) .
tags: [string] @index(hash) @count .
to: [uid] @reverse @count .
`;

describe.each([
  ["memory", openMemory],
  ["LMDB", openLmdb],
])("%s", (_name, open) => {
  test.each([1, 2, 3])("changes between the slices, seed %i", { timeout: 60_000 }, async (seed) => {
    const random = makeSeededRandom(seed);
    const next = (): number => random.next();
    const store = await open();
    let slices = 0;
    const watched = watchSlices(store, async () => {
      if (++slices > 60) return;
      for (let i = 0; i < 3; i++) {
        const { set, deletes } = makeChange(next);
        await write(engine, set, deletes);
      }
    });
    const engine = await openEngine({ store: watched, buildBytes: 1000 + 8000 * seed });
    closers.push(() => engine.close());
    await alter(engine, plain);
    for (let i = 0; i < nodes; i++) {
      const { set, deletes } = makeChange(next);
      await write(engine, set, deletes);
    }
    await alter(engine, indexed);
    expect(slices).toBeGreaterThan(10);
    expect(await check(store)).toEqual([]);
  });

  test.each([4, 5])("ended and taken up amid gaps, seed %i", { timeout: 60_000 }, async (seed) => {
    const random = makeSeededRandom(seed);
    const next = (): number => random.next();
    const store = await open();
    const writer = await openEngine({ store, resumes: false });
    closers.push(() => writer.close());
    let [slices, gaps, ends] = [0, 0, 0];
    let ending: Promise<void> | undefined;
    const disturbed = watchSlices(store, async () => {
      const { set, deletes } = makeChange(next);
      await write(writer, set, deletes);
      if (++slices % 7 === 0 && ends++ < 3) ending = builder.close();
    });
    const watched: Store = {
      ...disturbed,
      walkLog: async (snapshot, from, principal) => {
        if (slices % 3 === 2 && gaps++ < 4) return false;
        return await store.walkLog(snapshot, from, principal);
      },
    };
    const openBuilder = (): Promise<OpenEngine> => openEngine({ store: watched, buildBytes: 2500 });
    let builder = await openBuilder();
    closers.push(() => builder.close());
    await alter(writer, plain);
    for (let i = 0; i < nodes; i++) {
      const { set, deletes } = makeChange(next);
      await write(writer, set, deletes);
    }
    await builder.alter({ kind: "schema", text: indexed, runInBackground: true }, 0);
    while ((await writer.indexProgress()).length > 0) {
      if (ending !== undefined) {
        await ending;
        ending = undefined;
        builder = await openBuilder();
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(gaps).toBeGreaterThanOrEqual(1);
    expect(ends).toBeGreaterThanOrEqual(1);
    expect(await check(store)).toEqual([]);
  });
});

test("a node of many edges is written in many slices, also when it changes meanwhile", async () => {
  let most = 0;
  const derive: Derive = (snapshot, job, uids) => {
    const patches = deriveFill(snapshot, job, uids);
    most = Math.max(most, patches.length);
    return patches;
  };
  const store = openMemoryStore({ clock: systemClock, derive });
  let slices = 0;
  const watched = watchSlices(store, async () => {
    if (slices++ % 4 !== 0) return;
    const at = 10_000 + 1000 * slices;
    await write(engine, `<1> <to> <${at}> .\n<2> <to> <10007> .`, `<1> <to> <${at + 1}> .`);
  });
  const engine = await openEngine({ store: watched, buildBytes: 400_000 });
  closers.push(() => engine.close());
  await alter(engine, plain);
  const count = 9000;
  const facts = Array.from({ length: count }, (_, i) => {
    const facet = i % 50 === 0 ? ` (since=${i})` : "";
    return `<1> <to> <${10_000 + i}> ${facet} .\n<2> <to> <${10_000 + 2 * i}> .`;
  });
  await write(engine, facts.join("\n"), "");
  await alter(engine, "to: [uid] @reverse @count .");
  expect(slices).toBeGreaterThan(10);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(5000);
  expect(await check(store)).toEqual([]);
});

test("a log that does not reach back makes a round begin anew", async () => {
  const store = await openMemory();
  let gaps = 0;
  let slices = 0;
  const watched: Store = {
    ...store,
    fill: async (job) => {
      if (++slices === 1) await write(engine, `<1> <name> "elm" .`, `<2> <name> * .`);
      return await store.fill(job);
    },
    walkLog: async (snapshot, from, principal) => {
      if (slices === 1 && gaps++ === 0) return false;
      return await store.walkLog(snapshot, from, principal);
    },
  };
  const engine = await openEngine({ store: watched });
  closers.push(() => engine.close());
  await alter(engine, "name: string .");
  const facts = words.flatMap((word, i) => [
    `<${2 * i + 1}> <name> "${word}" .`,
    `<${2 * i + 2}> <name> "oak" .`,
  ]);
  await write(engine, facts.join("\n"), "");
  await alter(engine, "name: string @index(hash) .");
  expect(gaps).toBeGreaterThanOrEqual(1);
  expect(slices).toBeGreaterThan(1);
  expect(await check(store)).toEqual([]);
});

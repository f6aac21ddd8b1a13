/** Readers that live long, caches of two processes over one store, and the version history's bound. */
import { expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { makeSeededRandom } from "../base/random.ts";
import { openMemoryStore } from "../stores/open.ts";
import type { Store } from "../store/store.ts";
import { deriveFill } from "../write/fill.ts";
import {
  findByToken,
  openEngineContext,
  readPresence,
  readValues,
} from "../../test/support/engine-context.ts";
import { ChangeSender } from "./commits.ts";
import { SchemaChanges } from "./schema-changes.ts";
import { ReaderFactory } from "./reader-factory.ts";

let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, tickMs: () => nowMs };

function openReaders(store: Store, undoBytes = 1 << 20): ReaderFactory {
  return new ReaderFactory({
    store,
    clock,
    reserved: { acl: false },
    cacheBytes: 1 << 20,
    undoBytes,
  });
}

async function openStore(): Promise<{ store: Store; open: () => number }> {
  const inner = openMemoryStore({ derive: deriveFill });
  let count = 0;
  const store: Store = {
    ...inner,
    snapshot() {
      const snapshot = inner.snapshot();
      if (snapshot instanceof Promise) throw new Error("the memory store answers at once");
      count++;
      return { ...snapshot, close: () => void count-- };
    },
  };
  return { store, open: () => count };
}

test("a reader that lives long moves to newer snapshots and still reads its own state", async () => {
  const { store, open } = await openStore();
  const context = await openEngineContext("name: string @index(exact) .", store);
  await context.write(`<0x1> <name> "old" .`);
  const readers = openReaders(store);
  const { reader, snapshot } = await readers.openNewest(0);
  await context.write(`<0x1> <name> "new" .\n<0x2> <name> "two" .`);
  expect(reader.snapshot).toBe(snapshot);
  nowMs += 1500;
  expect(await readValues(reader, 1, "name")).toEqual(["old"]);
  expect(reader.snapshot.ts).toBeGreaterThan(snapshot.ts);
  expect(await readPresence(reader, "name")).toEqual([1]);
  reader.close();
  expect(open()).toBe(0);
});

test("a reader keeps its snapshot where the schema changed meanwhile", async () => {
  const { store, open } = await openStore();
  const context = await openEngineContext("name: string @index(exact) .", store);
  await context.write(`<0x1> <name> "old" .`);
  const { reader, snapshot } = await openReaders(store).openNewest(0);
  await context.schemas.alter({ kind: "dropPredicate", predicate: "name" }, 0);
  nowMs += 1500;
  expect(await readValues(reader, 1, "name")).toEqual(["old"]);
  expect(reader.snapshot).toBe(snapshot);
  reader.close();
  await context.schemas.close();
  expect(open()).toBe(0);
});

test("a cached record never outlives a commit of another process", async () => {
  const { store } = await openStore();
  const context = await openEngineContext("name: string .\nn: int .", store);
  const [a, b] = [openReaders(store), openReaders(store)];
  for (let i = 0; i < 200; i++) {
    await context.write(`<0x${(1 + (i % 3)).toString(16)}> <name> "v${i}" .`);
    for (const readers of i % 7 === 0 ? [a, b] : [i % 2 === 0 ? a : b]) {
      const { reader } = await readers.openNewest(0);
      expect(await readValues(reader, 1 + (i % 3), "name")).toEqual([`v${i}`]);
      reader.close();
    }
  }
});

test("a cached list never outlives a commit of another process", async () => {
  const { store } = await openStore();
  const context = await openEngineContext("name: string @index(exact) .", store);
  const [a, b] = [openReaders(store), openReaders(store)];
  const members = new Set<number>();
  for (let i = 0; i < 200; i++) {
    const uid = 1 + ((i * 7) % 40);
    const isSet = members.has(uid);
    const line = `<0x${uid.toString(16)}> <name> "same" .`;
    if (isSet) await context.write("", line);
    else await context.write(line);
    if (isSet) members.delete(uid);
    else members.add(uid);
    const wanted = [...members].sort((x, y) => x - y);
    for (const readers of i % 7 === 0 ? [a, b] : [i % 2 === 0 ? a : b]) {
      const { reader } = await readers.openNewest(0);
      expect(await readPresence(reader, "name")).toEqual(wanted);
      const value = { kind: "string", text: "same" } as const;
      expect(await findByToken(reader, { name: "name", tokenizer: "exact", value })).toEqual(
        wanted,
      );
      reader.close();
    }
  }
});

test("states that the bounded undo no longer holds are aborted, not guessed", async () => {
  const { store } = await openStore();
  const context = await openEngineContext("name: string .", store);
  await context.write(`<0x1> <name> "first" .`);
  const readers = openReaders(store, 4000);
  const { reader: first } = await readers.openNewest(0);
  const { ts } = first;
  first.close();
  await context.write(`<0x1> <name> "second" .`);
  const near = await readers.openAt(0, ts);
  expect(await readValues(near.reader, 1, "name")).toEqual(["first"]);
  for (let i = 0; i < 100; i++) await context.write(`<0x${(i + 5).toString(16)}> <name> "x" .`);
  await expect(readers.openAt(0, ts)).rejects.toMatchObject({ code: "E_TXN_ABORTED" });
  await expect(readValues(near.reader, 1, "name")).rejects.toMatchObject({ code: "E_TXN_ABORTED" });
  near.reader.close();
});

test("a start time in the future is waited for, and given up at the deadline", async () => {
  const { store } = await openStore();
  const context = await openEngineContext("name: string .", store);
  const readers = openReaders(store);
  const { reader } = await readers.openNewest(0);
  const next = reader.ts + 1;
  reader.close();
  const waiting = readers.openAt(0, next);
  await context.write(`<0x1> <name> "here" .`);
  const { reader: later } = await waiting;
  expect(await readValues(later, 1, "name")).toEqual(["here"]);
  later.close();
  await expect(
    readers.openAt(0, next + 1000, { deadlineMs: clock.tickMs() + 5 }),
  ).rejects.toMatchObject({ code: "E_DEADLINE" });
});

test("a build that a process left behind is taken up by the next one", async () => {
  const { store } = await openStore();
  const context = await openEngineContext("name: string .", store);
  for (let i = 1; i <= 40; i++) await context.write(`<0x${i.toString(16)}> <name> "n${i % 4}" .`);
  const fill = store.fill.bind(store);
  store.fill = () => Promise.reject(new Error("the process ends here"));
  const altered = context.alter("name: string @index(hash) .");
  const [altering] = await Promise.allSettled([altered, context.schemas.close()]);
  expect(altering).toMatchObject({ reason: { code: "E_STORE_UNAVAILABLE" } });
  store.fill = fill;
  const readers = openReaders(store);
  expect((await readers.schema(0)).schema.predicate("name")?.indexes[0]?.state).toBe("building");
  const { slot, floorTs } = await store.claimSlot();
  const random = makeSeededRandom(2);
  const committer = new ChangeSender({ store, clock, random, slot, floorTs });
  const schemas = new SchemaChanges({
    readers,
    committer,
    reserved: { acl: false },
    logger: silentLogger,
  });
  await schemas.takeUpBuilds();
  await schemas.buildsSettled();
  expect((await readers.schema(0)).schema.predicate("name")?.indexes[0]?.state).toBe("ready");
});

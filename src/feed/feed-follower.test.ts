// Goal: what a follower holds is bounded and counted, and given back; it notices when the log goes on without it.
import { describe, expect, it } from "vitest";
import { openEngineContext, type EngineContext } from "../../test/support/engine-context.ts";
import { ProcessMemory } from "../model/process-memory.ts";
import { openMemoryStore } from "../stores/open.ts";
import { deriveFill } from "../write/fill.ts";
import { ChangeFeed, type FeedEvent, type FeedFollower } from "./change-feed.ts";

const mebibyte = 1024 * 1024;
const everything = {
  namespaces: "all",
  predicates: new Set<string>(),
  types: new Set<string>(),
} as const;

async function openFeed(
  bytesMax: number,
  logBytes = 64 * mebibyte,
): Promise<{ context: EngineContext; feed: ChangeFeed; memory: ProcessMemory }> {
  const retention = { ageMsMax: 600_000, bytesMax: logBytes };
  const store = openMemoryStore({ derive: deriveFill, retention });
  const context = await openEngineContext("name: string .\npages: int .", store);
  const memory = new ProcessMemory({ bytesMax, waitMs: 20 });
  const feed = new ChangeFeed({ store, storeId: "abcdef0123456789", memory, followersMax: 3 });
  return { context, feed, memory };
}

const start = (feed: ChangeFeed, from = "newest", follows = true): Promise<FeedFollower> =>
  feed.follow({ from, follows, filter: everything });

async function nextEvent(events: AsyncGenerator<FeedEvent | undefined>): Promise<FeedEvent> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error("it has ended");
    if (value !== undefined) return value;
  }
}

const writeNames = async (context: EngineContext, from: number, to: number): Promise<void> => {
  for (let i = from; i < to; i++) await context.write(`_:a <name> "${i} ${"x".repeat(500)}" .`);
};

describe("a follower", () => {
  it("waits without holding anything, and gives back what it held", async () => {
    const { context, feed, memory } = await openFeed(16 * mebibyte);
    const follower = await start(feed);
    const events = follower.events();
    expect((await events.next()).value).toBeUndefined();
    expect(memory.bytesHeld).toBe(0);
    const waiting = nextEvent(events);
    await context.write('_:a <name> "now" .');
    const event = await waiting;
    expect(JSON.parse(event.json)).toMatchObject({
      kind: "transaction",
      facts: [{ predicate: "name", after: "now" }],
    });
    expect(event.completes).toMatch(/^abcdef01-\d+$/);
    expect(memory.bytesHeld).toBeGreaterThan(0);
    follower.close();
    expect(memory.bytesHeld).toBe(0);
    expect((await events.next()).done).toBe(true);
    expect(memory.bytesHeld).toBe(0);
  });

  it("waits for memory that others hold", async () => {
    const { context, feed, memory } = await openFeed(4 * mebibyte);
    await writeNames(context, 0, 3);
    const others = memory.largestBytes;
    memory.take(others);
    memory.hold(mebibyte);
    const follower = await start(feed, "oldest", false);
    const events = follower.events();
    let isThere = false;
    const first = nextEvent(events).then((event) => {
      isThere = true;
      return event;
    });
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isThere).toBe(false);
    memory.give(others + mebibyte);
    expect((await first).kind).toBe("namespace");
    follower.close();
    expect(memory.bytesHeld).toBe(0);
  });

  it("reads a transaction that is larger than all its memory", async () => {
    const { context, feed, memory } = await openFeed(mebibyte);
    const facts = Array.from({ length: 20_000 }, (_, i) => `_:n${i} <pages> "${i}" .`);
    await context.write(facts.join("\n"));
    const follower = await start(feed, "oldest", false);
    let count = 0;
    for await (const event of follower.events()) {
      const { facts: told = [] } =
        event === undefined ? {} : (JSON.parse(event.json) as { facts?: [] });
      count += told.length;
    }
    expect(count).toBe(20_000);
    follower.close();
    expect(memory.bytesHeld).toBe(0);
  });

  it("is told where it was when the log is trimmed behind its back", async () => {
    const { context, feed } = await openFeed(16 * mebibyte, 20_000);
    await writeNames(context, 0, 2);
    const follower = await start(feed);
    const events = follower.events();
    expect((await events.next()).value).toBeUndefined();
    await writeNames(context, 2, 4);
    expect((await nextEvent(events)).json).toContain('"after":"2 ');
    await writeNames(context, 4, 400);
    // What it has read already it tells.
    expect((await nextEvent(events)).json).toContain('"after":"3 ');
    await expect(nextEvent(events)).rejects.toMatchObject({
      code: "E_LOG_GONE",
      message: expect.stringContaining(follower.position) as string,
    });
    follower.close();
  });

  it("ends where it began when it does not follow", async () => {
    const { context, feed } = await openFeed(16 * mebibyte);
    await writeNames(context, 0, 2);
    const follower = await start(feed, "oldest", false);
    await writeNames(context, 2, 4);
    const texts: string[] = [];
    for await (const event of follower.events()) if (event !== undefined) texts.push(event.json);
    expect(texts.at(-1)).toContain('"after":"1 ');
    follower.close();
  });

  it("is one of few", async () => {
    const { feed } = await openFeed(16 * mebibyte);
    const open = [await start(feed), await start(feed), await start(feed)];
    await expect(start(feed)).rejects.toMatchObject({ code: "E_OVERLOADED" });
    open[0]?.close();
    open[0]?.close();
    (await start(feed)).close();
    for (const one of open) one.close();
  });
});

// Goal: machines over one log hold the same rows, whoever leads; what was acknowledged outlives the leader; a store that
// holds what the log does not have is refused.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { encodeUtf8 } from "../../src/base/bytes.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { metaKey } from "../../src/codec/key.ts";
import { Replica } from "../../src/cluster/replica.ts";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import { LogUnknown, type ReplicatedLog } from "../../src/log/replicated-log.ts";
import { makeChange } from "../../src/store/contract.ts";
import type { Change, Store } from "../../src/store/store.ts";
import { openNodeStore, openWriter, type NodeStore } from "../../src/stores/open.ts";

const folders: string[] = [];
const closes: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closes) await close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "weft-replica-"));
  folders.push(folder);
  return folder;
}

interface Machine {
  readonly node: NodeStore;
  readonly replica: Replica;
  readonly dir: string;
  /** Why its writer ended. */
  readonly ends: unknown[];
}

async function openMachine(
  log: ReplicatedLog,
  storeId: string,
  dir = makeFolder(),
): Promise<Machine> {
  const ends: unknown[] = [];
  const onFatal = (error: unknown): void => void ends.push(error);
  const options = { dir, storeId, logger: silentLogger, clock: systemClock, onFatal };
  const node = await openNodeStore(options);
  closes.push(() => node.close().catch(() => {}));
  const pause = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  };
  try {
    const replica = await Replica.open(node, { log, clock: systemClock, pause });
    return { node, replica, dir, ends };
  } catch (error) {
    await node.close();
    throw error;
  }
}

function lead({ replica }: Machine): Promise<Store> {
  return replica.lead(() => {}).then((store) => must(store, "nobody else takes the lead now"));
}

async function followAll({ replica }: Machine): Promise<void> {
  while (await replica.follow());
}

/** A row of its own, by its name. */
function put(name: string, value: string, sequence?: number): Change {
  const change = makeChange({
    patches: [{ kind: "meta", key: metaKey(7, name), value: encodeUtf8(value), expected: "any" }],
    basisTs: Number.MAX_SAFE_INTEGER,
  });
  return sequence === undefined ? change : { ...change, id: { ...change.id, sequence } };
}

/** Of all rows but the machine's own place in the log. */
function digest(node: NodeStore): string {
  const hash = createHash("sha256");
  const snapshot = node.snapshot();
  const own = metaKey(0, "store/position");
  void snapshot.scan({ start: new Uint8Array(0), end: new Uint8Array([255]) }, (key, value) => {
    if (!Buffer.from(key).equals(own)) hash.update(key).update(value);
    return true;
  });
  snapshot.close();
  return hash.digest("hex");
}

function newId(): string {
  return randomBytes(16).toString("hex");
}

describe("three machines over a directory", () => {
  test("follow the leader, and one after another leads", async () => {
    const folder = makeFolder();
    const id = newId();
    const open = async (): Promise<Machine> =>
      openMachine(await openDirectoryLog(folder, systemClock), id);
    const machines = [await open(), await open(), await open()];
    let number = 0;
    const acknowledged: number[] = [];
    for (const [turn, leader] of machines.entries()) {
      const store = await lead(leader);
      for (let round = 0; round < 5; round++) {
        const writes = Array.from({ length: 20 }, () => store.commit(put(`row ${number++}`, "x")));
        for (const { commitTs } of await Promise.all(writes)) acknowledged.push(commitTs);
        await store.lease(15_000);
      }
      await leader.replica.mark();
      await leader.replica.mark();
      for (const other of machines.slice(turn + 1)) {
        await followAll(other);
        expect(digest(other.node)).toBe(digest(leader.node));
      }
    }
    expect(new Set(acknowledged).size).toBe(300);
    expect(Math.max(...acknowledged)).toBe(300);
    // What the first still sends is refused, and it ends; the machine is opened anew and follows.
    const first = must(machines[0], "of three");
    const late = await lead(first).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "E_LOG" });
  });

  test("a deposed leader acknowledges nothing, and comes back as a follower", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const two = await openMachine(connectTwin(engine), id);
    const first = await lead(one);
    const change = put("a", "first");
    const { commitTs } = await first.commit(change);
    const second = await lead(two);
    await expect(first.commit(put("b", "late"))).rejects.toMatchObject({
      code: "E_OUTCOME_UNKNOWN",
    });
    expect(one.ends).toHaveLength(1);
    await expect(first.commit(put("c", "later"))).rejects.toMatchObject({
      code: "E_STORE_UNAVAILABLE",
    });
    await expect(first.lease(1_000_000)).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
    // The same change again, at the new leader: it is known.
    expect(await second.commit(change)).toEqual({ commitTs });
    await second.commit(put("d", "next"));
    await one.node.close();
    await two.replica.mark();
    await two.replica.mark();
    const back = await openMachine(connectTwin(engine), id, one.dir);
    await followAll(back);
    expect(digest(back.node)).toBe(digest(two.node));
  });
});

test("uids of a leader that is gone are not handed out again", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const id = newId();
  const given = new Set<number>();
  for (let i = 0; i < 3; i++) {
    const machine = await openMachine(connectTwin(engine), id);
    const store = await lead(machine);
    for (let k = 0; k < 4; k++) {
      const from = await store.lease(4000);
      for (let uid = from; uid < from + 4000; uid += 1000) {
        expect(given.has(uid)).toBe(false);
        given.add(uid);
      }
    }
  }
});

test("a lost answer: the same bytes again, and the change is there once", async () => {
  const engine = new TwinEngine({ compares: true, isLazy: false });
  const log = connectTwin(engine);
  let calls = 0;
  const append: ReplicatedLog["append"] = async (records) => {
    const appended = await log.append(records);
    if (++calls % 3 === 0) throw new LogUnknown("the answer was lost");
    return appended;
  };
  const machine = await openMachine({ ...log, append }, newId());
  const store = await lead(machine);
  for (let i = 0; i < 30; i++) {
    expect((await store.commit(put(`row ${i}`, "x"))).commitTs).toBe(i + 1);
  }
});

describe("a store is refused", () => {
  test("that holds what the log lost in a fail-over", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(put(`row ${i}`, "x"));
    await store.close();
    // Another machine of the engine takes over, which has less.
    engine.durable = 3;
    engine.failOver();
    const shorter = openMachine(connectTwin(engine), id, one.dir);
    await expect(shorter).rejects.toThrow("the log does not have it");
    const two = await openMachine(connectTwin(engine), id);
    const other = await lead(two);
    for (let i = 0; i < 5; i++) await other.commit(put(`row ${i}`, "y"));
    const branched = openMachine(connectTwin(engine), id, one.dir);
    await expect(branched).rejects.toThrow("the log has another one there");
  });

  test("that follows when the engine loses records, at the next one that it reads", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const two = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(put(`row ${i}`, "x"));
    await one.replica.mark();
    await followAll(two);
    const before = digest(two.node);
    engine.durable = 3;
    engine.failOver();
    const three = await openMachine(connectTwin(engine), id);
    const other = await lead(three);
    for (let i = 0; i < 9; i++) await other.commit(put(`row ${i}`, "y"));
    await expect(followAll(two)).rejects.toMatchObject({ code: "E_LOG" });
    expect(digest(two.node)).toBe(before);
  });

  test("of another log, and one that has commits of its own", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const one = await openMachine(connectTwin(engine), newId());
    const store = await lead(one);
    await store.commit(put("a", "x"));
    await store.close();
    // As a restored copy has it: the rows and the place of one store, under another id.
    await expect(openMachine(connectTwin(engine), newId())).rejects.toThrow(
      "the log is that of another store",
    );
    await expect(openMachine(connectTwin(engine), newId(), one.dir)).rejects.toMatchObject({
      code: "E_STARTUP",
      message: expect.stringContaining("it is another store than the log's") as string,
    });
    const dir = makeFolder();
    const writer = await openWriter({ dir, logger: silentLogger, clock: systemClock });
    await writer.store.commit(put("a", "x"));
    await writer.close();
    const { readFileSync } = await import("node:fs");
    const id = readFileSync(join(dir, "weft.store")).subarray(15, 31).toString("hex");
    await expect(openMachine(connectTwin(engine), id, dir)).rejects.toThrow(
      "the store holds commits that came from no log",
    );
  });

  test("that is behind what the log still has", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(put(`row ${i}`, "x"));
    await connectTwin(engine).trim(4);
    await expect(openMachine(connectTwin(engine), id)).rejects.toThrow("the log begins at 4");
    await expect(openMachine(connectTwin(engine), newId())).rejects.toThrow("the log begins at 4");
  });
});

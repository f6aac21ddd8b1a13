// Goal: machines over one log hold the same rows, whoever leads; what was acknowledged outlives the leader; a store that
// holds what the log does not have is refused.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { must } from "../../src/base/assert.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import { LogUnknown, type ReplicatedLog } from "../../src/log/replicated-log.ts";
import { repairStore } from "../../src/stores/repair.ts";
import { openWriter } from "../../src/stores/open.ts";
import {
  closeMachines,
  digestRows,
  followAll,
  lead,
  makeMachineFolder,
  openMachine,
  putRow,
  type Machine,
} from "../support/machines.ts";

afterAll(closeMachines);

function newId(): string {
  return randomBytes(16).toString("hex");
}

describe("three machines over a directory", () => {
  test("follow the leader, and one after another leads", async () => {
    const folder = makeMachineFolder();
    const id = newId();
    const open = async (): Promise<Machine> =>
      openMachine(await openDirectoryLog(folder, systemClock), id);
    const machines = [await open(), await open(), await open()];
    let number = 0;
    const acknowledged: number[] = [];
    for (const [turn, leader] of machines.entries()) {
      const store = await lead(leader);
      for (let round = 0; round < 5; round++) {
        const writes = Array.from({ length: 20 }, () =>
          store.commit(putRow(`row ${number++}`, "x")),
        );
        for (const { commitTs } of await Promise.all(writes)) acknowledged.push(commitTs);
        await store.lease(15_000);
      }
      await leader.replica.mark();
      await leader.replica.mark();
      for (const other of machines.slice(turn + 1)) {
        await followAll(other);
        expect(digestRows(other.node)).toBe(digestRows(leader.node));
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
    const change = putRow("a", "first");
    const { commitTs } = await first.commit(change);
    const second = await lead(two);
    await expect(first.commit(putRow("b", "late"))).rejects.toMatchObject({
      code: "E_OUTCOME_UNKNOWN",
    });
    expect(one.ends).toHaveLength(1);
    await expect(first.commit(putRow("c", "later"))).rejects.toMatchObject({
      code: "E_STORE_UNAVAILABLE",
    });
    await expect(first.lease(1_000_000)).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
    // The same change again, at the new leader: it is known.
    expect(await second.commit(change)).toEqual({ commitTs });
    await second.commit(putRow("d", "next"));
    await one.node.close();
    await two.replica.mark();
    await two.replica.mark();
    const back = await openMachine(connectTwin(engine), id, one.dir);
    await followAll(back);
    expect(digestRows(back.node)).toBe(digestRows(two.node));
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
    expect((await store.commit(putRow(`row ${i}`, "x"))).commitTs).toBe(i + 1);
  }
});

describe("a store is refused", () => {
  test("that holds what the log lost in a fail-over", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(putRow(`row ${i}`, "x"));
    await store.close();
    // Another machine of the engine takes over, which has less.
    engine.durable = 3;
    engine.failOver();
    const shorter = openMachine(connectTwin(engine), id, one.dir);
    await expect(shorter).rejects.toThrow("the log does not have it");
    const two = await openMachine(connectTwin(engine), id);
    const other = await lead(two);
    for (let i = 0; i < 5; i++) await other.commit(putRow(`row ${i}`, "y"));
    const branched = openMachine(connectTwin(engine), id, one.dir);
    await expect(branched).rejects.toThrow("the log has another one there");
  });

  test("that follows when the engine loses records, at the next one that it reads", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const two = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(putRow(`row ${i}`, "x"));
    await one.replica.mark();
    await followAll(two);
    const before = digestRows(two.node);
    engine.durable = 3;
    engine.failOver();
    const three = await openMachine(connectTwin(engine), id);
    const other = await lead(three);
    for (let i = 0; i < 9; i++) await other.commit(putRow(`row ${i}`, "y"));
    await expect(followAll(two)).rejects.toMatchObject({ code: "E_LOG" });
    expect(digestRows(two.node)).toBe(before);
  });

  test("of another log, and one that has commits of its own", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const one = await openMachine(connectTwin(engine), newId());
    const store = await lead(one);
    await store.commit(putRow("a", "x"));
    await store.close();
    // As a restored copy has it: the rows and the place of one store, under another id.
    await expect(openMachine(connectTwin(engine), newId())).rejects.toThrow(
      "the log is that of another store",
    );
    await expect(openMachine(connectTwin(engine), newId(), one.dir)).rejects.toMatchObject({
      code: "E_STARTUP",
      message: expect.stringContaining("it is another store than the log's") as string,
    });
    const dir = makeMachineFolder();
    const writer = await openWriter({ dir, logger: silentLogger, clock: systemClock });
    await writer.store.commit(putRow("a", "x"));
    await writer.close();
    const id = readFileSync(join(dir, "weft.store")).subarray(15, 31).toString("hex");
    await expect(openMachine(connectTwin(engine), id, dir)).rejects.toThrow(
      "the store holds commits that came from no log",
    );
  });

  test("of one that was repaired: what it lacks nobody would ever miss", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    await store.commit(putRow("a", "x"));
    await store.close();
    const lost: string[] = [];
    await repairStore(one.dir, { say: () => {}, lose: (line) => void lost.push(line) });
    expect(lost).toEqual(["its place in the log of its machines: it is none of them any more"]);
    await expect(openMachine(connectTwin(engine), id, one.dir)).rejects.toThrow(
      "the store holds commits that came from no log: it was repaired",
    );
  });

  test("that is behind what the log still has", async () => {
    const engine = new TwinEngine({ compares: true, isLazy: false });
    const id = newId();
    const one = await openMachine(connectTwin(engine), id);
    const store = await lead(one);
    for (let i = 0; i < 5; i++) await store.commit(putRow(`row ${i}`, "x"));
    await connectTwin(engine).trim(4);
    await expect(openMachine(connectTwin(engine), id)).rejects.toThrow("the log begins at 4");
    await expect(openMachine(connectTwin(engine), newId())).rejects.toThrow("the log begins at 4");
  });
});

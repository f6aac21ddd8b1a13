import * as fs from "node:fs";
import * as net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../base/clock.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { silentLogger } from "../base/log.ts";
import { metaKey, recordKey } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import { makeChange, underSlot } from "../store/contract.ts";
import type { Change, Patch, Snapshot, Store } from "../store/store.ts";
import { checkStore, type Problem } from "./check.ts";
import { DiskRoom } from "./disk-room.ts";
import {
  claimServing,
  connectStore,
  openReadOnly,
  openWriter,
  type Writer,
  type WriterOptions,
} from "./lmdb.ts";
import { inspectStore } from "./lmdb/inspect.ts";
import { writeOlderHeader } from "../../test/support/older-header.ts";
import { LinkClient } from "./lmdb/link-client.ts";
import { encodeNumbers, frameKind } from "./lmdb/link-protocol.ts";

const dirs: string[] = [];

function makeDir(name = ""): string {
  const dir = fs.mkdtempSync(join(tmpdir(), `weft-lmdb-${name}`));
  dirs.push(dir);
  return dir;
}

afterEach(() => {
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

function open(dir: string, options: Partial<WriterOptions> = {}): Promise<Writer> {
  return openWriter({
    dir,
    logger: silentLogger,
    clock: systemClock,
    claimWaitMs: 0,
    ...options,
  });
}

function row(name: string, value: string | undefined): Patch {
  return {
    kind: "meta",
    key: metaKey(1, name),
    value: value === undefined ? undefined : encodeUtf8(value),
    expected: "any",
  };
}

function cell(uid: number, size: number): Patch {
  const bytes = new Uint8Array(size).fill(65);
  return { kind: "cell", storageId: 1, uid, predicate: 1, slot: "", cell: bytes, countIndex: 0 };
}

function read(snapshot: Snapshot, name: string): string | undefined {
  let found: string | undefined;
  void snapshot.readMany([metaKey(1, name)], (_i, bytes) => {
    found = bytes === undefined ? undefined : String.fromCharCode(...bytes);
  });
  return found;
}

async function readNewest(store: Store, name: string): Promise<string | undefined> {
  const snapshot = await store.snapshot();
  try {
    return read(snapshot, name);
  } finally {
    snapshot.close();
  }
}

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("there was no fault");
}

async function problemsOf(dir: string): Promise<Problem[]> {
  const store = await openReadOnly(dir);
  const problems: Problem[] = [];
  try {
    await checkStore({
      open: () => store.snapshot(),
      report: (problem) => problems.push(problem),
      sliceRows: 50,
    });
  } finally {
    await store.close();
  }
  return problems;
}

describe("a directory", () => {
  it("is made, kept and opened again", async () => {
    const dir = join(makeDir(), "deep", "store.d");
    const first = await open(dir);
    const { commitTs } = await first.store.commit(makeChange({ patches: [row("a", "1")] }));
    const uid = await first.store.lease(3);
    await first.close();
    const second = await open(dir);
    expect(await readNewest(second.store, "a")).toBe("1");
    expect((await second.store.commit(makeChange({}))).commitTs).toBeGreaterThan(commitTs);
    expect(await second.store.lease(1)).toBeGreaterThanOrEqual(uid + 3);
    await second.close();
  });

  it.each([
    ["other files", "weft.store is missing; weft check --repair makes it anew"],
    ["a bad header", "weft.store is damaged"],
    ["a newer format", "newer than this program's"],
    ["truncated data", "truncated"],
    ["missing data", "missing"],
    ["overwritten data", "data.mdb is damaged"],
    ["truncated data after a crash", "truncated"],
  ])("with %s is refused in one line", async (what, text) => {
    const dir = makeDir();
    const writer = await open(dir);
    await writer.store.commit(
      makeChange({ patches: Array.from({ length: 4000 }, (_, i) => cell(i + 1, 3000)) }),
    );
    await writer.close();
    spoil(dir, what);
    const fault = await faultOf(open(dir));
    const isDamage = what !== "other files" && what !== "a newer format";
    expect(fault.code).toBe(isDamage ? "E_STORE_CORRUPT" : "E_STARTUP");
    expect(fault.message).toContain(text);
    expect(fault.message).not.toContain("\n");
  });

  it("of the format before is upgraded when it is opened for writing", async () => {
    const dir = makeDir();
    const first = await open(dir);
    await first.store.commit(makeChange({ patches: [row("a", "1")] }));
    await first.close();
    const header = join(dir, "weft.store");
    const current = fs.readFileSync(header).readUInt32LE(11);
    writeOlderHeader(dir, 4, fs.statSync(join(dir, "data.mdb")).size);
    const second = await open(dir);
    expect(fs.readFileSync(header).readUInt32LE(11)).toBe(current);
    expect(await readNewest(second.store, "a")).toBe("1");
    await second.close();
  });

  it("has one writer and one server", async () => {
    const dir = makeDir();
    const attempts = await Promise.allSettled([open(dir), open(dir), open(dir)]);
    const won = attempts.filter((attempt) => attempt.status === "fulfilled");
    expect(won).toHaveLength(1);
    await won[0]!.value.close();
    const again = await open(dir);
    await again.close();
    const claims = await Promise.allSettled([claimServing(dir), claimServing(dir)]);
    expect(claims.map((claim) => claim.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    for (const claim of claims) if (claim.status === "fulfilled") await claim.value.release();
  });

  it("waits for a dying writer's claim", async () => {
    const dir = makeDir();
    const first = await open(dir);
    const second = open(dir, { claimWaitMs: 5000 });
    setTimeout(() => void first.close(), 100);
    const writer = await second;
    expect(await writer.store.lease(1)).toBeGreaterThan(0);
    await writer.close();
  });

  it("is left to a writer whose claim is not seen, as from another container", async () => {
    const dir = makeDir();
    await (await open(dir)).close();
    const other = net.createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => other.listen(join(dir, "writer.sock"), resolve));
    const fault = await faultOf(open(dir));
    expect([fault.code, fault.message]).toEqual([
      "E_STARTUP",
      `cannot open the store at ${dir}: another process writes to it`,
    ]);
    const waiting = open(dir, { claimWaitMs: 5000 });
    setTimeout(() => other.close(), 100);
    const writer = await waiting;
    expect(await writer.store.lease(1)).toBeGreaterThan(0);
    await writer.close();
  });

  it("may have a long path", async () => {
    const dir = join(makeDir(), "x".repeat(90), "y".repeat(90));
    const writer = await open(dir);
    const store = await underSlot(await connectStore({ dir }));
    await store.commit(makeChange({ patches: [row("a", "1")] }));
    expect(await readNewest(writer.store, "a")).toBe("1");
    await store.close();
    await writer.close();
  });
});

function spoil(dir: string, what: string): void {
  const data = join(dir, "data.mdb");
  const header = join(dir, "weft.store");
  const bytes = fs.readFileSync(header);
  switch (what) {
    case "other files":
      fs.rmSync(header);
      return;
    case "a bad header":
      bytes[20]! ^= 1;
      return fs.writeFileSync(header, bytes);
    case "a newer format":
      bytes[11] = 9;
      return fs.writeFileSync(header, bytes);
    case "truncated data":
      return fs.truncateSync(data, fs.statSync(data).size - 4096);
    case "missing data":
      return fs.rmSync(data);
    case "overwritten data":
      return fs.writeFileSync(data, Buffer.alloc(fs.statSync(data).size, 7));
    default:
      fs.truncateSync(data, 3 * 4096);
  }
}

describe("capacity", () => {
  it("refuses what adds, reads on, and writes again when there is room", async () => {
    const dir = makeDir();
    const mapBytesMax = 3 * 1024 * 1024;
    const writer = await open(dir, {
      mapBytesMax,
      noSync: true,
      retention: { ageMsMax: 0, bytesMax: 0 },
    });
    const { store } = writer;
    let uid = 0;
    let fault: Fault | undefined;
    for (let batch = 0; fault === undefined && batch < 250; batch++) {
      const patches = Array.from({ length: 20 }, () => cell(++uid, 900));
      fault = await store.commit(makeChange({ patches })).then(
        () => undefined,
        (error: unknown) => error as Fault,
      );
    }
    expect(fault?.code).toBe("E_STORE_FULL");
    expect(uid).toBeGreaterThan(1000);
    const snapshot = await store.snapshot();
    let isThere = false;
    await snapshot.readMany([recordKey(1, 1)], (_i, bytes) => (isThere = bytes !== undefined));
    snapshot.close();
    expect(isThere).toBe(true);
    const removals = Array.from({ length: 400 }, (_, i) => ({
      ...(cell(i + 1, 0) as Extract<Patch, { kind: "cell" }>),
      cell: undefined,
    }));
    await store.commit(makeChange({ patches: removals }));
    await store.commit(makeChange({ patches: [cell(1, 900)] }));
    expect((await store.describe()).bytesUsed).toBeLessThan(mapBytesMax * 1.1);
    await writer.close();
    expect(await problemsOf(dir)).toEqual([]);
  });
});

describe("a disk without room", () => {
  it("takes what removes or adds nothing, refuses what adds, and takes all when there is room", async () => {
    const dir = makeDir();
    let free = 1000;
    let nowMs = 0;
    const ask = () => ({ bavail: free, blocks: 10_000, bsize: 1024 * 1024 });
    const room = new DiskRoom(
      dir,
      { nowMs: () => 0, tickMs: () => (nowMs += 200) },
      undefined,
      ask,
    );
    const writer = await open(dir, { noSync: true, room });
    const { store } = writer;
    const add = (uid: number) => store.commit(makeChange({ patches: [cell(uid, 900)] }));
    await add(1);
    free = 150;
    await expect(add(2)).rejects.toThrow(
      "the store is full: its disk has 150 MB left, of which 200 MB are kept free (--store min-free)",
    );
    await store.commit(makeChange({ patches: [] }));
    const removal = { ...(cell(1, 0) as Extract<Patch, { kind: "cell" }>), cell: undefined };
    await store.commit(makeChange({ patches: [removal] }));
    await expect(add(1)).rejects.toMatchObject({ code: "E_STORE_FULL" });
    free = 250;
    await add(2);
    await writer.close();
    expect(await problemsOf(dir)).toEqual([]);
  });
});

describe("a linked process", () => {
  it("sees what was acknowledged, is woken, and goes on with the next writer", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    const store = await connectStore({ dir });
    const woken: number[] = [];
    store.onCommit((ts) => woken.push(ts));
    await writer.store.commit(makeChange({ patches: [row("a", "1")] }));
    expect(await readNewest(store, "a")).toBe("1");
    const claim = await store.claimSlot();
    expect((await store.slots()).get(claim.slot)).toBe(claim.floorTs);
    await writer.close();
    const waiting = store.commit(
      makeChange({ id: { ...claim, sequence: 1 }, patches: [row("b", "2")] }),
    );
    const next = await open(dir);
    const { commitTs } = await waiting;
    expect(await readNewest(next.store, "b")).toBe("2");
    expect((await next.store.slots()).get(claim.slot)).toBe(claim.floorTs);
    await expect.poll(() => woken.at(-1)).toBeGreaterThanOrEqual(commitTs);
    await store.close();
    await expect.poll(async () => (await next.store.slots()).has(claim.slot)).toBe(false);
    await next.close();
  });

  it("keeps its slot over many writers, each with a slot of its own, and is told when it lost it", async () => {
    const dir = makeDir();
    let writer = await open(dir, { noSync: true });
    let lost = 0;
    const store = await connectStore({ dir });
    const claim = await store.claimSlot(() => lost++);
    const change = (sequence: number): Change => makeChange({ id: { ...claim, sequence } });
    for (let i = 0; i < 20; i++) {
      expect((await writer.store.claimSlot()).slot).not.toBe(claim.slot);
      await writer.close();
      writer = await open(dir, { noSync: true });
    }
    await store.commit(change(1));
    expect(lost).toBe(0);
    // As after a writer whose processes did not come back in time.
    await writer.close();
    writer = await open(dir, { noSync: true, isLinked: false, slotGraceMs: 0 });
    await expect.poll(async () => (await writer.store.slots()).has(claim.slot)).toBe(false);
    await writer.close();
    writer = await open(dir, { noSync: true });
    await expect(store.commit(change(2))).rejects.toMatchObject({ reason: "slot" });
    expect(lost).toBe(1);
    const other = await writer.store.claimSlot();
    expect(other.slot).toBe(claim.slot);
    await expect(store.commit(change(3))).rejects.toMatchObject({ reason: "slot" });
    expect(lost).toBe(1);
    await store.close();
    await writer.close();
  });

  it("is told when no writer comes", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    const store = await connectStore({ dir, waitMs: 200 });
    await store.lease(1);
    await writer.close();
    const fault = await faultOf(store.commit(makeChange({})));
    expect(["E_STORE_UNAVAILABLE", "E_OUTCOME_UNKNOWN"]).toContain(fault.code);
    expect(fault.code).toBe("E_STORE_UNAVAILABLE");
    await store.close();
  });

  it("that opens has the writer pause: until it goes on, is gone, or has taken two seconds", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    const storeId = inspectStore(dir)!.storeId;
    const connect = (): LinkClient => new LinkClient({ dir, storeId, waitMs: 5000, onNotice() {} });
    const commit = async (): Promise<boolean> => {
      await writer.store.commit(makeChange({}));
      return true;
    };
    const pause = (client: LinkClient): Promise<readonly number[]> =>
      client.askNumbers(frameKind.pause, encodeNumbers());
    const isHeld = (work: Promise<boolean>): Promise<boolean> =>
      Promise.race([
        work.then(() => false),
        new Promise<boolean>((resolve) => setTimeout(resolve, 300, true)),
      ]);
    const [ends, goesOn, stands] = [connect(), connect(), connect()];
    await pause(ends);
    const first = commit();
    expect(await isHeld(first)).toBe(true);
    ends.close();
    await first;
    await pause(goesOn);
    const second = commit();
    expect(await isHeld(second)).toBe(true);
    await goesOn.askNumbers(frameKind.resume, encodeNumbers());
    await second;
    await pause(stands);
    const third = Promise.all([commit(), writer.store.lease(1)]).then(() => true);
    expect(await isHeld(third)).toBe(true);
    await third;
    for (const client of [goesOn, stands]) client.close();
    await writer.close();
  });

  it("reads old snapshots while new commits come", async () => {
    const dir = makeDir();
    const writer = await open(dir, { noSync: true });
    const store = await underSlot(await connectStore({ dir }));
    const held: { snapshot: Snapshot; value: string }[] = [];
    for (let i = 0; i < 200; i++) {
      await store.commit(makeChange({ patches: [row("n", String(i))] }));
      const snapshot = await store.snapshot();
      expect(read(snapshot, "n")).toBe(String(i));
      held.push({ snapshot, value: String(i) });
      if (i % 3 === 0) held.splice(0, 2).forEach((old) => old.snapshot.close());
      expect(held.map((old) => read(old.snapshot, "n"))).toEqual(held.map((old) => old.value));
    }
    for (const { snapshot } of held) snapshot.close();
    await store.close();
    await writer.close();
  });
});

describe("the queue", () => {
  it("is bounded", async () => {
    const writer = await open(makeDir(), { queueMax: 5, noSync: true });
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, () => writer.store.commit(makeChange({}))),
    );
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(4);
    for (const { reason } of refused) expect((reason as Fault).code).toBe("E_OVERLOADED");
    await writer.close();
  });
});

describe("the log", () => {
  it("is trimmed by size, says so, and answers a resend it no longer knows with unknown", async () => {
    const dir = makeDir();
    const writer = await open(dir, {
      noSync: true,
      retention: { ageMsMax: 60_000, bytesMax: 20_000 },
    });
    for (let i = 0; i < 50; i++) {
      await writer.store.commit(makeChange({ log: new Uint8Array(2000) }));
    }
    const snapshot = await writer.store.snapshot();
    expect(await writer.store.readLog(snapshot, 0)).toBeUndefined();
    expect(await writer.store.readLog(snapshot, snapshot.ts - 3)).toHaveLength(3);
    snapshot.close();
    await writer.close();
  });
});

describe("check", () => {
  it("finds damaged rows", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    await writer.store.commit(
      makeChange({ patches: Array.from({ length: 300 }, (_, i) => cell(i + 1, 500)) }),
    );
    await writer.close();
    expect(await problemsOf(dir)).toEqual([]);
    const data = join(dir, "data.mdb");
    const bytes = fs.readFileSync(data);
    const run = Buffer.alloc(400, 65);
    for (let at = bytes.indexOf(run); at >= 0; at = bytes.indexOf(run, at + 400)) {
      bytes[at + 100]! ^= 1;
    }
    fs.writeFileSync(data, bytes);
    const problems = await problemsOf(dir);
    expect(problems.map(({ problem }) => problem)).toContain("its checksum is wrong");
  });

  it("does not grow or lock a store that is being written", async () => {
    const dir = makeDir();
    const writer = await open(dir);
    await writer.store.commit(makeChange({ patches: [cell(1, 10)] }));
    const size = fs.statSync(join(dir, "data.mdb")).size;
    expect(await problemsOf(dir)).toEqual([]);
    expect(fs.statSync(join(dir, "data.mdb")).size).toBe(size);
    await writer.store.commit(makeChange({ patches: [cell(2, 10)] }));
    await writer.close();
  });
});

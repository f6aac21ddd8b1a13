import { describe, expect, it } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { emptyBytes } from "../../base/bytes.ts";
import { makeChange } from "../../store/contract.ts";
import { Fault } from "../../model/fault.ts";
import { type CellPatch, type Change, type EdgePatch, StoreRefusal } from "../../store/store.ts";
import type { KeyValue, Pieces, Prepared, WriteEngine } from "../key-value.ts";
import { getFromTree, makeTree, TreeWriter } from "../memory-tree.ts";
import { FatalEngineError } from "../key-value.ts";
import { Committer } from "./committer.ts";
import { decodeState, stateKey } from "./state.ts";

class TestEngine implements WriteEngine {
  root = makeTree();
  transactionCount = 0;
  commitCount = 0;
  /** How long a commit is under way that nobody hurries. */
  commitMs = 0;
  failure: Error | undefined = undefined;

  *prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    const writer = new TreeWriter(this.root);
    const value = yield* work(writer);
    this.transactionCount++;
    let isDone = false;
    const commitNow = (): void => {
      if (this.failure !== undefined) throw this.failure;
      if (isDone) return;
      isDone = true;
      this.commitCount++;
      this.root = writer.root;
    };
    const commit = async (): Promise<void> => {
      if (this.commitMs > 0) await new Promise((resolve) => setTimeout(resolve, this.commitMs));
      commitNow();
    };
    return { value, commit, commitNow };
  }
}

function makeClock(): Clock & { now: number } {
  const clock = { now: 1000, nowMs: () => clock.now, tickMs: () => clock.now };
  return clock;
}

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "none";
  } catch (error) {
    return error instanceof StoreRefusal ? error.reason : (error as { code: string }).code;
  }
}

/** One change in each turn of the event loop; how many transactions they came to. */
async function trickle(
  engine: TestEngine,
  count: number,
  clock: Clock,
  each: () => void,
): Promise<number> {
  const committer = new Committer(engine, { clock });
  const before = engine.transactionCount;
  const commits: Promise<unknown>[] = [];
  for (let i = 0; i < count; i++) {
    commits.push(committer.commit(makeChange({})));
    await new Promise((resolve) => setImmediate(resolve));
    each();
  }
  await Promise.all(commits);
  return engine.transactionCount - before;
}

describe("a committer", () => {
  it("gathers what turn after turn brings into one group", async () => {
    expect(await trickle(new TestEngine(), 10, makeClock(), () => {})).toBe(1);
  });

  it("begins a group after 6 ms although more comes", async () => {
    const clock = makeClock();
    const count = await trickle(new TestEngine(), 30, clock, () => (clock.now += 1));
    expect(count).toBeGreaterThanOrEqual(4);
    expect(count).toBeLessThanOrEqual(6);
  });

  /** What a process wants to commit of one key: each try has an id of its own. */
  function contend(slot: number, keys: Partial<Change>): Change {
    const { id } = makeChange({});
    return makeChange({ id: { ...id, slot }, ...keys });
  }

  it.each(["basisKeys", "conflictKeys"] as const)(
    "holds other processes back for one that lost %s twice",
    async (kind) => {
      const committer = new Committer(new TestEngine(), { clock: makeClock() });
      const change = (slot: number, ts: number): Change =>
        contend(slot, { [kind]: ["r"], basisTs: ts, startTs: ts });
      const start = committer.commitTs;
      await committer.commit(change(2, start));
      for (let i = 0; i < 2; i++) {
        const reason = kind === "basisKeys" ? "basis" : "conflict";
        expect(await reasonOf(committer.commit(change(1, start)))).toBe(reason);
      }
      const now = committer.commitTs;
      let isRivalDone = false;
      const rival = reasonOf(committer.commit(change(2, now))).finally(() => (isRivalDone = true));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(isRivalDone).toBe(false);
      expect(await reasonOf(committer.commit(change(1, now)))).toBe("none");
      expect(await rival).not.toBe("none");
    },
  );

  it("holds nobody back for a client's transaction that has lost", async () => {
    const committer = new Committer(new TestEngine(), { clock: makeClock() });
    const start = committer.commitTs;
    const change = (slot: number, startTs: number): Change =>
      contend(slot, { conflictKeys: ["r"], startTs, basisTs: committer.commitTs });
    await committer.commit(change(2, start));
    for (let i = 0; i < 3; i++) {
      expect(await reasonOf(committer.commit(change(1, start)))).toBe("conflict");
    }
    // The clock stands still: who is held back now would be for ever.
    expect(await reasonOf(committer.commit(change(2, committer.commitTs)))).toBe("none");
  });

  it("lets other processes go on after 50 ms", async () => {
    const clock = makeClock();
    const committer = new Committer(new TestEngine(), { clock });
    const basis = (slot: number, basisTs: number): Change =>
      contend(slot, { basisKeys: ["r"], basisTs });
    await committer.commit(basis(2, 0));
    for (let i = 0; i < 2; i++) await reasonOf(committer.commit(basis(1, 0)));
    const rival = committer.commit(basis(2, committer.commitTs));
    clock.now += 51;
    expect((await rival).commitTs).toBe(2);
  });

  it("writes nothing while one of two pauses lasts, and goes on at the end of both", async () => {
    const engine = new TestEngine();
    const committer = new Committer(engine, { clock: makeClock() });
    const under = committer.commit(makeChange({}));
    const resumes = [await committer.pause(), await committer.pause()];
    const before = engine.transactionCount;
    const waiting = Promise.all([
      under,
      committer.commit(makeChange({})),
      committer.lease(3),
      committer.slots.claim(true),
    ]);
    resumes[0]!();
    resumes[0]!();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(engine.transactionCount).toBe(before);
    resumes[1]!();
    await waiting;
    expect(engine.transactionCount).toBeGreaterThan(before);
    expect(committer.commitTs).toBe(3);
  });

  it("commits what is under way before a pause begins", async () => {
    const engine = new TestEngine();
    const committer = new Committer(engine, { clock: makeClock() });
    engine.commitMs = 60_000;
    const { transactionCount, commitCount } = engine;
    const under = committer.commit(makeChange({}));
    await expect.poll(() => engine.transactionCount).toBe(transactionCount + 1);
    expect(engine.commitCount).toBe(commitCount);
    const resume = await committer.pause();
    expect(engine.commitCount).toBe(commitCount + 1);
    expect((await under).commitTs).toBe(1);
    resume();
  });

  describe("applies a large change in slices", () => {
    /** Its time goes on at each look, so that every piece is a slice. */
    const restlessClock = (): Clock => {
      let now = 1000;
      return { nowMs: () => now, tickMs: () => (now += 10) };
    };
    const cells = (from: number, count: number): CellPatch[] =>
      Array.from({ length: count }, (_, i) => ({
        kind: "cell",
        storageId: 1,
        predicate: 1,
        slot: "",
        countIndex: 0,
        uid: from + i,
        cell: new Uint8Array(4),
      }));
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const begin = async (count = 2000) => {
      const engine = new TestEngine();
      const committer = new Committer(engine, { clock: restlessClock() });
      const { commitCount } = engine;
      const large = committer.commit(makeChange({ patches: cells(1, count) }));
      for (let i = 0; i < 8; i++) await turn();
      expect(engine.commitCount).toBe(commitCount);
      return { engine, committer, large };
    };

    it("between which others get their turn, and what writes waits", async () => {
      const { engine, committer, large } = await begin();
      const order: string[] = [];
      const note = (name: string) => (): void => void order.push(name);
      void committer.lease(50_000).then(note("lease"));
      const small = committer.commit(makeChange({ patches: cells(1, 1) })).then(note("small"));
      let turns = 0;
      for (let isDone = false; !isDone; turns++) {
        void large.then(() => (isDone = true));
        await turn();
      }
      expect(turns).toBeGreaterThan(20);
      await small;
      expect(order).toEqual(["lease", "small"]);
      expect((await large).commitTs).toBe(1);
      expect(decodeState(getFromTree(engine.root, stateKey)).commitTs).toBe(2);
    });

    it("and at once where a pause begins, or the store is closed", async () => {
      const paused = await begin();
      const { commitCount } = paused.engine;
      (await paused.committer.pause())();
      expect(paused.engine.commitCount).toBe(commitCount + 1);
      expect((await paused.large).commitTs).toBe(1);
      const closed = await begin();
      await closed.committer.flush();
      expect(closed.committer.commitTs).toBe(1);
      expect((await closed.large).commitTs).toBe(1);
    });

    it("and drops it as a whole when the store is lost meanwhile", async () => {
      const { engine, committer, large } = await begin();
      const leased = committer.lease(50_000);
      committer.fail(new Error("the disk is gone"));
      expect(await reasonOf(large)).toBe("E_STORE_UNAVAILABLE");
      expect(await reasonOf(leased)).toBe("E_STORE_UNAVAILABLE");
      expect(decodeState(getFromTree(engine.root, stateKey)).commitTs).toBe(0);
      // Another may begin where it ended.
      const next = new Committer(engine, { clock: makeClock() });
      expect((await next.commit(makeChange({ patches: cells(1, 1) }))).commitTs).toBe(1);
    });

    it("and begins anew without one that cannot be applied", async () => {
      const engine = new TestEngine();
      const committer = new Committer(engine, { clock: restlessClock() });
      const edge: EdgePatch = {
        kind: "edge",
        storageId: 1,
        predicate: 1,
        uid: 1500,
        target: 7,
        add: true,
        facets: undefined,
        countIndex: 0,
      };
      const all = [
        committer.commit(makeChange({ patches: cells(1, 2000) })),
        committer.commit(makeChange({ patches: [edge] })),
        committer.commit(makeChange({ patches: cells(5000, 2000) })),
      ];
      const ended = await Promise.allSettled(all);
      expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      await expect(all[1]).rejects.toThrow("a predicate with cells takes no edges");
      expect(decodeState(getFromTree(engine.root, stateKey)).commitTs).toBe(2);
    });
  });

  it("ends when its engine cannot be written", async () => {
    const engine = new TestEngine();
    const committer = new Committer(engine, { clock: makeClock() });
    const told: unknown[] = [];
    committer.onFatal((error) => told.push(error));
    engine.failure = new FatalEngineError("sync");
    const both = [makeChange({}), makeChange({})].map((change) => committer.commit(change));
    expect(await Promise.all(both.map(reasonOf))).toEqual([
      "E_STORE_UNAVAILABLE",
      "E_STORE_UNAVAILABLE",
    ]);
    expect(told).toHaveLength(1);
    expect(committer.hasFailed).toBe(true);
    expect(await reasonOf(committer.commit(makeChange({})))).toBe("E_STORE_UNAVAILABLE");
  });

  it("knows resends from the log after a restart, and says when it cannot know", async () => {
    const engine = new TestEngine();
    const clock = makeClock();
    const retention = { ageMsMax: 1000, bytesMax: 1_000_000 };
    const first = new Committer(engine, { clock, retention });
    const change = makeChange({});
    const { commitTs } = await first.commit(change);
    const second = new Committer(engine, { clock, retention });
    expect(await second.commit(change, 0)).toEqual({ commitTs });
    clock.now += 5000;
    for (let i = 0; i < 600; i++) void second.commit(makeChange({ log: emptyBytes }));
    await second.flush();
    clock.now += 5000;
    await second.commit(makeChange({}));
    const third = new Committer(engine, { clock, retention });
    expect(await reasonOf(third.commit(change, 0))).toBe("E_OUTCOME_UNKNOWN");
  });

  it("aborts what began before the newest commit of the writer before", async () => {
    const engine = new TestEngine();
    const clock = makeClock();
    const first = new Committer(engine, { clock });
    const { commitTs } = await first.commit(makeChange({ conflictKeys: ["k"] }));
    const second = new Committer(engine, { clock });
    const old = makeChange({ conflictKeys: ["other"], startTs: commitTs - 1 });
    expect(await reasonOf(second.commit(old))).toBe("horizon");
    const fresh = makeChange({ conflictKeys: ["other"], startTs: commitTs });
    expect(await reasonOf(second.commit(fresh))).toBe("none");
  });

  it("gives 64 slots, none that is taken, and again what is released", async () => {
    const committer = new Committer(new TestEngine(), { clock: makeClock() });
    const held = new Map<number, number>();
    for (let i = 0; i < 64; i++) {
      const { slot, floorTs } = await committer.slots.claim(false);
      held.set(slot, floorTs);
    }
    expect(held.size).toBe(64);
    expect(await reasonOf(committer.slots.claim(false))).toBe("E_STARTUP");
    await committer.slots.release(7, held.get(8)!);
    expect(await reasonOf(committer.slots.claim(false))).toBe("E_STARTUP");
    await committer.slots.release(7, held.get(7)!);
    expect((await committer.slots.claim(false)).slot).toBe(7);
  });

  it("takes changes only from the process that holds the slot", async () => {
    const engine = new TestEngine();
    const committer = new Committer(engine, { clock: makeClock() });
    const first = await committer.slots.claim(false);
    const change = (floorTs: number, sequence: number): Change =>
      makeChange({ id: { slot: first.slot, floorTs, sequence } });
    const { commitTs } = await committer.commit(change(first.floorTs, 1));
    await committer.slots.release(first.slot, first.floorTs);
    expect(await reasonOf(committer.commit(change(first.floorTs, 2)))).toBe("slot");
    const second = await committer.slots.claim(false);
    expect(second.slot).toBe(first.slot);
    expect(await reasonOf(committer.commit(change(first.floorTs, 3)))).toBe("slot");
    expect(await reasonOf(committer.commit(change(second.floorTs, 1)))).toBe("none");
    // What was committed in time is acknowledged when it is sent again, also by the next writer.
    expect(await committer.commit(change(first.floorTs, 1), first.floorTs)).toEqual({ commitTs });
    const next = new Committer(engine, { clock: makeClock() });
    expect(await next.commit(change(first.floorTs, 1), first.floorTs)).toEqual({ commitTs });
    expect(await reasonOf(next.commit(change(first.floorTs, 4), first.floorTs))).toBe("slot");
    expect(
      await reasonOf(next.commit(makeChange({ id: { ...first, slot: 99, sequence: 1 } }))),
    ).toBe("slot");
  });

  it("gives each state in which a slot may be another's a version of its own", async () => {
    const engine = new TestEngine();
    const versionOf = (): number => decodeState(getFromTree(engine.root, stateKey)).slotsVersion;
    const committer = new Committer(engine, { clock: makeClock() });
    const seen = new Set([versionOf()]);
    const first = await committer.slots.claim(false);
    seen.add(versionOf());
    await committer.commit(makeChange({}));
    await committer.lease(20_000);
    expect(seen.has(versionOf())).toBe(true);
    await committer.slots.release(first.slot, first.floorTs);
    // Before anybody else has it.
    expect(seen.has(versionOf())).toBe(false);
    seen.add(versionOf());
    await committer.slots.claim(false);
    expect(seen.has(versionOf())).toBe(false);
  });

  it("keeps the slots of others for the next writer, and frees the writer's own", async () => {
    const engine = new TestEngine();
    let committer = new Committer(engine, { clock: makeClock() });
    const other = await committer.slots.claim(false);
    const slots = new Set<number>();
    for (let i = 0; i < 40; i++) {
      slots.add((await committer.slots.claim(true)).slot);
      committer = new Committer(engine, { clock: makeClock() });
    }
    expect([...slots]).toEqual([1]);
    expect([...committer.slots.floors()]).toEqual([[other.slot, other.floorTs]]);
  });

  it("frees no slot in memory that it could not free on disk", async () => {
    const engine = new TestEngine();
    const committer = new Committer(engine, { clock: makeClock() });
    const { slot, floorTs } = await committer.slots.claim(false);
    engine.failure = new Fault("E_STORE_FULL", "the store is full");
    expect(await reasonOf(committer.slots.release(slot, floorTs))).toBe("E_STORE_FULL");
    engine.failure = undefined;
    expect((await committer.slots.claim(false)).slot).not.toBe(slot);
  });

  it("never hands out a uid that was reserved, or used, before the writer was another", async () => {
    const engine = new TestEngine();
    const reopen = (): Committer => new Committer(engine, { clock: makeClock() });
    const leaseAll = async (committer: Committer, until: number): Promise<Set<number>> => {
      const leased = new Set<number>();
      while (!leased.has(until)) {
        const first = await committer.lease(1000);
        for (let i = 0; i < 1000; i++) leased.add(first + i);
        if (first > until) return leased;
      }
      return leased;
    };
    await reopen().lease(1);
    await reopen().reserve(15_000);
    expect((await leaseAll(reopen(), 15_000)).has(15_000)).toBe(false);
    // Used, and its reservation was only in the memory of a writer that is gone.
    const cell = { kind: "cell", storageId: 1, predicate: 1, slot: "", countIndex: 0 } as const;
    const edge = {
      kind: "edge",
      storageId: 1,
      predicate: 2,
      facets: undefined,
      countIndex: 0,
    } as const;
    await reopen().commit(makeChange({ patches: [{ ...cell, uid: 60_000, cell: emptyBytes }] }));
    await reopen().commit(
      makeChange({ patches: [{ ...edge, uid: 60_001, target: 70_000, add: true }] }),
    );
    const leased = await leaseAll(reopen(), 70_000);
    for (const uid of [60_000, 60_001, 70_000]) expect(leased.has(uid)).toBe(false);
  });
});

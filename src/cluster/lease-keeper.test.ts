// Goal: the lease is taken when its holder has given no sign for all of its time, on the taker's own clock; its holder
// trusts it for less, counted from before it asked, and not at all when its clocks part.
import { describe, expect, test } from "vitest";
import type { Lease, LogLease } from "../log/replicated-log.ts";
import { LeaseKeeper } from "./lease-keeper.ts";

class FakeLease implements Omit<LogLease, "wish" | "wishes"> {
  state: Lease = { term: 0, beat: 0, node: "", address: "", lastsMs: 0 };
  async read(): Promise<Lease> {
    return this.state;
  }
  async take(seen: Lease, mine: Omit<Lease, "beat">): Promise<boolean> {
    if (seen.term !== this.state.term || seen.beat !== this.state.beat) return false;
    this.state = { ...mine, beat: 0 };
    return true;
  }
  async beat(term: number): Promise<boolean> {
    if (term !== this.state.term || this.state.beat < 0) return false;
    this.state = { ...this.state, beat: this.state.beat + 1 };
    return true;
  }
  async giveUp(term: number): Promise<void> {
    if (term === this.state.term) this.state = { ...this.state, beat: -1 };
  }
}

function makeKeeper(lease: FakeLease, node: string, leaseMs = 3000) {
  const clock = {
    tick: 0,
    wall: 0,
    nowMs: () => Date.parse("2026-01-01") + clock.wall,
    tickMs: () => clock.tick,
  };
  const keeper = new LeaseKeeper({ lease, clock, leaseMs, node, address: `${node}:1` });
  return { clock, keeper };
}

describe("the lease", () => {
  test("is free at first, when it is given up, and when it was this machine's", async () => {
    const lease = new FakeLease();
    const a = makeKeeper(lease, "a");
    expect(await a.keeper.look()).toBe(true);
    expect(await a.keeper.take()).toBe(true);
    const b = makeKeeper(lease, "b");
    expect(await b.keeper.look()).toBe(false);
    await a.keeper.giveUp();
    expect(await b.keeper.look()).toBe(true);
    expect(await b.keeper.take()).toBe(true);
    expect(await makeKeeper(lease, "b").keeper.look()).toBe(true);
  });

  test("is taken after all of its time without a beat, counted from when the last one was first seen", async () => {
    const lease = new FakeLease();
    const a = makeKeeper(lease, "a");
    await a.keeper.look();
    await a.keeper.take();
    const b = makeKeeper(lease, "b");
    for (const [atMs, isFree] of [
      [0, false],
      [2900, false],
      [3000, true],
    ] as const) {
      b.clock.tick = atMs;
      expect(await b.keeper.look()).toBe(isFree);
    }
    await a.keeper.beat();
    b.clock.tick = 3100;
    expect(await b.keeper.look()).toBe(false);
    b.clock.tick = 6099;
    expect(await b.keeper.look()).toBe(false);
    b.clock.tick = 6100;
    expect(await b.keeper.look()).toBe(true);
  });

  test("of a machine that was given a shorter one is the holder's all the same", async () => {
    const lease = new FakeLease();
    const a = makeKeeper(lease, "a");
    await a.keeper.look();
    await a.keeper.take();
    const b = makeKeeper(lease, "b", 400);
    for (const [atMs, isFree] of [
      [0, false],
      [2900, false],
      [3000, true],
    ] as const) {
      b.clock.tick = atMs;
      expect([atMs, await b.keeper.look()]).toEqual([atMs, isFree]);
    }
  });

  test("is neither freed nor kept by a wall clock that jumps", async () => {
    const lease = new FakeLease();
    const a = makeKeeper(lease, "a");
    await a.keeper.look();
    await a.keeper.take();
    const b = makeKeeper(lease, "b");
    expect(await b.keeper.look()).toBe(false);
    b.clock.tick = 2000;
    b.clock.wall += 9 * 3_600_000;
    expect(await b.keeper.look()).toBe(false);
    b.clock.tick = 3000;
    b.clock.wall -= 30 * 3_600_000;
    expect(await b.keeper.look()).toBe(true);
  });

  test("who is late takes nothing, and a holder that was passed over is told", async () => {
    const lease = new FakeLease();
    const [a, b, c] = ["a", "b", "c"].map((node) => makeKeeper(lease, node).keeper);
    for (const keeper of [a, b, c]) await keeper?.look();
    expect(await a?.take()).toBe(true);
    expect(await b?.take()).toBe(false);
    await c?.look();
    lease.state = { ...lease.state, term: 7, node: "d" };
    expect(await a?.beat()).toBe(false);
    expect(a?.isCertain()).toBe(false);
    expect(a?.term).toBeUndefined();
  });

  test("is certain for nine tenths of its time, and not when the clocks part", async () => {
    const lease = new FakeLease();
    const { keeper, clock } = makeKeeper(lease, "a");
    await keeper.look();
    const before = performance.now();
    await keeper.take();
    expect(keeper.isCertain()).toBe(true);
    const certain = keeper.certain;
    const tookMs = performance.now() - before;
    const [seconds, nanoseconds] = process.hrtime();
    const leftMs = (certain?.untilMs ?? 0) - (seconds * 1000 + nanoseconds / 1e6);
    expect(leftMs).toBeLessThanOrEqual(2700);
    expect(leftMs).toBeGreaterThan(2700 - tookMs - 500);
    clock.wall += 600;
    expect(keeper.isCertain()).toBe(false);
    clock.wall -= 600;
    expect(keeper.isCertain()).toBe(true);
  });
});

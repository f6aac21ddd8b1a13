// Goal: what is held is counted exactly, what does not fit waits shortly in a bounded queue, small requests have room left.
import { describe, expect, it } from "vitest";
import { ProcessMemory } from "./process-memory.ts";

const open = (more = {}): ProcessMemory =>
  new ProcessMemory({ bytesMax: 8000, waitMs: 50, waitingMax: 2, ...more });

describe("the memory of a process", () => {
  it("takes what fits and gives it back", () => {
    const account = open();
    expect(account.tryTake(5000)).toBe(true);
    expect(account.tryTake(5000)).toBe(false);
    expect(account.bytesHeld).toBe(5000);
    account.give(5000);
    expect(account.bytesHeld).toBe(0);
  });

  it("leaves an eighth to what is small", () => {
    const account = open({ smallMax: 100 });
    expect(account.tryTake(7000)).toBe(true);
    expect(account.tryTake(101)).toBe(false);
    expect(account.tryTake(100)).toBe(true);
  });

  it("counts what is there already, also over the bound", () => {
    const account = open();
    account.hold(10_000);
    expect(account.tryTake(1)).toBe(false);
    account.give(10_000);
    expect(account.tryTake(1)).toBe(true);
  });

  it("lets waiting ones in, in their order, as soon as there is room", async () => {
    const account = open();
    account.take(6000);
    const order: number[] = [];
    const first = account.reserve(3000).then(() => order.push(1));
    const second = account.reserve(1000).then(() => order.push(2));
    account.give(6000);
    await Promise.all([first, second]);
    expect(order).toEqual([1, 2]);
    expect(account.bytesHeld).toBe(4000);
  });

  it("refuses after the wait, and at once when too many wait or what is asked can never fit", async () => {
    const account = open();
    account.take(7000);
    const waits = [account.reserve(1000), account.reserve(1000)];
    await expect(account.reserve(1000)).rejects.toMatchObject({ code: "E_OVERLOADED" });
    await expect(account.reserve(9000)).rejects.toMatchObject({ code: "E_OVERLOADED" });
    for (const wait of waits) await expect(wait).rejects.toThrow("--memory");
    expect(account.bytesHeld).toBe(7000);
    account.give(7000);
    await account.reserve(7000);
    expect(account.bytesHeld).toBe(7000);
  });

  it("asks for what can be let go of before it refuses", () => {
    const account = open();
    account.hold(7500);
    account.onNeed((bytes) => {
      expect(bytes).toBeGreaterThanOrEqual(500);
      account.give(7500);
    });
    expect(account.tryTake(1000)).toBe(true);
  });

  it("puts the lighter ones of a queue before no heavier one that came first", async () => {
    const account = open();
    account.take(6500);
    const heavy = account.reserve(4000);
    const light = account.reserve(1000);
    account.give(500);
    await expect(heavy).rejects.toThrow("--memory");
    await light;
    expect(account.bytesHeld).toBe(7000);
  });
});

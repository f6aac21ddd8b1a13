// Goal: what large requests leave behind is collected once the process is idle, until the heap has given it back.
import { expect, test } from "vitest";
import { watchIdleMemory } from "./idle-memory.ts";

const mebibyte = 1024 * 1024;

test("memory is collected when a process that grew has nothing to do", () => {
  const state = { used: 60 * mebibyte, kept: 50 * mebibyte, busy: 0, collected: 0 };
  const look = watchIdleMemory({
    usedBytes: () => state.used,
    freeBytes: () => 0,
    busyShare: () => state.busy,
    collect: () => {
      state.collected++;
      state.used = state.kept;
    },
  });
  look();
  expect(state.collected).toBe(1);
  look();
  expect(state.collected).toBe(1);
  state.used = 400 * mebibyte;
  state.busy = 0.8;
  look();
  expect(state.collected).toBe(1);
  state.busy = 0.02;
  look();
  expect(state.collected).toBe(2);
  // A cache that is full now: nothing more to win.
  state.used = state.kept = 300 * mebibyte;
  look();
  look();
  expect(state.collected).toBe(3);
});

test("a heap that keeps what was freed is collected again, a few times after each growth", () => {
  const state = { used: 500, free: 400, collected: 0, busy: 0 };
  const steps = [420, 250, 60];
  const look = watchIdleMemory({
    usedBytes: () => state.used * mebibyte,
    freeBytes: () => state.free * mebibyte,
    busyShare: () => state.busy,
    collect: () => {
      state.collected++;
      const before = state.used;
      state.used = steps[state.collected - 1] ?? state.used;
      state.free -= before - state.used;
    },
  });
  for (let i = 0; i < 6; i++) look();
  expect(state).toEqual({ used: 60, free: -40, collected: 3, busy: 0 });
  // One that never gives anything back is not collected for ever, nor while it is busy.
  state.used = 700;
  state.free = 640;
  state.busy = 0.5;
  look();
  expect(state.collected).toBe(3);
  state.busy = 0;
  for (let i = 0; i < 20; i++) look();
  expect(state.collected).toBe(8);
});

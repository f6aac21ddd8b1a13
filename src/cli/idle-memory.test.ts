// Goal: what large requests leave behind is collected once the process is idle, and once only.
import { expect, test } from "vitest";
import { watchIdleMemory } from "./idle-memory.ts";

const mebibyte = 1024 * 1024;

test("memory is collected when a process that grew has nothing to do", () => {
  const state = { used: 60 * mebibyte, kept: 50 * mebibyte, busy: 0, collected: 0 };
  const look = watchIdleMemory({
    usedBytes: () => state.used,
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

import { expect, test } from "vitest";
import { SyncTime } from "./sync-time.ts";

/** As many records as are asked for; how many of them were left to a thread. */
function write(time: SyncTime, ms: number, count: number): number {
  let aside = 0;
  for (let i = 0; i < count; i++) {
    if (time.isLong()) aside++;
    else time.note(ms);
  }
  return aside;
}

test("a disk is waited for until its syncs are long, and again when they are short", () => {
  const time = new SyncTime();
  expect(write(time, 0.4, 50)).toBe(0);
  // One stall is no slow disk.
  time.note(500);
  expect(write(time, 0.4, 50)).toBe(0);
  expect(write(time, 5, 12)).toBeGreaterThan(0);
  expect(write(time, 5, 1000)).toBeGreaterThan(900);
  // Between the bounds it stays as it is.
  expect(write(time, 2.5, 1000)).toBeGreaterThan(900);
  expect(write(time, 0.4, 1000)).toBeLessThan(300);
  expect(write(time, 2.5, 100)).toBe(0);
});

import { expect, test } from "vitest";
import { SyncTime } from "./sync-time.ts";

function noteMany(time: SyncTime, ms: number, count: number): void {
  for (let i = 0; i < count; i++) time.note(ms);
}

test("a disk is waited for until its syncs are long, and again when they are short", () => {
  const time = new SyncTime();
  expect(time.isLong).toBe(false);
  noteMany(time, 0.4, 50);
  expect(time.isLong).toBe(false);
  noteMany(time, 5, 10);
  expect(time.isLong).toBe(true);
  // Between the bounds it stays as it is.
  noteMany(time, 1.5, 100);
  expect(time.isLong).toBe(true);
  noteMany(time, 0.4, 50);
  expect(time.isLong).toBe(false);
  noteMany(time, 1.5, 100);
  expect(time.isLong).toBe(false);
});

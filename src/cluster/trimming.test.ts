// Goal: the log forgets what is older than it is kept for, and nothing else, wherever it begins by then.
import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { chainStart } from "../log/chain.ts";
import { connectTwin, TwinEngine } from "../log/contract/twin.ts";
import { LogShipper } from "../log/shipper.ts";
import { findTrim } from "./trimming.ts";

test.each([0, 3, 9])("from a log that begins behind %i records", async (trimmed) => {
  const log = connectTwin(new TwinEngine({ compares: true, isLazy: false }));
  let nowMs = 0;
  const clock = { ...systemClock, nowMs: () => nowMs };
  const shipper = new LogShipper(log, chainStart, {
    history: Buffer.alloc(16),
    term: 1,
    rowFormat: 5,
    clock,
    pause: async () => false,
  });
  for (let i = 1; i <= 20; i++) {
    nowMs = i * 1000;
    await shipper.ship({ kind: i === 1 ? "begin" : "rows" });
  }
  if (trimmed > 0) await log.trim(trimmed + 1);
  expect(await findTrim(log, 20, 12_000)).toBe(12);
  expect(await findTrim(log, 20, 11_001)).toBe(12);
  expect(await findTrim(log, 20, 0)).toBe(Math.max(1, trimmed + 1));
  expect(await findTrim(log, 8, 12_000)).toBe(8);
  expect(await findTrim(log, 20, 99_000)).toBe(20);
});

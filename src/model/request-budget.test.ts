import { expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { Fault } from "./fault.ts";
import { defaultLimits } from "./limits.ts";
import { accountStep, RequestBudget } from "./request-budget.ts";

const limits = { queryTimeoutMs: 1000, queryWorkMax: 100, queryMemoryMax: 10 * accountStep };

function clockAt(time: { ms: number }): Clock {
  return { tickMs: () => time.ms } as unknown as Clock;
}

test("a client may shorten the server's time, never lengthen it", () => {
  const clock = clockAt({ ms: 500 });
  const deadlineOf = (timeoutMs: number): number =>
    new RequestBudget({ clock, limits, timeoutMs }).deadlineMs;
  expect(deadlineOf(0)).toBe(1500);
  expect(deadlineOf(10)).toBe(510);
  expect(deadlineOf(360_000_000)).toBe(1500);
  expect(deadlineOf(-1)).toBe(499);
  const unbounded = { ...limits, queryTimeoutMs: 0 };
  expect(new RequestBudget({ clock, limits: unbounded }).deadlineMs).toBe(Infinity);
  expect(new RequestBudget({ clock, limits: unbounded, timeoutMs: 7 }).deadlineMs).toBe(507);
  expect(defaultLimits.queryTimeoutMs).toBe(30_000);
});

test("the server's deadline names its setting; the client's own is told as it is", () => {
  const time = { ms: 0 };
  const clock = clockAt(time);
  const ofServer = new RequestBudget({ clock, limits });
  const ofClient = new RequestBudget({ clock, limits, timeoutMs: 10 });
  ofServer.check();
  ofClient.check();
  time.ms = 2000;
  expect(() => ofServer.check()).toThrow(
    new Fault("E_DEADLINE", "context deadline exceeded (--limit query-timeout)"),
  );
  expect(() => ofClient.check()).toThrow(new Fault("E_DEADLINE", "context deadline exceeded"));
  expect(ofClient.leftMs()).toBe(0);
});

test("one who has gone ends the request", () => {
  const signal = { aborted: false };
  const budget = new RequestBudget({ clock: clockAt({ ms: 0 }), limits, signal });
  budget.check();
  signal.aborted = true;
  expect(() => budget.check()).toThrow("context canceled");
});

test("work and memory have limits that name their settings", () => {
  const budget = new RequestBudget({ clock: clockAt({ ms: 0 }), limits });
  budget.charge(100);
  expect(() => budget.charge(1)).toThrow("--limit query-work");
  budget.chargeBytes(10 * accountStep);
  expect(() => budget.chargeBytes(1)).toThrow("--limit query-memory");
  budget.releaseBytes(accountStep);
  budget.chargeBytes(1);
  expect(budget.bytes).toBe(9 * accountStep + 1);
});

test("the process is told of memory in steps, and gets all of it back", () => {
  let held = 0;
  let calls = 0;
  const account = {
    take: (bytes: number) => {
      if (held + bytes > 5 * accountStep) throw new Fault("E_LIMIT", "full");
      held += bytes;
      calls++;
    },
    give: (bytes: number) => {
      held -= bytes;
      calls++;
    },
  };
  const budget = new RequestBudget({ clock: clockAt({ ms: 0 }), limits, account });
  for (let i = 0; i < 1023; i++) budget.chargeBytes(1024);
  expect(calls).toBe(0);
  budget.chargeBytes(2048);
  expect(held).toBe(accountStep);
  budget.chargeBytes(3 * accountStep);
  expect(held).toBe(4 * accountStep);
  expect(() => budget.chargeBytes(2 * accountStep)).toThrow("full");
  expect(budget.bytes).toBe(4 * accountStep + 1024);
  budget.releaseBytes(2 * accountStep);
  expect(held).toBe(2 * accountStep);
  budget.end();
  budget.end();
  expect(held).toBe(0);
  expect(budget.bytes).toBe(0);
});

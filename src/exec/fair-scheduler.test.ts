import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { makeFreeBudget, RequestBudget } from "../model/request-budget.ts";
import { makeFairScheduler } from "./fair-scheduler.ts";

const open = (): RequestBudget => makeFreeBudget(systemClock);

test("few long requests run at a time, short ones are never held up, all of them end", async () => {
  const scheduler = makeFairScheduler(systemClock, 2);
  const active = new Set<object>();
  let most = 0;
  const long = async (): Promise<void> => {
    const request = open();
    for (let slice = 0; slice < 30; slice++) {
      await scheduler.next(request);
      if (slice < 6) continue;
      active.add(request);
      most = Math.max(most, active.size);
    }
    active.delete(request);
    scheduler.end(request);
  };
  let ended = 0;
  const all = Array.from({ length: 9 }, () => long().then(() => ended++));
  const short = open();
  await scheduler.next(short);
  scheduler.end(short);
  expect(ended).toBe(0);
  await Promise.all(all);
  expect(ended).toBe(9);
  expect(most).toBe(2);
});

test("of many that begin at once one slice runs in a round of the event loop", async () => {
  const scheduler = makeFairScheduler(systemClock);
  let slices = 0;
  const begin = async (): Promise<void> => {
    const run = open();
    await scheduler.next(run);
    slices++;
    scheduler.end(run);
  };
  const all = Promise.all(Array.from({ length: 100 }, begin));
  expect(scheduler.isBusy).toBe(true);
  const nextRound = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  for (let round = 0; round < 50; round++) await nextRound();
  expect(slices).toBeGreaterThan(40);
  expect(slices).toBeLessThan(60);
  await all;
  expect(scheduler.isBusy).toBe(false);
});

test("requests that wait for something else hold no place", async () => {
  const scheduler = makeFairScheduler(systemClock, 2);
  for (let i = 0; i < 2; i++) {
    const resting = open();
    for (let slice = 0; slice < 20; slice++) await scheduler.next(resting);
  }
  await takeSlices(scheduler, 20);
  expect(scheduler.isBusy).toBe(false);
});

async function takeSlices(
  scheduler: ReturnType<typeof makeFairScheduler>,
  count: number,
): Promise<void> {
  const run = open();
  for (let slice = 0; slice < count; slice++) await scheduler.next(run);
  scheduler.end(run);
}

test("one that runs for long gives way to those that wait", async () => {
  const scheduler = makeFairScheduler(systemClock, 1);
  const order: string[] = [];
  const first = takeSlices(scheduler, 500).then(() => order.push("long"));
  const second = takeSlices(scheduler, 100).then(() => order.push("shorter"));
  await Promise.all([first, second]);
  expect(order).toEqual(["shorter", "long"]);
});

test("one whose time is over while it waits waits no longer", async () => {
  const scheduler = makeFairScheduler(systemClock, 1);
  const holder = open();
  for (let slice = 0; slice < 10; slice++) await scheduler.next(holder);
  const limits = { queryTimeoutMs: 0, queryWorkMax: 0, queryMemoryMax: 0 };
  const late = new RequestBudget({ clock: systemClock, limits, timeoutMs: 30 });
  for (let slice = 0; slice < 6; slice++) await scheduler.next(late);
  expect(late.isOver()).toBe(true);
  scheduler.end(late);
  const gone = new RequestBudget({ clock: systemClock, limits, signal: { aborted: true } });
  for (let slice = 0; slice < 6; slice++) await scheduler.next(gone);
  scheduler.end(gone);
  scheduler.end(holder);
});

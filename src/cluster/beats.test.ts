// Goal: a read that trusts no clock goes on by a beat that was sent after it was asked, and by no other: not by one that
// was on its way, and not because time has passed.
import { expect, test } from "vitest";
import { Beats } from "./beats.ts";

test("a beat lets those go on that had asked before it was sent", async () => {
  const beats = new Beats();
  const first = beats.waitForNext(60_000);
  const keep = beats.send();
  let isSecondOver = false;
  const second = beats.waitForNext(60_000).then((isKept) => {
    isSecondOver = true;
    return isKept;
  });
  keep();
  expect(await first).toBe(true);
  expect([isSecondOver, beats.areAwaited]).toEqual([false, true]);
  beats.send()();
  expect(await second).toBe(true);
  expect(beats.areAwaited).toBe(false);
});

test("a beat that was not kept lets nobody go on; the next one does", async () => {
  const beats = new Beats();
  const asked = beats.waitForNext(60_000);
  beats.send();
  beats.send()();
  expect(await asked).toBe(true);
});

test("time that passes is no beat, and neither is an end", async () => {
  const beats = new Beats();
  expect(await beats.waitForNext(1)).toBe(false);
  expect(beats.areAwaited).toBe(false);
  const asked = beats.waitForNext(60_000);
  beats.close();
  expect(await asked).toBe(false);
});

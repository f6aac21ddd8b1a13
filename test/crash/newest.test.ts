/**
 * Goal: a process that opens the data file while the writer commits costs no acknowledged change. It tells all others the
 * newest transaction that it has read, in the lock file that they share; here a test writes there what such a process
 * would.
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findProblems, nextRun, openAgain } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";
import { numberedChange, numberedKey } from "./workload.mjs";

let folder = "";
beforeAll(() => {
  folder = makeScratch();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where LMDB's lock file has it, behind magic and format: 64 bits. */
const newestAt = 8;

function setBack(dir: string): void {
  const file = openSync(join(dir, "lock.mdb"), "r+");
  const bytes = Buffer.alloc(8);
  readSync(file, bytes, 0, 8, newestAt);
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE() - 1n);
  writeSync(file, bytes, 0, 8, newestAt);
  closeSync(file);
}

it("a writer whose newest transaction was set back ends, and the next one has all", async () => {
  const dir = join(folder, "store");
  const first = await openAgain(dir, "a run");
  for (let i = 0; i < 20; i++) await first.store.commit(numberedChange(i));
  setBack(dir);
  await expect(first.store.commit(numberedChange(20))).rejects.toThrow("not available");
  await first.close().catch(() => {});

  const next = await openAgain(dir, nextRun);
  const snapshot = await next.store.snapshot();
  const found: number[] = [];
  const keys = Array.from({ length: 21 }, (_, i) => numberedKey(i));
  await snapshot.readMany(keys, (i, bytes) => {
    if (bytes !== undefined) found.push(i);
  });
  snapshot.close();
  expect(found).toEqual(Array.from({ length: 20 }, (_, i) => i));
  await next.store.commit(numberedChange(20));
  const open = (): typeof snapshot => next.store.snapshot() as typeof snapshot;
  expect(await findProblems({ snapshot: open })).toEqual([]);
  await next.close();
});

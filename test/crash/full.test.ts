/**
 * Goal: a disk without room refuses writes and loses nothing. A limit on the size of files stands for it: the journal or
 * the data file, whichever needs more, cannot grow.
 */
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { openReadOnly, openWriter } from "../../src/stores/lmdb.ts";
import type { CheckpointPolicy } from "../../src/stores/lmdb/checkpoints.ts";
import { buildChild } from "./child-modules.ts";
import { findProblems } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";
import { numberedKey } from "./workload.mjs";

let childDir = "";
let folder = "";
beforeAll(() => {
  childDir = buildChild(["writer-child.mjs", "workload.mjs"]).dir;
  folder = makeScratch();
});
afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

interface Filled {
  readonly acknowledged: number[];
  readonly refused: number[];
  readonly codes: string[];
  readonly read: number;
}

/** The journal's second megabyte does not fit. `sh` counts blocks of 512 bytes. */
const blocksMax = Math.floor(1_900_000 / 512);
const changeBytes = 100_000;

/** A writer whose files have a limit; killed when it has told what it reads. */
async function fill(dir: string, policy: CheckpointPolicy): Promise<Filled> {
  const script = join(childDir, "writer-child.mjs");
  const command = `ulimit -f ${blocksMax} && exec "$0" "$@"`;
  const args = [
    process.execPath,
    script,
    dir,
    "1",
    "fill",
    JSON.stringify(policy),
    String(changeBytes),
  ];
  const child = spawn("/bin/sh", ["-c", command, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const filled: Filled = { acknowledged: [], refused: [], codes: [], read: -1 };
  let read = -1;
  for await (const line of createInterface(child.stdout)) {
    const [word, number, code] = line.split(" ");
    if (word === "refused") {
      filled.refused.push(Number(number));
      filled.codes.push(code!);
    } else if (word === "read") {
      read = Number(number);
      child.kill("SIGKILL");
    } else if (word === "open" || word === "fatal") continue;
    else filled.acknowledged.push(Number(word));
  }
  await exited;
  return { ...filled, read };
}

/** Which of them are there. */
async function findNumbers(dir: string, numbers: readonly number[]): Promise<number[]> {
  const store = await openReadOnly(dir);
  const snapshot = store.snapshot();
  const found: number[] = [];
  void snapshot.readMany(numbers.map(numberedKey), (i, bytes) => {
    if (bytes !== undefined) found.push(numbers[i]!);
  });
  snapshot.close();
  void store.close();
  return found;
}

describe.runIf(process.platform === "linux")("a file that cannot grow", () => {
  it.each([
    ["the journal", { bytesMax: 50_000_000, transactionsMax: 1_000_000, ageMsMax: 600_000 }],
    ["the data file", { bytesMax: 200_000, transactionsMax: 2, ageMsMax: 20 }],
  ])("%s: writes are refused, reads go on, and nothing is lost", async (what, policy) => {
    const dir = join(folder, what.replaceAll(" ", "-"));
    const filled = await fill(dir, policy);
    expect(filled.codes.length).toBeGreaterThan(0);
    // LMDB calls a page that was written in part an input/output error; then the writer ends.
    const expected = what === "the journal" ? /^E_STORE_FULL$/ : /^E_STORE_(FULL|UNAVAILABLE)$/;
    for (const code of filled.codes) expect(code).toMatch(expected);
    expect(filled.acknowledged.length).toBeGreaterThan(3);
    expect(filled.read).toBe(filled.acknowledged.length);
    const copy = `${dir}-copy`;
    mkdirSync(copy);
    for (const file of ["data.mdb", "weft.store", "journal.0", "journal.1"]) {
      copyFileSync(join(dir, file), join(copy, file));
    }
    for (const storeDir of [dir, copy]) {
      const writer = await openWriter({
        dir: storeDir,
        logger: silentLogger,
        clock: systemClock,
      });
      await writer.close();
      expect(await findNumbers(storeDir, filled.acknowledged)).toEqual(filled.acknowledged);
      expect(await findNumbers(storeDir, filled.refused)).toEqual([]);
      const store = await openReadOnly(storeDir);
      expect(await findProblems(store)).toEqual([]);
      await store.close();
    }
  });
});

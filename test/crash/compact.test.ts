/** A writer that is killed at each step in which `weft compact` exchanges its data file, under load. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkStore, type Problem } from "../../src/stores/check.ts";
import { openReadOnly, openWriter } from "../../src/stores/lmdb.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { buildChild } from "./child-modules.ts";
import { makeScratch } from "./scratch.ts";
import { numberedKey } from "./workload.mjs";

/** `npm run crash` stops before each write and sync, too. */
const calls =
  process.env["WEFT_CRASH_ROUNDS"] === undefined
    ? "renameSync,rmSync"
    : "renameSync,rmSync,writeSync,fsyncSync,fdatasyncSync,openSync";
/** More steps than there are. */
const stepsMax = 200;

let childDir = "";
const scratch = makeScratch();

beforeAll(() => {
  childDir = buildChild(["compact-child.mjs", "workload.mjs"]).dir;
});

afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(scratch, { recursive: true, force: true });
});

interface Ended {
  readonly acknowledged: readonly number[];
  readonly isDone: boolean;
}

function run(dir: string, first: number, stop: number): Promise<Ended> {
  const script = join(childDir, "compact-child.mjs");
  const child = spawn(process.execPath, [script, dir, String(first), String(stop), calls], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (piece: Buffer) => (said += piece.toString()));
  return new Promise((resolve) => {
    child.once("close", () => {
      const lines = said.split("\n").slice(0, -1);
      resolve({
        acknowledged: lines.filter((line) => line !== "done").map(Number),
        isDone: lines.includes("done"),
      });
    });
  });
}

/** What of the acknowledged is not there, and what else is wrong, after a start that follows. */
async function examine(dir: string, acknowledged: readonly number[]): Promise<unknown[]> {
  const writer = await openWriter({
    dir,
    logger: silentLogger,
    clock: systemClock,
    journal: { run: "one" },
  });
  expect(existsSync(join(dir, "compact.new"))).toBe(false);
  await writer.close();
  const store = await openReadOnly(dir);
  const problems: (Problem | string)[] = [];
  store.verify((problem) => problems.push(problem));
  await checkStore({
    open: () => store.snapshot(),
    report: (problem) => problems.push(problem),
    sliceRows: 300,
  });
  const snapshot = store.snapshot();
  void snapshot.readMany(acknowledged.map(numberedKey), (i, bytes) => {
    if (bytes === undefined) problems.push(`${acknowledged[i]} is lost`);
  });
  snapshot.close();
  await store.close();
  return problems;
}

describe("a compaction whose writer is killed", () => {
  it("leaves the old file or the new one at each step, with all that was acknowledged", async () => {
    const dir = join(mkdtempSync(join(scratch, "compact-")), "data");
    const acknowledged: number[] = [];
    let stop = 0;
    for (; stop < stepsMax; stop++) {
      const ended = await run(dir, (acknowledged.at(-1) ?? 0) + 100, stop);
      acknowledged.push(...[...ended.acknowledged].sort((a, b) => a - b));
      expect(await examine(dir, acknowledged), `before call ${stop}`).toEqual([]);
      if (ended.isDone) break;
      expect(ended.acknowledged.length).toBeGreaterThan(0);
    }
    // The files' exchange alone has as many.
    expect(stop).toBeGreaterThan(8);
    expect(stop).toBeLessThan(stepsMax);
  }, 300_000);
});

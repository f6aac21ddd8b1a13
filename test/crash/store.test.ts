import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { checkStore, type Problem } from "../../src/stores/check.ts";
import { connectStore, openReadOnly, openWriter } from "../../src/stores/lmdb.ts";
import { buildChild } from "./child-modules.ts";
import { numberedChange, numberedKey } from "./workload.mjs";

/** `npm run crash` asks for hundreds. */
const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 5);
const seed = Number(process.env["WEFT_CRASH_SEED"] ?? 1);
const random = makeSeededRandom(seed);

let childDir = "";
let dir = "";

beforeAll(() => {
  childDir = buildChild(["writer-child.mjs", "workload.mjs"]).dir;
  dir = mkdtempSync(join(tmpdir(), "weft-crash-"));
});

afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly opened: Promise<void>;
  readonly exited: Promise<void>;
}

/** Small, so that the writer dies in every step of a checkpoint. */
const tinyPolicy = { bytesMax: 20_000, transactionsMax: 7, ageMsMax: 20 };

function start(storeDir: string, first: number, mode: "load" | "serve"): Child {
  const script = join(childDir, "writer-child.mjs");
  const policy = JSON.stringify(tinyPolicy);
  const child = spawn(process.execPath, [script, storeDir, String(first), mode, policy], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  let rest = "";
  const opened = new Promise<void>((resolve, reject) => {
    child.once("close", () => reject(new Error("the writer did not open")));
    child.stdout.on("data", (piece: Buffer) => {
      const parts = (rest + piece.toString()).split("\n");
      rest = parts.pop()!;
      lines.push(...parts);
      if (lines.length > 0) resolve();
    });
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return { process: child, lines, opened, exited };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function findProblems(storeDir: string): Promise<Problem[]> {
  const store = await openReadOnly(storeDir);
  const problems: Problem[] = [];
  await checkStore({
    open: () => store.snapshot(),
    report: (problem) => problems.push(problem),
    sliceRows: 300,
  });
  await store.close();
  return problems;
}

async function findMissing(storeDir: string, numbers: readonly number[]): Promise<number[]> {
  const store = await openReadOnly(storeDir);
  const snapshot = store.snapshot();
  const missing: number[] = [];
  void snapshot.readMany(numbers.map(numberedKey), (i, bytes) => {
    if (bytes === undefined) missing.push(numbers[i]!);
  });
  snapshot.close();
  await store.close();
  return missing;
}

/** A copy whose meta pages are damaged: only the journal knows what it holds. */
async function bringBackCopy(storeDir: string): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), "weft-crash-copy-"));
  for (const file of ["data.mdb", "weft.store", "journal.0", "journal.1"]) {
    copyFileSync(join(storeDir, file), join(copy, file));
  }
  const data = openSync(join(copy, "data.mdb"), "r+");
  writeSync(data, Buffer.alloc(2 * 4096, "damaged"), 0, 2 * 4096, 0);
  closeSync(data);
  const writer = await openWriter({ dir: copy, logger: silentLogger, clock: systemClock });
  await writer.close();
  return copy;
}

const name = (round: number): string => `WEFT_CRASH_SEED=${seed}, round ${round}`;

describe("a writer that is killed under load", () => {
  it("loses nothing that it acknowledged", { timeout: 60_000 + rounds * 10_000 }, async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const child = start(dir, (round + 1) * 1_000_000, "load");
      await child.opened;
      await sleep(20 + random.next() * 400);
      child.process.kill("SIGKILL");
      await child.exited;
      acknowledged.push(...child.lines.slice(1).map(Number));
      const copy = await bringBackCopy(dir);
      for (const storeDir of [dir, copy]) {
        expect(await findMissing(storeDir, acknowledged), name(round)).toEqual([]);
        expect(await findProblems(storeDir), name(round)).toEqual([]);
      }
      rmSync(copy, { recursive: true, force: true });
    }
    expect(acknowledged.length).toBeGreaterThan(rounds * 10);
  });

  it(
    "is followed by one that knows what was sent again",
    { timeout: 60_000 + rounds * 10_000 },
    async () => {
      const storeDir = mkdtempSync(join(tmpdir(), "weft-crash-link-"));
      let child = start(storeDir, 0, "serve");
      await child.opened;
      const store = await connectStore({ dir: storeDir, waitMs: 20_000 });
      // Kept over every change of the writer: it is the same process.
      const token = await store.claimSlot(() => {
        throw new Error("the slot was lost");
      });
      const numbers = new Map<number, number>();
      const state = { isDone: false };
      let next = 1;
      const load = async (): Promise<void> => {
        while (!state.isDone) {
          const number = next++;
          const change = { ...numberedChange(number), id: { ...token, sequence: number } };
          numbers.set(number, (await store.commit(change)).commitTs);
        }
      };
      const loads = Array.from({ length: 8 }, load);
      for (let round = 0; round < rounds; round++) {
        await sleep(50 + random.next() * 150);
        child.process.kill("SIGKILL");
        await child.exited;
        child = start(storeDir, 0, "serve");
        await child.opened;
      }
      await sleep(100);
      state.isDone = true;
      await Promise.all(loads);
      expect(new Set(numbers.values()).size).toBe(numbers.size);
      const snapshot = await store.snapshot();
      // Every commit is the claim or one of the numbered ones: none was applied twice.
      expect(snapshot.ts).toBe(1 + numbers.size);
      snapshot.close();
      await store.close();
      child.process.kill("SIGKILL");
      await child.exited;
      expect(await findMissing(storeDir, [...numbers.keys()])).toEqual([]);
      expect(await findProblems(storeDir)).toEqual([]);
      const writer = await openWriter({ dir: storeDir, logger: silentLogger, clock: systemClock });
      await writer.close();
      rmSync(storeDir, { recursive: true, force: true });
    },
  );
});

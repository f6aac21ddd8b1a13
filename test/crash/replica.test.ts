// Goal: machines that lead are killed, or deposed, while they write; what they acknowledged is on the next one, and on
// themselves when they come back.
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { Replica } from "../../src/cluster/replica.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import { checkStore, type Problem } from "../../src/stores/check.ts";
import { openNodeStore, type NodeStore } from "../../src/stores/open.ts";
import { digestRows } from "../support/machines.ts";
import { buildChild } from "./child-modules.ts";
import { numberedKey } from "./workload.mjs";

const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 4);
const random = makeSeededRandom(Number(process.env["WEFT_CRASH_SEED"] ?? 1));
const storeId = randomBytes(16).toString("hex");
let childDir = "";
let root = "";

beforeAll(() => {
  childDir = buildChild(["replica-child.mjs", "workload.mjs"]).dir;
  root = mkdtempSync(join(tmpdir(), "weft-crash-replica-"));
});

afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(root, { recursive: true, force: true });
});

interface Leader {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<void>;
  /** When it has printed so many lines, or is gone. */
  printed(count: number): Promise<void>;
}

function start(machine: string, first: number): Leader {
  const args = [join(root, "log"), join(root, machine), storeId, String(first)];
  const script = join(childDir, "replica-child.mjs");
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", 2] });
  const lines: string[] = [];
  let rest = "";
  let wake = (): void => {};
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  void exited.then(() => wake());
  child.stdout?.on("data", (piece: Buffer) => {
    const parts = (rest + piece.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  const printed = async (count: number): Promise<void> => {
    while (lines.length < count && child.exitCode === null && child.signalCode === null) {
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { process: child, lines, exited, printed };
}

/** Opens a machine here, to the end of the log. */
async function look<T>(machine: string, use: (node: NodeStore) => T | Promise<T>): Promise<T> {
  const options = { dir: join(root, machine), storeId, logger: silentLogger, clock: systemClock };
  const node = await openNodeStore(options);
  const log = await openDirectoryLog(join(root, "log"), systemClock);
  try {
    const replica = await Replica.open(node, { log, clock: systemClock, pause: async () => true });
    while (await replica.follow());
    return await use(node);
  } finally {
    await node.close();
    await log.close();
  }
}

it("what was acknowledged is on every machine, whoever was killed", async () => {
  const acknowledged = new Set<number>();
  for (let round = 0; round < rounds; round++) {
    const [one, two] = round % 2 === 0 ? ["a", "b"] : ["b", "a"];
    const first = start(one, round * 1_000_000);
    await first.printed(5 + Math.floor(random.next() * 60));
    if (random.next() < 0.6) first.process.kill("SIGKILL");
    const second = start(two, round * 1_000_000 + 500_000);
    await second.printed(5 + Math.floor(random.next() * 60));
    second.process.kill("SIGKILL");
    first.process.kill("SIGKILL");
    await Promise.all([first.exited, second.exited]);
    for (const line of [...first.lines, ...second.lines]) {
      if (line !== "leads") acknowledged.add(Number(line));
    }
    // The third ends each round as the leader, so that all before it is known to be kept.
    const third = start("c", round * 1_000_000 + 900_000);
    await third.printed(20);
    third.process.kill("SIGKILL");
    await third.exited;
    for (const line of third.lines) if (line !== "leads") acknowledged.add(Number(line));
  }
  const numbers = [...acknowledged];
  expect(numbers.length).toBeGreaterThan(rounds * 20);
  const newest = numbers.filter((number) => number < (rounds - 1) * 1_000_000 + 900_000);
  for (const machine of ["a", "b"]) {
    const missing = await look(machine, async (node) => {
      const found = new Set<number>();
      const snapshot = node.snapshot();
      await snapshot.readMany(newest.map(numberedKey), (i, row) => {
        if (row !== undefined) found.add(newest[i] ?? -1);
      });
      snapshot.close();
      return newest.filter((number) => !found.has(number));
    });
    expect(missing).toEqual([]);
  }
  expect(await look("a", digestRows)).toBe(await look("b", digestRows));
  for (const machine of ["a", "b", "c"]) {
    const problems: Problem[] = [];
    const report = (problem: Problem): void => void problems.push(problem);
    await look(machine, (node) => checkStore({ open: () => node.snapshot(), report }));
    expect(problems).toEqual([]);
  }
});

// Goal: leaders of a log in a directory are killed, or overtaken while they write: what they acknowledged is there.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { chainStart, LogChain } from "../../src/log/chain.ts";
import { openDirectoryLog } from "../../src/log/directory.ts";
import { judgeNext } from "../../src/log/follower.ts";
import { openBody } from "../../src/log/record.ts";
import { buildChild } from "./child-modules.ts";

const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 3);
const random = makeSeededRandom(Number(process.env["WEFT_CRASH_SEED"] ?? 1));
const history = Buffer.alloc(16, 7);
let childDir = "";
let dir = "";

beforeAll(() => {
  childDir = buildChild(["log-child.mjs"]).dir;
  dir = mkdtempSync(join(tmpdir(), "weft-crash-log-"));
});

afterAll(() => {
  rmSync(childDir, { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

interface Leader {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<void>;
  /** When it has printed so many lines, or is gone. */
  printed(count: number): Promise<void>;
}

function start(name: string): Leader {
  const script = join(childDir, "log-child.mjs");
  const child = spawn(process.execPath, [script, dir, name], { stdio: ["ignore", "pipe", 2] });
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

/** What counts of the log, by number. */
async function readAll(): Promise<ReadonlyMap<number, string>> {
  const log = await openDirectoryLog(dir, systemClock);
  const chain = new LogChain(history, chainStart);
  const found = new Map<number, string>();
  for (;;) {
    const records = await judgeNext(log, chain, 1_000_000);
    if (records === undefined) break;
    for (const { head, record } of records) {
      const { rows } = await openBody(record, head);
      if (head.kind === "rows") found.set(head.seq, Buffer.from(rows).toString());
    }
  }
  await log.close();
  return found;
}

it("what was acknowledged is there once, in its place", async () => {
  const acknowledged = new Map<number, string>();
  const note = ({ lines }: Leader): void => {
    for (const line of lines.slice(1)) {
      const [seq = "", text = ""] = line.split(":");
      acknowledged.set(Number(seq), text);
    }
  };
  for (let round = 0; round < rounds; round++) {
    const first = start(`${round}a`);
    await first.printed(5 + Math.floor(random.next() * 12));
    // Killed, or deposed by one that begins while it writes.
    const second = start(`${round}b`);
    if (random.next() < 0.5) first.process.kill("SIGKILL");
    await second.printed(5 + Math.floor(random.next() * 12));
    await first.exited;
    second.process.kill("SIGKILL");
    await second.exited;
    note(first);
    note(second);
    const found = await readAll();
    for (const [seq, text] of acknowledged) expect(found.get(seq)).toBe(text);
    expect(new Set(found.values()).size).toBe(found.size);
  }
  expect(acknowledged.size).toBeGreaterThan(rounds * 6);
  expect(readdirSync(join(dir, "records")).length).toBeGreaterThanOrEqual(acknowledged.size);
});

/**
 * Goal: whatever is damaged in whichever file, a reader is given what was acknowledged, or is told. Only damage to the
 * structure of LMDB's own pages may end the process that reads.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { recordedKeys } from "./crash-key.ts";
import { flipBits, spoilFiles, type Damage, type Files } from "./damages.ts";
import { Examiner } from "./examiner.ts";
import { recordHistory, viewJournal, type Copy } from "./history.ts";
import { nextRun, openAgain, writeImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";

/** `npm run crash` asks for hundreds. */
const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 0);
const seed = Number(process.env["WEFT_CRASH_SEED"] ?? 1);
const bitsPerKind = 1 + rounds;
const cuts = 1 + Math.ceil(rounds / 10);
const timeout = 120_000 + rounds * 60_000;

const names = ["weft.store", "data.mdb", "journal.0", "journal.1"];

let folder = "";
let killed: Files = new Map();
let older: readonly Files[] = [];

function filesOf(copy: Copy): Files {
  const keys = recordedKeys();
  return new Map([
    ...(keys === undefined ? [] : [["weft.keys", keys] as const]),
    ["weft.store", copy.header],
    ["data.mdb", copy.data],
    ["journal.0", copy.journal[0]!],
    ["journal.1", copy.journal[1]!],
  ]);
}

function makeDir(files: Files): string {
  const dir = mkdtempSync(join(folder, "dir-"));
  for (const [name, file] of files) if (file !== undefined) writeFileSync(join(dir, name), file);
  return dir;
}

beforeAll(async () => {
  folder = makeScratch();
  const copies = await recordHistory({
    dir: join(folder, "history"),
    random: makeSeededRandom(seed),
    groups: 40,
    policy: { bytesMax: 3_000_000, transactionsMax: 6, ageMsMax: 60_000 },
  });
  const isSettled = ({ journal }: Copy): boolean => {
    const { sound, newest, records } = viewJournal(journal);
    return sound === newest && records[sound]!.length > 3;
  };
  const at = copies.findLastIndex(isSettled);
  killed = filesOf(copies[at]!);
  const ages = rounds > 0 ? [1, 4, 20] : [4];
  older = ages.map((age) => filesOf(copies[at - age]!));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Structure of LMDB's own: nothing verifies it before LMDB follows it. */
const mayEnd = /^(?:leaf|branch|long)|data\.mdb$/;

async function examineAll(sound: Files, damages: Iterable<Damage>): Promise<Map<string, number>> {
  const examiner = new Examiner(() => makeDir(sound));
  const counts = new Map<string, number>();
  const faults: string[] = [];
  try {
    for (const { where, how, files } of damages) {
      const dir = makeDir(files);
      const { result, detail } = await examiner.examine(dir);
      counts.set(result, (counts.get(result) ?? 0) + 1);
      const isFault = result === "wrong" || (result === "ended" && !mayEnd.test(where));
      if (isFault) faults.push(`${where}, ${how}: ${result} (${detail ?? ""})`);
      rmSync(dir, { recursive: true, force: true });
    }
  } finally {
    examiner.close();
  }
  expect(faults, `WEFT_CRASH_SEED=${seed}`).toEqual([]);
  return counts;
}

describe("a store that was not closed in order", () => {
  it("with a bit changed anywhere", { timeout }, async () => {
    const counts = await examineAll(killed, flipBits(makeSeededRandom(seed), killed, bitsPerKind));
    expect(counts.get("refused")).toBeGreaterThan(2);
  });

  it("with a file cut, removed or exchanged", { timeout }, async () => {
    const damages = spoilFiles(makeSeededRandom(seed), killed, older, cuts);
    const counts = await examineAll(killed, damages);
    expect(counts.get("refused")).toBeGreaterThan(6);
  });
});

describe("a store that was closed in order", () => {
  let closed: Files = new Map();
  beforeAll(async () => {
    const dir = mkdtempSync(join(folder, "closed-"));
    const [header, data, first, second] = names.map((name) => killed.get(name)!);
    writeImage(dir, { header: header!, data: data!, journal: [first!, second!] });
    await (await openAgain(dir, nextRun)).close();
    const kept = [...names.slice(0, 2), ...(killed.has("weft.keys") ? ["weft.keys"] : [])];
    closed = new Map(kept.map((name) => [name, readFileSync(join(dir, name))]));
  });

  it("with a bit changed anywhere", { timeout }, async () => {
    const counts = await examineAll(closed, flipBits(makeSeededRandom(seed), closed, bitsPerKind));
    expect(counts.get("told")).toBeGreaterThan(0);
  });

  it("with a file cut, removed or exchanged", { timeout }, async () => {
    const counts = await examineAll(
      closed,
      spoilFiles(makeSeededRandom(seed), closed, older, cuts),
    );
    expect(counts.get("refused")).toBeGreaterThan(1);
  });
});

/** Goal: the machine may stop at any step of opening and closing a store, again and again; nothing is lost. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import type { Writer } from "../../src/stores/lmdb.ts";
import { encodeBase, decodeBase, baseAt, recordsAt } from "../../src/stores/lmdb/journal-format.ts";
import { namePlace, readBootId } from "../../src/stores/lmdb/machine.ts";
import { authenticateBase } from "../../src/stores/lmdb/journal-seal.ts";
import { unlockStore } from "../../src/stores/sealed/store-keys.ts";
import { encryption, placeKeys } from "./crash-key.ts";
import { digestOf, firstRun, recordHistory, viewJournal, type Copy } from "./history.ts";
import { makeImage } from "./image.ts";
import { findProblems, nextRun, openAgain, writeImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";
import { remainsOf, type Remains, type Stop, type WatchedFs } from "./stops.ts";

const watched = vi.hoisted(() => ({ fs: undefined as WatchedFs | undefined }));
vi.mock("node:fs", async (importOriginal) => {
  const { watchFs } = await import("./stops.ts");
  watched.fs = watchFs(await importOriginal());
  return { ...watched.fs.fs, default: watched.fs.fs };
});

const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 0);
const seed = Number(process.env["WEFT_CRASH_SEED"] ?? 1);
const random = makeSeededRandom(seed);
const states = 1 + Math.ceil(rounds / 10);
const timeout = 60_000 + rounds * 5_000;

let folder = "";
let copies: readonly Copy[] = [];

beforeAll(async () => {
  folder = makeScratch();
  const policy = { bytesMax: 30_000, transactionsMax: 6, ageMsMax: 50 };
  const dir = join(folder, "store");
  copies = await recordHistory({ dir, random, groups: 16 + states, policy });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeDir(): string {
  return mkdtempSync(join(folder, "dir-"));
}

/** A base of this run was made of another file: this one takes its place, as if the process alone had died. */
function adoptJournal(dir: string, entries: ReadonlyMap<string, Buffer>, run: string): void {
  placeKeys(dir);
  const cipher = unlockStore(dir, { isEncrypted: encryption !== undefined }, encryption);
  const machine = `${run} ${namePlace(join(dir, "data.mdb"), readBootId() ?? "")}`;
  for (const [name, file] of entries) {
    const adopted = Buffer.from(file);
    const base = name.startsWith("journal")
      ? decodeBase(file.subarray(baseAt, recordsAt))
      : undefined;
    if (base?.machine.startsWith(run) === true) {
      const own = { ...base, machine };
      const sealed = cipher === undefined ? own : authenticateBase(cipher, own);
      adopted.set(encodeBase(sealed), baseAt);
    }
    writeFileSync(join(dir, name), adopted);
  }
}

/** What is wrong with a store that was left so; `run`: of the server that opens it. */
async function inspect({ data, entries }: Remains, digest: string, run: string): Promise<string[]> {
  const dir = makeDir();
  try {
    writeFileSync(join(dir, "data.mdb"), data);
    adoptJournal(dir, entries, run);
    const writer = await openAgain(dir, run);
    const { store } = writer;
    try {
      const snapshot = await store.snapshot();
      const faults = digestOf(snapshot) === digest ? [] : [`it is at commit ${snapshot.ts}`];
      snapshot.close();
      return faults.concat(
        await findProblems({ snapshot: () => store.snapshot() as typeof snapshot }),
      );
    } finally {
      await writer.close();
    }
  } catch (error) {
    return [String(error)];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Of a stop of the machine, in every way, and of a death of the process alone. */
async function inspectStops(
  stops: readonly Stop[],
  digest: string,
  run: string,
): Promise<string[]> {
  const faults: string[] = [];
  for (const stop of stops.filter((one, i) => i === 0 || isOther(stops[i - 1]!, one))) {
    for (const remains of remainsOf(random, stop)) {
      for (const fault of await inspect(remains, digest, "a later run")) {
        faults.push(`${remains.how}: ${fault}`);
      }
    }
    const dead = { data: stop.written, entries: stop.entries, how: "" };
    for (const fault of await inspect(dead, digest, run)) {
      faults.push(`death of the process before call ${stop.call}: ${fault}`);
    }
  }
  return faults;
}

function isOther(before: Stop, after: Stop): boolean {
  if (!before.synced.equals(after.synced) || !before.written.equals(after.written)) return true;
  return [before.entries, before.syncedEntries].some((entries, i) => {
    const others = [after.entries, after.syncedEntries][i]!;
    const isKept = ([name, file]: [string, Buffer]): boolean =>
      others.get(name)?.equals(file) === true;
    return entries.size !== others.size || ![...entries].every(isKept);
  });
}

/** States with a base that waits for its sync, and without. */
function chooseStates(): number[] {
  const all = [...copies.keys()].slice(5);
  const isTurning = (at: number): boolean => {
    const { sound, newest } = viewJournal(copies[at]!.journal);
    return sound !== newest;
  };
  const turning = all.filter(isTurning).slice(0, states);
  return [...turning, ...all.filter((at) => !isTurning(at)).slice(0, states)];
}

function entriesOf(copy: Copy): Map<string, Buffer> {
  return new Map([
    ["journal.0", copy.journal[0]!],
    ["journal.1", copy.journal[1]!],
    ["weft.store", copy.header],
  ]);
}

const name = (at: number): string => `WEFT_CRASH_SEED=${seed}, state ${at}`;

describe("a second stop of the machine", () => {
  it("while the store is brought back", { timeout }, async () => {
    for (const at of chooseStates()) {
      const image = makeImage(random, copies.slice(0, at + 1), at);
      const dir = makeDir();
      writeImage(dir, image);
      let writer: Writer | undefined;
      const stops = await watched.fs!.watch(dir, image.data, async () => {
        writer = await openAgain(dir, nextRun);
      });
      await writer?.close();
      expect(stops.length).toBeGreaterThan(5);
      expect(await inspectStops(stops, copies[at]!.digest, nextRun), name(at)).toEqual([]);
    }
  });

  it("while a writer follows one that was killed", { timeout }, async () => {
    for (const at of chooseStates()) {
      const copy = copies[at]!;
      const dir = makeDir();
      writeFileSync(join(dir, "data.mdb"), copy.data);
      adoptJournal(dir, entriesOf(copy), firstRun);
      const { data } = makeImage(random, copies.slice(0, at + 1), at);
      let writer: Writer | undefined;
      const stops = await watched.fs!.watch(dir, data, async () => {
        writer = await openAgain(dir, firstRun);
      });
      await writer?.close();
      expect(await inspectStops(stops, copy.digest, firstRun), name(at)).toEqual([]);
    }
  });
});

describe("a stop of the machine", () => {
  it("while the store is closed, and again while it is opened", { timeout }, async () => {
    const dir = join(folder, "closed");
    mkdirSync(dir);
    const at = chooseStates()[0]!;
    const copy = copies[at]!;
    writeImage(dir, { data: copy.data, journal: copy.journal, header: copy.header });
    const writer = await openAgain(dir, nextRun);
    const stops = await watched.fs!.watch(dir, readFileSync(join(dir, "data.mdb")), () =>
      writer.close(),
    );
    expect(await inspectStops(stops, copy.digest, nextRun), name(at)).toEqual([]);
  });
});

/** What a journal that lies beside the data file means to whoever opens the store. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type * as Machine from "../../src/stores/lmdb/machine.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { Fault } from "../../src/model/fault.ts";
import { connectStore, openReadOnly, openWriter, type Writer } from "../../src/stores/lmdb.ts";
import { encodeMark, journalNames } from "../../src/stores/lmdb/journal-format.ts";
import { digestOf, recordHistory, viewJournal, type Copy } from "./history.ts";
import { findProblems, nextRun, openAgain, writeImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";
import { numberedChange } from "./workload.mjs";

const machine = vi.hoisted(() => ({ tells: true }));
vi.mock("../../src/stores/lmdb/machine.ts", async (importOriginal) => {
  const real = await importOriginal<typeof Machine>();
  return { ...real, readBootId: () => (machine.tells ? real.readBootId() : undefined) };
});

let folder = "";
/** Its newest base waits for a sync, and there are records on both sides. */
let turning: Copy;

beforeAll(async () => {
  folder = makeScratch();
  const copies = await recordHistory({
    dir: join(folder, "history"),
    random: makeSeededRandom(1),
    groups: 40,
    policy: { bytesMax: 3_000_000, transactionsMax: 4, ageMsMax: 60_000 },
  });
  const isTurning = ({ journal }: Copy): boolean => {
    const { sound, newest, records } = viewJournal(journal);
    return sound !== newest && records[sound]!.length > 3;
  };
  turning = copies.findLast(isTurning)!;
  expect(turning).toBeDefined();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeDir(copy: Pick<Copy, "data" | "journal" | "header">): string {
  const dir = mkdtempSync(join(folder, "dir-"));
  writeImage(dir, copy);
  return dir;
}

async function faultOf(opening: Promise<unknown>): Promise<Fault> {
  const fault: unknown = await opening.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(Fault);
  return fault as Fault;
}

async function expectState(writer: Writer, digest: string): Promise<void> {
  const snapshot = await writer.store.snapshot();
  expect(digestOf(snapshot)).toBe(digest);
  snapshot.close();
}

/** A byte of one of its file's records is another one. */
function damage(copy: Copy, file: number, record: number): Copy {
  const journal = copy.journal.map((bytes) => Buffer.from(bytes));
  const at = viewJournal(copy.journal).records[file]![record]! + 40;
  journal[file]![at] = journal[file]![at]! ^ 0x10;
  return { ...copy, journal };
}

describe("a journal with a damaged record", () => {
  it("is refused where records of the next base follow", async () => {
    const { sound } = viewJournal(turning.journal);
    const dir = makeDir(damage(turning, sound, 1));
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STARTUP");
    expect(fault.message).toContain("its journal is damaged");
  });

  it("is refused where others of the same base follow", async () => {
    const { sound } = viewJournal(turning.journal);
    const journal = turning.journal.map((file, i) => (i === sound ? file : Buffer.alloc(0)));
    const dir = makeDir(damage({ ...turning, journal }, sound, 1));
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STARTUP");
    expect(fault.message).toContain("its journal is damaged");
  });

  it("does no harm to a store that was closed in order", async () => {
    const dir = makeDir(turning);
    await (await openAgain(dir, nextRun)).close();
    const { sound } = viewJournal(turning.journal);
    const { journal } = damage(turning, sound, 0);
    journalNames.forEach((name, i) => writeFileSync(join(dir, name), journal[i]!));
    const writer = await openAgain(dir, "a later run");
    await expectState(writer, turning.digest);
    await writer.close();
  });
});

describe("a store that was closed in order", () => {
  it("has no journal, and opens on any machine", async () => {
    const dir = makeDir(turning);
    const first = await openAgain(dir, nextRun);
    const { commitTs } = await first.store.commit(numberedChange(500_000));
    await first.close();
    expect(readdirSync(dir).filter((name) => name.startsWith("journal"))).toEqual([]);
    const store = await openReadOnly(dir);
    expect(await findProblems(store)).toEqual([]);
    await store.close();
    const second = await openAgain(dir, "a later run");
    expect((await second.store.describe()).commitTs).toBe(commitTs);
    await second.close();
  });
});

describe("a store on which the machine stopped", () => {
  it("is not read before a writer has brought it back", async () => {
    const dir = makeDir(turning);
    const text = "it was not closed in order; a start of the server brings it back";
    const faults = [faultOf(connectStore({ dir })), faultOf((async () => openReadOnly(dir))())];
    for (const { code, message } of await Promise.all(faults)) {
      expect(code).toBe("E_STARTUP");
      expect(message).toContain(text);
    }
    await (await openAgain(dir, nextRun)).close();
    const store = await openReadOnly(dir);
    expect(digestOf(store.snapshot())).toBe(turning.digest);
    await store.close();
  });

  it("after a sync of its data file had failed is brought back", async () => {
    const { bases, sound } = viewJournal(turning.journal);
    const journal = turning.journal.map((file) => Buffer.from(file));
    journal[sound]!.set(encodeMark({ epoch: bases[sound]!.epoch, isTrusted: false }), 0);
    const data = Buffer.from(turning.data).fill(0, 0, 8192);
    const writer = await openAgain(makeDir({ ...turning, data, journal }), nextRun);
    await expectState(writer, turning.digest);
    await writer.close();
  });
});

describe("a first start", () => {
  it("that ended before anything was on the disk is made again", async () => {
    const dir = mkdtempSync(join(folder, "dir-"));
    await (await openAgain(dir, "first")).close();
    writeFileSync(join(dir, "data.mdb"), Buffer.alloc(8192));
    // The header of a store that is open.
    writeFileSync(join(dir, "weft.store"), turning.header);
    const writer = await openAgain(dir, nextRun);
    await writer.store.commit(numberedChange(1));
    await writer.close();
    const store = await openReadOnly(dir);
    expect(await findProblems(store)).toEqual([]);
    await store.close();
  });
});

describe("where the system does not tell when it was started", () => {
  const open = (dir: string): Promise<Writer> =>
    openWriter({ dir, logger: silentLogger, clock: systemClock, claimWaitMs: 0, isLinked: false });

  it("a store is written without a journal", async () => {
    machine.tells = false;
    try {
      const dir = join(folder, "untold");
      const first = await open(dir);
      await first.store.commit(numberedChange(1));
      const snapshot = await first.store.snapshot();
      const digest = digestOf(snapshot);
      snapshot.close();
      expect(readdirSync(dir).filter((name) => name.startsWith("journal"))).toEqual([]);
      const [data, header] = ["data.mdb", "weft.store"].map((name) =>
        readFileSync(join(dir, name)),
      );
      const second = await open(makeDir({ data: data!, header: header!, journal: [] }));
      await expectState(second, digest);
      await second.close();
      await first.close();
    } finally {
      machine.tells = true;
    }
  });

  it("a journal is believed rather than the data file", async () => {
    machine.tells = false;
    try {
      const data = Buffer.from(turning.data).fill(0, 0, 8192);
      const dir = makeDir({ ...turning, data });
      const writer = await open(dir);
      await expectState(writer, turning.digest);
      expect(existsSync(join(dir, "journal.0"))).toBe(false);
      await writer.store.commit(numberedChange(500_000));
      await writer.close();
    } finally {
      machine.tells = true;
    }
  });
});

it("a store of format 3 that was not closed becomes one of format 4", async () => {
  const dir = makeDir(turning);
  await (await openAgain(dir, nextRun)).close();
  const path = join(dir, "weft.store");
  const header = readFileSync(path);
  header.writeUInt32LE(3, 11);
  header.writeDoubleLE(0, 31);
  header.writeUInt32LE(crc32(header.subarray(0, -4)), header.length - 4);
  writeFileSync(path, header);
  const writer = await openAgain(dir, "a later run");
  expect(readFileSync(path).readUInt32LE(11)).toBe(4);
  await expectState(writer, turning.digest);
  await writer.close();
});

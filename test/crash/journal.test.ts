/** What a journal that lies beside the data file means to whoever opens the store. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type * as Machine from "../../src/stores/lmdb/machine.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { Fault } from "../../src/model/fault.ts";
import { connectStore, openReadOnly, openWriter, type Writer } from "../../src/stores/lmdb.ts";
import {
  baseAt,
  encodeMark,
  journalNames,
  recordHeadBytes,
  sealRecord,
  secondMarkAt,
} from "../../src/stores/lmdb/journal-format.ts";
import { digestOf, recordHistory, viewJournal, type Copy } from "./history.ts";
import { findProblems, nextRun, openAgain, writeImage } from "./inspect.ts";
import { writeOlderHeader } from "../support/older-header.ts";
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
/** Its newest base is sound, and records follow it. */
let settled: Copy;
/** Of some epochs before. */
let older: Copy;

const newestOf = (): number => viewJournal(settled.journal).newest;

function flipBit(file: Buffer, at: number, bit: number): void {
  const place = at + (bit >> 3);
  file[place] = file[place]! ^ (1 << (bit & 7));
}

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
  const isSettled = ({ journal }: Copy): boolean => {
    const { sound, newest, records } = viewJournal(journal);
    return sound === newest && records[sound]!.length > 2;
  };
  settled = copies.findLast(isSettled)!;
  const epochOf = ({ journal }: Copy): number => {
    const { sound, bases } = viewJournal(journal);
    return bases[sound]!.epoch;
  };
  older = copies.find((copy) => epochOf(copy) === epochOf(settled) - 3)!;
  expect([settled, older]).not.toContain(undefined);
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
    expect(fault.code).toBe("E_STORE_CORRUPT");
    expect(fault.message).toContain("its journal is damaged");
  });

  it("is refused where others of the same base follow", async () => {
    const { sound } = viewJournal(turning.journal);
    const journal = turning.journal.map((file, i) => (i === sound ? file : Buffer.alloc(0)));
    const dir = makeDir(damage({ ...turning, journal }, sound, 1));
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STORE_CORRUPT");
    expect(fault.message).toContain("its journal is damaged");
  });

  it("is refused where its length is another one", async () => {
    const { sound, records } = viewJournal(turning.journal);
    for (const bit of [0, 5, 9, 17, 31]) {
      const journal = turning.journal.map((file) => Buffer.from(file));
      flipBit(journal[sound]!, records[sound]![1]!, bit);
      const fault = await faultOf(openAgain(makeDir({ ...turning, journal }), nextRun));
      expect([bit, fault.code]).toEqual([bit, "E_STORE_CORRUPT"]);
      expect(fault.message).toContain("record 2 of journal.");
      expect(fault.message).toContain("Nothing was changed");
    }
  });

  it("is cut where the last one is torn", async () => {
    const { newest, records } = viewJournal(turning.journal);
    const journal = turning.journal.map((file) => Buffer.from(file));
    const end = records[newest]!.at(-1)!;
    // A head and half of its rows: they were being written.
    const head = Buffer.alloc(recordHeadBytes + 300, 7);
    const { epoch, salt } = viewJournal(journal).bases[newest]!;
    sealRecord(head, head.length, { epoch, salt, number: records[newest]!.length - 1 });
    head.copy(journal[newest]!, end, 0, recordHeadBytes + 100);
    const writer = await openAgain(makeDir({ ...turning, journal }), nextRun);
    await expectState(writer, turning.digest);
    await writer.close();
  });

  it("is not cut where the data file knows what the last one was", async () => {
    const { newest, records } = viewJournal(settled.journal);
    const last = records[newest]!.length - 2;
    const dir = makeDir(damage(settled, newest, last));
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STORE_CORRUPT");
    expect(fault.message).toContain("the data file knows of 1 transactions that it lacks");
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

describe("a journal", () => {
  const changed = (change: (journal: Buffer[]) => void): Copy => {
    const journal = settled.journal.map((file) => Buffer.from(file));
    change(journal);
    return { ...settled, journal };
  };

  it.each<[string, () => Copy, string]>([
    [
      "whose newest base is damaged",
      () => changed((files) => flipBit(files[newestOf()]!, baseAt + 60, 3)),
      "base",
    ],
    [
      "whose newest marks are damaged",
      () => changed((files) => files[newestOf()]!.fill(9, 0, 4096)),
      "mark",
    ],
    [
      "whose newest file is emptied",
      () => changed((files) => (files[newestOf()] = Buffer.alloc(0))),
      "an older file, or empty",
    ],
    [
      "whose newest file is an older one",
      () => changed((files) => (files[newestOf()] = older.journal[newestOf()]!)),
      "an older file, or empty",
    ],
    [
      "whose newest file is cut",
      () =>
        changed(
          (files) =>
            (files[newestOf()] = files[newestOf()]!.subarray(
              0,
              viewJournal(settled.journal).records[newestOf()]!.at(-1)! - 10,
            )),
        ),
      "is truncated",
    ],
  ])("%s is refused, and nothing is written", async (_what, make, text) => {
    const dir = makeDir(make());
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STORE_CORRUPT");
    expect(fault.message).toContain(text);
    expect(readFileSync(join(dir, "data.mdb")).equals(settled.data)).toBe(true);
  });

  it.each([["journal.0"], ["journal.1"], ["journal.0", "journal.1"]])(
    "without %s %s is refused",
    async (...names) => {
      const dir = makeDir(settled);
      for (const name of names) rmSync(join(dir, name), { force: true });
      const fault = await faultOf(openAgain(dir, nextRun));
      expect(fault.code).toBe("E_STORE_CORRUPT");
      expect(fault.message).toContain("is missing");
      expect(readFileSync(join(dir, "data.mdb")).equals(settled.data)).toBe(true);
    },
  );

  it("with one of its newest two marks is whole", async () => {
    for (const at of [5, secondMarkAt + 5]) {
      const writer = await openAgain(
        makeDir(changed((files) => flipBit(files[newestOf()]!, at, 1))),
        nextRun,
      );
      await expectState(writer, settled.digest);
      await writer.close();
    }
  });

  it("stands on a data file that has its base, and on no other one", async () => {
    const dir = makeDir({ ...settled, data: older.data });
    const fault = await faultOf(openAgain(dir, nextRun));
    expect(fault.code).toBe("E_STORE_CORRUPT");
    expect(fault.message).toContain("data.mdb is damaged");
    expect(readFileSync(join(dir, "data.mdb")).equals(older.data)).toBe(true);
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
    journal[sound]!.set(
      encodeMark({ epoch: bases[sound]!.epoch, isTrusted: false, isPast: false }),
      0,
    );
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
    writeOlderHeader(dir, 4, 0);
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

it("a store of format 3 that was not closed becomes one of this format", async () => {
  const dir = makeDir(turning);
  await (await openAgain(dir, nextRun)).close();
  const path = join(dir, "weft.store");
  const current = readFileSync(path).readUInt32LE(11);
  writeOlderHeader(dir, 3, 0);
  const writer = await openAgain(dir, "a later run");
  expect(readFileSync(path).readUInt32LE(11)).toBe(current);
  await expectState(writer, turning.digest);
  await writer.close();
});

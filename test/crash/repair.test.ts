/** What `weft check` finds in damaged stores, and what `weft check --repair` saves of them. */
import { mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { logKey } from "../../src/codec/key.ts";
import type { Fault } from "../../src/model/fault.ts";
import { checkLog } from "../../src/stores/check-log.ts";
import { examineFiles, openReadOnly } from "../../src/stores/lmdb.ts";
import { Environment } from "../../src/stores/lmdb/environment.ts";
import { readHeader, writeClosed } from "../../src/stores/lmdb/header.ts";
import { isSound, readHalves } from "../../src/stores/lmdb/journal-halves.ts";
import { repairStore } from "../../src/stores/repair.ts";
import { reachedPages } from "./data-pages.ts";
import { digestOf, recordHistory, viewJournal, type Copy } from "./history.ts";
import { findProblems, nextRun, openAgain, writeImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";
import { numberedChange } from "./workload.mjs";

let folder = "";
let killed: Copy;
let older: Copy;

beforeAll(async () => {
  folder = makeScratch();
  const copies = await recordHistory({
    dir: join(folder, "history"),
    random: makeSeededRandom(2),
    groups: 20,
    policy: { bytesMax: 3_000_000, transactionsMax: 6, ageMsMax: 60_000 },
  });
  killed = copies.findLast(({ journal }) => {
    const { sound, newest, records } = viewJournal(journal);
    return sound === newest && records[sound]!.length > 4;
  })!;
  expect(killed).toBeDefined();
  older = copies[2]!;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeDir(copy: Pick<Copy, "data" | "journal" | "header"> = killed): string {
  const dir = mkdtempSync(join(folder, "dir-"));
  writeImage(dir, copy);
  return dir;
}

async function makeClosed(): Promise<string> {
  const dir = makeDir();
  await (await openAgain(dir, nextRun)).close();
  return dir;
}

async function repair(dir: string): Promise<{ lost: string[]; said: string[]; kept: string }> {
  const lost: string[] = [];
  const said: string[] = [];
  const { kept } = await repairStore(dir, {
    say: (line) => said.push(line),
    lose: (line) => lost.push(line),
  });
  return { lost, said, kept };
}

async function expectOpens(dir: string, digest: string | undefined): Promise<void> {
  const writer = await openAgain(dir, "a later run");
  const snapshot = await writer.store.snapshot();
  if (digest !== undefined) expect(digestOf(snapshot)).toBe(digest);
  snapshot.close();
  await writer.store.commit(numberedChange(800_000));
  await writer.close();
}

/** A byte of the last leaf page's last row. */
function damageRow(dir: string): void {
  const data = readFileSync(join(dir, "data.mdb"));
  const { pages } = reachedPages(data, data.subarray(0, 8192), "rows");
  const leaf = pages.findLastIndex(
    (isReached, page) => isReached === 1 && data.readUInt16LE(page * 4096 + 18) === 2,
  );
  const at = (leaf + 1) * 4096 - 6;
  data[at] = data[at]! ^ 4;
  writeFileSync(join(dir, "data.mdb"), data);
}

describe("a repair", () => {
  it("of a journal with a damaged record takes the data file, which has it all", async () => {
    const { newest, records } = viewJournal(killed.journal);
    const journal = killed.journal.map((file) => Buffer.from(file));
    const at = records[newest]![1]! + 40;
    journal[newest]![at] = journal[newest]![at]! ^ 1;
    const dir = makeDir({ ...killed, journal });
    await expect(openAgain(dir, nextRun)).rejects.toThrow("weft check --repair");
    const { lost, kept } = await repair(dir);
    expect(lost).toEqual([]);
    expect(readFileSync(join(kept, "data.mdb")).equals(killed.data)).toBe(true);
    await expectOpens(dir, killed.digest);
  });

  it("of an older data file tells which commits it lacks", async () => {
    const dir = makeDir();
    writeFileSync(join(dir, "data.mdb"), older.data);
    const { lost } = await repair(dir);
    expect(lost.join("\n")).toMatch(/commits \d+ to \d+/);
    await expectOpens(dir, undefined);
  });

  it("of a store without its journal takes the data file", async () => {
    const dir = makeDir();
    for (const name of ["journal.0", "journal.1"]) rmSync(join(dir, name));
    const { lost } = await repair(dir);
    expect(lost.join("\n")).toMatch(
      /there is no sound journal beside data.mdb: what was committed/,
    );
    await expectOpens(dir, killed.digest);
  });

  it("of a data file that is not the one that was closed says so", async () => {
    const dir = await makeClosed();
    expect((await repair(dir)).lost).toEqual([]);
    writeFileSync(join(dir, "data.mdb"), older.data);
    const { lost } = await repair(dir);
    expect(lost.join("\n")).toMatch(/data.mdb is not the file that was closed: what was committed/);
  });

  it("of a data file whose meta pages are gone takes the journal", async () => {
    const dir = makeDir({ ...killed, data: Buffer.from(killed.data).fill(0, 0, 8192) });
    writeFileSync(join(dir, "weft.store"), "nothing");
    const { lost } = await repair(dir);
    expect(lost).toEqual(["weft.store: the store has a new id"]);
    await expectOpens(dir, killed.digest);
  });

  it("of a damaged row saves the others and names it", async () => {
    const dir = await makeClosed();
    damageRow(dir);
    const told: string[] = [];
    examineFiles(dir, (problem) => told.push(problem));
    expect(told).toEqual([expect.stringMatching(/^the row [0-9a-f]+ is damaged$/)]);
    const { lost } = await repair(dir);
    expect(lost).toEqual(told);
    expect(examineFiles(dir, (problem) => told.push(problem))).toEqual([
      "format 5, closed in order",
    ]);
    expect(told).toHaveLength(1);
    await expectOpens(dir, undefined);
  });

  it("of a lost page tells which rows went with it", async () => {
    const dir = await makeClosed();
    const data = readFileSync(join(dir, "data.mdb"));
    const { pages } = reachedPages(data, data.subarray(0, 8192));
    const leaf = pages.findIndex(
      (isReached, page) => isReached === 1 && data.readUInt16LE(page * 4096 + 18) === 2,
    );
    writeFileSync(join(dir, "data.mdb"), data.fill(0, leaf * 4096, (leaf + 1) * 4096));
    await expect(openAgain(dir, nextRun)).rejects.toThrow("data.mdb is damaged");
    const { lost } = await repair(dir);
    expect(lost[0]).toMatch(/^page \d+ is another one, with it all rows from .+ to .+$/);
    await expectOpens(dir, undefined);
  });

  it("is refused beside a writer, and where there is nothing", async () => {
    const dir = await makeClosed();
    const writer = await openAgain(dir, nextRun);
    await expect(repair(dir)).rejects.toThrow("another process writes to it");
    await writer.close();
    const fault: unknown = await repair(mkdtempSync(join(folder, "empty-"))).catch(
      (e: unknown) => e,
    );
    expect((fault as Fault).code).toBe("E_STARTUP");
    expect(existsSync(join(dir, "damaged-1"))).toBe(false);
  });
});

describe("a check", () => {
  it("tells what the journal of an open store holds", () => {
    const { newest, records } = viewJournal(killed.journal);
    const count = records[newest]!.length - 1;
    expect(examineFiles(makeDir(), () => {})).toEqual([
      `format 5, not closed in order: the journal holds ${count} transactions since the last synced state, all whole`,
    ]);
  });

  it("finds a damaged page of the state that a start would bring back", () => {
    const dir = makeDir();
    const { journal } = killed;
    const half = readHalves(dir).filter(isSound);
    expect(journal.length).toBeGreaterThan(0);
    const metas = Buffer.from(half.sort((a, b) => b.base.epoch - a.base.epoch)[0]!.base.metas);
    const data = readFileSync(join(dir, "data.mdb"));
    const { pages } = reachedPages(data, metas);
    const leaf = pages.findIndex(
      (isReached, page) => isReached === 1 && data.readUInt16LE(page * 4096 + 18) === 2,
    );
    data[leaf * 4096 + 25]! ^= 2;
    writeFileSync(join(dir, "data.mdb"), data);
    const told: string[] = [];
    examineFiles(dir, (problem) => told.push(problem));
    expect(told.join("\n")).toMatch(/page \d+ is damaged/);
  });

  it("finds commits that are lost, and those of which a part is there", async () => {
    const dir = await makeClosed();
    const look = async (): Promise<string[]> => {
      const store = await openReadOnly(dir);
      const told: string[] = [];
      checkLog(store, (problem) => told.push(problem));
      await store.close();
      return told;
    };
    const change = async (key: Uint8Array): Promise<void> => {
      const environment = new Environment({ dir });
      environment.putRows((put) => put(key, undefined));
      await environment.close();
      writeClosed(dir, readHeader(dir).storeId);
    };
    expect(await look()).toEqual([]);
    const [row] = numberedChange(killed.ts).patches;
    await change(row!.kind === "meta" ? row!.key : new Uint8Array());
    expect(await look()).toEqual([`of commit ${killed.ts} 1 rows are not what it wrote`]);
    await change(logKey(killed.ts));
    expect(await look()).toEqual([
      `commits ${killed.ts} to ${killed.ts} are lost: the log ends before them`,
    ]);
    expect(await findProblems(await openReadOnly(dir))).toEqual([]);
  });
});

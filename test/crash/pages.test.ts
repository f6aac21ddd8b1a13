/**
 * Goal: pages that are sound by themselves and are not the state that was written are found when the store is opened,
 * not by who reads: those that LMDB would write over, and older ones that a disk has left in their place.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import { examineFiles } from "../../src/stores/lmdb.ts";
import { readMeta, type Meta } from "../../src/stores/lmdb/meta-pages.ts";
import { readPage, type FilePage } from "../../src/stores/lmdb/pages.ts";
import { repairStore } from "../../src/stores/repair.ts";
import { reachedPages } from "./data-pages.ts";
import { recordHistory, type Copy } from "./history.ts";
import { nextRun, openAgain, writeImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";

const pageBytes = 4096;
let folder = "";
let copies: readonly Copy[] = [];
let closed: Buffer;
let meta: Meta;
let header: Buffer;

beforeAll(async () => {
  folder = makeScratch();
  copies = await recordHistory({
    dir: join(folder, "history"),
    random: makeSeededRandom(3),
    groups: 20,
    policy: { bytesMax: 3_000_000, transactionsMax: 6, ageMsMax: 60_000 },
  });
  const dir = mkdtempSync(join(folder, "closed-"));
  writeImage(dir, copies.at(-1)!);
  await (await openAgain(dir, nextRun)).close();
  closed = readFileSync(join(dir, "data.mdb"));
  header = readFileSync(join(dir, "weft.store"));
  meta = readMeta(closed)!;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeDir(data: Buffer): string {
  const dir = mkdtempSync(join(folder, "dir-"));
  writeFileSync(join(dir, "data.mdb"), data);
  writeFileSync(join(dir, "weft.store"), header);
  return dir;
}

function pageOf(data: Buffer, number: number): FilePage | undefined {
  try {
    return readPage(data.subarray(number * pageBytes, (number + 1) * pageBytes), number);
  } catch {
    return undefined;
  }
}

/** Of the closed state, without the roots. */
function* innerPages(): Iterable<{ number: number; page: FilePage }> {
  const { pages } = reachedPages(closed, closed.subarray(0, 2 * pageBytes));
  for (let number = 2; number < pages.length; number++) {
    const page = pages[number] === 1 ? pageOf(closed, number) : undefined;
    if (page !== undefined && !meta.roots.includes(number)) yield { number, page };
  }
}

async function expectFound(data: Buffer, told: RegExp): Promise<{ readonly lost: string[] }> {
  const dir = makeDir(data);
  await expect(openAgain(dir, nextRun)).rejects.toThrow(told);
  expect(readFileSync(join(dir, "data.mdb")).equals(data)).toBe(true);
  const problems: string[] = [];
  examineFiles(dir, (problem) => problems.push(problem));
  expect(problems.join("\n")).toMatch(told);
  const lost: string[] = [];
  await repairStore(dir, { say: () => {}, lose: (line) => lost.push(line) });
  await (await openAgain(dir, nextRun)).close();
  return { lost };
}

it("a page with rows that is listed as free is found, and a repair saves them", async () => {
  const [inUse] = [...innerPages()].filter(({ page }) => !page.isBranch);
  const data = Buffer.from(closed);
  const list = pageOf(data, meta.roots[0]!)!.nodes.at(-1)!.value;
  expect(list.readBigInt64LE(0)).toBeGreaterThan(0n);
  const at = [...Array(Number(list.readBigInt64LE(0))).keys()].find(
    (i) => list.readBigInt64LE(8 * (i + 1)) > 0n,
  )!;
  list.writeBigInt64LE(BigInt(inUse!.number), 8 * (at + 1));
  const { lost } = await expectFound(data, /in use, and listed as free|list of free pages/);
  expect(lost).toEqual([]);
});

it("a list of free pages that names none of the file is found", async () => {
  const data = Buffer.from(closed);
  const list = pageOf(data, meta.roots[0]!)!.nodes.at(-1)!.value;
  list[5] = 4;
  const { lost } = await expectFound(data, /its list of free pages is damaged/);
  expect(lost).toEqual([]);
});

it("a row whose key has another byte is not taken for one that is not there", async () => {
  const data = Buffer.from(closed);
  const { key, before } = spoilKey(data);
  const dir = makeDir(data);
  const writer = await openAgain(dir, nextRun);
  const snapshot = await writer.store.snapshot();
  expect(() => snapshot.readMany([before], () => {})).toThrow("is damaged");
  expect(() => snapshot.readMany([key], () => {})).toThrow("is damaged");
  snapshot.close();
  await writer.close();
});

/** Several bits of a key's last byte, so that it still lies where it belongs. */
function spoilKey(data: Buffer): { key: Uint8Array; before: Uint8Array } {
  for (const { number, page } of innerPages()) {
    if (page.isBranch) continue;
    const { nodes } = pageOf(data, number)!;
    for (const [i, { key }] of nodes.entries()) {
      const behind = nodes[i + 1]?.key;
      if (i === 0 || behind === undefined) continue;
      const before = Uint8Array.from(key);
      key[key.length - 1]! ^= 0x0e;
      if (Buffer.compare(nodes[i - 1]!.key, key) < 0 && Buffer.compare(key, behind) < 0) {
        return { key: Uint8Array.from(key), before };
      }
      key.set(before);
    }
  }
  throw new Error("no key can be changed so");
}

it("an older page in the place of a newer one is found where it has other rows", async () => {
  const found = new Set<string>();
  for (const { number, page } of innerPages()) {
    for (const { data: older } of copies) {
      const before = pageOf(older, number);
      if (before === undefined || before.nodes.length === page.nodes.length) continue;
      const kind = `${page.isBranch ? "branch" : "leaf"}, was ${before.isBranch ? "branch" : "leaf"}`;
      if (found.has(kind)) continue;
      found.add(kind);
      const data = Buffer.from(closed);
      older.copy(data, number * pageBytes, number * pageBytes, (number + 1) * pageBytes);
      await expectFound(data, /page \d+|out of order|rows that it|leaves/);
    }
  }
  expect(found.size).toBeGreaterThan(0);
});

/**
 * Goal: what a stop of the machine leaves behind opens, holds every acknowledged change and checks clean (architecture
 * 3.4, decision 0018). The data file is not synced with the commits; the journal is.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSeededRandom } from "../../src/base/random.ts";
import type { CheckpointPolicy } from "../../src/stores/lmdb/checkpoints.ts";
import { readMeta } from "../../src/stores/lmdb/meta-pages.ts";
import { examinePages } from "../../src/stores/lmdb/page-walk.ts";
import { recordHistory, viewJournal, type Copy } from "./history.ts";
import { makeImage, overwrittenPages } from "./image.ts";
import { inspectImage } from "./inspect.ts";
import { makeScratch } from "./scratch.ts";

/** `npm run crash` asks for hundreds. */
const rounds = Number(process.env["WEFT_CRASH_ROUNDS"] ?? 0);
const seed = Number(process.env["WEFT_CRASH_SEED"] ?? 1);
const histories = 4 + Math.ceil(rounds / 20);
const groups = 30;
const imagesPerHistory = 16 + Math.min(200, rounds);

/** By turns: what asks for the next base. */
const policies: readonly CheckpointPolicy[] = [
  { bytesMax: 20_000, transactionsMax: 7, ageMsMax: 50 },
  { bytesMax: 3_000_000, transactionsMax: 5, ageMsMax: 60_000 },
  { bytesMax: 4_000, transactionsMax: 1_000, ageMsMax: 60_000 },
  { bytesMax: 3_000_000, transactionsMax: 1_000, ageMsMax: 3 },
];

let folder = "";
beforeAll(() => {
  folder = makeScratch();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeout = 60_000 + rounds * 5_000;

describe.each(Array.from({ length: histories }, (_, i) => i))("history %i", (number) => {
  const random = makeSeededRandom(seed * 1000 + number);
  const name = (what: string): string => `WEFT_CRASH_SEED=${seed}, history ${number}, ${what}`;
  let copies: readonly Copy[] = [];

  beforeAll(async () => {
    const dir = join(folder, `history-${number}`);
    const policy = policies[number % policies.length]!;
    copies = await recordHistory({ dir, random, groups, policy });
    rmSync(dir, { recursive: true, force: true });
  });

  it("has several bases, and none of their pages is overwritten while they count", () => {
    const epochs = new Set(copies.map(({ journal }) => viewJournal(journal).sound));
    expect(epochs.size, name("epochs")).toBeGreaterThan(1);
    for (const at of copies.keys()) {
      expect(overwrittenPages(copies, at), name(`state ${at}`)).toEqual([]);
    }
  });

  it("is sound in all of its pages, whatever was written last", () => {
    const path = join(folder, "data.mdb");
    for (const [at, { data }] of copies.entries()) {
      writeFileSync(path, data);
      const findings = examinePages(path, readMeta(data.subarray(0, 8192))!, true);
      expect(findings, name(`state ${at}`)).toMatchObject({ structure: undefined, rows: [] });
    }
  });

  it(
    "is there as far as it was acknowledged, whatever else is on the disk",
    { timeout },
    async () => {
      for (let i = 0; i < imagesPerHistory; i++) {
        const at = Math.floor(random.next() * copies.length);
        const image = makeImage(random, copies, at);
        const what = name(`image ${i} of state ${at}: ${image.how}`);
        expect(await inspectImage(folder, copies, { at, image }), what).toEqual([]);
      }
    },
  );
});

it("an inspection notices what is not there", { timeout }, async () => {
  // The images above prove something only if it does.
  const random = makeSeededRandom(seed);
  const dir = join(folder, "noticed");
  const copies = await recordHistory({ dir, random, groups: 6, policy: policies[0]! });
  const image = makeImage(random, copies.slice(0, 5), 4);
  const { bases, newest, records } = viewJournal(image.journal);
  expect(bases[newest]).toBeDefined();
  const ends = records[newest]!;
  if (ends.length > 1) image.journal[newest]!.fill(0, ends.at(-2), ends.at(-1));
  else image.journal[newest]!.fill(0);
  expect(await inspectImage(folder, copies, { at: 4, image })).not.toEqual([]);
});

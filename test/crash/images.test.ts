/**
 * Goal: what a power cut leaves behind opens, holds every acknowledged change and checks clean (architecture 3.4). LMDB
 * writes the pages of a commit, syncs, writes one meta page and syncs again. So between two acknowledged states A and B
 * the disk may hold A with any sectors of B's pages and A's meta pages, or all of B's pages and its meta page.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { makeSeededRandom } from "../../src/base/random.ts";
import { checkStore, type Problem } from "../../src/stores/check.ts";
import { openReadOnly, openWriter } from "../../src/stores/lmdb.ts";
import { numberedChange, numberedKey } from "./workload.mjs";

/** `npm run crash` asks for hundreds. */
const groups = 12 + Number(process.env["WEFT_CRASH_ROUNDS"] ?? 0);
const imagesPerGroup = 6;
const random = makeSeededRandom(Number(process.env["WEFT_CRASH_SEED"] ?? 1));

const sectorBytes = 512;
/** With which a meta page begins, behind the head of the page. */
const metaMagic = 0xbeefc0de;

interface State {
  /** The data file as it lies on the disk, all of it synced. */
  readonly file: Buffer;
  readonly acknowledged: number;
}

let folder = "";
let storeDir = "";
let states: State[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weft-images-"));
  storeDir = join(folder, "store");
  mkdirSync(storeDir);
  states = await recordStates();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (): Buffer => readFileSync(join(storeDir, "data.mdb"));

async function recordStates(): Promise<State[]> {
  const writer = await openWriter({ dir: storeDir, logger: silentLogger, clock: systemClock });
  const recorded: State[] = [{ file: read(), acknowledged: 0 }];
  let next = 1;
  for (let group = 0; group < groups; group++) {
    const size = 1 + Math.floor(random.next() * 40);
    const changes = Array.from({ length: size }, () => numberedChange(next++));
    await Promise.all(changes.map((change) => writer.store.commit(change)));
    recorded.push({ file: read(), acknowledged: next - 1 });
  }
  copyFileSync(join(storeDir, "weft.store"), join(folder, "header"));
  await writer.close();
  return recorded;
}

/** Bytes of the two meta pages at the front; the size of a page is the machine's. */
function metaBytes(file: Buffer): number {
  for (let pageBytes = 4096; pageBytes <= 65_536; pageBytes *= 2) {
    for (let at = pageBytes; at < pageBytes + 32; at += 4) {
      if (file.readUInt32LE(at) === metaMagic) return 2 * pageBytes;
    }
  }
  throw new Error("no second meta page");
}

/** A with some of what B changed: of the first pages, the meta pages, only where all the others have arrived. */
function makeImage(before: State, after: State, share: number): Buffer {
  const image = Buffer.alloc(after.file.length);
  before.file.copy(image);
  for (let at = metaBytes(before.file); at < image.length; at += sectorBytes) {
    if (random.next() < share) after.file.copy(image, at, at, at + sectorBytes);
  }
  return image;
}

function withMeta(image: Buffer, after: State): Buffer {
  after.file.copy(image, 0, 0, metaBytes(after.file));
  return image;
}

async function inspect(
  image: Buffer,
  acknowledged: number,
): Promise<{ missing: number[]; problems: Problem[] }> {
  const dir = mkdtempSync(join(folder, "image-"));
  copyFileSync(join(folder, "header"), join(dir, "weft.store"));
  writeFileSync(join(dir, "data.mdb"), image);
  const store = openReadOnly(dir);
  const numbers = Array.from({ length: acknowledged }, (_, i) => i + 1);
  const missing: number[] = [];
  const snapshot = store.snapshot();
  void snapshot.readMany(numbers.map(numberedKey), (i, bytes) => {
    if (bytes === undefined) missing.push(numbers[i] ?? 0);
  });
  snapshot.close();
  const problems: Problem[] = [];
  await checkStore({
    open: () => store.snapshot(),
    report: (problem) => problems.push(problem),
    sliceRows: 1000,
  });
  await store.close();
  rmSync(dir, { recursive: true, force: true });
  return { missing, problems };
}

const whole = { missing: [], problems: [] };

test("whatever of the unsynced sectors is lost, what was acknowledged is there", async () => {
  for (let i = 1; i < states.length; i++) {
    const [before, after] = [states[i - 1], states[i]];
    if (before === undefined || after === undefined) throw new Error("no such state");
    for (let k = 0; k < imagesPerGroup; k++) {
      const share = k / (imagesPerGroup - 1);
      const image = makeImage(before, after, share);
      expect(await inspect(image, before.acknowledged), `group ${i}, image ${k}`).toEqual(whole);
    }
    const arrived = withMeta(makeImage(before, after, 1), after);
    expect(await inspect(arrived, after.acknowledged), `group ${i}, all`).toEqual(whole);
  }
});

test("the inspection notices what is not there", async () => {
  // The images above prove something only if it does.
  const [first, last] = [states.at(-2), states.at(-1)];
  if (first === undefined || last === undefined) throw new Error("no such state");
  const { missing } = await inspect(first.file, last.acknowledged);
  expect(missing).toHaveLength(last.acknowledged - first.acknowledged);
});

/** What a writer that checkpoints often leaves in its directory after each group of changes, and what it holds then. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { Random } from "../../src/base/random.ts";
import { metaKey } from "../../src/codec/key.ts";
import { randomPatch } from "../../src/store/contract/twin.ts";
import type { Change, Patch, Snapshot } from "../../src/store/store.ts";
import {
  baseAt,
  decodeBase,
  decodeMark,
  journalNames,
  openRecord,
  recordHeadBytes,
  recordsAt,
  type Base,
} from "../../src/stores/lmdb/journal-format.ts";
import type { CheckpointPolicy } from "../../src/stores/lmdb/checkpoints.ts";
import { openWriter } from "../../src/stores/lmdb.ts";
import { encryption, noteKeys } from "./crash-key.ts";
import { numberedChange } from "./workload.mjs";

/** The run of the machine that writes; it stops then. */
export const firstRun = "the first run";

export interface Copy {
  readonly data: Buffer;
  /** By their names' order. */
  readonly journal: readonly Buffer[];
  readonly header: Buffer;
  /** Of all rows. */
  readonly digest: string;
  readonly ts: number;
}

/** What the journal's files say. */
export interface JournalView {
  /** By file. */
  readonly bases: readonly (Base | undefined)[];
  /** By file: whether its base is sound. */
  readonly isSound: readonly boolean[];
  /** By file: where its base's records begin and end. */
  readonly records: readonly (readonly number[])[];
  /** The file of the newest sound base, and of the newest base. */
  readonly sound: number;
  readonly newest: number;
}

export function viewJournal(files: readonly Buffer[]): JournalView {
  const bases = files.map((file) => decodeBase(file.subarray(baseAt, recordsAt)));
  const isSound = files.map((file, i) => {
    const mark = decodeMark(file);
    return typeof mark === "object" && mark.epoch === bases[i]?.epoch;
  });
  const records = files.map((file, i) => {
    const ends = [recordsAt];
    const base = bases[i];
    for (; base !== undefined;) {
      const at = ends.at(-1)!;
      const { epoch, salt } = base;
      const rows = openRecord(file, at, { epoch, salt, number: ends.length - 1 });
      if (rows === undefined) break;
      ends.push(at + recordHeadBytes + rows.length);
    }
    return ends;
  });
  const newestOf = (candidates: number[]): number =>
    candidates.sort((a, b) => bases[b]!.epoch - bases[a]!.epoch)[0] ?? -1;
  const all = [...files.keys()].filter((i) => bases[i] !== undefined);
  return {
    bases,
    isSound,
    records,
    sound: newestOf(all.filter((i) => isSound[i])),
    newest: newestOf(all),
  };
}

export function digestOf(snapshot: Snapshot): string {
  const hash = createHash("sha1");
  void snapshot.scan(
    { start: new Uint8Array(1), end: new Uint8Array(16).fill(255) },
    (key, value) => {
      hash.update(key).update("=").update(value).update(";");
      return true;
    },
  );
  return hash.digest("hex");
}

/** Some of it removes; some values take several pages; lists grow beyond one chunk and shrink again. */
export function variedChange(random: Random, number: number): Change {
  const change = numberedChange(number);
  const isRemoving = Math.floor(number / 150) % 2 === 1;
  const patches: Patch[] = Array.from({ length: 1 + Math.floor(random.next() * 12) }, () =>
    randomPatch(random, 3000, isRemoving),
  );
  if (random.next() < 0.1) {
    const size = Math.floor(random.next() ** 2 * 40_000);
    const value = random.next() < 0.3 ? undefined : new Uint8Array(size).fill(number);
    const key = metaKey(7, `large ${Math.floor(random.next() * 4)}`);
    patches.push({ kind: "meta", key, value, expected: "any" });
  }
  return { ...change, patches: [...change.patches, ...patches] };
}

export interface HistoryOptions {
  readonly dir: string;
  readonly random: Random;
  readonly groups: number;
  readonly policy: CheckpointPolicy;
}

export async function recordHistory(options: HistoryOptions): Promise<Copy[]> {
  const { dir, random, policy } = options;
  const writer = await openWriter({
    dir,
    encryption,
    logger: silentLogger,
    clock: systemClock,
    // Small: what goes from the log is pages that are used again.
    retention: { ageMsMax: 600_000, bytesMax: 30_000 },
    journal: { run: firstRun, policy, isSlow: true },
    isLinked: false,
  });
  noteKeys(dir);
  const { store } = writer;
  const copies: Copy[] = [];
  let next = 1;
  for (let group = 0; group < options.groups; group++) {
    const size = 1 + Math.floor(random.next() ** 3 * 60);
    const changes = Array.from({ length: size }, () => variedChange(random, next++));
    await Promise.all(changes.map((change) => store.commit(change)));
    if (random.next() < 0.3) await new Promise((resolve) => setTimeout(resolve, 1));
    const snapshot = await store.snapshot();
    copies.push({
      data: readFileSync(join(dir, "data.mdb")),
      journal: journalNames.map((name) => readFileSync(join(dir, name))),
      header: readFileSync(join(dir, "weft.store")),
      digest: digestOf(snapshot),
      ts: snapshot.ts,
    });
    snapshot.close();
  }
  await writer.close();
  return copies;
}

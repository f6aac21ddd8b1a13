/** Opens what a stop of the machine left behind, as the next run of the machine does. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { checkStore } from "../../src/stores/check.ts";
import {
  openReadOnly,
  openWriter,
  type ReadOnlyStore,
  type Writer,
} from "../../src/stores/lmdb.ts";
import { journalNames } from "../../src/stores/lmdb/journal-format.ts";
import { encryption, placeKeys } from "./crash-key.ts";
import { digestOf, type Copy } from "./history.ts";
import type { Image } from "./image.ts";
import { numberedChange, numberedKey } from "./workload.mjs";

export const nextRun = "the next run";

export function writeImage(dir: string, image: Pick<Image, "data" | "journal" | "header">): void {
  placeKeys(dir);
  writeFileSync(join(dir, "data.mdb"), image.data);
  writeFileSync(join(dir, "weft.store"), image.header);
  journalNames.forEach((name, i) => {
    const file = image.journal[i];
    if (file !== undefined) writeFileSync(join(dir, name), file);
  });
}

export function openAgain(dir: string, run: string): Promise<Writer> {
  return openWriter({
    dir,
    encryption,
    logger: silentLogger,
    clock: systemClock,
    journal: { run },
    claimWaitMs: 0,
    isLinked: false,
  });
}

export async function findProblems(store: Pick<ReadOnlyStore, "snapshot">): Promise<string[]> {
  const problems: string[] = [];
  await checkStore({
    open: () => store.snapshot(),
    report: ({ key, problem }) => problems.push(`${key}: ${problem}`),
    sliceRows: 1000,
  });
  return problems;
}

interface Case {
  /** The newest state that was acknowledged. */
  readonly at: number;
  readonly image: Image;
}

/** What is wrong with it, in words; nothing for a store that holds what it must and can be written on. */
export async function inspectImage(
  folder: string,
  copies: readonly Copy[],
  { at, image }: Case,
): Promise<string[]> {
  const dir = mkdtempSync(join(folder, "image-"));
  try {
    writeImage(dir, image);
    const writer = await openAgain(dir, nextRun);
    const faults: string[] = [];
    try {
      const snapshot = await writer.store.snapshot();
      faults.push(...compare(snapshot.ts, digestOf(snapshot), copies, { at, image }));
      snapshot.close();
      await writer.store.commit(numberedChange(writtenLater));
    } finally {
      await writer.close();
    }
    return [...faults, ...(await inspectClosed(dir))];
  } catch (error) {
    return [String(error)];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const writtenLater = 900_000;

function compare(ts: number, digest: string, copies: readonly Copy[], one: Case): string[] {
  const { arrived, coming } = one.image;
  const [state, next] = [copies[one.at]!, copies[one.at + 1]];
  if (arrived === 0) return digest === state.digest ? [] : [`commit ${ts}, not ${state.ts}`];
  if (arrived === coming && next !== undefined) {
    return digest === next.digest ? [] : [`commit ${ts}, not ${next.ts}`];
  }
  return ts >= state.ts ? [] : [`commit ${ts} is before ${state.ts}`];
}

/** After a close in order: no journal is needed. */
async function inspectClosed(dir: string): Promise<string[]> {
  const store = await openReadOnly(dir, { encryption });
  try {
    const faults = await findProblems(store);
    const snapshot = store.snapshot();
    void snapshot.readMany([numberedKey(writtenLater)], (_i, bytes) => {
      if (bytes === undefined) faults.push("what was written later is lost");
    });
    snapshot.close();
    return faults;
  } finally {
    await store.close();
  }
}

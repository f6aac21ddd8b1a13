/** Stores that are only read: by `weft check` and `weft export`, beside a running server or alone. */
import { join } from "node:path";
import { Fault } from "../../model/fault.ts";
import type { Snapshot } from "../../store/store.ts";
import { readSlots } from "../read-log.ts";
import { unlockStore } from "../sealed/store-keys.ts";
import type { UserKey } from "../sealed/user-key.ts";
import { openBesideWriter } from "./beside-writer.ts";
import { dataBytes, dataName } from "./header.ts";
import { inspectStore, type StoreHeader } from "./inspect.ts";
import { readMeta, readMetaOf } from "./meta-pages.ts";
import { examinePages } from "./page-walk.ts";
import { examineJournal, planRecovery } from "./recovery.ts";

/** Readers would pin pages that the writer is going to exchange. */
export function refuseLost(dir: string, header: StoreHeader): void {
  if (header.loss === undefined) return;
  throw new Fault(
    "E_STARTUP",
    `cannot open the store at ${dir}: it was not closed in order; a start of the server brings it back`,
  );
}

export interface ReadOnlyStore {
  readonly storeId: string;
  snapshot(): Snapshot;
  slots(): ReadonlyMap<number, number>;
  bytesUsed(): number;
  /** Entries of the data file: rows, or the sealed blocks of an encrypted store. */
  entryCount(): number;
  /** All pages and rows of the newest state; `report` is told what is wrong. */
  verify(report: (problem: string) => void): void;
  close(): Promise<void>;
}

interface ReadOptions {
  readonly answerMs?: number;
  readonly encryption?: UserKey | undefined;
}

/**
 * For `weft check` and `weft export`, beside a running server or alone: nothing is written. Fault E_STARTUP as for `connectStore`, and
 * where a writer of this store does not answer for `answerMs` (10 s).
 */
export async function openReadOnly(
  dir: string,
  { answerMs = 10_000, encryption }: ReadOptions = {},
): Promise<ReadOnlyStore> {
  const header = inspectStore(dir);
  if (header === undefined || dataBytes(dir) === 0) {
    throw new Fault("E_STARTUP", `cannot open the store at ${dir}: there is none`);
  }
  refuseLost(dir, header);
  const { storeId } = header;
  const cipher = unlockStore(dir, header, encryption);
  const environment = await openBesideWriter({ dir, storeId, answerMs, cipher });
  return {
    storeId,
    snapshot: () => environment.snapshot(),
    slots: () => environment.read(readSlots),
    bytesUsed: () => environment.bytesUsed(),
    entryCount: () => environment.entryCount(),
    verify: (report) => {
      const pin = environment.pin();
      reportPages(environment.dataFile, report);
      pin.release();
    },
    close: () => environment.close(),
  };
}

/** `meta`: of the state whose pages are looked at; the file's newest where nothing else is said. */
function reportPages(
  file: string | number,
  report: (problem: string) => void,
  meta = readMetaOf(file),
): void {
  if (meta === undefined) return;
  const { structure, rows } = examinePages(file, meta, true);
  if (structure !== undefined) report(structure);
  for (const row of rows) report(row);
}

/**
 * What can be told of the files before LMDB opens them: lines about the format and the journal; `report` is told what is
 * wrong with the journal, and with the pages of a store that was closed, or that a start would bring back. (Those of
 * another are told by `verify`.) Faults
 * as of a start.
 */
export function examineFiles(
  dir: string,
  report: (problem: string) => void,
  encryption?: UserKey,
): readonly string[] {
  const header = inspectStore(dir);
  if (header === undefined) return [];
  const { state, loss } = header;
  const cipher = unlockStore(dir, header, encryption);
  const version = `${header.version}${cipher === undefined ? "" : ", encrypted"}`;
  if (loss !== undefined) {
    const { records } = planRecovery(dir, join(dir, dataName), loss, cipher);
    const meta = readMeta(Buffer.from(loss.half.base.metas));
    reportPages(join(dir, dataName), report, meta);
    return [
      `format ${version}, not closed in order: ` +
        `the journal holds ${records.length} transactions since the last synced state, all whole`,
    ];
  }
  if (state === "closed") reportPages(join(dir, dataName), report);
  const damage =
    state === "journaled" ? examineJournal(dir, join(dir, dataName), cipher) : undefined;
  if (damage !== undefined) report(`its journal is damaged (${damage})`);
  return [`format ${version}, ${stateWords[state]}`];
}

const stateWords: Readonly<Record<StoreHeader["state"], string>> = {
  closed: "closed in order",
  new: "being made",
  journaled: "open, with a journal",
  unjournaled: "open, without a journal",
  untold: "open, of a format that says no more",
};

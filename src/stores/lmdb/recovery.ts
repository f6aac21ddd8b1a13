/**
 * What a stop of the server or of the machine leaves behind, and the way back: LMDB's meta pages of the newest sound
 * base, whose pages are all on the disk and were not overwritten since (`checkpoints.ts` pins them), then the journal's
 * records. Nothing is written before all that it rests on was verified (decision 0028): what a stop can leave is told
 * from damage, which refuses.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../../model/fault.ts";
import { readMeta, readMetaOf, type Meta } from "./meta-pages.ts";
import { examinePages } from "./page-walk.ts";
import type { StoreCipher } from "../sealed/store-cipher.ts";
import type { Environment } from "./environment.ts";
import { encodeMark, journalNames, blockBytes, visitRows } from "./journal-format.ts";
import {
  isSound,
  judgeJournal,
  readHalves,
  type Half,
  type JournalState,
  type SoundHalf,
} from "./journal-halves.ts";
import { readRecords } from "./journal-scan.ts";
import { isAuthentic } from "./journal-seal.ts";
import { isTrusted, type Witness } from "./machine.ts";

/** To be gone back to: what the data file holds cannot be trusted. */
export interface Loss {
  readonly half: SoundHalf;
  /** Whose records follow. */
  readonly next: Half | undefined;
}

/** Whether the journal must be there: what the header says of a store that was not closed in order. */
export type Expected =
  /** Nothing was acknowledged without one. */
  | "journal"
  /** None was kept, or the header is of a time when it did not say. */
  | "maybe"
  /** The store was being made: nothing is in it. */
  | "blank";

/** Transactions that making an empty data file takes. */
const blankTransactionsMax = 2;

/** A start cannot go on. It says what is known, and the way out. */
function damagedStore(dir: string, reason: string, lost: string): Fault {
  return new Fault(
    "E_STORE_CORRUPT",
    `cannot open the store at ${dir}: ${reason}; ${lost}. ` +
      `Nothing was changed. Bring back a copy, or see what "weft check --repair" can save`,
  );
}

const someLost = "writes that were acknowledged last may be lost";

/**
 * Of a store that was not closed in order. undefined: its data file is as it was written, or nothing is in it yet. Fault
 * E_STORE_CORRUPT where the journal is damaged or missing.
 */
export function findLoss(
  dir: string,
  dataPath: string,
  { witness, expected }: { readonly witness: Witness; readonly expected: Expected },
): Loss | undefined {
  const state = judgeSettled(dir);
  if (state.kind === "damaged") {
    throw damagedStore(dir, `its journal is damaged (${state.reason})`, someLost);
  }
  if (state.kind !== "sound") {
    refuseMissing(dir, dataPath, state, expected);
    return undefined;
  }
  const { half, next } = state;
  if (half.mark.isTrusted && isTrusted(half.base.machine, dataPath, witness)) return undefined;
  return { half, next };
}

/** A writer beside may be at it: what is damaged looks the same twice. */
function judgeSettled(dir: string): JournalState {
  let halves = readHalves(dir);
  for (;;) {
    const state = judgeJournal(halves);
    if (state.kind === "sound") return state;
    const again = readHalves(dir);
    if (isSame(halves, again)) return state;
    halves = again;
  }
}

function isSame(before: readonly Half[], after: readonly Half[]): boolean {
  const looks = [before, after].map((halves) =>
    JSON.stringify(halves.map(({ name, base, mark }) => [name, base?.epoch, base?.salt, mark])),
  );
  return looks[0] === looks[1];
}

function refuseMissing(
  dir: string,
  dataPath: string,
  state: JournalState,
  expected: Expected,
): void {
  if (expected === "maybe") return;
  const transactions = readMetaOf(dataPath)?.transaction ?? 0;
  if (expected === "blank" && transactions <= blankTransactionsMax) return;
  const what = state.kind === "none" ? "is missing" : "is damaged (neither file has a sound base)";
  throw damagedStore(dir, `it was not closed in order, and its journal ${what}`, someLost);
}

/** What a recovery is made of, all of it verified. */
export interface RecoveryPlan {
  readonly metas: Uint8Array;
  readonly records: readonly Buffer[];
}

/**
 * Reads and verifies the journal and the base's pages; writes nothing. Fault E_STORE_CORRUPT where something is damaged
 * or missing that was acknowledged, or that the rest stands on.
 */
export function planRecovery(
  dir: string,
  dataPath: string,
  { half, next }: Loss,
  cipher: StoreCipher | undefined,
): RecoveryPlan {
  const { base } = half;
  const { records: all, behind, damage } = readBoth({ half, next }, cipher);
  const refuse = (reason: string): Fault => {
    const known = `${all.length} transactions since the last synced state can be read`;
    const more = behind > 0 ? `, ${behind} or more behind them can not be put in their place` : "";
    return damagedStore(dir, `its journal is damaged (${reason})`, `${known}${more}`);
  };
  if (damage !== undefined) throw refuse(damage);
  const meta = readMeta(Buffer.from(base.metas));
  if (meta === undefined) throw refuse(`the base of ${half.name} has no meta page`);
  const newest = readMetaOf(dataPath);
  const known = meta.transaction + all.length;
  if (newest !== undefined && newest.transaction > known) {
    const missing = newest.transaction - known;
    throw refuse(`the data file knows of ${missing} transactions that it lacks`);
  }
  refuseDamagedBase(dir, dataPath, meta);
  return { metas: base.metas, records: all };
}

/** All records since the base; `behind`: how many whole ones lie behind the damage. */
function readBoth(
  { half, next }: Loss,
  cipher: StoreCipher | undefined,
): {
  readonly records: readonly Buffer[];
  readonly behind: number;
  readonly damage: string | undefined;
} {
  const own = readRecords(half, cipher);
  const later = next === undefined ? undefined : readRecords(next, cipher);
  const missing = (next?.base?.recordsBefore ?? 0) - own.records.length;
  const lack = missing > 0 ? `${half.name} lacks ${missing} records at its end` : undefined;
  return {
    records: [...own.records, ...(later?.records ?? [])],
    behind: own.behind.length + (later?.behind.length ?? 0),
    damage: findForged([half, next], cipher) ?? own.damage ?? later?.damage ?? lack,
  };
}

/** Of an encrypted store: a base that was not written with its key, as a part of a sentence. */
export function findForged(
  halves: readonly (Half | undefined)[],
  cipher: StoreCipher | undefined,
): string | undefined {
  if (cipher === undefined) return undefined;
  const forged = halves.find((half) => half?.base !== undefined && !isAuthentic(cipher, half.base));
  return forged && `the base of ${forged.name} is not what was written`;
}

/**
 * What is wrong with the records of a store that is open, as a part of a sentence: its data file has them, but a later
 * run goes back to them. A writer beside may be at it: what is damaged is so twice.
 */
export function examineJournal(
  dir: string,
  dataPath: string,
  cipher: StoreCipher | undefined,
): string | undefined {
  const look = (): string | undefined => {
    // Read first: what the data file has was in the journal before.
    const newest = readMetaOf(dataPath)?.transaction ?? 0;
    const state = judgeJournal(readHalves(dir));
    if (state.kind !== "sound") return undefined;
    const { records, damage } = readBoth(state, cipher);
    const base = readMeta(Buffer.from(state.half.base.metas))?.transaction ?? newest;
    const missing = newest - base - records.length;
    const isLacking = damage === undefined && missing > 0;
    return isLacking ? `it lacks ${missing} transactions of the data file` : damage;
  };
  const found = look();
  return found !== undefined && look() === found ? found : undefined;
}

function refuseDamagedBase(dir: string, dataPath: string, meta: Meta): void {
  if (meta.roots.every((root) => root === undefined)) return;
  const damage = fs.existsSync(dataPath)
    ? examinePages(dataPath, meta, false).structure
    : "the file is missing";
  if (damage === undefined) return;
  const lost = "what was not written lately may be lost, too";
  throw damagedStore(dir, `data.mdb is damaged (${damage})`, lost);
}

/** The base's meta pages at the front of the data file. For a file that no process has open. */
export function restoreBase(dataPath: string, { metas }: RecoveryPlan): void {
  const file = fs.openSync(dataPath, "r+");
  try {
    fs.writeSync(file, metas, 0, metas.length, 0);
    fs.fdatasyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Commits every record again, on the restored base. Not synced. The caller pins the base until it is: a second stop of
 * the machine begins anew.
 */
export function replayRecords(environment: Environment, records: readonly Buffer[]): void {
  for (let i = 0; i < records.length; i += replayGroup) {
    environment.putRows((put) => {
      for (const rows of records.slice(i, i + replayGroup)) visitRows(rows, put);
    });
  }
}

/** Records that are committed again in one transaction. */
const replayGroup = 64;

/**
 * The data file is whole without them, and the header says so. The marks go first, an older base's before a newer one's:
 * what a stop leaves is both files and the newest sound base, or no sound base at all.
 */
export function removeJournal(dir: string): void {
  const epochOf = ({ base }: Half): number => base?.epoch ?? 0;
  const halves = [...readHalves(dir)].sort((a, b) => epochOf(a) - epochOf(b));
  for (const { path } of halves) writeMark(path, Buffer.alloc(blockBytes));
  for (const name of journalNames) fs.rmSync(join(dir, name), { force: true });
}

/** A sync of the data file failed: the next start goes back to the sound base. */
export function distrustJournal(dir: string): void {
  const [sound] = readHalves(dir)
    .filter(isSound)
    .sort((a, b) => b.base.epoch - a.base.epoch);
  if (sound === undefined) return;
  const mark = { epoch: sound.base.epoch, isTrusted: false, isPast: false };
  writeMark(sound.path, encodeMark(mark));
}

function writeMark(path: string, mark: Buffer): void {
  const file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_DSYNC);
  try {
    fs.writeSync(file, mark, 0, mark.length, 0);
  } finally {
    fs.closeSync(file);
  }
}

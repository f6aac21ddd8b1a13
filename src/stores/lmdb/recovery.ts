/**
 * What a stop of the server or of the machine leaves behind, and the way back: LMDB's meta pages of the newest sound
 * base, whose pages are all on the disk and were not overwritten since (`checkpoints.ts` pins them), then the journal's
 * records.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../../model/fault.ts";
import type { Environment } from "./environment.ts";
import {
  baseAt,
  blockBytes,
  decodeBase,
  decodeMark,
  encodeMark,
  journalNames,
  openRecord,
  recordHeadBytes,
  recordsAt,
  visitRows,
  type Base,
  type Mark,
} from "./journal-format.ts";
import { isTrusted, type Witness } from "./machine.ts";

interface Half {
  readonly path: string;
  readonly base: Base;
  /** With the base's epoch; otherwise the base is not sound. */
  readonly mark: Mark | undefined;
}

/** To be gone back to: what the data file holds cannot be trusted. */
export interface Loss {
  readonly halves: readonly Half[];
  readonly base: Base;
}

function readHalf(path: string): Half | undefined {
  let file: number;
  try {
    file = fs.openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const front = Buffer.alloc(recordsAt);
    const length = fs.readSync(file, front, 0, recordsAt, 0);
    const base = decodeBase(front.subarray(baseAt, length));
    if (base === undefined) return undefined;
    const mark = decodeMark(front.subarray(0, blockBytes));
    return { path, base, mark: mark?.epoch === base.epoch ? mark : undefined };
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Of a store that was not closed in order. undefined: its data file is as it was written, or there is no journal.
 */
export function findLoss(dir: string, dataPath: string, witness: Witness): Loss | undefined {
  const halves = readHalves(dir);
  const sound = findSound(halves);
  if (sound === undefined) return undefined;
  const { base, mark } = sound;
  if (mark?.isTrusted === true && isTrusted(base.machine, dataPath, witness)) return undefined;
  return { halves, base };
}

function readHalves(dir: string): Half[] {
  return journalNames.flatMap((name) => readHalf(join(dir, name)) ?? []);
}

/** The newest one with a sound base. */
function findSound(halves: readonly Half[]): Half | undefined {
  const sound = halves.filter((half) => half.mark !== undefined);
  return sound.sort((a, b) => b.base.epoch - a.base.epoch)[0];
}

/** The base's meta pages at the front of the data file. For a file that no process has open. */
export function restoreBase(dataPath: string, { base }: Loss): void {
  const file = fs.openSync(dataPath, "r+");
  try {
    fs.writeSync(file, base.metas, 0, base.metas.length, 0);
    fs.fdatasyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Commits every record again, on the restored base, and gives how many. Not synced. The caller pins the base until it
 * is: a second stop of the machine begins anew. Fault E_STARTUP when records are missing in the middle.
 */
export function replayJournal(
  environment: Environment,
  dir: string,
  { halves, base }: Loss,
): number {
  const { records, isWhole } = readRecords(halves, base.epoch);
  const next = halves.find((half) => half.base.epoch === base.epoch + 1);
  const later = readRecords(halves, base.epoch + 1);
  const isMissing = next !== undefined && records.length < next.base.recordsBefore;
  if (isMissing || !isWhole || !later.isWhole) {
    throw new Fault("E_STARTUP", `cannot open the store at ${dir}: its journal is damaged`);
  }
  const all = [...records, ...later.records];
  for (let i = 0; i < all.length; i += replayGroup) {
    environment.putRows((put) => {
      for (const rows of all.slice(i, i + replayGroup)) visitRows(rows, put);
    });
  }
  return all.length;
}

/** Records that are committed again in one transaction. */
const replayGroup = 64;

interface EpochRecords {
  readonly records: readonly Buffer[];
  /** No record follows the one that ends them: it is the last, torn or never written. */
  readonly isWhole: boolean;
}

function readRecords(halves: readonly Half[], epoch: number): EpochRecords {
  const half = halves.find((one) => one.base.epoch === epoch);
  if (half === undefined) return { records: [], isWhole: true };
  const file = fs.readFileSync(half.path);
  const records: Buffer[] = [];
  for (let at = recordsAt; ;) {
    const rows = openRecord(file, at, { epoch, number: records.length });
    if (rows === undefined) {
      return { records, isWhole: !hasRecordBehind(file, at, { epoch, number: records.length }) };
    }
    records.push(rows);
    at += recordHeadBytes + rows.length;
  }
}

/** Whether the record at `at`, whose length may still be right, is followed by the next one. */
function hasRecordBehind(
  file: Buffer,
  at: number,
  { epoch, number }: { readonly epoch: number; readonly number: number },
): boolean {
  if (at + recordHeadBytes > file.length) return false;
  const behind = at + recordHeadBytes + file.readUInt32LE(at);
  return openRecord(file, behind, { epoch, number: number + 1 }) !== undefined;
}

/**
 * The data file is whole without them. The marks go first, an older base's before a newer one's: what a stop leaves is
 * both files and the newest sound base, or no sound base at all.
 */
export function removeJournal(dir: string): void {
  const halves = readHalves(dir).sort((a, b) => a.base.epoch - b.base.epoch);
  for (const { path } of halves) writeMark(path, Buffer.alloc(blockBytes));
  for (const name of journalNames) fs.rmSync(join(dir, name), { force: true });
}

/** A sync of the data file failed: the next start goes back to the sound base. */
export function distrustJournal(dir: string): void {
  const sound = findSound(readHalves(dir));
  if (sound === undefined) return;
  writeMark(sound.path, encodeMark({ epoch: sound.base.epoch, isTrusted: false }));
}

function writeMark(path: string, mark: Buffer): void {
  const file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_DSYNC);
  try {
    fs.writeSync(file, mark, 0, mark.length, 0);
  } finally {
    fs.closeSync(file);
  }
}

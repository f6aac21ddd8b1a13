/**
 * The journal's two files as they lie in the directory, and whether they belong together. What a stop of the machine can
 * leave is told from damage: the base of a turn that was not finished may be torn; a mark may not, a sound base may not,
 * and both files are there from the moment that the header speaks of a journal.
 */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import { join } from "node:path";
import {
  baseAt,
  blockBytes,
  decodeBase,
  decodeMark,
  journalNames,
  readRecordHead,
  recordsAt,
  type Base,
  type Mark,
} from "./journal-format.ts";

export interface Half {
  readonly path: string;
  readonly name: string;
  /** undefined: there is none, it is torn, or it is damaged. */
  readonly base: Base | undefined;
  readonly mark: Mark | undefined | "damaged";
}

export type JournalState =
  /** No file of it. */
  | { readonly kind: "none" }
  /** Files that nobody has written a sound base to. */
  | { readonly kind: "blank" }
  /** `next`: an epoch above it has begun. */
  | { readonly kind: "sound"; readonly half: SoundHalf; readonly next: Half | undefined }
  /** `reason`: as a part of a sentence. */
  | { readonly kind: "damaged"; readonly reason: string };

export type SoundHalf = Half & { readonly base: Base; readonly mark: Mark };

export function readHalves(dir: string): readonly Half[] {
  return journalNames.flatMap((name) => readHalf(join(dir, name), name) ?? []);
}

function readHalf(path: string, name: string): Half | undefined {
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
    const isSingle = base !== undefined && base.salt === undefined;
    return { path, name, base, mark: decodeMark(front.subarray(0, blockBytes), isSingle) };
  } finally {
    fs.closeSync(file);
  }
}

export function isSound(half: Half): half is SoundHalf {
  const { base, mark } = half;
  return base !== undefined && typeof mark === "object" && mark.epoch === base.epoch;
}

/** Reads the files' fronts alone. */
export function judgeJournal(halves: readonly Half[]): JournalState {
  if (halves.length === 0) return { kind: "none" };
  const sound = halves.filter(isSound).sort((a, b) => b.base.epoch - a.base.epoch)[0];
  const names = halves.map(({ name }) => name);
  const missing = journalNames.find((name) => !names.includes(name));
  if (missing !== undefined) {
    return sound === undefined ? { kind: "blank" } : damaged(`${missing} is missing`);
  }
  if (sound === undefined) {
    const isBlank = halves.every(({ base, mark }) => mark === undefined && base === undefined);
    if (isBlank) return { kind: "blank" };
    // The very first base was written, and not yet its mark.
    const isFirst = halves.every(({ base, mark }) => mark === undefined && (base?.epoch ?? 1) <= 1);
    return isFirst ? { kind: "blank" } : damaged("neither of its files has a sound base");
  }
  return judgeOther(
    sound,
    must(
      halves.find((half) => half !== sound),
      "both halves are there",
    ),
  );
}

/** Beside a sound base: the one before it, or the one after it, which is not sound yet. */
function judgeOther(sound: SoundHalf, other: Half): JournalState {
  const { epoch, salt } = sound.base;
  const { base, mark, name } = other;
  if (mark === "damaged") return damaged(`the mark of ${name} is damaged`);
  if (mark !== undefined && mark.epoch > epoch) return damaged(`the base of ${name} is damaged`);
  if (sound.mark.isPast) return damaged(`${name} is an older file, or empty`);
  if (base === undefined) {
    return holdsRecords(other, epoch + 1, salt)
      ? damaged(`the base of ${name} is damaged`)
      : { kind: "sound", half: sound, next: undefined };
  }
  const isOfThis = base.salt === salt;
  if (isOfThis && base.epoch === epoch + 1) return { kind: "sound", half: sound, next: other };
  if (isOfThis && base.epoch === epoch - 1) return { kind: "sound", half: sound, next: undefined };
  return damaged(`${sound.name} and ${name} do not belong together`);
}

function holdsRecords({ path }: Half, epoch: number, salt: number | undefined): boolean {
  const file = fs.readFileSync(path);
  return readRecordHead(file, recordsAt, { epoch, salt }) !== undefined;
}

function damaged(reason: string): JournalState {
  return { kind: "damaged", reason };
}

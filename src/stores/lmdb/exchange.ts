/**
 * The data file and its lock file are exchanged for those of a folder beside them, which hold the same rows. While the
 * header says "unjournaled" and no journal is there, a start takes whichever data file is there; both are whole and
 * synced.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { dataName, syncDirectory, writeClosed, writeOpen } from "./header.ts";
import { removeJournal } from "./recovery.ts";

/** The folder in which a new data file is made. */
export const asideName = "compact.new";
/** In it: what was committed since the copy was begun. */
export const changesName = "changes";
/** In it: the exchange has begun. */
const markName = "exchange";
const lockName = "lock.mdb";

/** Which files they are; "" where there is none. */
export function nameFiles(dir: string): readonly string[] {
  return [dataName, lockName].map((name) => {
    const stats = fs.statSync(join(dir, name), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? "" : `${stats.dev}:${stats.ino}`;
  });
}

/** Nobody writes to either; the one in the directory is synced as a whole, without its journal, and so is the new one. */
export function exchangeFiles(dir: string, storeId: string): void {
  const aside = join(dir, asideName);
  // A start that finds a closed store looks at no journal, whole or half removed.
  writeClosed(dir, storeId);
  removeJournal(dir);
  syncDirectory(dir);
  writeOpen(dir, storeId, "unjournaled");
  fs.closeSync(fs.openSync(join(aside, markName), "w", 0o600));
  fs.renameSync(join(aside, dataName), join(dir, dataName));
  fs.renameSync(join(aside, lockName), join(dir, lockName));
  syncDirectory(aside);
  syncDirectory(dir);
}

/**
 * What a compaction that was cut off has left, before a writer opens the store. Where the data file was exchanged and its
 * lock file was not, that follows: LMDB finds the readers of a data file in its own lock file alone.
 */
export function clearAside(dir: string): void {
  const aside = join(dir, asideName);
  if (!fs.existsSync(aside)) return;
  const mark = join(aside, markName);
  const isHalf = fs.existsSync(mark) && !fs.existsSync(join(aside, dataName));
  if (isHalf && fs.existsSync(join(aside, lockName))) {
    fs.renameSync(join(aside, lockName), join(dir, lockName));
  }
  // First: what is left of a folder that is being removed says nothing.
  fs.rmSync(mark, { force: true });
  fs.rmSync(aside, { recursive: true, force: true });
}

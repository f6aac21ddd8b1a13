/** Reading rows: all that comes out has its checksum verified, and what is not found may be believed. */
import { compareBytes } from "../../base/bytes.ts";
import type { ScanRange } from "../../store/store.ts";
import { checksumBytes, isIntact } from "./checksum.ts";
import { corrupt, firstKey, lastKey, walkRows, type RowSource } from "./database.ts";
import { checkAbsence, checkStart } from "./neighbours.ts";

/**
 * A value without its checksum, lent until the next read. Fault E_STORE_CORRUPT where it is not what was stored. Trap:
 * the fast buffer's `length` is faked and `set` on it copies the whole of its memory, hence a true view.
 */
export function readValue(source: RowSource, key: Uint8Array): Uint8Array | undefined {
  const { db } = source;
  const bytes = db.getBinaryFast(key, source.options);
  if (bytes === undefined) {
    if (!isBelieved(source)) checkAbsence(source, key);
    return undefined;
  }
  const size = db.lastSize;
  const stored = new Uint8Array(bytes.buffer, bytes.byteOffset, size);
  if (!isIntact(key, stored)) throw corrupt(key);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, size - checksumBytes);
}

/** Rows with their checksums, which have been verified. Fault E_STORE_CORRUPT. */
export function scanRows(
  source: RowSource,
  range: ScanRange,
  visit: (key: Uint8Array, stored: Uint8Array) => boolean,
): void {
  if (compareBytes(range.start, range.end) >= 0) return;
  const isVerified = isBelieved(source);
  if (!isVerified) checkStart(source, range);
  const isReverse = range.reverse === true;
  walkRows(source, isVerified ? range : openEnded(range), (key, stored) => {
    if (!isIntact(key, stored)) throw corrupt(key);
    // The row behind the last one is looked at, too: a damaged key may end a range too early.
    if (!isVerified && !isInside(key, range, isReverse)) return false;
    return visit(key, stored);
  });
}

/** Whether what is not found is not there. */
function isBelieved({ db, trust }: RowSource): boolean {
  return trust.isVerified || db.isSealed === true;
}

function openEnded({ start, end, reverse }: ScanRange): ScanRange {
  return reverse === true ? { start: firstKey, end, reverse } : { start, end: lastKey };
}

function isInside(key: Uint8Array, { start, end }: ScanRange, isReverse: boolean): boolean {
  return isReverse ? compareBytes(key, start) >= 0 : compareBytes(key, end) < 0;
}

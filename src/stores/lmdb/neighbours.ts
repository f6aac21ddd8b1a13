/**
 * Whether a row that is not found is not there. A checksum covers its row's key, but a key with another bit is not
 * found, and nothing is read that could be wrong. It still lies where it lay: a search that misses it ends beside it. So
 * both neighbours of the place are verified, and that they are on the sides where they belong (a damaged separator of
 * two pages leads to the wrong one). That costs 10 µs; once a process has seen all rows (`scrub.ts`) it is left out.
 */
import { must } from "../../base/assert.ts";
import { compareBytes } from "../../base/bytes.ts";
import type { ScanRange } from "../../store/store.ts";
import { isIntact } from "./checksum.ts";
import { corrupt, firstKey, lastKey, type RowSource } from "./database.ts";

/** Fault E_STORE_CORRUPT where the key may be there with another bit. */
export function checkAbsence(source: RowSource, key: Uint8Array): void {
  const isFound = hasAt(source, key, false) || hasAt(source, key, true);
  if (isFound) throw corrupt(key);
}

/** The same for the beginning of a range: what lies before it is not of it. */
export function checkStart(source: RowSource, { start, end, reverse }: ScanRange): void {
  const key = reverse === true ? end : start;
  if (hasAt(source, key, false) !== hasAt(source, key, true)) throw corrupt(key);
}

/** Whether the row next to a key, on the one side or the other, has that key itself. */
function hasAt({ db, options, trust }: RowSource, key: Uint8Array, reverse: boolean): boolean {
  const end = reverse ? firstKey : lastKey;
  const rows = db.getRange({ start: key, end, reverse, limit: 1, ...options }).iterate();
  try {
    const { value: row } = rows.next();
    if (row === undefined) return false;
    if (!isIntact(row.key, row.value)) {
      const isIt = isIntact(key, row.value) || mayBe(row.key, key);
      if (!trust.isOrdered || isIt) throw corrupt(row.key);
      return false;
    }
    const order = compareBytes(row.key, key);
    if (reverse ? order > 0 : order < 0) throw corrupt(row.key);
    return order === 0;
  } finally {
    rows.return();
  }
}

/**
 * Whether a damaged row may be the one that is looked for although its value is damaged, too: one bit of its key is
 * another one. (Where its key alone is damaged, its checksum is right with the one that is looked for.)
 */
function mayBe(damaged: Uint8Array, key: Uint8Array): boolean {
  if (damaged.length !== key.length) return false;
  let changed = 0;
  for (let i = 0; i < key.length; i++) {
    const bits =
      must(damaged[i], "a byte below the shorter length") ^
      must(key[i], "a byte below the shorter length");
    if (bits === 0) continue;
    if ((bits & (bits - 1)) !== 0) return false;
    changed++;
  }
  return changed === 1;
}

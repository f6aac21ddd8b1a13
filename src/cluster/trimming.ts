/** What the log may forget (reference/log 7.5): records older than it is kept for, as their leaders' clocks say. */
import { readHead } from "../log/record.ts";
import { LogDamaged, LogTrimmed, type ReplicatedLog } from "../log/replicated-log.ts";

/**
 * The lowest number up to `last` whose record was written at `sinceMs` (since 1970) or later; all below may go. A search
 * by halves: clocks of leaders that differ by a little make it a little imprecise.
 */
export async function findTrim(log: ReplicatedLog, last: number, sinceMs: number): Promise<number> {
  let low = 1;
  let high = last;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const wallMs = await readTime(log, middle, last);
    if (typeof wallMs === "object") low = Math.min(Math.max(low, wallMs.first), high);
    else if (wallMs < sinceMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Of the record, or of the next that can be read. `first`: it is gone, and the log begins there. */
async function readTime(
  log: ReplicatedLog,
  seq: number,
  last: number,
): Promise<number | { first: number }> {
  for (let at = seq; at <= last; at++) {
    try {
      const [record] = await log.read(at - 1, 1);
      if (record !== undefined) return readHead(record).wallMs;
    } catch (error) {
      if (error instanceof LogTrimmed) return { first: error.first };
      if (!(error instanceof LogDamaged)) throw error;
    }
  }
  return Infinity;
}

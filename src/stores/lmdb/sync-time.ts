/**
 * How long the disk takes for a record, and so who waits for it. A short sync is waited for: what comes meanwhile makes
 * one larger group, and no thread is woken (small mutations 4,100 → 6,200 a second). A long one is left to a thread,
 * and the process goes on answering; now and then one is waited for, to see whether it is still long.
 */

/** Milliseconds above which records are written aside, and below which they are waited for again. */
const longMs = 3;
const shortMs = 2;
/** What one record counts for in the mean, and what it counts as at most: one stall is no slow disk. */
const weight = 1 / 8;
const stallMs = 9;
/** Of the records of a slow disk, each so-manieth is waited for. */
const probeEvery = 16;

export class SyncTime {
  private meanMs = 0;
  private isSlow = false;
  private asked = 0;

  /** Whether the next record had better be written aside. */
  isLong(): boolean {
    return this.isSlow && ++this.asked % probeEvery !== 0;
  }

  /** Of a record that was waited for. */
  note(ms: number): void {
    this.meanMs += (Math.min(ms, stallMs) - this.meanMs) * weight;
    if (this.meanMs > longMs) this.isSlow = true;
    else if (this.meanMs < shortMs) this.isSlow = false;
  }
}

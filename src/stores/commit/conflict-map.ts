/** Fingerprint of a key → the number of the newest commit that wrote it (architecture 4). */
export class ConflictMap {
  /** The newest number that was dropped: below it the map knows nothing. */
  horizon: number;
  private readonly newest = new Map<string, number>();
  private readonly keysMax: number;

  constructor(horizon: number, keysMax: number) {
    this.horizon = horizon;
    this.keysMax = keysMax;
  }

  lastCommit(key: string): number | undefined {
    return this.newest.get(key);
  }

  record(key: string, commitTs: number): void {
    const { newest } = this;
    // Deleted first: the map's order is then the order of commits, and the oldest is in front.
    if (newest.size > 0) newest.delete(key);
    newest.set(key, commitTs);
    if (newest.size <= this.keysMax) return;
    for (const [oldest, ts] of newest) {
      newest.delete(oldest);
      this.horizon = Math.max(this.horizon, ts);
      break;
    }
  }
}

/**
 * After three basis faults of one change its rivals are held back for up to 50 ms, so that a change on a busy record
 * is not derived for ever (reference/transactions 4.4).
 */
import type { Clock } from "../../base/clock.ts";
import type { Change } from "../../store/store.ts";

const faultsMax = 3;
const holdMs = 50;
/** Changes whose faults are counted; forgotten all at once above it. */
const countedMax = 10_000;

export class StarvationGuard {
  private readonly clock: Clock;
  private readonly faults = new Map<string, number>();
  private starving: { id: string; keys: ReadonlySet<string>; untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
    this.starving = undefined;
  }

  noteBasis(change: Change, id: string): void {
    const count = (this.faults.get(id) ?? 0) + 1;
    if (this.faults.size >= countedMax) this.faults.clear();
    this.faults.set(id, count);
    if (count < faultsMax || this.isActive()) return;
    const untilMs = this.clock.tickMs() + holdMs;
    this.starving = { id, keys: new Set(change.basisKeys), untilMs };
  }

  forget(id: string): void {
    if (this.faults.size > 0) this.faults.delete(id);
    if (this.starving?.id === id) this.starving = undefined;
  }

  holdsBack(change: Change, id: string): boolean {
    const { starving } = this;
    if (starving === undefined || starving.id === id || !this.isActive()) return false;
    return change.basisKeys.some((key) => starving.keys.has(key));
  }

  private isActive(): boolean {
    if (this.starving !== undefined && this.clock.tickMs() >= this.starving.untilMs) {
      this.starving = undefined;
    }
    return this.starving !== undefined;
  }
}

/** How far a machine has applied the log, and who waits for more of it. */
import type { Clock } from "../base/clock.ts";
import type { NodeStore } from "../stores/open.ts";

interface Waiter {
  readonly seq: number;
  readonly resolve: (isApplied: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class AppliedPoint {
  readonly #clock: Clock;
  #seq: number;
  #waiters = new Set<Waiter>();

  constructor(seq: number, clock: Clock) {
    this.#seq = seq;
    this.#clock = clock;
  }

  get seq(): number {
    return this.#seq;
  }

  reach(seq: number): void {
    if (seq <= this.#seq) return;
    this.#seq = seq;
    for (const waiter of this.#waiters) if (waiter.seq <= seq) this.#end(waiter, true);
  }

  /** Whether it is applied, by `untilMs` of the clock's ticks at the latest. */
  when(seq: number, untilMs: number): Promise<boolean> {
    if (seq <= this.#seq) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waitMs = Math.max(0, untilMs - this.#clock.tickMs());
      const timer = setTimeout(() => this.#end(waiter, false), waitMs);
      const waiter: Waiter = { seq, resolve, timer };
      this.#waiters.add(waiter);
    });
  }

  close(): void {
    for (const waiter of this.#waiters) this.#end(waiter, false);
  }

  #end(waiter: Waiter, isApplied: boolean): void {
    this.#waiters.delete(waiter);
    clearTimeout(waiter.timer);
    waiter.resolve(isApplied);
  }
}

/** The newest commit that its store has. */
export function readCommitTs(node: Pick<NodeStore, "snapshot">): number {
  const snapshot = node.snapshot();
  const { ts } = snapshot;
  snapshot.close();
  return ts;
}

import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { RequestBudget } from "../model/request-budget.ts";

/** A piece that took no longer is followed by the next at once. */
const shortMs = 4;
/** Of the time of a longer one. With as much, eight clients' pieces made small reads wait a fifth longer. */
const restTimes = 2;

/**
 * Pieces of work that cannot be cut into slices: one at a time, and after one that took long the process has twice its
 * time for all else before the next begins.
 */
export class SolePieces {
  readonly #clock: Clock;
  /** When the next may begin; undefined: now. */
  #whenFree: Promise<void> | undefined;
  /** The time that the last one left to others; undefined where it was short. */
  #rest: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Done at once where none waits. Not begun for a request that is over: throws as its budget's check does, and as the
   * work does.
   */
  run<T>(budget: RequestBudget, work: () => T): MaybePromise<T> {
    if (this.#whenFree === undefined) {
      try {
        return this.#do(budget, work);
      } finally {
        if (this.#rest !== undefined) this.#freeAfter(this.#rest);
      }
    }
    const done = this.#whenFree.then(() => this.#do(budget, work));
    const rest = (): Promise<void> | undefined => this.#rest;
    this.#freeAfter(done.then(rest, rest));
    return done;
  }

  #do<T>(budget: RequestBudget, work: () => T): T {
    this.#rest = undefined;
    budget.check();
    const beginMs = this.#clock.tickMs();
    try {
      return work();
    } finally {
      const tookMs = this.#clock.tickMs() - beginMs;
      if (tookMs > shortMs) {
        this.#rest = new Promise((resolve) => setTimeout(resolve, tookMs * restTimes));
      }
    }
  }

  #freeAfter(before: Promise<void>): void {
    this.#whenFree = before;
    void before.then(() => {
      if (this.#whenFree === before) this.#whenFree = undefined;
    });
  }
}

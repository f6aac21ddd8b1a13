import type { Cancellation } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";
import type { Turns } from "./turns.ts";

/**
 * Deadline, cancellation and fairness of one request. Long loops ask every 256 rows:
 * `if ((i & 255) === 0) { const pause = pace.check(); if (pause !== undefined) await pause; }`.
 * After 4 ms of work the answer is a promise that lets other requests run (beside queries of 120 ms, small requests
 * had a p99 of 119 ms without, 8 ms with it). Bytes lent by the store do not survive it.
 */
export interface Pace {
  /** undefined: go on. Throws Fault E_DEADLINE or E_CANCELLED. */
  check(): Promise<void> | undefined;
}

const sliceMs = 4;

export interface PaceOptions {
  readonly clock: Clock;
  /** On the clock's tick scale; Infinity for none. */
  readonly deadlineMs: number;
  readonly signal: Cancellation | undefined;
  /** Shared by the requests of a process; undefined: each goes on as soon as the event loop lets it. */
  readonly turns?: Turns | undefined;
}

export function makeDeadlineFault(): Fault {
  return new Fault("E_DEADLINE", "context deadline exceeded");
}

/** `options`, which are made for one request, stand for it among those that take turns. */
export function makePace(options: PaceOptions): Pace {
  return new SlicePace(options);
}

class SlicePace implements Pace {
  readonly #options: PaceOptions;
  #sliceEndMs: number;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#sliceEndMs = options.clock.tickMs() + sliceMs;
  }

  check(): Promise<void> | undefined {
    const { clock, deadlineMs, signal, turns } = this.#options;
    if (signal?.aborted === true) throw new Fault("E_CANCELLED", "context canceled");
    const nowMs = clock.tickMs();
    if (nowMs > deadlineMs) throw makeDeadlineFault();
    if (nowMs < this.#sliceEndMs) return undefined;
    const turn =
      turns?.next(this.#options) ?? new Promise<void>((resolve) => void setImmediate(resolve));
    return turn.then(() => {
      this.#sliceEndMs = clock.tickMs() + sliceMs;
    });
  }
}

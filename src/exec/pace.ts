import type { Cancellation } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../model/fault.ts";

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

/** `deadlineMs` on the clock's tick scale; Infinity for none. */
export function makePace(clock: Clock, deadlineMs: number, signal?: Cancellation): Pace {
  let sliceEndMs = clock.tickMs() + sliceMs;
  return {
    check() {
      if (signal?.aborted === true) throw new Fault("E_CANCELLED", "context canceled");
      const nowMs = clock.tickMs();
      if (nowMs > deadlineMs) throw new Fault("E_DEADLINE", "context deadline exceeded");
      if (nowMs < sliceEndMs) return undefined;
      return new Promise((resolve) => {
        setImmediate(() => {
          sliceEndMs = clock.tickMs() + sliceMs;
          resolve();
        });
      });
    },
  };
}

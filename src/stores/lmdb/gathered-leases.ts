/**
 * Leases that a process asks for in one turn of the event loop: one question to the writer, whose uids are dealt out in
 * the order of asking. A question costs both processes as much as the smallest of commits.
 */

/** Larger ones are asked alone: what cannot be had of them fails nobody else. */
export const gatheredUidsMax = 1000;

interface Waiting {
  readonly count: number;
  readonly resolve: (first: number) => void;
  readonly reject: (error: Error) => void;
}

/** For all that waited, once it is asked. */
interface LeaseQuestion {
  readonly count: number;
  /** `first`: of `count` uids in a row. */
  readonly resolve: (first: number) => void;
  readonly reject: (error: Error) => void;
}

export class GatheredLeases {
  #waiting: Waiting[] = [];

  /** The first of `count` uids in a row. */
  add(count: number): Promise<number> {
    return new Promise((resolve, reject) => this.#waiting.push({ count, resolve, reject }));
  }

  /** undefined: nobody waits. */
  take(): LeaseQuestion | undefined {
    const waiting = this.#waiting;
    if (waiting.length === 0) return undefined;
    this.#waiting = [];
    let total = 0;
    for (const { count } of waiting) total += count;
    return {
      count: total,
      resolve: (first) => {
        let next = first;
        for (const { count, resolve } of waiting) {
          resolve(next);
          next += count;
        }
      },
      reject: (error) => {
        for (const { reject } of waiting) reject(error);
      },
    };
  }
}

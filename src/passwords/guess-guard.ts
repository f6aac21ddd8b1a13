/**
 * How often wrong passwords may be given for one node, through checkpwd() and the queries made of it: guesses are slowed
 * down as logins are. One for a process: what is counted is lost with it.
 */
import { Lru } from "../base/lru.ts";
import { Fault } from "../model/fault.ts";

interface Count {
  failures: number;
  /** Under way. */
  pending: number;
  /** On the clock's tick scale. */
  untilMs: number;
  lastMs: number;
}

/** Wrong ones in a row that are compared without a wait. */
const freeMax = 10;
/** The first wait; each failure doubles it. */
const firstWaitMs = 1000;
/** Whoever gives wrong passwords keeps the right one waiting, too: not for long. */
const waitMaxMs = 60_000;
/** How long a failure is remembered. */
const rememberedMs = 15 * 60_000;
const hashesMax = 10_000;

export class GuessGuard {
  /** By the hash that is guessed at: another password of the same node begins anew. */
  readonly #counts = new Lru<string, Count>(hashesMax);

  /**
   * Runs `compare`. After a failure those under way count as failures, too, so that guesses at the same time are no way
   * round; before the first, many who know the password may come at once. Throws Fault E_LOGIN_WAIT.
   */
  async run(hash: string, nowMs: () => number, compare: () => Promise<boolean>): Promise<boolean> {
    const count = this.#countOf(hash, nowMs());
    const isCrowded = count.failures > 0 && count.failures + count.pending >= freeMax;
    const waitMs = Math.max(count.untilMs - nowMs(), isCrowded && count.pending > 0 ? 1 : 0);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      const what = `too many wrong passwords have been given: try again in ${seconds} s`;
      throw new Fault("E_LOGIN_WAIT", what);
    }
    count.pending++;
    try {
      const isRight = await compare();
      if (isRight) count.failures = 0;
      else fail(count, nowMs());
      return isRight;
    } finally {
      count.pending--;
    }
  }

  #countOf(hash: string, now: number): Count {
    let count = this.#counts.get(hash);
    if (count === undefined || (count.pending === 0 && now - count.lastMs > rememberedMs)) {
      count = { failures: 0, pending: 0, untilMs: 0, lastMs: now };
      this.#counts.set(hash, count);
    }
    return count;
  }
}

function fail(count: Count, now: number): void {
  count.failures++;
  count.lastMs = now;
  if (count.failures < freeMax) return;
  count.untilMs = now + Math.min(waitMaxMs, firstWaitMs * 2 ** (count.failures - freeMax));
}

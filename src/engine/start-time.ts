/**
 * Start times (reference/transactions 2): one 53-bit number of commit number (38 bits), process slot (7) and serial
 * (8). It costs nothing to hand out, is unique, and names the process that holds its transaction. Serial 0 can be read
 * at and never written with: that of slot 0 is what a client sees as a commit's time, that of the last slot what it sees
 * as the time of a read, which is no earlier than the times that transactions were given there. Processes have the
 * slots of the lower half; times are leased from the upper.
 */
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { commitNumberMax } from "../store/store.ts";

const serialCount = 256;
const slotCount = 128;
const commitUnit = slotCount * serialCount;

export interface StartTime {
  readonly commit: number;
  readonly slot: number;
  /** 0: read-only. */
  readonly serial: number;
}

export function packStartTime(time: StartTime): number {
  assert(time.commit <= commitNumberMax, "a commit number has at most 38 bits");
  assert(time.slot < slotCount && time.serial < serialCount, "slot and serial fit a start time");
  return time.commit * commitUnit + time.slot * serialCount + time.serial;
}

/** Any number a client sends, also one that was never handed out; beyond 2^53 it lies in the future. */
export function unpackStartTime(startTs: number): StartTime {
  const commit = Math.floor(startTs / commitUnit);
  const rest = startTs - commit * commitUnit;
  const slot = Math.floor(rest / serialCount);
  return { commit, slot, serial: rest - slot * serialCount };
}

/** What a client sees as the time of a commit. */
export function packCommitTime(commit: number): number {
  return commit * commitUnit;
}

/** The start time of queries that are part of no transaction. */
export function packReadTime(commit: number): number {
  return packStartTime({ commit, slot: slotCount - 1, serial: 0 });
}

const leasedSlotMin = slotCount / 2;

/** Times of one commit number that nothing else is given, in a row. */
export const leasedTimesMax = (slotCount - 1 - leasedSlotMin) * serialCount;

/** The first of them. `commit`: of an empty commit that was made for this lease alone. */
export function packLeasedTime(commit: number): number {
  return packStartTime({ commit, slot: leasedSlotMin, serial: 0 });
}

/** How many commit numbers back a request may still get a start time of its own snapshot. */
const remembered = 256;

/** Serials of one process at one commit number; 0 is nobody's. */
const serialsMax = serialCount - 1;

/**
 * A start time at an older number needs the log from there on, so that its transaction can go on: what the log keeps
 * for minutes is given out within seconds.
 */
const spareMs = 30_000;

/** Empty commits that are asked for together; the writer makes one group of them. */
const emptyMax = 64;

interface StartTimeGiverOptions {
  readonly slot: number;
  /** Numbers below it were another owner's of the slot. */
  readonly floorTs: number;
  readonly clock: Clock;
}

/**
 * Hands out the serials of one process; they begin at 1 with each commit number. Where nothing changed over several
 * commit numbers, serials are taken of all of them, the oldest number first: times grow.
 */
export class StartTimeGiver {
  readonly #options: StartTimeGiverOptions;
  /** Commit number → last serial given; insertion order is nearly that of the numbers. */
  readonly #serials = new Map<number, number>();
  /** Numbers below it were forgotten. */
  #floor = 0;
  #newest = 0;
  #newestSeenMs = 0;
  /** The number of which serials are given, no newer than `#newest`, whose state it shares. */
  #current = 0;
  #sameSince = 0;
  /** The newest number when empty commits were last asked for, and how many those were. */
  #askedAt = -1;
  #asked = 0;

  constructor(options: StartTimeGiverOptions) {
    this.#options = options;
  }

  /**
   * `sameSince`: the state was the same from then on. undefined when the serials are used up, or those of this commit
   * number are forgotten: the caller makes an empty commit.
   */
  give(commit: number, sameSince: number = commit): number | undefined {
    const at = commit >= this.#newest ? this.#choose(commit, sameSince) : commit;
    const serial = (this.#serials.get(at) ?? 0) + 1;
    if (serial > serialsMax || at < this.#floor) return undefined;
    this.#serials.set(at, serial);
    if (serial === 1 && this.#serials.size > remembered) this.#forget();
    return packStartTime({ commit: at, slot: this.#options.slot, serial });
  }

  #choose(commit: number, sameSince: number): number {
    const { clock, floorTs } = this.#options;
    if (commit > this.#newest) {
      this.#newest = commit;
      this.#newestSeenMs = clock.tickMs();
      this.#sameSince = sameSince;
      const oldest = Math.max(sameSince, this.#current, floorTs, commit - emptyMax);
      this.#current = Math.min(oldest, commit);
    } else if (this.#current < commit && clock.tickMs() - this.#newestSeenMs > spareMs) {
      this.#current = commit;
    }
    while (this.#current < commit && this.#serials.get(this.#current) === serialsMax) {
      this.#current++;
    }
    return this.#current;
  }

  /**
   * How many empty commits to ask for now, nearly always 0: when most serials of the newest number are given. One, and
   * twice as many each time as long as nothing changes in between.
   */
  emptiesDue(commit: number): number {
    if (this.#current !== commit || this.#newest !== commit) return 0;
    if (this.#serials.get(commit) !== Math.floor(serialCount * 0.75)) return 0;
    const isUnchanged = this.#sameSince <= this.#askedAt;
    this.#asked = isUnchanged ? Math.min(this.#asked * 2, emptyMax) : 1;
    this.#askedAt = commit;
    return this.#asked;
  }

  /** False for a start time that was surely never given. */
  mayHaveGiven({ commit, serial }: StartTime): boolean {
    return commit < this.#floor || serial <= (this.#serials.get(commit) ?? 0);
  }

  #forget(): void {
    let lowest = Infinity;
    for (const commit of this.#serials.keys()) lowest = Math.min(lowest, commit);
    this.#serials.delete(lowest);
    this.#floor = lowest + 1;
  }
}

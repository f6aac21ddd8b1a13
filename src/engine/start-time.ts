/**
 * Start times (architecture 4): one 53-bit number of commit number (38 bits), process slot (7) and serial (8). It
 * costs nothing to hand out, is unique, and names the process that holds its transaction. Serial 0 of slot 0 can be
 * read at and never written with; it is what a client sees as a commit's time.
 */
import { assert } from "../base/assert.ts";
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

/** What a client sees as the time of a commit, and the start time of everything that never writes. */
export function packCommitTime(commit: number): number {
  return commit * commitUnit;
}

/** How many commit numbers back a request may still get a start time of its own snapshot. */
const remembered = 256;

/** Hands out the serials of one process; they begin at 1 with each commit number. */
export class StartTimeGiver {
  readonly #slot: number;
  /** Commit number → last serial given; insertion order is nearly that of the numbers. */
  readonly #serials = new Map<number, number>();
  /** Numbers below it were forgotten. */
  #floor = 0;

  constructor(slot: number) {
    this.#slot = slot;
  }

  /** undefined when the serials of this commit number are used up or forgotten: the caller makes an empty commit. */
  give(commit: number): number | undefined {
    const serial = (this.#serials.get(commit) ?? 0) + 1;
    if (serial >= serialCount || commit < this.#floor) return undefined;
    this.#serials.set(commit, serial);
    if (serial === 1 && this.#serials.size > remembered) this.#forget();
    return packStartTime({ commit, slot: this.#slot, serial });
  }

  /** True once per commit number, when most of its serials are given: time for an empty commit. */
  shouldRenew(commit: number): boolean {
    return this.#serials.get(commit) === Math.floor(serialCount * 0.75);
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

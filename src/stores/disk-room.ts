/** How much is free on the store's disk, and whether that is less than is to be kept free. */
import { type StatsFs, statfsSync } from "node:fs";
import type { Clock } from "../base/clock.ts";

/** Kept free where nothing else is said: this, or so much of the disk where that is less. */
const minFreeDefault = 512 * 1024 * 1024;
const shareDefault = 0.02;

/** So old may be what is known: a look costs some microseconds. */
const lookMs = 100;

type AskDisk = (dir: string) => Pick<StatsFs, "bavail" | "blocks" | "bsize">;

export class DiskRoom {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #minFree: number | undefined;
  readonly #ask: AskDisk;
  #lookedAtMs = -Infinity;
  #isShort = false;
  #freeBytes = Infinity;
  #minBytes = 0;

  /** `minFree`: bytes; 0 for none, undefined for the default. `ask`: what the disk of a directory has. */
  constructor(dir: string, clock: Clock, minFree: number | undefined, ask: AskDisk = statfsSync) {
    this.#dir = dir;
    this.#clock = clock;
    this.#minFree = minFree;
    this.#ask = ask;
  }

  /** As of the last look, which is at most `lookMs` ago. A disk that cannot be asked is not short. */
  get isShort(): boolean {
    const nowMs = this.#clock.tickMs();
    if (this.#minFree !== 0 && nowMs - this.#lookedAtMs > lookMs) {
      this.#lookedAtMs = nowMs;
      this.#look();
    }
    return this.#isShort;
  }

  /** Of the last look, for people. */
  explain(): string {
    const free = printMiB(this.#freeBytes);
    return `its disk has ${free} left, of which ${printMiB(this.#minBytes)} are kept free (--store min-free)`;
  }

  #look(): void {
    try {
      const { bavail, blocks, bsize } = this.#ask(this.#dir);
      this.#freeBytes = bavail * bsize;
      this.#minBytes = this.#minFree ?? Math.min(minFreeDefault, blocks * bsize * shareDefault);
      this.#isShort = this.#freeBytes < this.#minBytes;
    } catch {
      this.#isShort = false;
    }
  }
}

function printMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MB`;
}

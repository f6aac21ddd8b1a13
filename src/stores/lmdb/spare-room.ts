/**
 * Room on the disk for a store that is made aside. It is asked for before each transaction: where a write fails, LMDB
 * prints words of its own to the terminal.
 */
import { realpathSync, statfsSync, statSync, type StatsFs } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../model/fault.ts";
import type { PutRow } from "./database.ts";

interface RoomWords {
  /** `compact ./data`. */
  readonly purpose: string;
  /** What is there when it ends for lack of room. */
  readonly outcome: string;
}

type AskDisk = (dir: string) => Pick<StatsFs, "bavail" | "bsize">;

/** Beside twice the bytes of its rows: pages that a transaction touches, and what others write meanwhile. */
const marginBytes = 4 * 1024 * 1024;

/** MDB_MAP_FULL, ENOSPC, EDQUOT, EFBIG. */
const fullCodes: readonly unknown[] = [-30792, 28, 122, 27];

export class SpareRoom {
  readonly #dir: string;
  readonly #words: RoomWords;
  readonly #ask: AskDisk;

  /** `ask`: what the disk of a directory has. */
  constructor(dir: string, words: RoomWords, ask: AskDisk = statfsSync) {
    this.#dir = dir;
    this.#words = words;
    this.#ask = ask;
  }

  /** Fault E_STARTUP unless so many bytes are free. */
  need(bytes: number): void {
    const free = this.#free();
    if (free > bytes) return;
    throw this.#refuse(free, `, and up to ${printMiB(bytes)} are needed`);
  }

  /** Of a transaction, before it is committed: Fault E_STARTUP where it may not fit. */
  fill(fill: (put: PutRow) => void, put: PutRow): void {
    let bytes = 0;
    fill((key, stored) => {
      bytes += key.length + (stored?.length ?? 0);
      put(key, stored);
    });
    const free = this.#free();
    const needed = 2 * bytes + marginBytes;
    if (free >= needed) return;
    throw this.#refuse(free, `, and the next rows need up to ${printMiB(needed)}`);
  }

  /** What a write failed by, as a Fault where it was the disk. */
  translate(error: unknown): unknown {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (!fullCodes.includes(code)) return error;
    return this.#refuse(this.#free(), "", error);
  }

  #free(): number {
    const { bavail, bsize } = this.#ask(this.#dir);
    return bavail * bsize;
  }

  #refuse(free: number, needed: string, cause?: unknown): Fault {
    const { purpose, outcome } = this.#words;
    const disk = findMount(this.#dir);
    return new Fault(
      "E_STARTUP",
      `no room to ${purpose}: its disk (${disk}) has ${printMiB(free)} left${needed}; ${outcome}`,
      { cause },
    );
  }
}

/** The directory at which the disk of another one is mounted. */
function findMount(dir: string): string {
  let found = realpathSync(dir);
  const { dev } = statSync(found);
  for (let above = dirname(found); above !== found; above = dirname(above)) {
    if (statSync(above).dev !== dev) break;
    found = above;
  }
  return found;
}

function printMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

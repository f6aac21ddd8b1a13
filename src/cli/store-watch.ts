/**
 * Whether the store lies where this run of the server opened it. A directory that was removed, moved or exchanged, or
 * whose disk is gone, takes what is written to it along, while the handles of those who write tell of no error.
 */
import type { Clock } from "../base/clock.ts";
import {
  findMove,
  findStoreMove,
  readIdentity,
  readPlace,
  type StoreIdentity,
} from "../stores/place.ts";

const lookMs = 250;
/** A file system that does not answer for so long is gone. */
const silenceMs = 2_000;

export class StoreWatch {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #onMove: (move: string | undefined) => void;
  #identity: StoreIdentity | undefined = undefined;
  /** Of the writer that writes now; undefined while none does. */
  #journals: string | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #askedAtMs: number | undefined = undefined;
  #move: string | undefined = undefined;
  /** Counts what changes the files as they are to be: an older look says nothing. */
  #changes = 0;

  /** `onMove`: what has become of the store, as `findMove`; undefined: it is back. */
  constructor(dir: string, clock: Clock, onMove: (move: string | undefined) => void) {
    this.#dir = dir;
    this.#clock = clock;
    this.#onMove = onMove;
  }

  /** What every process must find; undefined before the first has opened it. */
  get identity(): StoreIdentity | undefined {
    return this.#identity;
  }

  get move(): string | undefined {
    return this.#move;
  }

  /** A writer has opened the store: the first one's is the store of this run. */
  async noteWriter(): Promise<void> {
    if (this.#identity === undefined) {
      this.#identity = await readIdentity(this.#dir);
      this.#journals = this.#identity.journals;
      this.#timer = setInterval(() => void this.#look(), lookMs);
      this.#timer.unref();
      return;
    }
    const place = await readPlace(this.#dir);
    this.#changes++;
    this.#journals = place.journals;
    const { nextData, ...identity } = this.#identity;
    this.#identity = place.data === nextData ? { ...identity, data: nextData } : identity;
  }

  /** It ended: the next one makes its journals anew. */
  noteWriterGone(): void {
    this.#changes++;
    this.#journals = undefined;
  }

  /** The writer is about to exchange the data file for this one. `noteWriter` says that it did. */
  expectData(nextData: string): void {
    if (this.#identity !== undefined) this.#identity = { ...this.#identity, nextData };
    this.noteWriterGone();
  }

  /** Whether the data file may be another one by now. */
  get isExchanging(): boolean {
    return this.#identity?.nextData !== undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#identity === undefined) return;
    const nowMs = this.#clock.tickMs();
    if (this.#askedAtMs !== undefined) {
      if (nowMs - this.#askedAtMs > silenceMs) this.#tell("its file system does not answer");
      return;
    }
    this.#askedAtMs = nowMs;
    const changes = this.#changes;
    const place = await readPlace(this.#dir);
    this.#askedAtMs = undefined;
    if (changes !== this.#changes) return;
    const identity = this.#identity;
    const journals = this.#journals;
    this.#tell(
      journals === undefined
        ? findStoreMove(identity, place)
        : findMove({ ...identity, journals }, place),
    );
  }

  #tell(move: string | undefined): void {
    if (move === this.#move) return;
    this.#move = move;
    this.#onMove(move);
  }
}

/** Refuses transactions while the store is not where it was opened: what they write would be acknowledged and lost. */
import type { Clock } from "../../base/clock.ts";
import type { KeyValue, Pieces, Prepared, WriteEngine } from "../key-value.ts";
import { findMove, findStoreMove, movedFault, type Place, readPlaceNow } from "./place.ts";

/** So old may be what a transaction relies on: a look costs some hundred microseconds. */
const lookMs = 100;

export class PlaceGuard implements WriteEngine {
  private readonly engine: WriteEngine;
  private readonly dir: string;
  private readonly clock: Clock;
  private place: Place;
  private lookedAtMs: number;
  private move: string | undefined = undefined;

  /** The store has just been opened. */
  constructor(engine: WriteEngine, dir: string, clock: Clock) {
    this.engine = engine;
    this.dir = dir;
    this.clock = clock;
    this.place = readPlaceNow(dir);
    this.lookedAtMs = clock.tickMs();
  }

  /** The files are other ones now, as they are to be. */
  renew(): void {
    this.place = readPlaceNow(this.dir);
    this.lookedAtMs = this.clock.tickMs();
    this.move = undefined;
  }

  /** Whether the directory and the data file are where they were. Looks now. */
  isInPlace(): boolean {
    return findStoreMove(this.place, readPlaceNow(this.dir)) === undefined;
  }

  /** What has become of the store's files, as of a look that is `lookMs` old at most. */
  findMove(): string | undefined {
    const nowMs = this.clock.tickMs();
    // Nobody is refused by an old look.
    if (this.move !== undefined || nowMs - this.lookedAtMs > lookMs) {
      this.lookedAtMs = nowMs;
      this.move = findMove(this.place, readPlaceNow(this.dir));
    }
    return this.move;
  }

  get isShipped(): boolean {
    return this.engine.isShipped === true;
  }

  *prepare<T>(work: (kv: KeyValue) => Pieces<T>): Pieces<Prepared<T>> {
    const move = this.findMove();
    if (move !== undefined) throw movedFault(move);
    return yield* this.engine.prepare(work);
  }
}

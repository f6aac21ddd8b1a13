/** Ends bodies that come too slowly: a sender that dawdles holds a connection, and what its body was promised. */
import type { Clock } from "../base/clock.ts";

/** A body on its way. The watch writes the marks. */
export interface Watched {
  /** Bytes that came so far. */
  readonly size: number;
  /** Whether nothing waits to be read: what is missing has not come. */
  readonly isDry: boolean;
  markSize: number;
  markMs: number;
  /** Too few came since the mark. */
  endSlow(): void;
}

interface LeastRate {
  /** Bytes a second; 0 for none. */
  readonly bytesPerSecond: number;
  /** Over so long it is measured. */
  readonly windowMs: number;
}

export class BodyWatch {
  readonly #clock: Clock;
  readonly #rate: LeastRate;
  readonly #bodies = new Set<Watched>();
  readonly #lookMs: number;
  #lastMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, rate: LeastRate) {
    this.#clock = clock;
    this.#rate = rate;
    this.#lookMs = Math.max(20, rate.windowMs / 4);
  }

  /** From now on; the first window begins with the next look. */
  add(body: Watched): void {
    this.#bodies.add(body);
    if (this.#timer !== undefined || this.#rate.bytesPerSecond === 0) return;
    this.#lastMs = this.#clock.tickMs();
    this.#timer = setInterval(this.look, this.#lookMs).unref();
  }

  remove(body: Watched): void {
    this.#bodies.delete(body);
  }

  readonly look = (): void => {
    const nowMs = this.#clock.tickMs();
    const { bytesPerSecond, windowMs } = this.#rate;
    // A process that was busy has read nothing itself.
    const isLate = nowMs - this.#lastMs > 2 * this.#lookMs;
    this.#lastMs = nowMs;
    for (const body of this.#bodies) {
      if (isLate || body.markMs === 0 || !body.isDry) {
        body.markMs = nowMs;
        body.markSize = body.size;
        continue;
      }
      const passedMs = nowMs - body.markMs;
      if (passedMs < windowMs) continue;
      if ((body.size - body.markSize) * 1000 < bytesPerSecond * passedMs) {
        this.#bodies.delete(body);
        body.endSlow();
      }
      body.markMs = nowMs;
      body.markSize = body.size;
    }
    if (this.#bodies.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}

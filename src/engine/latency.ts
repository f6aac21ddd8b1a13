/** Where a request's time went, in nanoseconds (reference/dql 5.1). */
import type { Clock } from "../base/clock.ts";
import type { RequestObserver } from "../model/request-observer.ts";
import type { Latency } from "./engine.ts";

type LatencyPart = "parsing" | "processing" | "encoding" | "assignTimestamp";

const spanNames: Readonly<Record<LatencyPart, string>> = {
  parsing: "plan",
  processing: "execute",
  encoding: "render",
  assignTimestamp: "open",
};

export class Stopwatch {
  readonly #clock: Clock;
  readonly #startMs: number;
  #lastMs: number;
  readonly #ns = { parsing: 0, processing: 0, encoding: 0, assignTimestamp: 0 };

  readonly #observer: RequestObserver | undefined;

  /** `observer`: of the request, where somebody wants to know. */
  constructor(clock: Clock, observer?: RequestObserver) {
    this.#observer = observer;
    this.#clock = clock;
    this.#startMs = clock.tickMs();
    this.#lastMs = this.#startMs;
  }

  /** Books the time since the last mark. */
  mark(part: LatencyPart): void {
    const nowMs = this.#clock.tickMs();
    this.#ns[part] += (nowMs - this.#lastMs) * 1e6;
    this.#observer?.add(spanNames[part], this.#lastMs, nowMs);
    this.#lastMs = nowMs;
  }

  finish(): Latency {
    const { parsing, processing, encoding, assignTimestamp } = this.#ns;
    return {
      parsingNs: Math.round(parsing),
      processingNs: Math.round(processing),
      encodingNs: Math.round(encoding),
      assignTimestampNs: Math.round(assignTimestamp),
      totalNs: Math.round((this.#clock.tickMs() - this.#startMs) * 1e6),
    };
  }
}

/** What stays open beyond an answer, WebSockets and event streams: counted, kept alive, ended with the process. */
import { metrics } from "../base/metrics.ts";

export interface Stream {
  /** Once in an interval: says that this side lives, and ends a stream whose other side does not. */
  beat(): void;
  /** Takes leave in the way of its protocol. */
  leave(): void;
  /** Ends it at once. */
  cut(): void;
}

export class Streams {
  readonly #open = new Set<Stream>();
  readonly #openMax: number;
  readonly #beatMs: number;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isDraining = false;

  constructor(openMax: number, beatMs: number) {
    this.#openMax = openMax;
    this.#beatMs = beatMs;
    metrics.gauge(
      "weft_streams",
      "WebSockets and event streams that are open",
      () => this.#open.size,
    );
  }

  /** Whether no more may be opened. */
  get isFull(): boolean {
    return this.#isDraining || this.#open.size >= this.#openMax;
  }

  add(stream: Stream): void {
    this.#open.add(stream);
    this.#timer ??= setInterval(() => {
      for (const one of this.#open) one.beat();
    }, this.#beatMs).unref();
    if (this.#isDraining) stream.leave();
  }

  remove(stream: Stream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#open) stream.leave();
  }

  cut(): void {
    for (const stream of this.#open) stream.cut();
  }
}

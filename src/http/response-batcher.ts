/**
 * Answers of one turn of the event loop leave one right behind the other at its end. A write to a socket wakes whoever
 * waits at its other end, which costs more than the write; written together the answers wake a client once. Under load a
 * read costs a fifth to a third less CPU and a server answers up to half as many more (decision 0019); an answer that is
 * alone in its turn leaves when the turn ends, some microseconds later.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "../base/clock.ts";

/** The first answer of a turn waits for so long at most until the next one joins it. */
const waitMsMax = 2;

/**
 * When answers had to wait for longer, slices of large queries are between them and the end of the turn. For some time
 * then each leaves at once: beside such queries small reads had taken twice as long.
 */
const lateMs = 4;
const hurryMs = 20;

/** What `end` needs of a response. */
export type BatchedResponse = Pick<ServerResponse, "end" | "destroyed">;

export class ResponseBatcher {
  readonly #clock: Clock;
  #waiting: { readonly res: BatchedResponse; readonly body: string | undefined }[] = [];
  #firstMs = 0;
  #hurriesUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the response, whose head is made, with a body in Latin-1; undefined: its head has it (`joined-head.ts`). */
  end(res: BatchedResponse, body: string | undefined): void {
    const nowMs = this.#clock.tickMs();
    this.#waiting.push({ res, body });
    if (nowMs < this.#hurriesUntilMs) {
      this.#flush();
    } else if (this.#waiting.length === 1) {
      this.#firstMs = nowMs;
      setImmediate(this.#endTurn);
    } else if (nowMs - this.#firstMs >= waitMsMax) {
      this.#flush();
    }
  }

  readonly #endTurn = (): void => {
    if (this.#waiting.length === 0) return;
    const nowMs = this.#clock.tickMs();
    if (nowMs - this.#firstMs > lateMs) this.#hurriesUntilMs = nowMs + hurryMs;
    this.#flush();
  };

  #flush(): void {
    const leaving = this.#waiting;
    this.#waiting = [];
    for (const { res, body } of leaving) if (!res.destroyed) res.end(body, "latin1");
  }
}

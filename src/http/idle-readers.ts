/**
 * Ends connections on which bytes wait that nobody takes: answers, events, frames. What waits on one is bounded elsewhere;
 * this bounds for how long.
 */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";

type Watchable = Pick<Socket, "writableLength" | "bytesWritten" | "destroy">;

interface Mark {
  /** Bytes of writes that have left whole. */
  left: number;
  /** Bytes of the write under way that have not. */
  queued: number;
  sinceMs: number;
}

/** Node's own timeout of sockets asks the same: how much of a long write has left is told nowhere else. */
function queuedBytes(socket: Watchable): number {
  const { _handle: handle } = socket as { readonly _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}

export class IdleReaders {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #marks = new Map<Watchable, Mark>();

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** To be called a few times in the wait. `sockets`: all that are open. */
  look(sockets: Iterable<Watchable>): void {
    const nowMs = this.#clock.tickMs();
    for (const socket of sockets) {
      const waiting = socket.writableLength;
      if (waiting === 0) {
        this.#marks.delete(socket);
        continue;
      }
      const left = socket.bytesWritten - waiting;
      const queued = queuedBytes(socket);
      const mark = this.#marks.get(socket);
      if (mark === undefined) this.#marks.set(socket, { left, queued, sinceMs: nowMs });
      else if (mark.left !== left || mark.queued !== queued) {
        mark.left = left;
        mark.queued = queued;
        mark.sinceMs = nowMs;
      } else if (nowMs - mark.sinceMs > this.#waitMs) socket.destroy();
    }
  }

  forget(socket: Watchable): void {
    this.#marks.delete(socket);
  }
}

/**
 * Connections on their way from the listening socket to the processes that answer them. A process is handed one at a
 * time, and the next when it has said that it took the last; until then the supervisor keeps its own hold of it. So one
 * that hangs keeps a single connection from being answered, and what a dead one did not take goes to another. Nothing of
 * a connection is read before it was said to be taken, so no request is executed twice.
 */
import { must } from "../base/assert.ts";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";

/** Connections that wait; more are refused. */
const waitingMax = 10_000;

/** For how long one waits for a process that takes it, and then is refused; and where there is no process at all. */
export const waitMsMax = 60_000;
export const emptyWaitMsMax = 10_000;

/**
 * For how long a connection waits for the process whose turn it is: processes that have as many of them each answer in
 * larger groups (a tenth of the CPU of small writes). Longer ones have something else to do.
 */
const patienceMs = 20;

export interface Connection {
  readonly id: number;
  /** Paused: the process that answers it reads it. */
  readonly socket: Socket;
  /** Its address when it was accepted; "" where it had none left. */
  readonly from: string;
  /** It begins with a handshake. */
  readonly isTls: boolean;
  /** It came to the port for gRPC. */
  readonly isGrpc: boolean;
  readonly sinceMs: number;
}

interface DispatcherParts<Taker> {
  readonly clock: Clock;
  /** Hands it to a process, whose answer is told to `took`; one that is about to end need not answer. */
  give(taker: Taker, connection: Connection): void;
  /** Ends a connection that nobody takes. `isMute`: nothing can be said to it in HTTP/1.1. */
  refuse(socket: Socket, isMute: boolean): void;
}

/**
 * When the oldest has waited for so long, every second one that is handed over is the newest: behind a thousand
 * connections, most of which may be gone by now (nothing is read of them here), those that come would all wait as long.
 */
const queueMs = 100;

const settleLookMs = 2;

/** After more signs of life than these a connection that was handed over did not arrive. */
const beatsMax = 4;

interface Handover {
  /** Handed over, and not taken yet. */
  given: Connection | undefined;
  /** When it was. */
  givenMs: number;
  /** Signs of life since then. */
  beats: number;
}

/** Takers are told apart by identity alone. */
export class Dispatcher<Taker extends object> {
  readonly #parts: DispatcherParts<Taker>;
  readonly #handovers = new Map<Taker, Handover>();
  #waiting: Connection[] = [];
  #lastId = 0;
  #next = 0;
  #isClosed = false;
  /** Whether the last one that was handed over was the newest. */
  #wasNewest = false;
  /** Runs until the patience with a process is over. */
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DispatcherParts<Taker>) {
    this.#parts = parts;
  }

  get hasTakers(): boolean {
    return this.#handovers.size > 0;
  }

  /** `from`: its address. */
  accept(socket: Socket, from: string, isTls: boolean, isGrpc = false): void {
    if (this.#isClosed || this.#waiting.length >= waitingMax) {
      this.#parts.refuse(socket, isTls || isGrpc);
      return;
    }
    // Without a listener an error would end the process.
    socket.on("error", () => {});
    const sinceMs = this.#parts.clock.tickMs();
    this.#waiting.push({ id: ++this.#lastId, socket, from, isTls, isGrpc, sinceMs });
    this.#dispatch();
  }

  /** A process that is ready. */
  join(taker: Taker): void {
    this.#handovers.set(taker, { given: undefined, givenMs: 0, beats: 0 });
    this.#dispatch();
  }

  /** The process has the connection: it is its own now. */
  took(taker: Taker, id: number): void {
    const handover = this.#handovers.get(taker);
    if (handover?.given?.id !== id) return;
    // The process has a hold of its own: this one ends without a word to the other side.
    handover.given.socket.destroy();
    handover.given = undefined;
    this.#dispatch();
  }

  /**
   * A sign of life, sent a while after the last. A process that gives some and does not say that it took what it was given
   * has not got it: it had no file to spare (EMFILE). Whoever waits for that is refused, and the next has a chance.
   */
  beat(taker: Taker): void {
    const handover = this.#handovers.get(taker);
    if (handover?.given === undefined || ++handover.beats <= beatsMax) return;
    const { given } = handover;
    handover.given = undefined;
    this.#refuse(given);
    this.#dispatch();
  }

  /** The process is gone, and all that it said has been heard. */
  leave(taker: Taker): void {
    const handover = this.#handovers.get(taker);
    this.#handovers.delete(taker);
    if (handover?.given === undefined) return;
    if (this.#isClosed) handover.given.socket.destroy();
    else this.#waiting.unshift(handover.given);
    this.#dispatch();
  }

  /** Refuses what has waited for too long. To be called now and then. */
  sweep(): void {
    const waitMs = this.hasTakers ? waitMsMax : emptyWaitMsMax;
    const oldestMs = this.#parts.clock.tickMs() - waitMs;
    const isOver = ({ sinceMs }: Connection): boolean => sinceMs < oldestMs;
    if (!this.#waiting.some(isOver)) return;
    const over = this.#waiting.filter(isOver);
    this.#waiting = this.#waiting.filter((connection) => !isOver(connection));
    for (const connection of over) this.#refuse(connection);
  }

  #refuse({ socket, isTls, isGrpc }: Connection): void {
    this.#parts.refuse(socket, isTls || isGrpc);
  }

  /** Refuses what waits. */
  refuseWaiting(): void {
    for (const connection of this.#waiting.splice(0)) this.#refuse(connection);
  }

  /**
   * Resolves when no connection waits any more, or after `ms`. Whoever was let in before the end of the server is
   * answered by a process: a connection that is dropped here has perhaps sent its request.
   */
  async settled(ms: number): Promise<void> {
    const endMs = this.#parts.clock.tickMs() + ms;
    while (this.#isBusy && this.#parts.clock.tickMs() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, settleLookMs));
    }
  }

  get #isBusy(): boolean {
    if (!this.hasTakers) return false;
    return this.#waiting.length > 0 || [...this.#handovers.values()].some(({ given }) => given);
  }

  /** Takes no more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const taker = this.#findFree();
      const connection = taker === undefined ? undefined : this.#takeWaiting();
      if (taker === undefined || connection === undefined) return;
      if (connection.socket.destroyed) continue;
      const givenMs = this.#parts.clock.tickMs();
      this.#handovers.set(taker, { given: connection, givenMs, beats: 0 });
      this.#parts.give(taker, connection);
    }
  }

  #takeWaiting(): Connection | undefined {
    const [oldest] = this.#waiting;
    const isQueue = oldest !== undefined && this.#parts.clock.tickMs() - oldest.sinceMs >= queueMs;
    this.#wasNewest = isQueue && !this.#wasNewest;
    return this.#wasNewest ? this.#waiting.pop() : this.#waiting.shift();
  }

  /** In turns: undefined while the one whose turn it is may take soon what it was given. */
  #findFree(): Taker | undefined {
    const takers = [...this.#handovers];
    for (let i = 0; i < takers.length; i++) {
      const at = (this.#next + i) % takers.length;
      const [taker, handover] = must(takers[at], "a remainder is below the length");
      if (handover.given !== undefined) {
        const leftMs = handover.givenMs + patienceMs - this.#parts.clock.tickMs();
        if (leftMs <= 0) continue;
        this.#lookIn(leftMs);
        return undefined;
      }
      this.#next = at + 1;
      return taker;
    }
    return undefined;
  }

  #lookIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#dispatch();
    }, Math.ceil(ms));
  }
}

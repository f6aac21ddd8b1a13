/** The shared event streams of a process, by their tokens: from their reservation until they end. */
import { SharedStream } from "./shared-stream.ts";
import type { SharedStreamParts } from "./shared-stream.ts";
import { makeStreamToken } from "./stream-token.ts";
import type { Streams } from "./streams.ts";

interface Reservation {
  readonly stream: SharedStream;
  /** Who has made it: others are told that there is no such stream. */
  readonly owner: string;
  readonly timer: NodeJS.Timeout;
}

interface ReservedStreamsOptions {
  readonly streams: Streams;
  /** Of the process, which tokens name. */
  readonly slot: number;
  /** Reservations that are not opened yet. */
  readonly waitingMax: number;
  /** In which a reservation must be opened. */
  readonly waitMs: number;
}

export class ReservedStreams {
  readonly #options: ReservedStreamsOptions;
  readonly #byToken = new Map<string, Reservation>();
  #waitingCount = 0;

  constructor(options: ReservedStreamsOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#waitingCount >= this.#options.waitingMax;
  }

  /** The token of a new stream, which ends by itself where nobody opens it in time. */
  reserve(owner: string, parts: Omit<SharedStreamParts, "onEnd">): string {
    const { streams, slot, waitMs } = this.#options;
    const token = makeStreamToken(slot);
    const onEnd = (): void => this.#remove(token);
    const stream = new SharedStream({ ...parts, onEnd });
    const timer = setTimeout(() => stream.cut(), waitMs).unref();
    this.#byToken.set(token, { stream, owner, timer });
    this.#waitingCount++;
    streams.add(stream);
    return token;
  }

  /** Undefined where there is none of that name, or where it is another's. `owner` undefined: shows nothing of who it is. */
  find(token: string, owner: string | undefined): SharedStream | undefined {
    const found = this.#byToken.get(token);
    if (found === undefined || (owner !== undefined && owner !== found.owner)) return undefined;
    return found.stream;
  }

  /** Called before the stream is opened. */
  noteOpening(token: string): void {
    const found = this.#byToken.get(token);
    if (found === undefined || found.stream.isOpen) return;
    clearTimeout(found.timer);
    this.#waitingCount--;
  }

  #remove(token: string): void {
    const found = this.#byToken.get(token);
    if (found === undefined) return;
    this.noteOpening(token);
    this.#byToken.delete(token);
    this.#options.streams.remove(found.stream);
  }
}

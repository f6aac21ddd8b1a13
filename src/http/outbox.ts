/**
 * Answers on their way to one reader, in a bounded space. A reader that is slower than its answers is not told all of
 * them: while more than so many bytes wait for it, the newest of each subscription takes the place of the one before.
 */
import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";
import type { ProcessMemory } from "../model/process-memory.ts";

/** One sequence of answers, of which only the newest counts. */
export interface Lane {
  /** Writes an answer, now. */
  write(answer: Uint8Array): void;
  /** Writes what follows the last one, now. */
  close(): void;
}

interface Waiting {
  answer: Uint8Array | undefined;
  isClosed: boolean;
}

interface OutboxOptions {
  /** That may wait in the stream before answers wait here. */
  readonly bytesMax: number;
  readonly memory: Pick<ProcessMemory, "hold" | "tryTake" | "give">;
  /** There is no memory for what waits for this reader, who is to be cut. */
  readonly overflow: () => void;
}

export class Outbox {
  readonly #out: Writable;
  readonly #options: OutboxOptions;
  readonly #waiting = new Map<Lane, Waiting>();
  /** Counted in the process's memory: of what waits here, and of large answers that wait in the stream. */
  #waitingBytes = 0;
  #streamBytes = 0;

  constructor(out: Writable, options: OutboxOptions) {
    this.#out = out;
    this.#options = options;
    out.on("drain", () => this.#flush());
    out.once("close", () => this.#end());
  }

  /** Whether the reader is behind. */
  get isFull(): boolean {
    return this.#out.writableNeedDrain && this.#out.writableLength > this.#options.bytesMax;
  }

  push(lane: Lane, answer: Uint8Array): void {
    if (!this.isFull && !this.#waiting.has(lane)) this.#write(lane, answer);
    else this.#keep(this.#entry(lane), answer);
  }

  /** Behind the answer that waits. */
  close(lane: Lane): void {
    if (this.#waiting.has(lane)) this.#entry(lane).isClosed = true;
    else lane.close();
  }

  /** What waits is not wanted any more. */
  forget(lane: Lane): void {
    const entry = this.#waiting.get(lane);
    if (entry === undefined) return;
    this.#give(entry);
    this.#waiting.delete(lane);
  }

  #write(lane: Lane, answer: Uint8Array): void {
    lane.write(answer);
    // Answers are shared between readers: those that leave at once are not counted for each of them.
    if (answer.length <= this.#options.bytesMax || !this.isFull) return;
    this.#streamBytes += answer.length;
    this.#options.memory.hold(answer.length);
  }

  #keep(entry: Waiting, answer: Uint8Array): void {
    this.#give(entry);
    if (!this.#options.memory.tryTake(answer.length)) {
      this.#options.overflow();
      return;
    }
    this.#waitingBytes += answer.length;
    entry.answer = answer;
  }

  #give(entry: Waiting): void {
    const size = entry.answer?.length ?? 0;
    entry.answer = undefined;
    if (this.#waitingBytes === 0) return;
    this.#waitingBytes -= size;
    this.#options.memory.give(size);
  }

  /** The reader has gone. */
  #end(): void {
    this.#options.memory.give(this.#waitingBytes + this.#streamBytes);
    this.#waitingBytes = this.#streamBytes = 0;
    this.#waiting.clear();
  }

  #entry(lane: Lane): Waiting {
    let entry = this.#waiting.get(lane);
    if (entry === undefined)
      this.#waiting.set(lane, (entry = { answer: undefined, isClosed: false }));
    return entry;
  }

  #flush(): void {
    if (this.#streamBytes > 0) {
      this.#options.memory.give(this.#streamBytes);
      this.#streamBytes = 0;
    }
    for (const [lane, entry] of this.#waiting) {
      if (this.isFull) return;
      const { answer, isClosed } = entry;
      this.#give(entry);
      this.#waiting.delete(lane);
      if (answer !== undefined) this.#write(lane, answer);
      if (isClosed) lane.close();
    }
  }
}

/** A view of the bytes, no copy. */
export function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Answers on their way to one reader, in a bounded space. A reader that is slower than its answers is not told all of
 * them: while more than so many bytes wait for it, the newest of each subscription takes the place of the one before.
 */
import { Buffer } from "node:buffer";
import type { Writable } from "node:stream";

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

export class Outbox {
  readonly #out: Writable;
  readonly #bytesMax: number;
  readonly #waiting = new Map<Lane, Waiting>();

  constructor(out: Writable, bytesMax: number) {
    this.#out = out;
    this.#bytesMax = bytesMax;
    out.on("drain", () => this.#flush());
  }

  /** Whether the reader is behind. */
  get isFull(): boolean {
    return this.#out.writableNeedDrain && this.#out.writableLength > this.#bytesMax;
  }

  push(lane: Lane, answer: Uint8Array): void {
    if (!this.isFull && !this.#waiting.has(lane)) lane.write(answer);
    else this.#entry(lane).answer = answer;
  }

  /** Behind the answer that waits. */
  close(lane: Lane): void {
    if (this.#waiting.has(lane)) this.#entry(lane).isClosed = true;
    else lane.close();
  }

  /** What waits is not wanted any more. */
  forget(lane: Lane): void {
    this.#waiting.delete(lane);
  }

  #entry(lane: Lane): Waiting {
    let entry = this.#waiting.get(lane);
    if (entry === undefined)
      this.#waiting.set(lane, (entry = { answer: undefined, isClosed: false }));
    return entry;
  }

  #flush(): void {
    for (const [lane, { answer, isClosed }] of this.#waiting) {
      if (this.isFull) return;
      this.#waiting.delete(lane);
      if (answer !== undefined) lane.write(answer);
      if (isClosed) lane.close();
    }
  }
}

/** A view of the bytes, no copy. */
export function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Answers as bytes: appended to one buffer that is used again and again. Rendering never waits, so one buffer is
 * enough for a process; a second one is made should a writer be taken while another is out.
 */
import { Buffer } from "node:buffer";

const startBytes = 64 * 1024;
/** A larger buffer is not kept for the next answer. */
const keptBytesMax = 4 * 1024 * 1024;
/** Below this length a byte loop beats a call into native code (measured). */
const loopBytesMax = 16;

let spare: Buffer | undefined = Buffer.allocUnsafe(startBytes);

export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor() {
    this.#buffer = spare ?? Buffer.allocUnsafe(startBytes);
    spare = undefined;
  }

  /** Bytes so far; a mark for `cutBack`. */
  get length(): number {
    return this.#length;
  }

  /** Takes back everything behind a mark. */
  cutBack(length: number): void {
    this.#length = length;
  }

  byte(value: number): void {
    if (this.#length === this.#buffer.length) this.#grow(1);
    this.#buffer[this.#length++] = value;
  }

  bytes(value: Uint8Array): void {
    const size = value.length;
    if (this.#length + size > this.#buffer.length) this.#grow(size);
    const buffer = this.#buffer;
    if (size < loopBytesMax) {
      let at = this.#length;
      for (let i = 0; i < size; i++) buffer[at++] = value[i] ?? 0;
    } else buffer.set(value, this.#length);
    this.#length += size;
  }

  /** Characters below U+0080 only. */
  ascii(text: string): void {
    const size = text.length;
    if (this.#length + size > this.#buffer.length) this.#grow(size);
    if (size < loopBytesMax) {
      const buffer = this.#buffer;
      let at = this.#length;
      for (let i = 0; i < size; i++) buffer[at++] = text.charCodeAt(i);
    } else this.#buffer.write(text, this.#length, "latin1");
    this.#length += size;
  }

  /** Any text, as UTF-8. */
  text(text: string): void {
    const most = text.length * 3;
    if (this.#length + most > this.#buffer.length) this.#grow(most);
    this.#length += this.#buffer.write(text, this.#length, "utf8");
  }

  /** A text as a JSON string. */
  string(text: string): void {
    this.text(JSON.stringify(text));
  }

  /** The bytes behind a mark, copied. */
  copyFrom(mark: number): Uint8Array {
    return Buffer.from(this.#buffer.subarray(mark, this.#length));
  }

  /** All bytes, copied; gives the buffer back. The writer is done. */
  finish(): Uint8Array {
    const result = this.copyFrom(0);
    if (this.#buffer.length <= keptBytesMax) spare = this.#buffer;
    this.#length = 0;
    this.#buffer = emptyBuffer;
    return result;
  }

  #grow(more: number): void {
    const size = Math.max(this.#buffer.length * 2, this.#length + more, startBytes);
    const next = Buffer.allocUnsafe(size);
    this.#buffer.copy(next, 0, 0, this.#length);
    this.#buffer = next;
  }
}

const emptyBuffer = Buffer.alloc(0);

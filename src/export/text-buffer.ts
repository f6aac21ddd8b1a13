/** Hot: text that is made byte by byte, in one piece of memory that is given out and filled again. */
import { must } from "../base/assert.ts";
const growth = 2;

export class TextBuffer {
  private bytes: Uint8Array;
  private at = 0;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  get length(): number {
    return this.at;
  }

  /** Room for `count` bytes at the end; gives where they begin. The caller fills all of them, in `memory`. */
  take(count: number): number {
    const { at } = this;
    const end = at + count;
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.bytes.length * growth));
      grown.set(this.bytes.subarray(0, at));
      this.bytes = grown;
    }
    this.at = end;
    return at;
  }

  /** Until the next `take`. */
  get memory(): Uint8Array {
    return this.bytes;
  }

  u8(byte: number): void {
    const at = this.take(1);
    this.bytes[at] = byte;
  }

  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    const at = this.take(length);
    if (length > shortMax) this.bytes.set(bytes, at);
    else for (let i = 0; i < length; i++) this.bytes[at + i] = must(bytes[i], "within bounds");
  }

  /** `0x1a` */
  uid(uid: number): void {
    let digits = 1;
    for (let bound = 16; uid >= bound; bound *= 16) digits++;
    let at = this.take(digits + 2);
    this.bytes[at++] = 0x30;
    this.bytes[at++] = 0x78;
    let rest = uid;
    for (let place = at + digits - 1; place >= at; place--) {
      const higher = rest > 0xffffffff ? Math.floor(rest / 16) : rest >>> 4;
      this.bytes[place] = must(hexDigits[rest - higher * 16], "a hexadecimal digit");
      rest = higher;
    }
  }

  /** What was written, in memory of its own; the buffer is empty then. */
  drain(): Uint8Array {
    const made = this.bytes.slice(0, this.at);
    this.at = 0;
    return made;
  }
}

/** Up to so many bytes a loop is faster than the call into the platform. */
const shortMax = 24;

const hexDigits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Bytes: comparing, joining, and a writer and a reader of numbers, texts and byte runs. */
import { assert, must } from "./assert.ts";

export const emptyBytes: Uint8Array = new Uint8Array(0);

/** Unsigned, byte by byte; a prefix comes first. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function startsWithBytes(bytes: Uint8Array, prefix: Uint8Array): boolean {
  if (bytes.length < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (bytes[i] !== prefix[i]) return false;
  return true;
}

export function concatBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  return joinBytes(pieces);
}

/** `concatBytes` of any number: arguments must fit on the stack. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Little endian; four stores, which cost less than a call of a view or of a Buffer's own writer. */
export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** Little endian. */
export function writeUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}

/** Little endian. */
export function readUint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}

/** Little endian, of two's complement. */
export function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** Little endian. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0;
}

/** The first key after every key that begins with `prefix`; undefined when there is none (all 0xff). */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let last = prefix.length - 1;
  while (last >= 0 && prefix[last] === 0xff) last--;
  if (last < 0) return undefined;
  const end = prefix.slice(0, last + 1);
  end[last] = must(end[last], "one was found") + 1;
  return end;
}

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Up to so many characters a loop over ASCII is faster than the call into the platform. */
const shortUnitsMax = 96;

export function encodeUtf8(text: string): Uint8Array {
  const { length } = text;
  if (length > shortUnitsMax) return encoder.encode(text);
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return encoder.encode(text);
    bytes[i] = unit;
  }
  return bytes;
}

export function decodeUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** How many bytes `writeVarint` takes. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  if (value < 0x10000000) return 4;
  if (value < 0x800000000) return 5;
  if (value < 0x40000000000) return 6;
  if (value < 0x2000000000000) return 7;
  return 8;
}

/** LEB128 of a safe integer ≥ 0 at `at`; returns the place behind it. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  while (rest >= 0x80000000) {
    target[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** Up to so many bytes a loop is faster than the call into the platform. */
const shortBytesMax = 24;

const scratchView = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratchView.buffer);

/** Grows as it is written to. Little-endian but where said. */
export class ByteWriter {
  private bytes: Uint8Array;
  private heldView: DataView | undefined = undefined;
  private at = 0;

  constructor(sizeHint = 256) {
    this.bytes = new Uint8Array(sizeHint);
  }

  get length(): number {
    return this.at;
  }

  private get view(): DataView {
    return (this.heldView ??= new DataView(this.bytes.buffer));
  }

  private reserve(count: number): number {
    const at = this.at;
    const need = at + count;
    if (need > this.bytes.length) {
      const grown = new Uint8Array(Math.max(need, this.bytes.length * 2));
      grown.set(this.bytes.subarray(0, at));
      this.bytes = grown;
      this.heldView = undefined;
    }
    this.at = need;
    return at;
  }

  u8(value: number): void {
    const at = this.reserve(1);
    this.bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.reserve(2);
    this.view.setUint16(at, value, true);
  }

  u32(value: number): void {
    this.i32(value);
  }

  i32(value: number): void {
    this.putU32(this.reserve(4), value);
  }

  /** Over what was written at `at` before. */
  putU32(at: number, value: number): void {
    const { bytes } = this;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
  }

  i64(value: bigint): void {
    const at = this.reserve(8);
    this.view.setBigInt64(at, value, true);
  }

  f64(value: number): void {
    const at = this.reserve(8);
    scratchView.setFloat64(0, value, true);
    this.bytes.set(scratchBytes, at);
  }

  /** A safe integer, as `i64` writes it. */
  safeI64(value: number): void {
    const high = Math.floor(value / 0x100000000);
    this.i32(value - high * 0x100000000);
    this.i32(high);
  }

  /** A safe integer ≥ 0. */
  varint(value: number): void {
    const at = this.reserve(8);
    this.at = writeVarint(this.bytes, at, value);
  }

  raw(bytes: Uint8Array): void {
    const { length } = bytes;
    const at = this.reserve(length);
    if (length > shortBytesMax) this.bytes.set(bytes, at);
    else for (let i = 0; i < length; i++) this.bytes[at + i] = must(bytes[i], "within bounds");
  }

  /** Length first. */
  run(bytes: Uint8Array): void {
    this.varint(bytes.length);
    this.raw(bytes);
  }

  /** UTF-8, length first. */
  text(text: string): void {
    this.run(encodeUtf8(text));
  }

  /** Each UTF-16 unit a byte (they must be below 256), length first. */
  latin1(text: string): void {
    this.varint(text.length);
    const at = this.reserve(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[at + i] = text.charCodeAt(i);
  }

  /** What was written, in memory of its own. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.at);
  }

  /** What was written; lent until the next `reset` or write. */
  lend(): Uint8Array {
    return this.bytes.subarray(0, this.at);
  }

  reset(): void {
    this.at = 0;
  }

  /** Takes back what was written behind `length`. */
  cut(length: number): void {
    this.at = length;
  }
}

/** Reads what ByteWriter wrote. Reading past the end is Broken. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;
  private heldView: DataView | undefined = undefined;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Made when it is needed: it costs more than reading most of what is read. */
  private get view(): DataView {
    const { bytes } = this;
    return (this.heldView ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  private step(count: number): number {
    const at = this.at;
    assert(at + count <= this.bytes.length, "stored bytes end early");
    this.at = at + count;
    return at;
  }

  u8(): number {
    return must(this.bytes[this.step(1)], "within bounds");
  }

  u16(): number {
    return readUint16(this.bytes, this.step(2));
  }

  u32(): number {
    return this.i32() >>> 0;
  }

  i32(): number {
    return readInt32(this.bytes, this.step(4));
  }

  i64(): bigint {
    return this.view.getBigInt64(this.step(8), true);
  }

  f64(): number {
    return this.view.getFloat64(this.step(8), true);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  /** Lent: shares the memory. */
  raw(count: number): Uint8Array {
    const at = this.step(count);
    return this.bytes.subarray(at, at + count);
  }

  run(): Uint8Array {
    return this.raw(this.varint());
  }

  skip(count: number): undefined {
    this.step(count);
  }

  skipRun(): void {
    this.step(this.varint());
  }

  text(): string {
    return decodeUtf8(this.run());
  }

  latin1(): string {
    const bytes = this.run();
    let text = "";
    for (let i = 0; i < bytes.length; i++)
      text += String.fromCharCode(must(bytes[i], "within bounds"));
    return text;
  }
}

/**
 * Messages over a stream between processes of one server, or between its machines. A frame: length u32, little-endian
 * (of what follows), kind u8, number of the request u32, payload.
 */
import { must } from "./assert.ts";
import { readUint32, type ByteWriter } from "./bytes.ts";

export interface StreamFrame<Kind extends number = number> {
  readonly kind: Kind;
  readonly request: number;
  readonly payload: Uint8Array;
}

const frontBytes = 9;

/** Begins a frame behind what was written; `endFrame` with what it gives closes it. */
export function beginFrame(writer: ByteWriter, kind: number, request: number): number {
  const start = writer.length;
  writer.u32(0);
  writer.u8(kind);
  writer.u32(request);
  return start;
}

export function endFrame(writer: ByteWriter, start: number): void {
  writer.putU32(start, writer.length - start - 4);
}

export function encodeFrame(kind: number, request: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(frontBytes + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, 5 + payload.length, true);
  frame[4] = kind;
  view.setUint32(5, request, true);
  frame.set(payload, frontBytes);
  return frame;
}

/**
 * Cuts a stream into frames. Payloads share the memory of the pieces that they came in, which belongs to nobody else; of
 * a frame in several pieces it is memory of its own.
 */
export class FrameCutter<Kind extends number = number> {
  readonly #bytesMax: number;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #wanted = 4;
  #isFront = true;

  /** `bytesMax`: a longer frame is garbage. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** false when the stream is not ours. */
  push(piece: Uint8Array, take: (frame: StreamFrame<Kind>) => void): boolean {
    const rest = this.#held === 0 && this.#isFront ? this.#cutWhole(piece, take) : piece;
    if (rest === undefined) return false;
    if (rest.length === 0) return true;
    this.#pieces.push(rest);
    this.#held += rest.length;
    while (this.#held >= this.#wanted) {
      const bytes = this.#takeBytes(this.#wanted);
      if (this.#isFront) {
        this.#wanted = readUint32(bytes, 0);
        if (!this.#isSize(this.#wanted)) return false;
      } else {
        take({ kind: bytes[0] as Kind, request: readUint32(bytes, 1), payload: bytes.subarray(5) });
        this.#wanted = 4;
      }
      this.#isFront = !this.#isFront;
    }
    return true;
  }

  #isSize(size: number): boolean {
    return size >= 5 && size <= this.#bytesMax;
  }

  #takeBytes(count: number): Uint8Array {
    const taken = new Uint8Array(count);
    let at = 0;
    let used = 0;
    while (at < count) {
      const piece = must(this.#pieces[used], "so much is held");
      const part = Math.min(piece.length, count - at);
      taken.set(part === piece.length ? piece : piece.subarray(0, part), at);
      at += part;
      if (part === piece.length) used++;
      else this.#pieces[used] = piece.subarray(part);
    }
    if (used > 0) this.#pieces = this.#pieces.slice(used);
    this.#held -= count;
    return taken;
  }

  /** Takes the frames that a piece has whole; returns what is left behind them, undefined where it is not ours. */
  #cutWhole(piece: Uint8Array, take: (frame: StreamFrame<Kind>) => void): Uint8Array | undefined {
    let at = 0;
    while (piece.length - at >= frontBytes) {
      const size = readUint32(piece, at);
      if (!this.#isSize(size)) return undefined;
      const end = at + 4 + size;
      if (end > piece.length) break;
      const payload = piece.subarray(at + frontBytes, end);
      take({ kind: piece[at + 4] as Kind, request: readUint32(piece, at + 5), payload });
      at = end;
    }
    return at === 0 ? piece : piece.subarray(at);
  }
}

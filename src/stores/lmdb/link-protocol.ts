/**
 * What the processes of one server say to its writer. A frame: length u32 (of what follows), kind u8, number of the
 * request u32, payload. The hello with the store's id comes first; notices have number 0.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import { faultTable } from "../../model/fault-table.ts";
import { Fault, type FaultCode } from "../../model/fault.ts";
import { StoreRefusal, type FillJob, type SweepRequest } from "../../store/store.ts";

export const frameKind = {
  hello: 1,
  welcome: 2,
  commit: 3,
  lease: 4,
  reserve: 5,
  fill: 6,
  sweep: 7,
  claimSlot: 8,
  answer: 9,
  refusal: 10,
  fault: 11,
  notice: 12,
  pause: 13,
  resume: 14,
} as const;

export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

const protocolVersion = 3;
const frontBytes = 9;
/** A change of a few million facts; a longer frame is garbage. */
const frameBytesMax = 1024 * 1024 * 1024;

export interface LinkFrame {
  readonly kind: FrameKind;
  readonly request: number;
  readonly payload: Uint8Array;
}

/** Begins a frame behind what was written; `endFrame` with what it gives closes it. */
export function beginFrame(writer: ByteWriter, kind: FrameKind, request: number): number {
  const start = writer.length;
  writer.u32(0);
  writer.u8(kind);
  writer.u32(request);
  return start;
}

export function endFrame(writer: ByteWriter, start: number): void {
  writer.putU32(start, writer.length - start - 4);
}

export function encodeFrame(kind: FrameKind, request: number, payload: Uint8Array): Uint8Array {
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
export class FrameCutter {
  private pieces: Uint8Array[] = [];
  private held = 0;
  private wanted = 4;
  private isFront = true;

  /** undefined when the stream is not ours. */
  push(piece: Uint8Array, take: (frame: LinkFrame) => void): boolean {
    const rest = this.held === 0 && this.isFront ? cutWhole(piece, take) : piece;
    if (rest === undefined) return false;
    if (rest.length === 0) return true;
    this.pieces.push(rest);
    this.held += rest.length;
    while (this.held >= this.wanted) {
      const bytes = this.takeBytes(this.wanted);
      if (this.isFront) {
        this.wanted = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
        if (this.wanted < 5 || this.wanted > frameBytesMax) return false;
      } else {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const kind = bytes[0] as FrameKind;
        take({ kind, request: view.getUint32(1, true), payload: bytes.subarray(5) });
        this.wanted = 4;
      }
      this.isFront = !this.isFront;
    }
    return true;
  }

  private takeBytes(count: number): Uint8Array {
    const taken = new Uint8Array(count);
    let at = 0;
    let used = 0;
    while (at < count) {
      const piece = this.pieces[used]!;
      const part = Math.min(piece.length, count - at);
      taken.set(part === piece.length ? piece : piece.subarray(0, part), at);
      at += part;
      if (part === piece.length) used++;
      else this.pieces[used] = piece.subarray(part);
    }
    if (used > 0) this.pieces = this.pieces.slice(used);
    this.held -= count;
    return taken;
  }
}

/** Takes the frames that a piece has whole; returns what is left behind them, undefined where it is not ours. */
function cutWhole(piece: Uint8Array, take: (frame: LinkFrame) => void): Uint8Array | undefined {
  let at = 0;
  while (piece.length - at >= frontBytes) {
    const size = readU32(piece, at);
    if (size < 5 || size > frameBytesMax) return undefined;
    const end = at + 4 + size;
    if (end > piece.length) break;
    const payload = piece.subarray(at + frontBytes, end);
    take({ kind: piece[at + 4] as FrameKind, request: readU32(piece, at + 5), payload });
    at = end;
  }
  return at === 0 ? piece : piece.subarray(at);
}

function readU32(bytes: Uint8Array, at: number): number {
  const high = bytes[at + 3]! * 0x1000000;
  return high + (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16));
}

interface Hello {
  readonly storeId: string;
  /** The slot that this process had before the link was lost. */
  readonly slot: { readonly slot: number; readonly floorTs: number } | undefined;
}

export function encodeHello(hello: Hello): Uint8Array {
  const writer = new ByteWriter(64);
  writer.u8(protocolVersion);
  writer.text(hello.storeId);
  writer.u8(hello.slot === undefined ? 0 : 1);
  if (hello.slot !== undefined) {
    writer.u8(hello.slot.slot);
    writer.varint(hello.slot.floorTs);
  }
  return writer.finish();
}

/** undefined when the other side speaks another protocol. */
export function decodeHello(payload: Uint8Array): Hello | undefined {
  const reader = new ByteReader(payload);
  if (reader.u8() !== protocolVersion) return undefined;
  const storeId = reader.text();
  if (reader.u8() === 0) return { storeId, slot: undefined };
  const slot = reader.u8();
  return { storeId, slot: { slot, floorTs: reader.varint() } };
}

/** Numbers, each a safe integer ≥ 0. */
export function encodeNumbers(...numbers: readonly number[]): Uint8Array {
  const writer = new ByteWriter(numbers.length * 8);
  for (const number of numbers) writer.varint(number);
  return writer.finish();
}

export function decodeNumbers(payload: Uint8Array): number[] {
  const reader = new ByteReader(payload);
  const numbers: number[] = [];
  while (reader.left > 0) numbers.push(reader.varint());
  return numbers;
}

export function encodeFill(job: FillJob): Uint8Array {
  const writer = new ByteWriter(64);
  writer.u32(job.storageId);
  writer.u32(job.predicate);
  writer.varint(job.after);
  writer.varint(job.limit);
  writer.varint(job.basisTs === undefined ? 0 : job.basisTs + 1);
  writer.run(job.detail);
  return writer.finish();
}

export function decodeFill(payload: Uint8Array): FillJob {
  const reader = new ByteReader(payload);
  const storageId = reader.u32();
  const predicate = reader.u32();
  const after = reader.varint();
  const limit = reader.varint();
  const basis = reader.varint();
  const job = { storageId, predicate, after, limit, detail: reader.run() };
  return basis === 0 ? job : { ...job, basisTs: basis - 1 };
}

const sweepKinds = ["storage", "index", "predicate"] as const;

export function encodeSweep(request: SweepRequest): Uint8Array {
  const id =
    request.kind === "index" ? request.index : request.kind === "predicate" ? request.predicate : 0;
  const kind = sweepKinds.indexOf(request.kind);
  return encodeNumbers(kind, request.storageId, id, request.limit);
}

export function decodeSweep(payload: Uint8Array): SweepRequest {
  const [number, storageId, id, limit] = decodeNumbers(payload) as [number, number, number, number];
  const kind = sweepKinds[number];
  assert(kind !== undefined, "a sweep has a known kind");
  if (kind === "storage") return { kind, storageId, limit };
  if (kind === "index") return { kind, storageId, index: id, limit };
  return { kind, storageId, predicate: id, limit };
}

const reasons = ["conflict", "basis", "fence", "horizon", "schema", "slot"] as const;

/** How an error travels: a refusal by its reason, a fault by its code and message, the rest as a fault. */
export function encodeError(error: unknown): { kind: FrameKind; payload: Uint8Array } {
  const writer = new ByteWriter(64);
  if (error instanceof StoreRefusal) {
    writer.u8(reasons.indexOf(error.reason));
    return { kind: frameKind.refusal, payload: writer.finish() };
  }
  const isFault = error instanceof Fault;
  writer.text(isFault ? error.code : "");
  writer.text(error instanceof Error ? error.message : String(error));
  return { kind: frameKind.fault, payload: writer.finish() };
}

export function decodeError(frame: LinkFrame): Error {
  const reader = new ByteReader(frame.payload);
  if (frame.kind === frameKind.refusal) return new StoreRefusal(reasons[reader.u8()]!);
  const code = reader.text();
  const message = reader.text();
  return code in faultTable ? new Fault(code as FaultCode, message) : new Error(message);
}

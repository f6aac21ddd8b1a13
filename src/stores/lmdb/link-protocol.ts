/**
 * What the processes of one server say to its writer, in frames (`base/frames.ts`). The hello with the store's id comes
 * first; notices have number 0.
 */
import { assert } from "../../base/assert.ts";
import { ByteReader, ByteWriter } from "../../base/bytes.ts";
import type { StreamFrame } from "../../base/frames.ts";
import { faultTable } from "../../model/fault-table.ts";
import { Fault, type FaultCode } from "../../model/fault.ts";
import {
  StoreRefusal,
  type FillJob,
  type PlacedRows,
  type SweepRequest,
} from "../../store/store.ts";

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
  /** Of several machines: answered when this one has all that was acknowledged when it was asked. */
  current: 15,
  /** Of several machines: until when this one leads for certain. Answered with `leadHeard`. */
  lead: 16,
  leadHeard: 17,
  /** Rows that a restore brings. */
  place: 18,
  /** A commit with which the log begins anew: of its own kind, so that who does not know it refuses it. */
  commitBeginning: 19,
  /** Whoever compacts the store asks so: what is committed from now on is noted. */
  compactBegin: 20,
  /** It has so many bytes of it in the copy. Answered with whether the copy is the store now, and how many there are. */
  compactExchange: 21,
  /** To a process that reads: open the copy, too. Answered with `filePrepared`, 1 or 0. */
  prepareFile: 22,
  filePrepared: 23,
  /** Read the copy from now on. Answered with `fileUsed`. */
  useFile: 24,
  fileUsed: 25,
  /** Nothing comes of it. */
  forgetFile: 26,
  /** Of several machines: the process is heard, and welcome when a machine leads that can be reached. */
  seeks: 27,
} as const;

export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

const protocolVersion = 3;
/** A change of a few million facts; a longer frame is garbage. */
export const linkFrameBytesMax = 1024 * 1024 * 1024;

export type LinkFrame = StreamFrame<FrameKind>;

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

/** undefined when the other side speaks another protocol, or none. */
export function decodeHello(payload: Uint8Array): Hello | undefined {
  return readWhole(payload, (reader) => {
    if (reader.u8() !== protocolVersion) return undefined;
    const storeId = reader.text();
    if (reader.u8() === 0) return { storeId, slot: undefined };
    const slot = reader.u8();
    return { storeId, slot: { slot, floorTs: reader.varint() } };
  });
}

/** undefined where the bytes end early. */
function readWhole<T>(
  payload: Uint8Array,
  read: (reader: ByteReader) => T | undefined,
): T | undefined {
  try {
    return read(new ByteReader(payload));
  } catch {
    return undefined;
  }
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

export function encodePlaced({ slot, floorTs, rows, uids }: PlacedRows): Uint8Array {
  const bytes = rows.reduce((sum, { key, value }) => sum + key.length + value.length + 8, 64);
  const writer = new ByteWriter(bytes);
  writer.u8(slot);
  writer.varint(floorTs);
  writer.varint(uids.length);
  for (const uid of uids) writer.varint(uid);
  for (const { key, value } of rows) {
    writer.run(key);
    writer.run(value);
  }
  return writer.finish();
}

export function decodePlaced(payload: Uint8Array): PlacedRows {
  const reader = new ByteReader(payload);
  const slot = reader.u8();
  const floorTs = reader.varint();
  const uids = Array.from({ length: reader.varint() }, () => reader.varint());
  const rows: PlacedRows["rows"][number][] = [];
  while (reader.left > 0) rows.push({ key: reader.run().slice(), value: reader.run().slice() });
  return { slot, floorTs, rows, uids };
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

/** undefined: it is none. */
export function decodeError({ kind, payload }: LinkFrame): Error | undefined {
  return readWhole(payload, (reader) => {
    if (kind === frameKind.refusal) {
      const reason = reasons[reader.u8()];
      return reason === undefined ? undefined : new StoreRefusal(reason);
    }
    if (kind !== frameKind.fault) return undefined;
    const code = reader.text();
    const message = reader.text();
    return Object.hasOwn(faultTable, code)
      ? new Fault(code as FaultCode, message)
      : new Error(message);
  });
}

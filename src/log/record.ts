/**
 * A record of the log, byte by byte (reference/log 2): a head, which is sealed by its sum and by that of the record
 * before, and a body, whose hash the head has.
 */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { equalBytes } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import { LogDamaged, type SealedRecord } from "./replicated-log.ts";

/** Written down as their place in the list. */
const kinds = ["", "begin", "rows", "barrier", "format", "digest"] as const;
/** begin: a leader's first. rows: a transaction of the store. barrier: nothing, but all before it is durable. */
type RecordKind = Exclude<(typeof kinds)[number], "">;

/** What the head of a record says. */
export interface RecordHead {
  /** The store's id, 16 bytes. A restored store has another one. */
  readonly history: Uint8Array;
  readonly seq: number;
  /** Of its leader; grows with each. */
  readonly term: number;
  readonly kind: RecordKind;
  /** Which form the rows have. */
  readonly rowFormat: number;
  /** `sum` of the last valid record before it; zeros at the beginning. */
  readonly prev: Uint8Array;
  /** Its leader knew that all up to this number is kept. */
  readonly durable: number;
  /** The commits in it; 0: none. */
  readonly firstTs: number;
  readonly lastTs: number;
  /** The leader's clock, since 1970. */
  readonly wallMs: number;
}

interface BodyFacts {
  readonly isPacked: boolean;
  /** Engines that bound their rows keep it apart. */
  readonly isInParts: boolean;
  /** Unpacked. */
  readonly keysBytes: number;
  readonly rowsBytes: number;
  readonly bodySum: Buffer;
}

export type DecodedHead = RecordHead & BodyFacts;

/** What a record carries: bytes that only its kind knows. */
export interface RecordBody {
  /** Fingerprints of what its commits rest on and touch. */
  readonly keys: Uint8Array;
  readonly rows: Uint8Array;
}

const sumBytes = 32;
export const noSum: Buffer = Buffer.alloc(sumBytes);

const magic = Buffer.from("WLR1");
const headBytes = 146;
const packedFlag = 1;
const partsFlag = 2;

/** A body above it is kept in parts. */
export const partBytes = 512 * 1024;
/** Of a record's rows and keys, unpacked. */
const bodyBytesMax = 1024 * 1024 * 1024;
/** Packing less gains nothing. */
const packedFrom = 1024;

const pack = promisify(brotliCompress);
const unpack = promisify(brotliDecompress);

/** A body as it will lie in the log. Its head may be sealed later: bodies do not depend on each other. */
export interface PackedBody extends BodyFacts {
  readonly bytes: Buffer;
}

/** Fault E_LOG for more than a record can hold. Level 1: 30 % of rows, some 60 MB a second, in a thread. */
export async function packBody({ keys, rows }: RecordBody): Promise<PackedBody> {
  const size = keys.length + rows.length;
  if (size > bodyBytesMax) {
    throw new Fault(
      "E_LOG",
      `a transaction of ${size} bytes is more than a record of the log holds (${bodyBytesMax})`,
    );
  }
  const plain = Buffer.concat([keys, rows], size);
  const isPacked = size >= packedFrom;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  const bytes = isPacked ? await pack(plain, { params }) : plain;
  return {
    bytes,
    isPacked,
    isInParts: bytes.length > partBytes,
    keysBytes: keys.length,
    rowsBytes: rows.length,
    bodySum: sha256(bytes),
  };
}

export function sealLogRecord(fields: RecordHead, body: PackedBody): SealedRecord {
  const head = Buffer.alloc(headBytes);
  head.set(magic, 0);
  head.writeUInt16LE(headBytes, 4);
  head.writeUInt16LE((body.isPacked ? packedFlag : 0) | (body.isInParts ? partsFlag : 0), 6);
  head.set(fields.history, 8);
  head.writeBigUInt64LE(BigInt(fields.seq), 24);
  head.writeBigUInt64LE(BigInt(fields.term), 32);
  head.writeUInt8(kinds.indexOf(fields.kind), 40);
  head.writeUInt8(fields.rowFormat, 41);
  head.set(fields.prev, 42);
  head.writeBigUInt64LE(BigInt(fields.durable), 74);
  head.writeBigUInt64LE(BigInt(fields.firstTs), 82);
  head.writeBigUInt64LE(BigInt(fields.lastTs), 90);
  head.writeBigUInt64LE(BigInt(fields.wallMs), 98);
  head.writeUInt32LE(body.keysBytes, 106);
  head.writeUInt32LE(body.rowsBytes, 110);
  head.set(body.bodySum, 114);
  return asSealed(head, body.bytes);
}

/** A record as an adapter found it; nothing of it is judged but its length. Fault E_LOG for what is none. */
export function asSealed(head: Buffer, body: Buffer): SealedRecord {
  if (head.length < headBytes || !head.subarray(0, magic.length).equals(magic)) {
    throw new Fault("E_LOG", "the log holds something that is no record");
  }
  const seq = Number(head.readBigUInt64LE(24));
  return { seq, sum: sha256(head), prev: head.subarray(42, 74), head, body };
}

/** Fault E_LOG for what this version cannot read: it is never skipped. */
export function readHead({ head, seq }: SealedRecord): DecodedHead {
  const kind = kinds[head.readUInt8(40)];
  if (head.readUInt16LE(4) !== head.length || head.length !== headBytes || !kind) {
    throw new Fault(
      "E_LOG",
      `record ${seq} of the log is of a newer format than this version reads`,
    );
  }
  const flags = head.readUInt16LE(6);
  const number = (at: number): number => Number(head.readBigUInt64LE(at));
  return {
    history: head.subarray(8, 24),
    seq,
    term: number(32),
    kind,
    rowFormat: head.readUInt8(41),
    prev: head.subarray(42, 74),
    durable: number(74),
    firstTs: number(82),
    lastTs: number(90),
    wallMs: number(98),
    isPacked: (flags & packedFlag) !== 0,
    isInParts: isInParts(head),
    keysBytes: head.readUInt32LE(106),
    rowsBytes: head.readUInt32LE(110),
    bodySum: head.subarray(114, headBytes),
  };
}

/** Whether the body of a record was too large for a row of its engine. */
export function isInParts(head: Buffer): boolean {
  return (head.readUInt16LE(6) & partsFlag) !== 0;
}

/** Fault E_LOG where the body is not the one that was sealed. */
export async function openBody({ body }: SealedRecord, head: DecodedHead): Promise<RecordBody> {
  const damaged = (cause?: unknown): Fault =>
    new LogDamaged(head.seq, "is damaged: its body is not the one that was sealed", { cause });
  if (!equalBytes(sha256(body), head.bodySum)) throw damaged();
  const size = head.keysBytes + head.rowsBytes;
  if (size > bodyBytesMax) throw damaged();
  let plain = body;
  if (head.isPacked) {
    try {
      plain = await unpack(body, { maxOutputLength: Math.max(size, 1) });
    } catch (error) {
      throw damaged(error);
    }
  }
  if (plain.length !== size) throw damaged();
  return { keys: plain.subarray(0, head.keysBytes), rows: plain.subarray(head.keysBytes) };
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** How far a machine has applied the log, as its store notes it with each transaction. */
import { Fault } from "../model/fault.ts";
import type { ChainPoint } from "../log/chain.ts";

const positionBytes = 48;

export function encodePosition({ seq, term, sum }: ChainPoint): Uint8Array {
  const bytes = Buffer.alloc(positionBytes);
  bytes.writeBigUInt64LE(BigInt(seq), 0);
  bytes.writeBigUInt64LE(BigInt(term), 8);
  bytes.set(sum, 16);
  return bytes;
}

export function decodePosition(row: Uint8Array): ChainPoint {
  if (row.length !== positionBytes) {
    throw new Fault("E_LOG", "the store's place in the log is of a newer format, or damaged");
  }
  const bytes = Buffer.from(row);
  return {
    seq: Number(bytes.readBigUInt64LE(0)),
    term: Number(bytes.readBigUInt64LE(8)),
    sum: bytes.subarray(16),
  };
}

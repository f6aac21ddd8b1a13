/**
 * The two journal files (decision 0018). Each holds, little endian:
 * - at 0 a mark: magic, epoch, whether the data file is trusted, checksum. With the epoch of the base it says that the
 *   base is sound: all of the data file that the base names is on the disk;
 * - at `baseAt` the base: magic, epoch, how many records the epoch before it has at least, the lengths of what follows,
 *   the name of the run of the machine (`machine.ts`), LMDB's two meta pages, checksum;
 * - at `recordsAt` the records, one for each transaction since the base: length of its rows, checksum, epoch, number
 *   from 0, and the rows as the transaction put and removed them, in order.
 * What lies behind the last record is of older epochs, or torn: its checksum, epoch or number does not fit.
 */
import { crc32 } from "node:zlib";
import { writeUint32 } from "../../base/bytes.ts";

export const journalNames = ["journal.0", "journal.1"] as const;

export const blockBytes = 4096;
export const baseAt = blockBytes;
/** Room for the meta pages of the largest page size that LMDB knows. */
export const recordsAt = blockBytes * 34;
export const recordHeadBytes = 16;

const markMagic = 0x6b72616d;
const baseMagic = 0x65736162;
const baseHeadBytes = 20;

export interface Base {
  readonly epoch: number;
  /** Records of the epoch before; a journal with fewer of them is damaged. */
  readonly recordsBefore: number;
  readonly machine: string;
  /** LMDB's two meta pages, as they lie at the front of the data file. */
  readonly metas: Uint8Array;
}

export interface Mark {
  readonly epoch: number;
  /** False after a sync of the data file failed: only what the base reaches is known to be on the disk. */
  readonly isTrusted: boolean;
}

/** In one sector, so that it is written whole or not at all. */
export function encodeMark({ epoch, isTrusted }: Mark): Buffer {
  const bytes = Buffer.alloc(blockBytes);
  bytes.writeUInt32LE(markMagic, 0);
  bytes.writeUInt32LE(epoch, 4);
  bytes.writeUInt32LE(isTrusted ? 1 : 0, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12);
  return bytes;
}

/** undefined when there is none. */
export function decodeMark(file: Buffer): Mark | undefined {
  if (file.length < 16 || file.readUInt32LE(0) !== markMagic) return undefined;
  if (crc32(file.subarray(0, 12)) !== file.readUInt32LE(12)) return undefined;
  return { epoch: file.readUInt32LE(4), isTrusted: file.readUInt32LE(8) === 1 };
}

export function encodeBase(base: Base): Buffer {
  const machine = Buffer.from(base.machine, "latin1");
  const length = baseHeadBytes + machine.length + base.metas.length;
  const bytes = Buffer.alloc(length + 4);
  bytes.writeUInt32LE(baseMagic, 0);
  bytes.writeUInt32LE(base.epoch, 4);
  bytes.writeUInt32LE(base.recordsBefore, 8);
  bytes.writeUInt32LE(machine.length, 12);
  bytes.writeUInt32LE(base.metas.length, 16);
  bytes.set(machine, baseHeadBytes);
  bytes.set(base.metas, baseHeadBytes + machine.length);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
  return bytes;
}

/** undefined when there is no whole one. `bytes` begin at `baseAt`. */
export function decodeBase(bytes: Buffer): Base | undefined {
  if (bytes.length < baseHeadBytes || bytes.readUInt32LE(0) !== baseMagic) return undefined;
  const machineEnd = baseHeadBytes + bytes.readUInt32LE(12);
  const length = machineEnd + bytes.readUInt32LE(16);
  if (length + 4 > bytes.length) return undefined;
  if (crc32(bytes.subarray(0, length)) !== bytes.readUInt32LE(length)) return undefined;
  return {
    epoch: bytes.readUInt32LE(4),
    recordsBefore: bytes.readUInt32LE(8),
    machine: bytes.toString("latin1", baseHeadBytes, machineEnd),
    metas: bytes.subarray(machineEnd, length),
  };
}

/** Fills in the head of the record that lies in the first `length` bytes, its rows behind the head. */
export function sealRecord(record: Buffer, length: number, epoch: number, number: number): void {
  record.writeUInt32LE(length - recordHeadBytes, 0);
  record.writeUInt32LE(epoch, 8);
  record.writeUInt32LE(number, 12);
  record.writeUInt32LE(crc32(record.subarray(8, length)), 4);
}

/** The rows of the record at `at`; undefined when it is not whole, or not this one. */
export function openRecord(
  file: Buffer,
  at: number,
  expected: { readonly epoch: number; readonly number: number },
): Buffer | undefined {
  if (at + recordHeadBytes > file.length) return undefined;
  const end = at + recordHeadBytes + file.readUInt32LE(at);
  if (end > file.length || file.readUInt32LE(at + 8) !== expected.epoch) return undefined;
  if (file.readUInt32LE(at + 12) !== expected.number) return undefined;
  if (crc32(file.subarray(at + 8, end)) !== file.readUInt32LE(at + 4)) return undefined;
  return file.subarray(at + recordHeadBytes, end);
}

/**
 * Rows one behind the other: length of the key, length of the value and 1, or 0 where the key was removed; key; value.
 * A row's place is where it begins.
 */
export class RowWriter {
  /** The record under work, with room for its head. */
  bytes = Buffer.allocUnsafe(startBytes);
  length = recordHeadBytes;

  clear(): void {
    this.length = recordHeadBytes;
    if (this.bytes.length > keptBytesMax) this.bytes = Buffer.allocUnsafe(startBytes);
  }

  /** As `clear`, when what was written is still being read. */
  leave(): void {
    this.length = recordHeadBytes;
    this.bytes = Buffer.allocUnsafe(startBytes);
  }

  /** The row's place; its value is to be filled in. `valueBytes` undefined: the key is removed. */
  add(key: Uint8Array, valueBytes: number | undefined): number {
    const place = this.length;
    const end = place + rowHeadBytes + key.length + (valueBytes ?? 0);
    if (end > this.bytes.length) this.grow(end);
    const { bytes } = this;
    writeUint32(bytes, place, key.length);
    writeUint32(bytes, place + 4, valueBytes === undefined ? 0 : valueBytes + 1);
    bytes.set(key, place + rowHeadBytes);
    this.length = end;
    return place;
  }

  /** Lent until the next `add`. */
  keyAt(place: number): Uint8Array {
    const at = place + rowHeadBytes;
    return new Uint8Array(
      this.bytes.buffer,
      this.bytes.byteOffset + at,
      this.bytes.readUInt32LE(place),
    );
  }

  /** Lent until the next `add`; undefined of a key that is removed. */
  valueAt(place: number): Uint8Array | undefined {
    const size = this.bytes.readUInt32LE(place + 4);
    if (size === 0) return undefined;
    const at = place + rowHeadBytes + this.bytes.readUInt32LE(place);
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + at, size - 1);
  }

  private grow(length: number): void {
    const grown = Buffer.allocUnsafe(Math.max(length, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

const rowHeadBytes = 8;
const startBytes = 256 * 1024;
/** A buffer that one large transaction needed is not kept. */
const keptBytesMax = 8 * 1024 * 1024;

export function visitRows(
  rows: Buffer,
  visit: (key: Uint8Array, value: Uint8Array | undefined) => void,
): void {
  for (let at = 0; at < rows.length;) {
    const keyEnd = at + rowHeadBytes + rows.readUInt32LE(at);
    const size = rows.readUInt32LE(at + 4);
    const end = keyEnd + Math.max(0, size - 1);
    visit(
      rows.subarray(at + rowHeadBytes, keyEnd),
      size === 0 ? undefined : rows.subarray(keyEnd, end),
    );
    at = end;
  }
}

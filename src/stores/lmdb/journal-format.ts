/**
 * The two journal files (decisions 0018, 0028). Each holds, little endian:
 * - at 0 and at `secondMarkAt` the same mark: magic, epoch, two bits (`Mark`), checksum. With the epoch of the base it
 *   says that the base is sound: all of the data file that the base names is on the disk;
 * - at `baseAt` the base: magic, epoch, how many records the epoch before it has, the lengths of what follows, the salt
 *   of this journal, the name of the run of the machine (`machine.ts`), LMDB's two meta pages, checksum;
 * - at `recordsAt` the records, one for each transaction since the base: length of its rows, epoch, number from 0,
 *   checksum of the rows, checksum of this head, and the rows as the transaction put and removed them, in order. Of an
 *   encrypted store the rows are sealed, and what is said of them holds for the sealed ones (`journal-seal.ts`).
 * What lies behind the last record is of older epochs, zeros, or torn. A head that is sound tells a record that is not:
 * whatever is followed by one of a greater number was once whole (`journal-scan.ts`). The salt keeps a value that a
 * client wrote from passing for a head.
 */
import { crc32 } from "node:zlib";
import { writeUint32 } from "../../base/bytes.ts";

export const journalNames = ["journal.0", "journal.1"] as const;

export const blockBytes = 4096;
export const secondMarkAt = 2048;
export const baseAt = blockBytes;
/** Room for the meta pages of the largest page size that LMDB knows. */
export const recordsAt = blockBytes * 34;
export const recordHeadBytes = 20;
/** Of format 4: length, checksum of all that follows, epoch, number. */
const oldHeadBytes = 16;

const markBytes = 16;
const markMagic = 0x6b72616d;
const baseMagic = 0x32736162;
/** Of an encrypted store. */
const sealedBaseMagic = 0x33736162;
export const macBytes = 32;
const baseHeadBytes = 24;
const oldBaseMagic = 0x65736162;
const oldBaseHeadBytes = 20;

export interface Base {
  readonly epoch: number;
  /** Records of the epoch before; a journal with fewer of them is damaged. */
  readonly recordsBefore: number;
  /** The same in all bases of one journal. undefined: of format 4. */
  readonly salt: number | undefined;
  readonly machine: string;
  /** LMDB's two meta pages, as they lie at the front of the data file. */
  readonly metas: Uint8Array;
  /** Of an encrypted store: over all of the above (`journal-seal.ts`). */
  readonly mac?: Uint8Array;
}

export interface Mark {
  readonly epoch: number;
  /** False after a sync of the data file failed: only what the base reaches is known to be on the disk. */
  readonly isTrusted: boolean;
  /** A newer base is sound, in the other file: without that one the journal is not whole. */
  readonly isPast: boolean;
}

const trustedBit = 1;
const pastBit = 2;

/** Twice, in two sectors: what damages one leaves the other. */
export function encodeMark({ epoch, isTrusted, isPast }: Mark): Buffer {
  const bytes = Buffer.alloc(blockBytes);
  bytes.writeUInt32LE(markMagic, 0);
  bytes.writeUInt32LE(epoch, 4);
  bytes.writeUInt32LE((isTrusted ? trustedBit : 0) | (isPast ? pastBit : 0), 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 12)), 12);
  bytes.copy(bytes, secondMarkAt, 0, markBytes);
  return bytes;
}

/**
 * undefined: there is none, or the first one was torn. "damaged": there was one. `isSingle`: format 4 wrote it once.
 */
export function decodeMark(file: Buffer, isSingle = false): Mark | undefined | "damaged" {
  const copies = [0, secondMarkAt].map((at) => file.subarray(at, at + markBytes));
  const marks = copies.flatMap((copy) => readMark(copy) ?? []);
  if (marks.length === 0) {
    const isWritten = copies.map((copy) => copy.some((byte) => byte !== 0));
    return isWritten[1] === true || (isSingle && isWritten[0] === true) ? "damaged" : undefined;
  }
  // Where only one has arrived, all is on the disk that it says.
  const epoch = Math.max(...marks.map((mark) => mark.epoch));
  const newest = marks.filter((mark) => mark.epoch === epoch);
  return {
    epoch,
    isTrusted: newest.every((mark) => mark.isTrusted),
    isPast: newest.some((mark) => mark.isPast),
  };
}

function readMark(copy: Buffer): Mark | undefined {
  if (copy.length < markBytes || copy.readUInt32LE(0) !== markMagic) return undefined;
  if (crc32(copy.subarray(0, 12)) !== copy.readUInt32LE(12)) return undefined;
  const bits = copy.readUInt32LE(8);
  return {
    epoch: copy.readUInt32LE(4),
    isTrusted: (bits & trustedBit) !== 0,
    isPast: (bits & pastBit) !== 0,
  };
}

export function encodeBase(base: Base): Buffer {
  const machine = Buffer.from(base.machine, "latin1");
  const macAt = baseHeadBytes + machine.length + base.metas.length;
  const length = macAt + (base.mac?.length ?? 0);
  const bytes = Buffer.alloc(length + 4);
  bytes.writeUInt32LE(base.mac === undefined ? baseMagic : sealedBaseMagic, 0);
  bytes.writeUInt32LE(base.epoch, 4);
  bytes.writeUInt32LE(base.recordsBefore, 8);
  bytes.writeUInt32LE(machine.length, 12);
  bytes.writeUInt32LE(base.metas.length, 16);
  bytes.writeUInt32LE(base.salt ?? 0, 20);
  bytes.set(machine, baseHeadBytes);
  bytes.set(base.metas, baseHeadBytes + machine.length);
  if (base.mac !== undefined) bytes.set(base.mac, macAt);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
  return bytes;
}

/** undefined when there is no whole one. `bytes` begin at `baseAt`. */
export function decodeBase(bytes: Buffer): Base | undefined {
  if (bytes.length < baseHeadBytes) return undefined;
  const magic = bytes.readUInt32LE(0);
  const isSealed = magic === sealedBaseMagic;
  if (magic !== baseMagic && magic !== oldBaseMagic && !isSealed) return undefined;
  const isOld = magic === oldBaseMagic;
  const headBytes = isOld ? oldBaseHeadBytes : baseHeadBytes;
  const machineEnd = headBytes + bytes.readUInt32LE(12);
  const metasEnd = machineEnd + bytes.readUInt32LE(16);
  const length = metasEnd + (isSealed ? macBytes : 0);
  if (length + 4 > bytes.length) return undefined;
  if (crc32(bytes.subarray(0, length)) !== bytes.readUInt32LE(length)) return undefined;
  return {
    epoch: bytes.readUInt32LE(4),
    recordsBefore: bytes.readUInt32LE(8),
    salt: isOld ? undefined : bytes.readUInt32LE(20),
    machine: bytes.toString("latin1", headBytes, machineEnd),
    metas: bytes.subarray(machineEnd, metasEnd),
    ...(isSealed ? { mac: bytes.subarray(metasEnd, length) } : {}),
  };
}

/** Which record it is. */
export interface RecordName {
  readonly epoch: number;
  readonly number: number;
  /** Of the journal's bases. */
  readonly salt: number | undefined;
}

/** Fills in the head of the record that lies in the first `length` bytes, its rows behind the head. */
export function sealRecord(
  record: Buffer,
  length: number,
  { epoch, number, salt }: RecordName,
): void {
  record.writeUInt32LE(length - recordHeadBytes, 0);
  record.writeUInt32LE(epoch, 4);
  record.writeUInt32LE(number, 8);
  record.writeUInt32LE(crc32(record.subarray(recordHeadBytes, length)), 12);
  record.writeUInt32LE(crc32(record.subarray(0, 16), salt ?? 0), 16);
}

interface RecordHead {
  readonly number: number;
  readonly rowsAt: number;
  readonly end: number;
}

/** Of the epoch's record that begins at `at`, whatever became of its rows; undefined when none does. */
export function readRecordHead(
  file: Buffer,
  at: number,
  { epoch, salt }: Pick<RecordName, "epoch" | "salt">,
): RecordHead | undefined {
  if (at < recordsAt) return undefined;
  if (salt === undefined) return readOldHead(file, at, epoch);
  if (at + recordHeadBytes > file.length || file.readUInt32LE(at + 4) !== epoch) return undefined;
  if (crc32(file.subarray(at, at + 16), salt) !== file.readUInt32LE(at + 16)) return undefined;
  const rowsAt = at + recordHeadBytes;
  return { number: file.readUInt32LE(at + 8), rowsAt, end: rowsAt + file.readUInt32LE(at) };
}

/** Its checksum is one over head and rows: only a whole record has a head. */
function readOldHead(file: Buffer, at: number, epoch: number): RecordHead | undefined {
  const rowsAt = at + oldHeadBytes;
  if (rowsAt > file.length || file.readUInt32LE(at + 8) !== epoch) return undefined;
  const end = rowsAt + file.readUInt32LE(at);
  if (end > file.length) return undefined;
  if (crc32(file.subarray(at + 8, end)) !== file.readUInt32LE(at + 4)) return undefined;
  return { number: file.readUInt32LE(at + 12), rowsAt, end };
}

/** Where in a head the epoch stands. */
export function epochPlace(salt: number | undefined): number {
  return salt === undefined ? 8 : 4;
}

/** The rows of the record at `at`; undefined when it is not whole, or not this one. */
export function openRecord(file: Buffer, at: number, name: RecordName): Buffer | undefined {
  const head = readRecordHead(file, at, name);
  if (head === undefined || head.number !== name.number || head.end > file.length) return undefined;
  const rows = file.subarray(head.rowsAt, head.end);
  if (name.salt !== undefined && crc32(rows) !== file.readUInt32LE(at + 12)) return undefined;
  return rows;
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

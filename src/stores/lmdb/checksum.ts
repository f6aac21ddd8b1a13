/**
 * CRC-32 over key and value, at the end of every stored value (reference/storage 8.4). `zlib.crc32` costs 200 ns a call
 * and then 0.2 ns a byte; four bytes at a time through the tables below 1 ns a byte and nothing to call: keys and short
 * values go through them.
 */
import { crc32 } from "node:zlib";
import { readInt32, readUint32 } from "../../base/bytes.ts";

export const checksumBytes = 4;

const tableBytesMax = 192;

/** What a byte does to the checksum, followed by none, one, two and three zero bytes. */
const table0 = makeTable();
const table1 = followTable(table0);
const table2 = followTable(table1);
const table3 = followTable(table2);

function makeTable(): Uint32Array {
  const made = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    let value = i;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    made[i] = value;
  }
  return made;
}

function followTable(table: Uint32Array): Uint32Array {
  return table.map((value) => table0[value & 0xff]! ^ (value >>> 8));
}

function crcByTable(bytes: Uint8Array, length: number, seed: number): number {
  let crc = ~seed;
  let i = 0;
  for (const end = length - 3; i < end; i += 4) {
    crc ^= readInt32(bytes, i);
    crc =
      table3[crc & 0xff]! ^
      table2[(crc >>> 8) & 0xff]! ^
      table1[(crc >>> 16) & 0xff]! ^
      table0[crc >>> 24]!;
  }
  for (; i < length; i++) crc = table0[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Over the key and the first `length` bytes of the value. */
export function checksumOf(key: Uint8Array, value: Uint8Array, length: number): number {
  const seed = crcByTable(key, key.length, 0);
  if (length <= tableBytesMax) return crcByTable(value, length, seed);
  return crc32(length === value.length ? value : value.subarray(0, length), seed);
}

/** Whether the last bytes of a stored value are its checksum. `size`: of the value, where it is lent in a larger buffer. */
export function isIntact(key: Uint8Array, stored: Uint8Array, size = stored.length): boolean {
  const length = size - checksumBytes;
  if (length < 0) return false;
  return readUint32(stored, length) === checksumOf(key, stored, length);
}

/**
 * What V8 compiled of a program, as a file beside it: who starts with it need not compile. The file names what it was made
 * of, and what it holds, by checksums; V8 itself compares its version and flags, but of the program no more than the length.
 */
import { crc32 } from "node:zlib";

/** Checksum of the program, checksum of what follows. */
const headerLength = 8;

/** The file for what V8 has compiled of a program. */
export function encodeCodeCache(program: Uint8Array, compiled: Uint8Array): Uint8Array {
  const file = Buffer.alloc(headerLength + compiled.length);
  file.writeUInt32LE(crc32(program), 0);
  file.writeUInt32LE(crc32(compiled), 4);
  file.set(compiled, headerLength);
  return file;
}

/** What the file holds; undefined where it is of another program, or damaged. */
export function decodeCodeCache(file: Buffer, program: Uint8Array): Buffer | undefined {
  if (file.length <= headerLength) return undefined;
  const compiled = file.subarray(headerLength);
  const isOurs = file.readUInt32LE(0) === crc32(program);
  return isOurs && file.readUInt32LE(4) === crc32(compiled) ? compiled : undefined;
}

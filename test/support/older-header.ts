/** Headers of the formats 1 to 4, which say how large the data file was when it was closed, and nothing more. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";

/** `cleanBytes` 0: it was not closed. */
export function writeOlderHeader(dir: string, version: number, cleanBytes: number): void {
  const path = join(dir, "weft.store");
  const bytes = Buffer.alloc(43);
  readFileSync(path).copy(bytes, 0, 0, 31);
  bytes.writeUInt32LE(version, 11);
  bytes.writeDoubleLE(cleanBytes, 31);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 39)), 39);
  writeFileSync(path, bytes);
}

/**
 * The number of the newest transaction, read where LMDB keeps it for all processes: in the lock file, behind magic and
 * format, 64 bits little endian. One call of the system, where renewing a read transaction to see whether there is a
 * newer state costs five times that. A commit moves it before it is acknowledged.
 */
import * as fs from "node:fs";
import { join } from "node:path";

const lockName = "lock.mdb";
const newestAt = 8;

export class NewestTransaction {
  private file: number | undefined = undefined;
  private readonly bytes = Buffer.alloc(8);

  /** `expected`: the newest number, while nobody writes. Where the file says something else, `read` always gives undefined. */
  constructor(dir: string, expected: number) {
    // Elsewhere a file's bytes and its memory map need not be the same at every moment.
    if (process.platform !== "linux") return;
    try {
      this.file = fs.openSync(join(dir, lockName), "r");
    } catch {
      // A disk that cannot be written has none; nobody else is there either.
      return;
    }
    if (this.read() !== expected) this.close();
  }

  read(): number | undefined {
    if (this.file === undefined) return undefined;
    fs.readSync(this.file, this.bytes, 0, 8, newestAt);
    return this.bytes.readUInt32LE(0) + this.bytes.readUInt32LE(4) * 0x1_0000_0000;
  }

  close(): void {
    if (this.file !== undefined) fs.closeSync(this.file);
    this.file = undefined;
  }
}

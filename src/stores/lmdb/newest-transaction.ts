/**
 * Which transaction is the newest, for a fraction of what it costs to renew a read transaction and to look. Numbers are
 * compared with others of the same source only.
 */
import * as fs from "node:fs";
import { join } from "node:path";

export interface NewestTransaction {
  /** undefined where it cannot be told. */
  read(): number | undefined;
  close(): void;
}

/** In the process that alone writes: it counts its transactions. */
export class OwnTransactions implements NewestTransaction {
  private count = 0;

  note(): void {
    this.count++;
  }

  read(): number {
    return this.count;
  }

  close(): void {}
}

const lockName = "lock.mdb";
const newestAt = 8;

/**
 * In the others: LMDB's number, where LMDB keeps it for all processes, in the lock file, behind magic and format, 64
 * bits little endian. A commit moves it before it is acknowledged.
 */
export class LockedTransaction implements NewestTransaction {
  private file: number | undefined = undefined;
  private readonly bytes = Buffer.alloc(8);

  /** `expected`: the newest number, while nobody writes. Where the file says something else, it tells nothing. */
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
    if (fs.readSync(this.file, this.bytes, 0, 8, newestAt) < 8) return undefined;
    return this.bytes.readUInt32LE(0) + this.bytes.readUInt32LE(4) * 0x1_0000_0000;
  }

  close(): void {
    if (this.file !== undefined) fs.closeSync(this.file);
    this.file = undefined;
  }
}

/** One file of the journal: what is written to it is on the disk when the call returns. */
import * as fs from "node:fs";
import { Fault } from "../../model/fault.ts";
import { FatalEngineError } from "../key-value.ts";

/** A file grows by so much at a time, by zeros: to overwrite a block costs no change of the inode, to append one does. */
const growthBytes = 1024 * 1024;
const zeros = Buffer.alloc(growthBytes);

const fullCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

export class JournalFile {
  private readonly file: number;
  private size = 0;

  /** An empty file. */
  constructor(path: string) {
    const { O_RDWR, O_CREAT, O_TRUNC, O_DSYNC } = fs.constants;
    this.file = fs.openSync(path, O_RDWR | O_CREAT | O_TRUNC | O_DSYNC, 0o600);
  }

  /** To at least `length` bytes. Faults as `write`. */
  grow(length: number): void {
    while (this.size < length) {
      this.write(zeros, this.size);
      this.size += growthBytes;
    }
  }

  /** To at most `length` bytes. */
  shrink(length: number): void {
    if (this.size <= length) return;
    this.guard(() => fs.ftruncateSync(this.file, length));
    this.size = length;
  }

  /** Fault E_STORE_FULL when the disk is, FatalEngineError for all other errors. */
  write(bytes: Uint8Array, at: number): void {
    this.guard(() => {
      for (let done = 0; done < bytes.length;) {
        done += fs.writeSync(this.file, bytes, done, bytes.length - done, at + done);
      }
    });
  }

  /** As `write`, aside: `bytes` are not to be changed before it is settled. */
  async writeAside(bytes: Uint8Array, at: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        done += await this.writeSome(bytes.subarray(done), at + done);
      }
    } catch (cause) {
      throw explain(cause);
    }
  }

  private writeSome(bytes: Uint8Array, at: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.file, bytes, 0, bytes.length, at, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  }

  close(): void {
    fs.closeSync(this.file);
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      throw explain(cause);
    }
  }
}

function explain(cause: unknown): Error {
  if (fullCodes.includes((cause as { code?: unknown }).code)) {
    return new Fault("E_STORE_FULL", "the store is full", { cause });
  }
  return new FatalEngineError("the journal cannot be written", { cause });
}

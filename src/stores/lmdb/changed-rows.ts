/**
 * What is committed while a compaction copies the store: each row of LMDB that was put or removed, in the order of the
 * commits, in a file beside the copy. Of an encrypted store these are its sealed blocks. Nothing rests on the file: what
 * it lacks ends the compaction.
 */
import * as fs from "node:fs";
import { recordHeadBytes, RowWriter, visitRows } from "./journal-format.ts";
import type { PutRow } from "./database.ts";

/** Before the rows of a transaction: how many bytes they take. */
const lengthBytes = 4;

export class ChangedRows {
  readonly #file: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #rows = new RowWriter();
  #bytes = 0;
  #hasFailed = false;

  /** Makes the file. `onFailure`: it lacks what was committed; called once. */
  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#file = fs.openSync(path, "wx", 0o600);
    this.#onFailure = onFailure;
  }

  /** Of the transactions that were kept. */
  get bytes(): number {
    return this.#bytes;
  }

  add(key: Uint8Array, stored: Uint8Array | undefined): void {
    const place = this.#rows.add(key, stored?.length);
    if (stored !== undefined) this.#rows.valueAt(place)?.set(stored);
  }

  /** The transaction is committed. */
  keep(): void {
    const { bytes, length } = this.#rows;
    if (length === recordHeadBytes || this.#hasFailed) return;
    const start = recordHeadBytes - lengthBytes;
    bytes.writeUInt32LE(length - recordHeadBytes, start);
    try {
      for (let at = start; at < length;) {
        at += fs.writeSync(this.#file, bytes, at, length - at, this.#bytes + at - start);
      }
      this.#bytes += length - start;
    } catch (error) {
      this.#hasFailed = true;
      this.#onFailure(error);
    }
  }

  /** What was added since is forgotten: the transaction failed, or was kept. */
  drop(): void {
    this.#rows.clear();
  }

  close(): void {
    fs.closeSync(this.#file);
  }
}

/** Gives the rows of some transactions behind `from`, about `bytesMax` of them; where the next begins. */
export function readChangedRows(
  file: number,
  from: number,
  { bytesMax, put }: { readonly bytesMax: number; readonly put: PutRow },
): number {
  const head = Buffer.alloc(lengthBytes);
  let at = from;
  while (at - from < bytesMax && fs.readSync(file, head, 0, lengthBytes, at) === lengthBytes) {
    const rows = Buffer.allocUnsafe(head.readUInt32LE(0));
    // The rest is being written.
    if (!readWhole(file, rows, at + lengthBytes)) break;
    visitRows(rows, put);
    at += lengthBytes + rows.length;
  }
  return at;
}

function readWhole(file: number, into: Buffer, from: number): boolean {
  for (let at = 0; at < into.length;) {
    const read = fs.readSync(file, into, at, into.length - at, from + at);
    if (read === 0) return false;
    at += read;
  }
  return true;
}

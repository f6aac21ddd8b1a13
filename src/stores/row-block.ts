/**
 * Blocks: runs of rows in the order of their keys, cut where a key's hash says so. The same rows are cut in the same
 * places whatever came before them, so that a block in which nothing changed has the same name in the next backup.
 */
import { deflateRaw, inflateRaw } from "node:zlib";
import { promisify } from "node:util";
import { readUint32, writeUint32 } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import type { StoredRow } from "./stored-rows.ts";

const bytesMin = 256 * 1024;
const bytesMax = 8 * 1024 * 1024;
/** One key in so many ends a block: with rows of some 300 bytes a block has two megabytes. */
const keysBetween = 8192;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

export interface RowBlock {
  readonly rows: number;
  readonly bytes: Buffer;
}

export class BlockCutter {
  #parts: Buffer[] = [];
  #bytes = 0;
  #rows = 0;

  /** A block that ends with this row; undefined: it goes on. */
  add({ key, stored }: StoredRow): RowBlock | undefined {
    const part = Buffer.allocUnsafe(8 + key.length + stored.length);
    writeUint32(part, 0, key.length);
    writeUint32(part, 4, stored.length);
    part.set(key, 8);
    part.set(stored, 8 + key.length);
    this.#parts.push(part);
    this.#bytes += part.length;
    this.#rows++;
    const isEnd = this.#bytes >= bytesMin && hashOf(key) % keysBetween === 0;
    return isEnd || this.#bytes >= bytesMax ? this.finish() : undefined;
  }

  /** What is left; undefined where that is nothing. */
  finish(): RowBlock | undefined {
    if (this.#rows === 0) return undefined;
    const block = { rows: this.#rows, bytes: Buffer.concat(this.#parts, this.#bytes) };
    this.#parts = [];
    this.#bytes = 0;
    this.#rows = 0;
    return block;
  }
}

/** FNV-1a; its lower bits say little of the last byte. */
function hashOf(key: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of key) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Rows of a block; they share its memory. Fault E_BACKUP where they do not fill it. */
export function readBlockRows(bytes: Buffer): readonly StoredRow[] {
  const rows: StoredRow[] = [];
  let at = 0;
  while (at + 8 <= bytes.length) {
    const keyEnd = at + 8 + readUint32(bytes, at);
    const end = keyEnd + readUint32(bytes, at + 4);
    if (end > bytes.length) break;
    rows.push({ key: bytes.subarray(at + 8, keyEnd), stored: bytes.subarray(keyEnd, end) });
    at = end;
  }
  if (at !== bytes.length) throw new Fault("E_BACKUP", "a block does not hold rows");
  return rows;
}

/** Level 1: a block of rows is some 40 % of it, and twice the time makes it 37. */
export function pack(bytes: Buffer): Promise<Buffer> {
  return deflate(bytes, { level: 1 });
}

/** `bytes`: of the block that was packed; more is refused. */
export function unpack(packed: Buffer, bytes: number): Promise<Buffer> {
  return inflate(packed, { maxOutputLength: Math.max(bytes, 1) });
}

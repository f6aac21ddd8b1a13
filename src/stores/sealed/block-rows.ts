/**
 * Blocks as rows of LMDB: the key is the block's number, the value the sealed block with the checksum of any row, so that
 * all that verifies pages and rows without a key goes on as it does (reference/storage 10).
 */
import { toHex, writeUint32 } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import { checksumBytes, checksumOf } from "../lmdb/checksum.ts";
import { sealBytes, type Sealer, type StoreCipher } from "./store-cipher.ts";

const keyBytes = 8;

/** Where the tree begins; all others have greater numbers. */
export const rootBlock = 0;

export function blockKey(id: number): Uint8Array {
  const key = Buffer.alloc(keyBytes);
  key.writeUIntBE(id, 2, 6);
  return key;
}

/** undefined for what is no block's. */
export function readBlockKey(key: Uint8Array): number | undefined {
  if (key.length !== keyBytes || key[0] !== 0 || key[1] !== 0) return undefined;
  return Buffer.from(key.buffer, key.byteOffset, keyBytes).readUIntBE(2, 6);
}

/**
 * Blocks as LMDB is given them, one behind the other in a piece of memory that is used again: LMDB has copied them when
 * the transaction ends, and memory for each of them would cost a third of what sealing does.
 */
export class SealedRows {
  readonly #sealer: Sealer;
  #bytes = Buffer.allocUnsafe(startBytes);
  #end = 0;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** What was sealed before is not read any more. */
  clear(): void {
    this.#end = 0;
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafe(startBytes);
  }

  /** Lent until `clear`. */
  seal(key: Uint8Array, plain: Uint8Array): Uint8Array {
    const length = plain.length + sealBytes + checksumBytes;
    if (this.#end + length > this.#bytes.length) {
      // What lies in the one before stays there for as long as it is lent.
      this.#bytes = Buffer.allocUnsafe(Math.max(length, this.#bytes.length * 2));
      this.#end = 0;
    }
    const from = this.#end;
    const sealedEnd = this.#sealer.sealTo(this.#bytes, from, plain, key);
    this.#end = from + length;
    const stored = this.#bytes.subarray(from, this.#end);
    const sealedBytes = sealedEnd - from;
    writeUint32(stored, sealedBytes, checksumOf(key, stored, sealedBytes));
    return stored;
  }
}

const startBytes = 512 * 1024;
const keptBytes = 8 * 1024 * 1024;

/** undefined where it is not what was sealed under this number. */
export function openBlock(
  cipher: StoreCipher,
  key: Uint8Array,
  stored: Uint8Array,
): Buffer | undefined {
  return cipher.open(stored.subarray(0, stored.length - checksumBytes), key);
}

export function damagedBlock(id: number): Fault {
  const name = toHex(blockKey(id)).replace(/^0+(?=.)/, "");
  return new Fault("E_STORE_CORRUPT", `the stored block ${name} is damaged`);
}

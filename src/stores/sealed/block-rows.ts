/**
 * Blocks as rows of LMDB: the key is the block's number, the value the sealed block with the checksum of any row, so that
 * all that verifies pages and rows without a key goes on as it does (reference/storage 10).
 */
import { toHex, writeUint32 } from "../../base/bytes.ts";
import { Fault } from "../../model/fault.ts";
import { checksumBytes, checksumOf } from "../lmdb/checksum.ts";
import type { Sealer, StoreCipher } from "./store-cipher.ts";

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

/** What LMDB is given. */
export function sealBlock(sealer: Sealer, key: Uint8Array, plain: Uint8Array): Uint8Array {
  const sealed = sealer.seal(plain, key);
  const stored = Buffer.allocUnsafe(sealed.length + checksumBytes);
  stored.set(sealed);
  writeUint32(stored, sealed.length, checksumOf(key, sealed, sealed.length));
  return stored;
}

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

/**
 * The journal of an encrypted store: the rows of its records are sealed, each for its place alone, and its bases, which
 * hold nothing secret, are authenticated. Marks and heads of records are as in any journal: who can change them can end
 * the journal early, or put back an older state of the whole store, which no key prevents.
 */
import { timingSafeEqual } from "node:crypto";
import type { Sealer, StoreCipher } from "../sealed/store-cipher.ts";
import {
  encodeBase,
  macBytes,
  recordHeadBytes,
  type Base,
  type RecordName,
  type RowWriter,
} from "./journal-format.ts";

const purpose = "journal base";

export function authenticateBase(cipher: StoreCipher, base: Omit<Base, "mac">): Base {
  return { ...base, mac: cipher.authenticate(encodeBase(blankMac(base)), purpose) };
}

export function isAuthentic(cipher: StoreCipher, base: Base): boolean {
  const { mac } = base;
  if (mac?.length !== macBytes) return false;
  return timingSafeEqual(mac, cipher.authenticate(encodeBase(blankMac(base)), purpose));
}

/** The base with the length that it will have. */
function blankMac(base: Omit<Base, "mac">): Base {
  return { ...base, mac: new Uint8Array(macBytes) };
}

/** A record with its rows sealed behind room for its head. */
export function sealRows(sealer: Sealer, rows: RowWriter, name: RecordName): Buffer {
  const plain = rows.bytes.subarray(recordHeadBytes, rows.length);
  const sealed = sealer.seal(plain, nameBytes(name));
  const record = Buffer.allocUnsafe(recordHeadBytes + sealed.length);
  record.set(sealed, recordHeadBytes);
  return record;
}

/** undefined where they are not what was sealed for this record. */
export function openRows(
  cipher: StoreCipher,
  sealed: Uint8Array,
  name: RecordName,
): Buffer | undefined {
  return cipher.open(sealed, nameBytes(name));
}

function nameBytes({ epoch, number, salt }: RecordName): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt32LE(epoch, 0);
  bytes.writeUInt32LE(number, 4);
  bytes.writeUInt32LE(salt ?? 0, 8);
  return bytes;
}

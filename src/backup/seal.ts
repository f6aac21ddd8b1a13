/**
 * What names blocks, and what keeps them from those without the key. With a key names are keyed, too (HMAC-SHA-256): a
 * plain hash would tell whoever guesses a block that it is there. AES-256-GCM with the name as additional data: no block
 * can stand for another.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { readFileSync } from "node:fs";
import { Fault } from "../model/fault.ts";

export interface Seal {
  readonly isEncrypted: boolean;
  /** Shows that two keys are the same one. */
  readonly keyCheck: string;
  /** In hexadecimal. */
  nameOf(bytes: Uint8Array): string;
  close(name: string, bytes: Buffer): Buffer;
  /** Fault E_BACKUP where it is not what was closed. */
  open(name: string, sealed: Buffer): Buffer;
}

const plainSeal: Seal = {
  isEncrypted: false,
  keyCheck: "",
  nameOf: (bytes) => createHash("sha256").update(bytes).digest("hex"),
  close: (_name, bytes) => bytes,
  open: (_name, sealed) => sealed,
};

const nonceBytes = 12;
const tagBytes = 16;

/** Of a file with 32 random bytes, as they are, in hexadecimal or in base64. Fault E_USAGE for any other. */
export function readSeal(file: string | undefined): Seal {
  return file === undefined ? plainSeal : makeSeal(readKey(file));
}

function readKey(file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new Fault("E_USAGE", `--key-file ${file} cannot be read`, { cause: error });
  }
  if (bytes.length === keyBytes) return bytes;
  const text = bytes.toString("latin1").trim();
  const key = /^[\da-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (key.length === keyBytes) return key;
  throw new Fault(
    "E_USAGE",
    `--key-file ${file} does not hold 32 bytes; openssl rand -hex 32 makes some`,
  );
}

const keyBytes = 32;

function makeSeal(key: Buffer): Seal {
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync("sha256", key, "", `weft backup ${purpose}`, keyBytes));
  const names = derive("names");
  const blocks = derive("blocks");
  return {
    isEncrypted: true,
    keyCheck: derive("check").toString("hex"),
    nameOf: (bytes) => createHmac("sha256", names).update(bytes).digest("hex"),
    close(name, bytes) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", blocks, nonce);
      cipher.setAAD(Buffer.from(name));
      return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    },
    open(name, sealed) {
      const end = sealed.length - tagBytes;
      if (end < nonceBytes) throw new Fault("E_BACKUP", "a block of the backup is truncated");
      const cipher = createDecipheriv("aes-256-gcm", blocks, sealed.subarray(0, nonceBytes));
      cipher.setAAD(Buffer.from(name));
      cipher.setAuthTag(sealed.subarray(end));
      try {
        return Buffer.concat([cipher.update(sealed.subarray(nonceBytes, end)), cipher.final()]);
      } catch (error) {
        throw new Fault("E_BACKUP", "a block of the backup is damaged", { cause: error });
      }
    },
  };
}

/** Fault E_BACKUP where what is there was made with another key, or without one. */
export function checkKey(seal: Seal, keyCheck: string): void {
  const [own, other] = [seal.keyCheck, keyCheck].map((text) => Buffer.from(text));
  if (own === undefined || other === undefined) return;
  if (own.length === other.length && timingSafeEqual(own, other)) return;
  const why =
    keyCheck === ""
      ? "these backups are not encrypted: leave --key-file away"
      : seal.isEncrypted
        ? "these backups were made with another key than that of --key-file"
        : "these backups are encrypted: give --key-file";
  throw new Fault("E_BACKUP", why);
}

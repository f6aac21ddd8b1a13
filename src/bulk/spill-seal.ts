/**
 * What a load keeps in files on its way into an encrypted store: sealed by a key that is drawn for this load and kept
 * nowhere but in its memory (AES-256-GCM). Pieces of a file are numbered, and each number is used once.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { basename } from "node:path";
import { Fault } from "../model/fault.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
export const tagBytes = 16;

export class SpillSeal {
  readonly #key: Buffer;
  readonly #path: string;

  /** Of one file. `key`: of the load. */
  constructor(key: Uint8Array, path: string) {
    this.#path = path;
    this.#key = Buffer.from(hkdfSync("sha256", key, "", `weft bulk ${basename(path)}`, keyBytes));
  }

  /** The piece and its tag. */
  close(number: number, bytes: Uint8Array): Buffer {
    const cipher = createCipheriv(algorithm, this.#key, nonceOf(number));
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }

  /** Fault E_STARTUP where it is not what was closed. */
  open(number: number, sealed: Uint8Array): Buffer {
    const end = sealed.length - tagBytes;
    const cipher = createDecipheriv(algorithm, this.#key, nonceOf(number));
    try {
      cipher.setAuthTag(sealed.subarray(end));
      return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
    } catch (cause) {
      throw new Fault("E_STARTUP", `${this.#path} is not what was written`, { cause });
    }
  }
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntLE(number, 0, 6);
  return nonce;
}

/** Of one file; without a key there is none. */
export function sealOf(key: Uint8Array | undefined, path: string): SpillSeal | undefined {
  return key === undefined ? undefined : new SpillSeal(key, path);
}

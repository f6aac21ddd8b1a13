/**
 * What a store's key does to its blocks and to the records of its journal: AES-256-GCM, each with a nonce that no other
 * one has. A process that writes draws a random salt and derives a key of its own from it; under that key it counts. So
 * no number has to be remembered over a stop, and a store that went back to an older state, or was copied, repeats none.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { must } from "../../base/assert.ts";

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const saltBytes = 8;
const counterBytes = 8;
/** Salt and counter: what tells one writing of a block from all others. */
export const versionBytes = saltBytes + counterBytes;
/** What sealing adds. */
export const sealBytes = versionBytes + tagBytes;
/** Keys of runs that are kept. */
const keysMax = 1024;

/** Seals what one process writes of one kind. */
export interface Sealer {
  /** Salt and counter, cipher text, tag. `aad`: what it belongs to; `open` must be given the same. */
  seal(plain: Uint8Array, aad: Uint8Array): Buffer;
  /** The same, to where there is room for it; gives where it ends. */
  sealTo(target: Uint8Array, at: number, plain: Uint8Array, aad: Uint8Array): number;
}

export class StoreCipher {
  readonly #newest: Buffer;
  readonly #dataKeys: readonly Buffer[];
  /** Of runs, by their salts. */
  readonly #keys = new Map<string, Buffer>();

  /** `dataKeys`: the store's own, of 32 bytes, the newest first: it seals, all of them open. */
  constructor(dataKeys: readonly Buffer[]) {
    this.#newest = must(dataKeys[0], "a store that is encrypted has a key");
    this.#dataKeys = dataKeys;
  }

  sealer(): Sealer {
    const salt = randomBytes(saltBytes);
    const key = derive(this.#newest, salt);
    const version = Buffer.alloc(versionBytes);
    version.set(salt);
    const nonce = nonceOf(version);
    let count = 0;
    const sealTo: Sealer["sealTo"] = (target, at, plain, aad) => {
      writeCount(version, ++count);
      nonce.set(version.subarray(saltBytes), nonceBytes - counterBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      cipher.setAAD(aad);
      target.set(version, at);
      target.set(cipher.update(plain), at + versionBytes);
      cipher.final();
      const tagAt = at + versionBytes + plain.length;
      target.set(cipher.getAuthTag(), tagAt);
      return tagAt + tagBytes;
    };
    return {
      sealTo,
      seal(plain, aad) {
        const sealed = Buffer.allocUnsafe(plain.length + sealBytes);
        sealTo(sealed, 0, plain, aad);
        return sealed;
      },
    };
  }

  /** undefined: it was not sealed with this key for this purpose, or is not what was sealed. */
  open(sealed: Uint8Array, aad: Uint8Array): Buffer | undefined {
    if (sealed.length < sealBytes) return undefined;
    // An array of eight numbers would be an object for each; a short string is what a map finds quickest.
    const name = String.fromCharCode(...sealed.subarray(0, saltBytes));
    const known = this.#keys.get(name);
    if (known !== undefined) return openWith(known, sealed, aad);
    for (const dataKey of this.#dataKeys) {
      const key = derive(dataKey, sealed.subarray(0, saltBytes));
      const plain = openWith(key, sealed, aad);
      if (plain === undefined) continue;
      if (this.#keys.size >= keysMax) this.#keys.clear();
      this.#keys.set(name, key);
      return plain;
    }
    return undefined;
  }

  /** Of what is not secret. */
  authenticate(bytes: Uint8Array, purpose: string): Buffer {
    const key = Buffer.from(hkdfSync("sha256", this.#newest, "", `weft ${purpose}`, keyBytes));
    return createHmac("sha256", key).update(bytes).digest();
  }
}

function openWith(key: Buffer, sealed: Uint8Array, aad: Uint8Array): Buffer | undefined {
  const end = sealed.length - tagBytes;
  const cipher = createDecipheriv(algorithm, key, nonceOf(sealed));
  cipher.setAAD(aad);
  cipher.setAuthTag(sealed.subarray(end));
  const plain = cipher.update(sealed.subarray(versionBytes, end));
  try {
    cipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

function derive(dataKey: Buffer, salt: Uint8Array): Buffer {
  return Buffer.from(hkdfSync("sha256", dataKey, salt, "weft run", keyBytes));
}

function nonceOf(version: Uint8Array): Buffer {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.set(version.subarray(saltBytes, versionBytes), nonceBytes - counterBytes);
  return nonce;
}

/** Below 2^48: 285 years at 30,000 a second. */
function writeCount(version: Buffer, count: number): void {
  version.writeUIntLE(count, saltBytes, 6);
}

export function isSameVersion(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = versionBytes - 1; i >= 0; i--) if (a[i] !== b[i]) return false;
  return true;
}

/** The user's key of `--encryption "key-file=…"`: it wraps the keys of stores (`store-keys.ts`) and encrypts nothing else. */
import { hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { Fault } from "../../model/fault.ts";

export interface UserKey {
  readonly bytes: Buffer;
  /** Tells keys apart and says nothing of them: 16 hexadecimal digits. */
  readonly id: string;
}

const lengths: readonly number[] = [16, 24, 32];

/**
 * Of a file with 16, 24 or 32 bytes as they are, or 32 bytes in hexadecimal or base64. `option`: how it was named, for
 * errors. Fault E_STARTUP for any other.
 */
export function readUserKey(file: string, option: string): UserKey {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new Fault("E_STARTUP", `${option}: ${file} cannot be read`, { cause: error });
  }
  const key = lengths.includes(bytes.length) ? bytes : decodeText(bytes.toString("latin1").trim());
  if (key === undefined) {
    const made = "openssl rand -hex 32 makes such a file";
    throw new Fault(
      "E_STARTUP",
      `${option}: ${file} holds ${bytes.length} bytes, and a key has 16, 24 or 32; ${made}`,
    );
  }
  return makeUserKey(key);
}

function decodeText(text: string): Buffer | undefined {
  if (/^[\da-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  return /^[\d+/a-z]{43}=$/i.test(text) ? Buffer.from(text, "base64") : undefined;
}

export function makeUserKey(bytes: Buffer): UserKey {
  const id = Buffer.from(hkdfSync("sha256", bytes, "", "weft user key id", 8)).toString("hex");
  return { bytes, id };
}

/**
 * Admin and Client keys (seed 5): what one looks like, what is stored of it, and whether a text is it.
 *
 * Stored is SHA-256 of the whole text. That is right for keys and would be wrong for passwords: a key is 256 bits of
 * chance, so nothing can be guessed from its hash however quick the hash is, and a slow one would only make each request
 * slow. The stored rows therefore open nothing to whoever reads them.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type KeyKind = "admin" | "client";

export interface AccessKey {
  /** Public: it names the key in lists, and finds its row. */
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
  /** Infinity for never. */
  readonly expiryMs: number;
}

/** A key with what is stored of its text. */
export interface StoredKey extends AccessKey {
  readonly hash: Buffer;
}

/** `weft_client_k3f9x2abqz_…`: greppable in logs and repositories; the stored kind counts, this one is for people. */
const keyPattern = /^weft_(?:admin|client)_(?<id>[a-z2-7]{10})_[\w-]{43}$/;

const idLetters = "abcdefghijklmnopqrstuvwxyz234567";
const idLength = 10;
const secretBytes = 32;

/** The id that a text names; undefined when no key looks like that. */
export function readKeyId(text: string): string | undefined {
  return keyPattern.exec(text)?.groups?.["id"];
}

/** A new key's text, which is shown once and never stored. */
export function makeKeyText(kind: KeyKind): string {
  let id = "";
  for (const byte of randomBytes(idLength)) id += idLetters[byte & 31] ?? "";
  return `weft_${kind}_${id}_${randomBytes(secretBytes).toString("base64url")}`;
}

export function hashKeyText(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** In constant time, whatever the two have in common. */
export function isTextOf(text: string, hash: Buffer): boolean {
  return timingSafeEqual(hashKeyText(text), hash);
}

/** Two secrets that people chose, compared in constant time; hashed first, because they may differ in length. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(hashKeyText(given), hashKeyText(expected));
}

export function encodeStoredKey(key: StoredKey): Uint8Array {
  const { hash, expiryMs, ...plain } = key;
  const expiry = Number.isFinite(expiryMs) ? { expiryMs } : {};
  return new TextEncoder().encode(
    JSON.stringify({ ...plain, ...expiry, hash: hash.toString("base64") }),
  );
}

export function decodeStoredKey(bytes: Uint8Array): StoredKey {
  const row = JSON.parse(new TextDecoder().decode(bytes)) as AccessKey & { readonly hash: string };
  return { ...row, expiryMs: row.expiryMs ?? Infinity, hash: Buffer.from(row.hash, "base64") };
}

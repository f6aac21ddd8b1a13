/**
 * Keys of programs (reference/graphql 11): what one looks like, what is stored of it, and whether a text is it.
 *
 * Stored is SHA-256 of the whole text. That is right for keys and would be wrong for passwords: a key is 256 bits of
 * chance, so nothing can be guessed from its hash however quick the hash is, and a slow one would only make each request
 * slow. The stored rows therefore open nothing to whoever reads them.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * admin and client: the keys of reference/graphql 11. scoped: opens what its scopes name, in one namespace where it
 * says which.
 */
export type KeyKind = "admin" | "client" | "scoped";

/**
 * What a key may open: /graphql with its subscriptions, /query, /mutate, /alter, /admin and what is below it, /changes.
 */
export const keyScopes = ["graphql", "query", "mutate", "alter", "admin", "changes"] as const;
export type KeyScope = (typeof keyScopes)[number];

const clientScopes: readonly KeyScope[] = ["graphql", "query", "mutate"];

/** What a key of a kind without scopes of its own opens. */
export function scopesOfKind(kind: KeyKind): readonly KeyScope[] {
  if (kind === "admin") return keyScopes;
  return kind === "client" ? clientScopes : [];
}

export interface AccessKey {
  /** Public: it names the key in lists, and finds its row. */
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** In the order of `keyScopes`. */
  readonly scopes: readonly KeyScope[];
  /** The only one that it may be used for; undefined for each. */
  readonly namespace: number | undefined;
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
const keyPattern = /^weft_(?:admin|client|scoped)_(?<id>[a-z2-7]{10})_[\w-]{43}$/;

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

/**
 * `scopes` stand in rows of scoped keys alone. Releases without scopes do not know such a key's text, so they refuse it
 * and never take it for more than it is.
 */
export function encodeStoredKey(key: StoredKey): Uint8Array {
  const { hash, expiryMs, scopes, namespace, ...plain } = key;
  const row = {
    ...plain,
    ...(key.kind === "scoped" ? { scopes, namespace } : {}),
    ...(Number.isFinite(expiryMs) ? { expiryMs } : {}),
    hash: hash.toString("base64"),
  };
  return new TextEncoder().encode(JSON.stringify(row));
}

type StoredRow = Pick<StoredKey, "id" | "name" | "kind" | "createdMs"> & {
  readonly scopes?: readonly KeyScope[];
  readonly namespace?: number;
  readonly expiryMs?: number;
  readonly hash: string;
};

export function decodeStoredKey(bytes: Uint8Array): StoredKey {
  const row = JSON.parse(new TextDecoder().decode(bytes)) as StoredRow;
  return {
    ...row,
    scopes: row.scopes ?? scopesOfKind(row.kind),
    namespace: row.namespace,
    expiryMs: row.expiryMs ?? Infinity,
    hash: Buffer.from(row.hash, "base64"),
  };
}

/**
 * Signed tokens (RFC 7515, 7519): signature and times, in the words of the reference's library. The signature itself
 * is checked by `jose`; nothing of a token is believed before that.
 */
import type { KeyObject } from "node:crypto";
import { base64url, compactVerify, errors } from "jose";
import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import type { MaybePromise } from "../base/maybe.ts";

export type ClaimValue =
  | null
  | boolean
  | number
  | string
  | readonly ClaimValue[]
  | { readonly [name: string]: ClaimValue };

export type ClaimObject = { readonly [name: string]: ClaimValue };

/** Why a token is not believed: `token is malformed: …`, `token signature is invalid: …` and their like. */
export class TokenFault extends Error {
  override readonly name = "TokenFault";
}

export interface TokenHeader {
  readonly algorithm: string;
  /** undefined where the token names no key. */
  readonly keyId: string | undefined;
}

/** The key for a token, with the algorithm it may be used for. */
export interface TokenKey {
  readonly algorithm: string;
  readonly key: Uint8Array | KeyObject;
}

/** A token's payload with the time in which it holds, in milliseconds since 1970. */
export interface SignedClaims {
  readonly claims: ClaimObject;
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * The payload of a token whose signature is right; its times are read but not judged (`checkTimes`). `findKey` throws
 * TokenFault where there is no key for it. Throws TokenFault.
 */
export async function verifySignature(
  token: string,
  findKey: (header: TokenHeader) => MaybePromise<TokenKey>,
): Promise<SignedClaims> {
  const segments = token.split(".");
  const [head, body, signature] = segments;
  if (segments.length !== 3 || head === undefined || body === undefined || signature === undefined)
    throw new TokenFault("token is malformed: token contains an invalid number of segments");
  const header = readSegment(head, "header");
  const claims = readSegment(body, "claim");
  const algorithm = textOf(header["alg"]) ?? "";
  if (!isKnownAlgorithm(algorithm))
    throw new TokenFault("token is unverifiable: signing method (alg) is unavailable");
  const found = await findKey({ algorithm, keyId: textOf(header["kid"]) });
  decodeSegment(signature, "signature");
  if (algorithm !== found.algorithm) throw new TokenFault(wrongKey(algorithm));
  try {
    await compactVerify(token, found.key, { algorithms: [found.algorithm] });
  } catch (error) {
    throw new TokenFault(`token signature is invalid: ${explain(error, algorithm)}`);
  }
  const until = readTime(claims["exp"]);
  return { claims, fromMs: readTime(claims["nbf"]) ?? -Infinity, untilMs: until ?? Infinity };
}

/** Throws TokenFault for a token that is too old, or too young. */
export function checkTimes(signed: SignedClaims, nowMs: number): void {
  const faults: string[] = [];
  if (nowMs >= signed.untilMs) faults.push("token is expired");
  if (nowMs < signed.fromMs) faults.push("token is not valid yet");
  if (faults.length > 0) throw new TokenFault(`token has invalid claims: ${faults.join(", ")}`);
}

function isKnownAlgorithm(name: string): boolean {
  return /^(?:(?:HS|RS|PS|ES)(?:256|384|512)|EdDSA|none)$/.test(name);
}

function wrongKey(algorithm: string): string {
  const expectations: readonly (readonly [string, string])[] = [
    ["HS", "key is of invalid type: HMAC verify expects []byte"],
    ["RS", "key is of invalid type: RSA verify expects *rsa.PublicKey"],
    ["PS", "key is of invalid type: RSA verify expects *rsa.PublicKey"],
    ["ES", "key is of invalid type: ECDSA verify expects *ecdsa.PublicKey"],
    ["Ed", "key is of invalid type: Ed25519 verify expects ed25519.PublicKey"],
  ];
  const found = expectations.find(([prefix]) => algorithm.startsWith(prefix));
  const detail = found?.[1] ?? "token is unverifiable: 'none' signature type is not allowed";
  return `token signature is invalid: ${detail}`;
}

function explain(error: unknown, algorithm: string): string {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return error.message;
    throw error;
  }
  if (/^[RP]S/.test(algorithm)) return "crypto/rsa: verification error";
  if (algorithm.startsWith("ES")) return "crypto/ecdsa: verification error";
  return algorithm === "EdDSA" ? "ed25519: verification error" : "signature is invalid";
}

function readSegment(segment: string, what: "header" | "claim"): ClaimObject {
  const text = new TextDecoder().decode(decodeSegment(segment, what));
  const broken = (detail: string): TokenFault =>
    new TokenFault(`token is malformed: could not JSON decode ${what}: ${detail}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw broken(findJsonSyntaxFault(text)?.detail ?? error.message);
  }
  if (!isClaimObject(value)) throw broken("it is not an object");
  return value;
}

function decodeSegment(segment: string, what: string): Uint8Array {
  const at = segment.search(/[^A-Za-z0-9_-]/);
  if (at >= 0 || segment.length % 4 === 1) {
    const byte = at >= 0 ? at : segment.length - 1;
    throw new TokenFault(
      `token is malformed: could not base64 decode ${what}: illegal base64 data at input byte ${byte}`,
    );
  }
  return base64url.decode(segment);
}

/** Seconds since 1970, with fractions, as milliseconds. */
function readTime(value: ClaimValue | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return value * 1000;
  throw new TokenFault(
    "token is malformed: could not JSON decode claim: a time must be a number of seconds",
  );
}

export function isClaimObject(value: unknown): value is ClaimObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: ClaimValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

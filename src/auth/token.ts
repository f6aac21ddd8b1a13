/**
 * Who asks: the value of the token's header → the claims of the caller (reference/graphql 6.2). A token that was found
 * right is remembered with the time for which it holds, so that its signature is checked once.
 */
import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { GetText } from "../outgoing/request.ts";
import type { Authorization } from "./authorization.ts";
import { checkTimes, isClaimObject, TokenFault, verifySignature } from "./jws.ts";
import type { ClaimObject, ClaimValue, SignedClaims, TokenHeader, TokenKey } from "./jws.ts";
import { KeySet } from "./key-set.ts";

export type { ClaimObject, ClaimValue } from "./jws.ts";

/** What a caller has shown about itself: the claims of its token by name; none without one. */
export type Claims = ReadonlyMap<string, ClaimValue>;

export const noClaims: Claims = new Map();

/** The caller has shown a token that is not believed, or none where one is needed. */
export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
  /** The header itself has no form: the whole request is refused, not its fields. */
  readonly isHeaderFault: boolean;

  constructor(message: string, isHeaderFault = false) {
    super(message);
    this.isHeaderFault = isHeaderFault;
  }
}

/** Characters of remembered tokens. */
const rememberedMax = 4 * 1024 * 1024;

interface Remembered {
  readonly signed: SignedClaims;
  readonly claims: Claims;
  readonly weight: number;
}

/** Judges tokens by one `# Dgraph.Authorization` line. */
export class TokenVerifier {
  readonly #authorization: Authorization;
  readonly #clock: Clock;
  readonly #sets: readonly KeySet[];
  readonly #known = new Lru<string, Remembered>(rememberedMax, (entry) => entry.weight);
  /** The versions of the key sets by which the remembered tokens were judged. */
  #knownVersion = 0;

  constructor(authorization: Authorization, clock: Clock, getText: GetText) {
    this.#authorization = authorization;
    this.#clock = clock;
    const { keys } = authorization;
    this.#sets =
      keys.kind === "sets" ? keys.urls.map((url) => new KeySet(url, clock, getText)) : [];
  }

  /** Fetches the key sets. Throws Fault E_GRAPHQL_SCHEMA where one cannot be had. */
  async load(): Promise<void> {
    for (const set of this.#sets) await set.load();
  }

  /** The claims of who sends `header`, at once for tokens that are known. Throws TokenRefused. */
  identify(header: string | undefined): MaybePromise<Claims> {
    const token = readHeader(header);
    if (token === "") {
      if (!this.#authorization.isClosedByDefault) return noClaims;
      throw new TokenRefused("a valid JWT is required but was not provided");
    }
    const known = this.#recall(token);
    if (known === undefined) return this.#verify(token);
    try {
      checkTimes(known.signed, this.#clock.nowMs());
      return known.claims;
    } catch (error) {
      throw toRefusal(error);
    }
  }

  /** When the token of a header stops to hold, in milliseconds since 1970; Infinity for never. After `identify`. */
  expiryMs(header: string | undefined): number {
    return this.#known.peek(readHeader(header))?.signed.untilMs ?? Infinity;
  }

  #recall(token: string): Remembered | undefined {
    const version = this.#sets.reduce((sum, set) => sum + set.version, 0);
    if (version !== this.#knownVersion) {
      this.#known.clear();
      this.#knownVersion = version;
    }
    return this.#sets.every((set) => set.isFresh) ? this.#known.get(token) : undefined;
  }

  async #verify(token: string): Promise<Claims> {
    try {
      const signed = await this.#verifySigned(token);
      checkTimes(signed, this.#clock.nowMs());
      this.#checkAudience(signed.claims["aud"]);
      const claims = claimsOf(signed.claims, this.#authorization.namespace);
      this.#recall(token);
      this.#known.set(token, { signed, claims, weight: token.length });
      return claims;
    } catch (error) {
      throw toRefusal(error);
    }
  }

  /** By the key of the line, or by each set in turn; the fault of the last one counts. */
  async #verifySigned(token: string): Promise<SignedClaims> {
    const { keys } = this.#authorization;
    if (keys.kind === "key") return verifySignature(token, (header) => keyOf(keys, header));
    let fault: unknown;
    for (const set of this.#sets) {
      try {
        return await verifySignature(token, (header) => set.find(header));
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }

  #checkAudience(given: ClaimValue | undefined): void {
    const wanted = this.#authorization.audience;
    const audiences = typeof given === "string" ? [given] : isList(given) ? given : [];
    if (wanted.length === 0) {
      if (audiences.length === 0) return;
      throw new TokenRefused("audience value was expected but not provided");
    }
    if (audiences.some((name) => wanted.some((known) => isEqual(name, known)))) return;
    throw new TokenRefused("JWT `aud` value doesn't match with the audience");
  }
}

/** The token of a header: bare, or behind `Bearer`. "" for none. Throws TokenRefused. */
function readHeader(header: string | undefined): string {
  const value = header?.trim() ?? "";
  if (!/^bearer(?:\s|$)/i.test(value)) return value;
  const words = value.split(/\s/);
  if (words.length === 2 && words[1] !== undefined) return words[1];
  throw new TokenRefused(`invalid Bearer-formatted header value for JWT (${value})`, true);
}

function keyOf(keys: { algorithm: string; key: TokenKey["key"] }, header: TokenHeader): TokenKey {
  if (header.algorithm === keys.algorithm) return keys;
  throw new TokenFault(
    "token is unverifiable: error while executing keyfunc: unexpected signing method: " +
      `Expected ${keys.algorithm} Found ${header.algorithm}`,
  );
}

/** The token's claims, overlaid by the members of the namespace: an object, or the JSON text of one. */
function claimsOf(token: ClaimObject, namespace: string): Claims {
  const claims = new Map<string, ClaimValue>(Object.entries(token));
  const inner = token[namespace];
  const members = typeof inner === "string" ? readMembers(inner) : inner;
  if (isClaimObject(members))
    for (const [name, value] of Object.entries(members)) claims.set(name, value);
  return claims;
}

function readMembers(text: string): ClaimValue {
  try {
    return JSON.parse(text) as ClaimValue;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TokenFault(`token is malformed: could not JSON decode claim: ${error.message}`);
  }
}

function toRefusal(error: unknown): unknown {
  if (!(error instanceof TokenFault)) return error;
  return new TokenRefused(`unable to parse jwt token:${error.message}`);
}

function isList(value: ClaimValue | undefined): value is readonly ClaimValue[] {
  return Array.isArray(value);
}

function isEqual(given: ClaimValue, known: string): boolean {
  if (typeof given !== "string") return false;
  const a = new TextEncoder().encode(given);
  const b = new TextEncoder().encode(known);
  return a.length === b.length && timingSafeEqual(a, b);
}

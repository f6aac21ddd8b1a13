/**
 * The tokens of ACL (graphql.md 11.2): who a user is and which groups it belonged to when it logged in. Access tokens name
 * groups, even if none; refresh tokens do not, and serve only to get new ones.
 */
import { createHmac } from "node:crypto";
import { SignJWT } from "jose";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { checkTimes, TokenFault, verifySignature } from "./jws.ts";
import type { ClaimValue, SignedClaims, TokenHeader, TokenKey } from "./jws.ts";
import { readSigningKey } from "./signing-key.ts";
import type { AccessAlgorithm, SigningKey } from "./signing-key.ts";

export interface AccessTokenOptions {
  /** What `readSigningKey` takes. */
  readonly secret: Uint8Array;
  readonly algorithm: AccessAlgorithm;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  readonly clock: Clock;
}

/** Who an access token is about. */
export interface AccessClaims {
  readonly user: string;
  readonly namespace: number;
  readonly groups: readonly string[];
  /** Whether it names groups: refresh tokens do not. */
  readonly isAccess: boolean;
  /** Milliseconds since 1970. */
  readonly expiryMs: number;
}

export interface TokenPair {
  readonly accessJWT: string;
  readonly refreshJWT: string;
}

/** Characters of remembered tokens. */
const rememberedMax = 4 * 1024 * 1024;

interface Remembered {
  readonly signed: SignedClaims;
  readonly claims: AccessClaims;
  readonly weight: number;
}

export class AccessTokens {
  readonly #options: AccessTokenOptions;
  readonly #key: SigningKey;
  readonly #known = new Lru<string, Remembered>(rememberedMax, ({ weight }) => weight);

  constructor(options: AccessTokenOptions) {
    this.#options = options;
    const key = readSigningKey(options.algorithm, options.secret);
    assert(typeof key !== "string", "the key was read when the server started");
    this.#key = key;
  }

  async issue(user: string, namespace: number, groups: readonly string[]): Promise<TokenPair> {
    const { accessTtlMs, refreshTtlMs } = this.#options;
    return {
      accessJWT: await this.#sign({ userid: user, groups, namespace }, accessTtlMs),
      refreshJWT: await this.#sign({ userid: user, namespace }, refreshTtlMs),
    };
  }

  #sign(claims: Readonly<Record<string, unknown>>, ttlMs: number): Promise<string> {
    const { algorithm, clock } = this.#options;
    const exp = Math.floor((clock.nowMs() + ttlMs) / 1000);
    const header = { alg: algorithm, typ: "JWT" };
    return new SignJWT({ ...claims, exp }).setProtectedHeader(header).sign(this.#key.sign);
  }

  /** At once for tokens that were seen before. Throws TokenFault, with the reference's whole sentence. */
  read(token: string): MaybePromise<AccessClaims> {
    const known = this.#known.get(token);
    if (known === undefined) return this.#verify(token);
    this.#checkTimes(known.signed);
    return known.claims;
  }

  async #verify(token: string): Promise<AccessClaims> {
    const { algorithm } = this.#options;
    const { verify } = this.#key;
    let signed: SignedClaims;
    try {
      signed = await verifySignature(token, (header) => findKey(header, algorithm, verify));
    } catch (error) {
      throw withPrefix(error);
    }
    this.#checkTimes(signed);
    const claims = readClaims(signed);
    this.#known.set(token, { signed, claims, weight: token.length });
    return claims;
  }

  #checkTimes(signed: SignedClaims): void {
    try {
      checkTimes(signed, this.#options.clock.nowMs());
    } catch (error) {
      throw withPrefix(error);
    }
    if (signed.untilMs === Infinity) throw new TokenFault("Token is expired");
  }

  /** What a client sends back with a start time, so that nobody joins a transaction by guessing its number. */
  transactionHash(startTs: number, namespace: number): string {
    const mac = createHmac("sha256", this.#options.secret);
    return mac.update(`transaction ${namespace} ${startTs}`).digest("hex");
  }
}

function findKey(header: TokenHeader, algorithm: string, key: TokenKey["key"]): TokenKey {
  if (header.algorithm === algorithm) return { algorithm, key };
  throw new TokenFault(
    "token is unverifiable: error while executing keyfunc: " +
      `unexpected signing method in token: ${header.algorithm}`,
  );
}

function withPrefix(error: unknown): unknown {
  if (!(error instanceof TokenFault)) return error;
  const reason = error.message.replace("token is expired", "Token is expired");
  return new TokenFault(`unable to parse jwt token: ${reason}`);
}

function readClaims({ claims, untilMs }: SignedClaims): AccessClaims {
  const { userid, namespace, groups } = claims;
  if (typeof userid !== "string") throw new TokenFault("userid in claims is not a string:");
  if (typeof namespace !== "number" || !Number.isSafeInteger(namespace) || namespace < 0) {
    throw new TokenFault(`namespace in claims is not valid:${numberOf(namespace)}`);
  }
  const isAccess = Array.isArray(groups);
  const names: string[] = [];
  for (const group of isAccess ? (groups as readonly ClaimValue[]) : []) {
    if (typeof group !== "string") {
      throw new TokenFault(`unable to convert group to string:${JSON.stringify(group)}`);
    }
    names.push(group);
  }
  return { user: userid, namespace, groups: names, isAccess, expiryMs: untilMs };
}

function numberOf(value: ClaimValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/**
 * The tokens of ACL (reference/graphql 11.2): who a user is and which groups it belonged to when it logged in. Access
 * tokens name groups, even if none; refresh tokens do not, and serve only to get new ones. What this server issued says
 * so, and is judged more strictly than what somebody else signed with the same secret: that is whoever holds the
 * secret.
 */
import { createHash, createHmac } from "node:crypto";
import { SignJWT } from "jose";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { checkTimes, TokenFault, verifySignature } from "./jws.ts";
import type { ClaimValue, SignedClaims, TokenHeader, TokenKey } from "./jws.ts";
import { readSigningKey } from "./signing-key.ts";
import type { AccessAlgorithm, SigningKey } from "./signing-key.ts";

interface AccessTokenOptions {
  /** What `readSigningKey` takes: the first signs, each of them is believed. At least one. */
  readonly secrets: readonly Uint8Array[];
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
  /** undefined for a token that this server did not issue. */
  readonly issued: IssuedClaims | undefined;
}

/** What a token of this server's says beyond the reference's. */
interface IssuedClaims {
  readonly use: "access" | "refresh";
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Of a refresh token: which password its user had. */
  readonly stamp: string;
}

/** Tells a stored hash of a password from the next one, and nothing else about it. */
export function stampOf(passwordHash: string): string {
  return createHash("sha256").update(`stamp ${passwordHash}`).digest("base64url").slice(0, 22);
}

/** The claim that names a token's use; no token of the reference's has it. */
const useClaim = "weft.use";
const stampClaim = "weft.stamp";

/** A user that has shown who it is. */
export interface KnownUser {
  readonly name: string;
  readonly namespace: number;
  readonly groups: readonly string[];
  /** Of its password. */
  readonly stamp: string;
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
  /** The first signs. */
  readonly #keys: readonly SigningKey[];
  readonly #known = new Lru<string, Remembered>(rememberedMax, ({ weight }) => weight);

  constructor(options: AccessTokenOptions) {
    this.#options = options;
    this.#keys = options.secrets.map((secret) => {
      const key = readSigningKey(options.algorithm, secret);
      assert(typeof key !== "string", "the keys were read when the server started");
      return key;
    });
  }

  /** `stamp`: of the user's password. */
  async issue(user: KnownUser): Promise<TokenPair> {
    const { accessTtlMs, refreshTtlMs } = this.#options;
    const { name, namespace, groups, stamp } = user;
    const access = { userid: name, groups, namespace, [useClaim]: "access" };
    const refresh = { userid: name, namespace, [useClaim]: "refresh", [stampClaim]: stamp };
    return {
      accessJWT: await this.#sign(access, accessTtlMs),
      refreshJWT: await this.#sign(refresh, refreshTtlMs),
    };
  }

  /** As the reference signs: of whomever it names, whether there is such a user or not. */
  async issuePlain(user: string, namespace: number, groups: readonly string[]): Promise<string> {
    return this.#sign({ userid: user, groups, namespace }, this.#options.accessTtlMs);
  }

  #sign(claims: Readonly<Record<string, unknown>>, ttlMs: number): Promise<string> {
    const { algorithm, clock } = this.#options;
    const nowMs = clock.nowMs();
    const exp = Math.floor((nowMs + ttlMs) / 1000);
    // With its fraction (RFC 7519, 2: NumericDate): a token may follow a revocation within a second.
    const iat = nowMs / 1000;
    const header = { alg: algorithm, typ: "JWT" };
    const [key] = this.#keys;
    assert(key !== undefined, "there is a key to sign with");
    return new SignJWT({ ...claims, exp, iat }).setProtectedHeader(header).sign(key.sign);
  }

  /** At once for tokens that were seen before. Throws TokenFault, with the reference's whole sentence. */
  read(token: string): MaybePromise<AccessClaims> {
    const known = this.#known.get(token);
    if (known === undefined) return this.#verify(token);
    this.#checkTimes(known.signed);
    return known.claims;
  }

  async #verify(token: string): Promise<AccessClaims> {
    const signed = await this.#verifySigned(token);
    this.#checkTimes(signed);
    const claims = readClaims(signed);
    this.#known.set(token, { signed, claims, weight: token.length });
    return claims;
  }

  /** By each key in turn; the fault of the first counts, which is the newest. */
  async #verifySigned(token: string): Promise<SignedClaims> {
    const { algorithm } = this.#options;
    let fault: unknown;
    for (const { verify } of this.#keys) {
      try {
        return await verifySignature(token, (header) => findKey(header, algorithm, verify));
      } catch (error) {
        fault ??= withPrefix(error);
      }
    }
    throw fault;
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
    const mac = createHmac("sha256", this.#options.secrets[0] ?? "");
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
  const issued = readIssued(claims);
  return { user: userid, namespace, groups: names, isAccess, expiryMs: untilMs, issued };
}

function readIssued(claims: SignedClaims["claims"]): IssuedClaims | undefined {
  const { iat } = claims;
  const use = claims[useClaim];
  const stamp = claims[stampClaim];
  if ((use !== "access" && use !== "refresh") || typeof iat !== "number") return undefined;
  return { use, atMs: iat * 1000, stamp: typeof stamp === "string" ? stamp : "" };
}

function numberOf(value: ClaimValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/**
 * A set of public keys behind a URL (RFC 7517). It is fetched when the first token asks for it, kept for as long as
 * the answer's headers allow, and fetched again by the first token after that. While it cannot be had no token passes.
 */
import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { findJsonSyntaxFault } from "../base/json-syntax.ts";
import { Fault } from "../model/fault.ts";
import { OutgoingFailure, type GetText, type OutgoingAnswer } from "../outgoing/request.ts";
import { isClaimObject, TokenFault } from "./jws.ts";
import type { ClaimObject, TokenHeader, TokenKey } from "./jws.ts";

const fetchTimeoutMs = 10_000;
const answerBytesMax = 1024 * 1024;
/** After a failure, and for a key that the set does not name, the set is not asked again sooner. */
const pauseMs = 10_000;

interface LoadedKeys {
  readonly byId: ReadonlyMap<string, LoadedKey>;
  readonly loadedMs: number;
  /** On the clock; Infinity where the answer named no end. */
  readonly untilMs: number;
}

interface LoadedKey {
  readonly key: KeyObject;
  /** The algorithms that the key is for. */
  readonly algorithms: readonly string[];
}

export class KeySet {
  readonly url: string;
  readonly #clock: Clock;
  readonly #getText: GetText;
  #keys: LoadedKeys | undefined;
  #loading: Promise<LoadedKeys> | undefined;
  #failure: { readonly message: string; readonly atMs: number } | undefined;

  constructor(url: string, clock: Clock, getText: GetText) {
    this.url = url;
    this.#clock = clock;
    this.#getText = getText;
  }

  /** Counts the changes of the keys: what was judged by older ones is void. */
  version = 0;

  /** Whether what was judged by the keys still stands. */
  get isFresh(): boolean {
    return this.#keys !== undefined && this.#clock.nowMs() < this.#keys.untilMs;
  }

  /** Fetches the keys now. Throws Fault E_GRAPHQL_SCHEMA with what went wrong. */
  async load(): Promise<void> {
    await this.#load();
  }

  /** The key that a token's header names. Throws TokenFault. */
  async find(header: TokenHeader): Promise<TokenKey> {
    const { algorithm, keyId } = header;
    if (keyId === undefined) throw unverifiable("kid not present in JWT");
    let keys = this.#keys;
    const now = this.#clock.nowMs();
    if (keys === undefined || now >= keys.untilMs) keys = await this.#refresh();
    else if (!keys.byId.has(keyId) && now >= keys.loadedMs + pauseMs) keys = await this.#refresh();
    const found = keys.byId.get(keyId);
    if (found === undefined) throw unverifiable("Invalid kid");
    const isFor = found.algorithms.includes(algorithm);
    return { algorithm: isFor ? algorithm : (found.algorithms[0] ?? ""), key: found.key };
  }

  async #refresh(): Promise<LoadedKeys> {
    const failure = this.#failure;
    if (failure !== undefined && this.#clock.nowMs() < failure.atMs + pauseMs)
      throw unverifiable(failure.message);
    try {
      return await this.#load();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const message = `while refreshing JWK from the URL: ${error.message}`;
      this.#failure = { message, atMs: this.#clock.nowMs() };
      throw unverifiable(message);
    }
  }

  /** One fetch at a time, for all who wait. */
  #load(): Promise<LoadedKeys> {
    this.#loading ??= loadKeys(this.url, this.#clock, this.#getText)
      .then((keys) => {
        this.#keys = keys;
        this.#failure = undefined;
        this.version++;
        return keys;
      })
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }
}

function unverifiable(detail: string): TokenFault {
  return new TokenFault(`token is unverifiable: error while executing keyfunc: ${detail}`);
}

async function loadKeys(url: string, clock: Clock, getText: GetText): Promise<LoadedKeys> {
  const { text, status, headers } = await get(url, getText);
  const set = readSet(text);
  if (status < 200 || status > 299) throw refuse(`Get ${JSON.stringify(url)}: status ${status}`);
  const byId = new Map<string, LoadedKey>();
  for (const member of set) {
    const id = member["kid"];
    const algorithms = algorithmsOf(member);
    if (typeof id !== "string" || algorithms.length === 0) continue;
    try {
      const key = createPublicKey({ key: publicParts(member), format: "jwk" });
      byId.set(id, { key, algorithms });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      throw refuse(`key ${JSON.stringify(id)} of ${JSON.stringify(url)}: ${error.message}`);
    }
  }
  const now = clock.nowMs();
  return { byId, loadedMs: now, untilMs: now + lifetimeMs(headers, now) };
}

async function get(url: string, getText: GetText): Promise<OutgoingAnswer> {
  try {
    return await getText(url, { timeoutMs: fetchTimeoutMs, bytesMax: answerBytesMax });
  } catch (error) {
    if (!(error instanceof OutgoingFailure)) throw error;
    throw refuse(`Get ${JSON.stringify(url)}: ${error.message}`);
  }
}

function readSet(text: string): readonly ClaimObject[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refuse(findJsonSyntaxFault(text)?.detail ?? error.message);
  }
  const keys = isClaimObject(value) ? value["keys"] : undefined;
  return Array.isArray(keys) ? keys.filter(isClaimObject) : [];
}

/** Secret keys are of no use in a set that anyone may read: none is taken. */
function algorithmsOf(key: ClaimObject): readonly string[] {
  const named = key["alg"];
  const possible = possibleAlgorithms(key);
  if (typeof named !== "string") return possible;
  return possible.includes(named) ? [named] : [];
}

function possibleAlgorithms(key: ClaimObject): readonly string[] {
  if (key["kty"] === "RSA") return ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
  if (key["kty"] === "OKP") return key["crv"] === "Ed25519" ? ["EdDSA"] : [];
  if (key["kty"] !== "EC") return [];
  const curves: Readonly<Record<string, string>> = {
    "P-256": "ES256",
    "P-384": "ES384",
    "P-521": "ES512",
  };
  const algorithm = typeof key["crv"] === "string" ? curves[key["crv"]] : undefined;
  return algorithm === undefined ? [] : [algorithm];
}

/** The members that make a public key; nothing else is taken. */
function publicParts(key: ClaimObject): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const name of ["kty", "crv", "n", "e", "x", "y"]) {
    const value = key[name];
    if (typeof value === "string") parts[name] = value;
  }
  return parts;
}

/** `Cache-Control: s-maxage`, then `max-age`, then `Expires`; without any of them for ever. */
function lifetimeMs(headers: OutgoingAnswer["headers"], nowMs: number): number {
  const control = headers["cache-control"] ?? "";
  const seconds = /s-maxage=(?<n>\d+)/.exec(control) ?? /max-age=(?<n>\d+)/.exec(control);
  if (seconds?.groups !== undefined) return Number(seconds.groups["n"]) * 1000;
  const expires = Date.parse(headers.expires ?? "");
  return Number.isNaN(expires) ? Infinity : Math.max(0, expires - nowMs);
}

function refuse(message: string): Fault {
  return new Fault("E_GRAPHQL_SCHEMA", message);
}

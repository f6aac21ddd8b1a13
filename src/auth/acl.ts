/**
 * Access control by users, groups and rules for predicates (reference/graphql 11). One for a process. Says who
 * sends a request and what of the database that one may reach; the engine holds to it. Tokens are believed for as long
 * as they last; what their groups may do is looked up at each request, by the mark of rights (engine/rights-row.ts).
 */
import { createHash, randomUUID } from "node:crypto";
import { assert } from "../base/assert.ts";
import { decodeUtf8, encodeUtf8 } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { OpenEngine } from "../engine/open.ts";
import { queryDefaults } from "../engine/engine.ts";
import { firstUser, guardians } from "../engine/reserved-nodes.ts";
import { readRightsMark, renewRightsMark } from "../engine/rights-row.ts";
import { Fault } from "../model/fault.ts";
import { makeStranger } from "../model/principal.ts";
import type { PredicateAccess, Principal } from "../model/principal.ts";
import { comparePassword } from "../passwords/passwords.ts";
import { AccessTokens, stampOf } from "./access-token.ts";
import type { AccessClaims, KnownUser, TokenPair } from "./access-token.ts";
import type { AccessAlgorithm } from "./signing-key.ts";
import { readGroups, readNodes } from "./directory.ts";
import type { StoredRule } from "./directory.ts";
import { FirstNodes } from "./first-user.ts";
import { LoginGuard, type LoginLimits } from "./login-guard.ts";
import { checkNewPassword, type PasswordPolicy } from "./password-policy.ts";
import { TokenFault } from "./jws.ts";
import { mergeRules } from "./predicate-rights.ts";

interface AclOptions {
  readonly engine: OpenEngine;
  readonly clock: Clock;
  /** The first signs tokens, each of them is believed. */
  readonly secrets: readonly Uint8Array[];
  readonly algorithm: AccessAlgorithm;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  /** Of the first user, wherever it is made; undefined for the reference's. */
  readonly password: string | undefined;
  readonly passwords: PasswordPolicy;
  readonly logins: LoginLimits;
  /** Whether others than this machine reach the server: then nobody has the reference's password. */
  readonly isExposed: boolean;
}

/** `refreshToken` alone, or a user and its password. */
export interface LoginRequest {
  readonly user: string;
  readonly password: string;
  readonly namespace: number;
  readonly refreshToken: string;
  /** Of the sender; "" where it is not known. */
  readonly address: string;
  /** The only one into which the sender's key lets anybody; undefined: each. */
  readonly keyNamespace?: number | undefined;
}

export interface Acl {
  /** Who sends a request, by its headers (lower-case names). Never fails: who is not believed is a stranger. */
  identify(headers: Headers): MaybePromise<Principal>;
  /**
   * Throws Fault E_LOGIN, with the same words whatever was wrong; E_LOGIN_WAIT after many that failed, and
   * E_OVERLOADED where too many log in at once.
   */
  login(request: LoginRequest): Promise<TokenPair>;
  /** Ends every token that a user has now. Throws Fault E_USER_UNKNOWN where there is no such user. */
  revokeTokens(user: string, namespace: number): Promise<void>;
  /** Throws Fault E_PASSWORD for a password that a user may not be given. */
  checkPassword(user: string, password: string): void;
  /** `extensions.txn.hash`: what a request with this start time has to carry. */
  transactionHash(startTs: number, namespace: number): string;
  /** As at the start: the first user and the guardians are made where they are missing. Fault E_STARTUP as there. */
  ensureFirst(): Promise<void>;
  /** Makes a namespace with its first user and guardians. */
  createNamespace(password: string | undefined): Promise<number>;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Of a key that is bound to another namespace than the request's. */
export function refuseNamespace(namespace: number): Fault {
  const message = `This key is for namespace ${namespace} alone: the request is not known to be of it.`;
  return new Fault("E_UNAUTHORIZED", message);
}

/** The words of every login that fails (reference/graphql 11.2). */
export const loginRefused = "invalid username or password";

/** Makes the first user and the guardians where they are missing. Fault E_STARTUP where the password is a known one. */
export async function openAcl(options: AclOptions): Promise<Acl> {
  const { engine } = options;
  const first = new FirstNodes(options);
  await first.ensureAll();
  engine.aroundDrop((namespace, drop) => first.aroundDrop(namespace, drop));
  const guard = new Guard(options);
  return {
    identify: (headers) => guard.identify(headers),
    login: (request) => guard.login(request),
    revokeTokens: (user, namespace) => guard.revokeTokens(user, namespace),
    checkPassword: (user, password) => checkNewPassword(options.passwords, user, password),
    transactionHash: (startTs, namespace) => guard.tokens.transactionHash(startTs, namespace),
    ensureFirst: () => first.ensureAll(),
    async createNamespace(password) {
      if (password !== undefined) checkNewPassword(options.passwords, firstUser, password);
      const namespace = await engine.createNamespace();
      await first.ensure(namespace, password);
      return namespace;
    },
  };
}

/** What the groups of a namespace may do, at one mark. */
interface KnownRights {
  readonly mark: string;
  readonly rulesOf: ReadonlyMap<string, readonly StoredRule[]>;
  /** By names of groups, in the token's order. */
  readonly merged: Map<string, PredicateAccess>;
  /** Of users whose tokens were shown: from when on their tokens hold; Infinity for a user that is gone. */
  readonly validFromMs: Map<string, number>;
}

/** What is said of who shows no token. */
export const noToken = "no accessJwt available";

const nobody = makeStranger(noToken);

/** Sets of groups whose merged rules are kept, and users. */
const mergedMax = 10_000;

class Guard {
  readonly tokens: AccessTokens;
  readonly #options: AclOptions;
  readonly #rights = new Map<number, KnownRights>();
  /** Who a token's claims stand for, for as long as its rights are the same. */
  readonly #principals = new WeakMap<AccessClaims, Principal>();

  readonly #logins: LoginGuard;

  constructor(options: AclOptions) {
    this.#options = options;
    this.tokens = new AccessTokens(options);
    this.#logins = new LoginGuard(options.clock, options.logins);
  }

  identify(headers: Headers): MaybePromise<Principal> {
    const token =
      textOf(headers["x-dgraph-accesstoken"]) || textOf(headers["x-service-accesstoken"]);
    if (token === "") return nobody;
    try {
      const claims = this.tokens.read(token);
      const principal = andThen(claims, (known) => this.#visitorOf(known));
      return principal instanceof Promise ? principal.catch(toStranger) : principal;
    } catch (error) {
      return toStranger(error);
    }
  }

  #visitorOf(claims: AccessClaims): MaybePromise<Principal> {
    const { issued, namespace } = claims;
    const isGuardian = claims.groups.includes(guardians);
    if (issued === undefined && isGuardian) return this.#keep(claims, true, undefined);
    if (issued?.use === "refresh") throw refuseClaims("a refresh token is no access token");
    return andThen(this.#rightsOf(namespace), (rights) =>
      andThen(this.#validFromMs(rights, claims), (fromMs) => {
        if (issued !== undefined && issued.atMs < fromMs) {
          throw refuseClaims(
            fromMs === Infinity
              ? `the user "${claims.user}" does not exist any more`
              : "the token was revoked, log in again",
          );
        }
        const access = isGuardian ? undefined : accessOf(rights, claims.groups);
        return this.#keep(claims, isGuardian, access);
      }),
    );
  }

  /** From when on the tokens of a user hold that this server issued. Read once for each mark of rights. */
  #validFromMs(
    rights: KnownRights,
    { user, namespace, issued }: AccessClaims,
  ): MaybePromise<number> {
    if (issued === undefined) return 0;
    return rights.validFromMs.get(user) ?? this.#readValidFrom(rights, user, namespace);
  }

  async #readValidFrom(rights: KnownRights, user: string, namespace: number): Promise<number> {
    const uid = await this.#findUid(user, namespace);
    const row = await this.#options.engine.systemRows.read(revokedName(user, namespace));
    const fromMs = uid === 0 ? Infinity : row === undefined ? 0 : Number(decodeUtf8(row));
    if (rights.validFromMs.size >= mergedMax) rights.validFromMs.clear();
    rights.validFromMs.set(user, fromMs);
    return fromMs;
  }

  #keep(claims: AccessClaims, isGuardian: boolean, access: PredicateAccess | undefined): Principal {
    const known = this.#principals.get(claims);
    if (known?.access === access && known !== undefined) return known;
    const { namespace, user, expiryMs, groups } = claims;
    const principal: Principal = { namespace, user, groups, isGuardian, access, expiryMs };
    this.#principals.set(claims, principal);
    return principal;
  }

  #rightsOf(namespace: number): MaybePromise<KnownRights> {
    const mark = readRightsMark(this.#options.engine.systemRows, namespace);
    return andThen(mark, (found) => {
      const known = this.#rights.get(namespace);
      return known?.mark === found ? known : this.#readRights(namespace, found);
    });
  }

  /** What is read is as new as the mark or newer: then the next request reads again. */
  async #readRights(namespace: number, mark: string): Promise<KnownRights> {
    const reader = await this.#options.engine.openReader(namespace);
    try {
      const rulesOf = new Map<string, readonly StoredRule[]>();
      for (const { name, isGroup, rules } of (await readGroups(reader)).values()) {
        if (isGroup) rulesOf.set(name, rules);
      }
      const rights = {
        mark,
        rulesOf,
        merged: new Map<string, PredicateAccess>(),
        validFromMs: new Map<string, number>(),
      };
      this.#rights.set(namespace, rights);
      return rights;
    } finally {
      reader.close();
    }
  }

  async login(request: LoginRequest): Promise<TokenPair> {
    const { refreshToken, keyNamespace } = request;
    if (keyNamespace !== undefined && refreshToken === "" && request.namespace !== keyNamespace) {
      throw refuseNamespace(keyNamespace);
    }
    const found =
      refreshToken === ""
        ? await this.#logins.run(request, () => this.#logIn(request))
        : await this.#refresh(refreshToken);
    if (found === undefined) throw new Fault("E_LOGIN", loginRefused);
    if (keyNamespace !== undefined && found.namespace !== keyNamespace) {
      throw refuseNamespace(keyNamespace);
    }
    return this.tokens.issue(found);
  }

  /** As costly for a user, or a namespace, that there is as for one that there is not. */
  async #logIn({ user, namespace, password }: LoginRequest): Promise<KnownUser | undefined> {
    const found = await this.#findUser(user, namespace);
    const hash = found?.hash ?? noHash;
    const isRight = await comparePassword(password, hash);
    return isRight && hash !== noHash ? found : undefined;
  }

  /** A refresh token serves while its user has the password, and was not told off, that it had then. */
  async #refresh(token: string): Promise<KnownUser | undefined> {
    let claims: AccessClaims;
    try {
      claims = await this.tokens.read(token);
    } catch (error) {
      if (error instanceof TokenFault) return undefined;
      throw error;
    }
    const { user, namespace, isAccess, issued } = claims;
    if (isAccess || issued === undefined) return undefined;
    const found = await this.#findUser(user, namespace);
    if (found === undefined || found.stamp !== issued.stamp) return undefined;
    const row = await this.#options.engine.systemRows.read(revokedName(user, namespace));
    return row !== undefined && issued.atMs < Number(decodeUtf8(row)) ? undefined : found;
  }

  async revokeTokens(user: string, namespace: number): Promise<void> {
    if ((await this.#findUid(user, namespace)) === 0) {
      throw new Fault("E_USER_UNKNOWN", `there is no user "${user}" in namespace ${namespace}`);
    }
    const { engine, clock } = this.#options;
    const { systemRows } = engine;
    // The next millisecond: what was issued in this one is ended, too.
    const fromMs = String(clock.nowMs() + 1);
    await systemRows.write(revokedName(user, namespace), encodeUtf8(fromMs), "any");
    await renewRightsMark(systemRows, namespace, `revoked ${randomUUID()}`);
  }

  /** 0 where there is no such user, or no such namespace. */
  async #findUid(user: string, namespace: number): Promise<number> {
    const { engine } = this.#options;
    if (!(await engine.namespaces()).includes(namespace)) return 0;
    const answer = await engine.query({
      ...queryDefaults,
      namespace,
      text: findUser,
      variables: new Map([["$user", user]]),
    });
    const { q } = JSON.parse(new TextDecoder().decode(answer.data)) as {
      readonly q: readonly { readonly uid: string }[];
    };
    return Number(q[0]?.uid ?? 0);
  }

  async #findUser(user: string, namespace: number): Promise<StoredUser | undefined> {
    const uid = await this.#findUid(user, namespace);
    if (uid === 0) return undefined;
    const reader = await this.#options.engine.openReader(namespace);
    try {
      const found = (await readNodes(reader, Float64Array.of(uid))).get(uid);
      if (found === undefined) return undefined;
      const nodes = await readNodes(reader, new Float64Array(found.groups));
      const groups = [...nodes.values()].filter(({ isGroup }) => isGroup).map(({ name }) => name);
      const hash = await readHash(reader, uid);
      return { name: found.name, namespace, groups, hash, stamp: stampOf(hash) };
    } finally {
      reader.close();
    }
  }
}

interface StoredUser extends KnownUser {
  /** Of its password; of none where it has none. */
  readonly hash: string;
}

/** In the reference's frame of words. */
function refuseClaims(reason: string): TokenFault {
  return new TokenFault(`unable to parse jwt token: token has invalid claims: ${reason}`);
}

/** The row that says from when on a user's tokens hold. */
function revokedName(user: string, namespace: number): string {
  const digest = createHash("sha256").update(user).digest("base64url");
  return `revoked/${namespace}/${digest}`;
}

const findUser =
  "query login($user: string) { q(func: eq(dgraph.xid, $user)) @filter(type(dgraph.type.User)) { uid } }";

/** Of no password. */
const noHash = "$2b$10$abcdefghijklmnopqrstuuJc7Rqh4pBh1fGLbBLpEv5kB7m4fK3nW";

async function readHash(
  reader: Awaited<ReturnType<OpenEngine["openReader"]>>,
  uid: number,
): Promise<string> {
  const predicate = reader.schema.predicate("dgraph.password")?.id;
  assert(predicate !== undefined, "the predicates of users are reserved with ACL");
  const [column] = await reader.readLevel(Float64Array.of(uid), [{ kind: "cells", predicate }]);
  const value = column.cells[0]?.[0]?.value;
  return value?.kind === "password" ? value.hash : noHash;
}

function accessOf({ rulesOf, merged }: KnownRights, groups: readonly string[]): PredicateAccess {
  const key = JSON.stringify(groups);
  let access = merged.get(key);
  if (access === undefined) {
    if (merged.size >= mergedMax) merged.clear();
    access = mergeRules(groups.flatMap((name) => rulesOf.get(name) ?? []));
    merged.set(key, access);
  }
  return access;
}

function toStranger(error: unknown): Principal {
  if (!(error instanceof TokenFault)) throw error;
  return makeStranger(error.message);
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? "";
}

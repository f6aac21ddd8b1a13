/**
 * GUEST: access control by users, groups and rules for predicates (graphql.md 11). One for a process. Says who sends a
 * request and what of the database that one may reach; the engine holds to it. Tokens are believed for as long as they
 * last; what their groups may do is looked up at each request, by the mark of rights (engine/rights-row.ts).
 */
import type { Clock } from "../base/clock.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { OpenEngine } from "../engine/open.ts";
import { queryDefaults } from "../engine/engine.ts";
import { guardians } from "../engine/reserved-nodes.ts";
import { readRightsMark } from "../engine/rights-row.ts";
import { Fault } from "../model/fault.ts";
import { makeStranger } from "../model/visitor.ts";
import type { PredicateAccess, Visitor } from "../model/visitor.ts";
import { comparePassword } from "../passwords/passwords.ts";
import { AccessTokens } from "./access-token.ts";
import type { AccessClaims, TokenPair } from "./access-token.ts";
import type { AccessAlgorithm } from "./signing-key.ts";
import { readGroups, readNodes } from "./directory.ts";
import type { StoredRule } from "./directory.ts";
import { FirstNodes } from "./first-user.ts";
import { TokenFault } from "./jws.ts";
import { mergeRules } from "./predicate-rights.ts";

export interface AclOptions {
  readonly engine: OpenEngine;
  readonly clock: Clock;
  readonly secret: Uint8Array;
  readonly algorithm: AccessAlgorithm;
  readonly accessTtlMs: number;
  readonly refreshTtlMs: number;
  /** Of the first user, wherever it is made; undefined for the reference's. */
  readonly password: string | undefined;
  /** Whether others than this machine reach the server: then nobody has the reference's password. */
  readonly isExposed: boolean;
}

/** `refreshToken` alone, or a user and its password. */
export interface LoginRequest {
  readonly user: string;
  readonly password: string;
  readonly namespace: number;
  readonly refreshToken: string;
}

export interface Acl {
  /** Who sends a request, by its headers (lower-case names). Never fails: who is not believed is a stranger. */
  identify(headers: Headers): MaybePromise<Visitor>;
  /** Throws Fault E_HTTP_REQUEST, with the same words whatever was wrong. */
  login(request: LoginRequest): Promise<TokenPair>;
  /** `extensions.txn.hash`: what a request with this start time has to carry. */
  transactionHash(startTs: number, namespace: number): string;
  /** Makes a namespace with its first user and guardians. */
  createNamespace(password: string | undefined): Promise<number>;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The words of every login that fails (graphql.md 11.2). */
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
    transactionHash: (startTs, namespace) => guard.tokens.transactionHash(startTs, namespace),
    async createNamespace(password) {
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
}

/** What is said of who shows no token. */
export const noToken = "no accessJwt available";

const nobody = makeStranger(noToken);

/** Sets of groups whose merged rules are kept. */
const mergedMax = 10_000;

class Guard {
  readonly tokens: AccessTokens;
  readonly #options: AclOptions;
  readonly #rights = new Map<number, KnownRights>();
  /** Who a token's claims stand for, for as long as its rights are the same. */
  readonly #visitors = new WeakMap<AccessClaims, Visitor>();

  constructor(options: AclOptions) {
    this.#options = options;
    this.tokens = new AccessTokens(options);
  }

  identify(headers: Headers): MaybePromise<Visitor> {
    const token =
      textOf(headers["x-dgraph-accesstoken"]) || textOf(headers["x-service-accesstoken"]);
    if (token === "") return nobody;
    try {
      const claims = this.tokens.read(token);
      const visitor = andThen(claims, (known) => this.#visitorOf(known));
      return visitor instanceof Promise ? visitor.catch(toStranger) : visitor;
    } catch (error) {
      return toStranger(error);
    }
  }

  #visitorOf(claims: AccessClaims): MaybePromise<Visitor> {
    if (claims.groups.includes(guardians)) return this.#keep(claims, true, undefined);
    return andThen(this.#rightsOf(claims.namespace), (rights) =>
      this.#keep(claims, false, accessOf(rights, claims.groups)),
    );
  }

  #keep(claims: AccessClaims, isGuardian: boolean, access: PredicateAccess | undefined): Visitor {
    const known = this.#visitors.get(claims);
    if (known?.access === access && known !== undefined) return known;
    const { namespace, user, expiryMs, groups } = claims;
    const visitor: Visitor = { namespace, user, groups, isGuardian, access, expiryMs };
    this.#visitors.set(claims, visitor);
    return visitor;
  }

  #rightsOf(namespace: number): MaybePromise<KnownRights> {
    const mark = readRightsMark(this.#options.engine.ownRows, namespace);
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
      const rights = { mark, rulesOf, merged: new Map<string, PredicateAccess>() };
      this.#rights.set(namespace, rights);
      return rights;
    } finally {
      reader.close();
    }
  }

  async login(request: LoginRequest): Promise<TokenPair> {
    const who = await this.#admit(request);
    if (who === undefined) throw new Fault("E_HTTP_REQUEST", loginRefused);
    return this.tokens.issue(who.name, who.namespace, who.groups);
  }

  async #admit(
    request: LoginRequest,
  ): Promise<{ name: string; namespace: number; groups: readonly string[] } | undefined> {
    const { refreshToken } = request;
    if (refreshToken === "") return this.#findUser(request, true);
    try {
      const { user, namespace, isAccess } = await this.tokens.read(refreshToken);
      if (isAccess) return undefined;
      return await this.#findUser({ user, namespace, password: "" }, false);
    } catch (error) {
      if (error instanceof TokenFault) return undefined;
      throw error;
    }
  }

  /** As costly for a user that there is as for one that there is not. */
  async #findUser(
    { user, namespace, password }: Pick<LoginRequest, "user" | "namespace" | "password">,
    checksPassword: boolean,
  ): Promise<{ name: string; namespace: number; groups: readonly string[] } | undefined> {
    const { engine } = this.#options;
    if (!(await engine.namespaces()).includes(namespace)) return undefined;
    const answer = await engine.query({
      ...queryDefaults,
      namespace,
      text: findUser,
      variables: new Map([["$user", user]]),
    });
    const { q } = JSON.parse(new TextDecoder().decode(answer.data)) as {
      readonly q: readonly { readonly uid: string }[];
    };
    const uid = Number(q[0]?.uid ?? 0);
    const reader = await engine.openReader(namespace);
    try {
      if (checksPassword && !(await isPasswordOf(reader, uid, password))) return undefined;
      const found = (await readNodes(reader, Float64Array.of(uid))).get(uid);
      if (found === undefined || uid === 0) return undefined;
      const groups = await readNodes(reader, new Float64Array(found.groups));
      const names = [...groups.values()].filter(({ isGroup }) => isGroup).map(({ name }) => name);
      return { name: found.name, namespace, groups: names };
    } finally {
      reader.close();
    }
  }
}

const findUser =
  "query login($user: string) { q(func: eq(dgraph.xid, $user)) @filter(type(dgraph.type.User)) { uid } }";

/** Of no password. */
const noHash = "$2b$10$abcdefghijklmnopqrstuuJc7Rqh4pBh1fGLbBLpEv5kB7m4fK3nW";

async function isPasswordOf(
  reader: Awaited<ReturnType<OpenEngine["openReader"]>>,
  uid: number,
  password: string,
): Promise<boolean> {
  const predicate = reader.schema.predicate("dgraph.password")?.id ?? -1;
  const [column] = await reader.readLevel(Float64Array.of(uid), [{ kind: "cells", predicate }]);
  const value = column?.kind === "cells" ? column.cells[0]?.[0]?.value : undefined;
  const hash = value?.kind === "password" ? value.hash : noHash;
  return (await comparePassword(password, hash)) && hash !== noHash;
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

function toStranger(error: unknown): Visitor {
  if (!(error instanceof TokenFault)) throw error;
  return makeStranger(error.message);
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? "";
}

/**
 * What stands in a request's way (reference/graphql 11, 11.4): keys, and for administration without one the address,
 * which must be loopback or on the whitelist, the page, which must be this server's, and the token where one is set.
 * Where nobody needs credentials, foreign pages write nothing and foreign names reach nothing.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type BlockList, isIP } from "node:net";
import { type AccessKey, isSameSecret, type KeyScope } from "../auth/access-key.ts";
import type { Acl } from "../auth/acl.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import type { GraphqlService } from "../graphql/service/service.ts";
import {
  findForeignDataPage,
  findForeignHost,
  findForeignPage,
  isLoopbackAddress,
  type PageFault,
  type PageRules,
  plainAddress,
} from "./pages.ts";
import type { RouteRight } from "./rights.ts";

export interface Security extends PageRules {
  /** Whether data may be used without a key. */
  readonly anonymous: boolean;
  /** The administration token; undefined for none. */
  readonly token: string | undefined;
  /** Addresses, ranges `a:b`, CIDR blocks, host names. */
  readonly whitelist: BlockList;
}

/** What stands in the way of a request. */
export type AccessRefusal =
  | { readonly kind: "noKey"; readonly wanted: "any" | "admin" }
  | { readonly kind: "wrongKey" | "expiredKey" | "clientKey" }
  /** `wanted`: of which the key would need one. */
  | { readonly kind: "scope"; readonly wanted: readonly KeyScope[] }
  | { readonly kind: "namespace"; readonly namespace: number }
  | (PageFault & { readonly kind: "page"; readonly wish: "administer" | "write" | "reach" })
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "rate"; readonly waitSeconds: number }
  | {
      readonly kind: "quota";
      readonly namespace: number;
      readonly quota: number;
      readonly waitSeconds: number;
    }
  /** What is done cannot be written down, and has to be. */
  | { readonly kind: "unrecorded" }
  | { readonly kind: "noToken" }
  | { readonly kind: "wrongToken"; readonly token: string };

/** Who asks, and what decides. */
export interface Asking {
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  readonly security: Security;
  readonly keys: Pick<KeyRing, "judge">;
  /** Who is behind the headers, where users log in; undefined: nobody does, and all is namespace 0. */
  readonly acl: Pick<Acl, "identify"> | undefined;
  /** Asked only about pages that neither the server nor its settings name. */
  readonly graphql: Pick<GraphqlService, "allowedOrigins">;
}

/** Undefined when the request may go where `right` says. */
export function findAccessRefusal(
  right: RouteRight,
  asking: Asking,
): MaybePromise<AccessRefusal | undefined> {
  const { audience } = right;
  if (audience === "everyone") return undefined;
  const text = single(asking.headers["x-auth-token"]);
  if (text === undefined || text === "") {
    if (asking.security.anonymous) return findOpenRefusal(right, asking);
    return { kind: "noKey", wanted: audience === "administrators" ? "admin" : "any" };
  }
  return andThen(asking.keys.judge(text), (verdict) => {
    if (verdict === "unknown") return { kind: "wrongKey" };
    if (verdict === "expired") return { kind: "expiredKey" };
    return andThen(findKeyRefusal(right, verdict, asking), (refusal) => {
      if (refusal !== undefined || audience === "clients") return refusal;
      // An Admin key is better proof than an address or the page's: the token, another secret, is still asked for.
      return findTokenRefusal(asking);
    });
  });
}

/** What a key that is valid is not enough for. */
function findKeyRefusal(
  { audience, scopes }: RouteRight,
  key: AccessKey,
  { headers, acl }: Asking,
): MaybePromise<AccessRefusal | undefined> {
  if (scopes.length > 0 && !scopes.some((scope) => key.scopes.includes(scope))) {
    return key.kind === "client" ? { kind: "clientKey" } : { kind: "scope", wanted: scopes };
  }
  const { namespace } = key;
  // A login names its namespace in its body: the route looks.
  if (namespace === undefined || audience === "logins") return undefined;
  const refusal: AccessRefusal = { kind: "namespace", namespace };
  if (acl === undefined) return namespace === 0 ? undefined : refusal;
  return andThen(acl.identify(headers), (principal) =>
    principal.refusal === undefined && principal.namespace === namespace ? undefined : refusal,
  );
}

/** Without a key, where none is needed. */
function findOpenRefusal(
  right: RouteRight,
  asking: Asking,
): MaybePromise<AccessRefusal | undefined> {
  if (right.audience === "clients") return findDataRefusal(right, asking);
  if (right.audience === "logins") return findTokenRefusal(asking);
  return findOpenAdministrationRefusal(asking);
}

function findOpenAdministrationRefusal(asking: Asking): AccessRefusal | undefined {
  const { headers, remoteAddress, security } = asking;
  const tokenRefusal = findTokenRefusal(asking);
  if (security.token === undefined || tokenRefusal !== undefined) {
    const page = findForeignHost(headers, security) ?? findForeignPage(headers, security);
    if (page !== undefined) return { kind: "page", ...page, wish: "administer" };
  }
  if (!isTrustedAddress(remoteAddress, security)) {
    return { kind: "address", address: plainAddress(remoteAddress) };
  }
  return tokenRefusal;
}

/** Whether a sender without a key may administer: by its address, its page, and the token where one is set. */
export function mayAdministerKeyless(asking: Asking): boolean {
  return asking.security.anonymous && findOpenAdministrationRefusal(asking) === undefined;
}

/** Where users log in a page has nothing to show but what its reader gave it: every one is served. */
function findDataRefusal(
  right: RouteRight,
  asking: Asking,
): MaybePromise<AccessRefusal | undefined> {
  if (asking.acl !== undefined) return undefined;
  const { headers, remoteAddress, security } = asking;
  const host = findForeignHost(headers, security);
  if (host !== undefined && isLoopbackAddress(plainAddress(remoteAddress)) && !showsToken(asking)) {
    return { kind: "page", ...host, wish: "reach" };
  }
  return right.writes === true ? findWriteRefusal(asking) : undefined;
}

/** What stands in the way of a page that would write without credentials; undefined for other clients too. */
export function findWriteRefusal(asking: Asking): MaybePromise<AccessRefusal | undefined> {
  const { headers, security } = asking;
  const page = findForeignDataPage(headers, security);
  if (page === undefined || showsToken(asking)) return undefined;
  const refusal: AccessRefusal = { kind: "page", ...page, wish: "write" };
  if (page.what !== "Origin") return refusal;
  return andThen(asking.graphql.allowedOrigins(0), (allowed) =>
    allowed.includes(page.value) ? undefined : refusal,
  );
}

/** Nobody asks for the token at data routes; but a page that has it was given it. */
function showsToken(asking: Asking): boolean {
  return asking.security.token !== undefined && findTokenRefusal(asking) === undefined;
}

function findTokenRefusal({ headers, security }: Asking): AccessRefusal | undefined {
  if (security.token === undefined) return undefined;
  const given = single(headers["x-dgraph-authtoken"]) ?? "";
  if (given === "") return { kind: "noToken" };
  return isSameSecret(given, security.token) ? undefined : { kind: "wrongToken", token: given };
}

function isTrustedAddress(address: string, security: Security): boolean {
  const plain = plainAddress(address);
  if (isLoopbackAddress(plain)) return true;
  const family = isIP(plain);
  return family !== 0 && security.whitelist.check(plain, family === 6 ? "ipv6" : "ipv4");
}

export function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Adds one entry of a whitelist: an address, `a:b`, or a CIDR block. False when it is none of these. */
export function addToWhitelist(list: BlockList, entry: string): boolean {
  const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");
  if (isIP(entry) !== 0) {
    list.addAddress(entry, family(entry));
    return true;
  }
  const [network = "", bits = ""] = entry.split("/");
  if (bits !== "" && isIP(network) !== 0 && Number(bits) <= (isIP(network) === 6 ? 128 : 32)) {
    list.addSubnet(network, Number(bits), family(network));
    return true;
  }
  const [first = "", last = "", ...more] = entry.split(":");
  if (more.length > 0 || isIP(first) !== 4 || isIP(last) !== 4) return false;
  list.addRange(first, last, "ipv4");
  return true;
}

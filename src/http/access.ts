/**
 * What stands in a request's way (seed 5, graphql.md 11.4): keys, and for administration without one the address, which
 * must be loopback or on the whitelist, the page, which must be this server's, and the token where one is set.
 */
import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { isSameSecret } from "../auth/access-key.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import type { Audience } from "./rights.ts";

export interface Security {
  /** Whether data may be used without a key. */
  readonly anonymous: boolean;
  /** The administration token; undefined for none. */
  readonly token: string | undefined;
  /** Addresses, ranges `a:b`, CIDR blocks, host names. */
  readonly whitelist: BlockList;
  /** Host names, lower case, by which this server may be called for administration. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of other web pages that may administer. */
  readonly origins: ReadonlySet<string>;
}

/** What stands in the way of a request. */
export type Refusal =
  | { readonly kind: "noKey"; readonly wanted: "any" | "admin" }
  | { readonly kind: "wrongKey" | "expiredKey" | "clientKey" }
  | { readonly kind: "page"; readonly what: "Origin" | "Host"; readonly value: string }
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "noToken" }
  | { readonly kind: "wrongToken"; readonly token: string };

/** Who asks, and what decides. */
export interface Asking {
  readonly headers: IncomingMessage["headers"];
  readonly remoteAddress: string;
  readonly security: Security;
  readonly keys: Pick<KeyRing, "judge">;
}

/** Undefined when the request may go where `audience` goes. One branch for data while anonymous access is on. */
export function findRefusal(audience: Audience, asking: Asking): MaybePromise<Refusal | undefined> {
  if (audience === "everyone") return undefined;
  const text = single(asking.headers["x-auth-token"]);
  if (text === undefined || text === "") {
    if (asking.security.anonymous) return findOpenRefusal(audience, asking);
    return { kind: "noKey", wanted: audience === "administrators" ? "admin" : "any" };
  }
  return andThen(asking.keys.judge(text), (verdict) => {
    if (verdict === "unknown") return { kind: "wrongKey" };
    if (verdict === "expired") return { kind: "expiredKey" };
    if (audience === "clients") return undefined;
    if (audience === "administrators" && verdict === "client") return { kind: "clientKey" };
    // An Admin key is better proof than an address or the page's: the token, another secret, is still asked for.
    return findTokenRefusal(asking);
  });
}

/** Without a key, where none is needed. */
function findOpenRefusal(audience: Audience, asking: Asking): Refusal | undefined {
  if (audience === "clients") return undefined;
  if (audience === "logins") return findTokenRefusal(asking);
  const { headers, remoteAddress, security } = asking;
  const tokenRefusal = findTokenRefusal(asking);
  if (security.token === undefined || tokenRefusal !== undefined) {
    const page = findForeignPage(headers, security);
    if (page !== undefined) return page;
  }
  if (!isTrustedAddress(remoteAddress, security)) {
    return { kind: "address", address: plainAddress(remoteAddress) };
  }
  return tokenRefusal;
}

function findTokenRefusal({ headers, security }: Asking): Refusal | undefined {
  if (security.token === undefined) return undefined;
  const given = single(headers["x-dgraph-authtoken"]) ?? "";
  if (given === "") return { kind: "noToken" };
  return isSameSecret(given, security.token) ? undefined : { kind: "wrongToken", token: given };
}

/**
 * Loopback counts as an administrator, so a page in the browser of whoever runs this could administer: a foreign Origin
 * is such a page, a foreign Host is one whose name was made to point here.
 */
function findForeignPage(
  headers: IncomingMessage["headers"],
  security: Security,
): Refusal | undefined {
  const host = single(headers.host) ?? "";
  if (!isOwnHost(host, security)) return { kind: "page", what: "Host", value: host };
  const origin = single(headers.origin);
  if (origin === undefined || security.origins.has(origin.toLowerCase())) return undefined;
  const isSame = /^https?:\/\//i.test(origin) && origin.replace(/^https?:\/\//i, "") === host;
  return isSame ? undefined : { kind: "page", what: "Origin", value: origin };
}

function isOwnHost(host: string, security: Security): boolean {
  const name = host
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (security.hosts.has(name)) return true;
  if (isIP(name) === 0) return false;
  return isLoopback(name) || isOwnAddress(name);
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => entry.address.toLowerCase() === address),
  );
}

function isTrustedAddress(address: string, security: Security): boolean {
  const plain = plainAddress(address);
  if (isLoopback(plain)) return true;
  const family = isIP(plain);
  return family !== 0 && security.whitelist.check(plain, family === 6 ? "ipv6" : "ipv4");
}

function isLoopback(address: string): boolean {
  return address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
}

/** Without the prefix under which an IPv6 socket shows an IPv4 address. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function single(header: string | string[] | undefined): string | undefined {
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

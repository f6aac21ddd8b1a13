/**
 * Who may administer (graphql.md 11.4, and the rule against administration from a web page): the address must be
 * loopback or on the whitelist, the token must match where one is set, and a browser must be on a page of this server.
 */
import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { Fault } from "../model/fault.ts";

export interface Security {
  /** The administration token; undefined for none. */
  readonly token: string | undefined;
  /** Addresses, ranges `a:b`, CIDR blocks, host names. */
  readonly whitelist: BlockList;
  /** Host names, lower case, by which this server may be called for administration. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of other web pages that may administer. */
  readonly origins: ReadonlySet<string>;
}

/** What stands in the way of an administrator. */
export type Refusal =
  | { readonly kind: "page"; readonly what: "Origin" | "Host"; readonly value: string }
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "noToken" }
  | { readonly kind: "wrongToken"; readonly token: string };

/** Undefined when the request may administer. */
export function findRefusal(
  req: IncomingMessage,
  remoteAddress: string,
  security: Security,
): Refusal | undefined {
  const given = single(req.headers["x-dgraph-authtoken"]) ?? single(req.headers["x-auth-token"]);
  const hasToken = security.token !== undefined && given === security.token;
  if (!hasToken) {
    const page = findForeignPage(req, security);
    if (page !== undefined) return page;
  }
  if (!isTrustedAddress(remoteAddress, security)) {
    return { kind: "address", address: plainAddress(remoteAddress) };
  }
  if (security.token === undefined || hasToken) return undefined;
  return given === undefined || given === ""
    ? { kind: "noToken" }
    : { kind: "wrongToken", token: given };
}

/** The reference's words at /alter. */
export function makeAlterFault(refusal: Refusal): Fault {
  switch (refusal.kind) {
    case "page":
      return makePageFault(refusal);
    case "address":
      return new Fault("E_HTTP_ERROR", `unauthorized ip address: ${refusal.address}`);
    case "noToken":
      return new Fault("E_HTTP_ERROR", "No Auth Token found. Token needed for Admin operations.");
    case "wrongToken":
      return new Fault(
        "E_HTTP_ERROR",
        `Provided auth token [${refusal.token}] does not match. Permission denied.`,
      );
  }
}

/** The reference's words at /admin and below. */
export function makeAdminFault(refusal: Refusal): Fault {
  switch (refusal.kind) {
    case "page":
      return makePageFault(refusal);
    case "address":
      return new Fault("E_UNAUTHORIZED", `unauthorized ip address: ${refusal.address}`);
    case "noToken":
    case "wrongToken":
      return new Fault("E_UNAUTHORIZED", "Invalid X-Dgraph-AuthToken");
  }
}

function makePageFault(refusal: Refusal & { kind: "page" }): Fault {
  return new Fault(
    "E_UNAUTHORIZED",
    `Administration from a foreign page is refused: ${refusal.what} ${refusal.value}`,
  );
}

/**
 * Loopback counts as an administrator, so a page in the browser of whoever runs this could administer: a foreign Origin
 * is such a page, a foreign Host is one whose name was made to point here.
 */
function findForeignPage(req: IncomingMessage, security: Security): Refusal | undefined {
  const host = single(req.headers.host) ?? "";
  if (!isOwnHost(host, security)) return { kind: "page", what: "Host", value: host };
  const origin = single(req.headers.origin);
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

/**
 * Web pages: which one sent a request, as far as its browser tells, and which ones may. A page can send requests from
 * the machine of whoever looks at it, so where no credentials are asked for, its origin is what decides. Clients that
 * are no browsers say nothing of all this, and nothing is asked of them.
 */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** What of the settings is about pages. */
export interface PageRules {
  /** Host names, lower case, by which this server may be called. */
  readonly hosts: ReadonlySet<string>;
  /** Origins, lower case, of other web pages that may administer, read and write. */
  readonly origins: ReadonlySet<string>;
}

/** The header by which a page was found out. */
export interface PageFault {
  readonly what: "Origin" | "Host" | "Sec-Fetch-Site";
  readonly value: string;
}

/** Whether a request came from another page than this server's own or one that the settings name. */
export function findForeignPage(
  headers: IncomingHttpHeaders,
  rules: PageRules,
): PageFault | undefined {
  const { origin } = headers;
  if (origin !== undefined) {
    return isOwnOrigin(origin, headers.host, rules) ? undefined : { what: "Origin", value: origin };
  }
  // Requests that have no Origin, such as those for images, tell it this way.
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return undefined;
  return { what: "Sec-Fetch-Site", value: site };
}

/** As `findForeignPage`, for data: pages of this machine, whatever their port, are developed against the server. */
export function findForeignDataPage(
  headers: IncomingHttpHeaders,
  rules: PageRules,
): PageFault | undefined {
  const { origin } = headers;
  return origin !== undefined && isLoopbackOrigin(origin)
    ? undefined
    : findForeignPage(headers, rules);
}

/** This server's own pages, and those that the settings name. */
function isOwnOrigin(origin: string, host: string | undefined, { origins }: PageRules): boolean {
  if (origins.has(origin.toLowerCase())) return true;
  return host !== undefined && originPattern.exec(origin)?.groups?.["host"] === host;
}

const originPattern = /^https?:\/\/(?<host>[^/]+)$/i;
const loopbackOrigin =
  /^https?:\/\/(?:localhost|(?:[\w-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

function isLoopbackOrigin(origin: string): boolean {
  return loopbackOrigin.test(origin);
}

/**
 * Undefined where the request calls this server by a name that is its own. Any other may be one that was made to point
 * here, whose pages then count as this server's. Requests without a name come from no browser.
 */
export function findForeignHost(
  headers: IncomingHttpHeaders,
  rules: PageRules,
): PageFault | undefined {
  const host = headers.host ?? "";
  if (host === "" || (host === lastHost && rules === lastRules)) return undefined;
  if (!isOwnHost(host, rules)) return { what: "Host", value: host };
  lastHost = host;
  lastRules = rules;
  return undefined;
}

/** Nearly all requests call the server by the same name: it is looked at once. */
let lastHost = "";
let lastRules: PageRules | undefined;

function isOwnHost(host: string, rules: PageRules): boolean {
  const name = host
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "")
    .toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  if (rules.hosts.has(name)) return true;
  if (isIP(name) === 0) return false;
  return isUnspecified(name) || isLoopbackAddress(name) || isOwnAddress(name);
}

/** Which a client's machine takes for itself; like every address it is a name that nobody can point elsewhere. */
function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => entry.address.toLowerCase() === address),
  );
}

export function isLoopbackAddress(address: string): boolean {
  if (address === "127.0.0.1" || address === "::1") return true;
  return address.startsWith("127.") && isIP(address) === 4;
}

/** Without the prefix under which an IPv6 socket shows an IPv4 address. */
export function plainAddress(address: string): string {
  return address.startsWith("::") ? address.replace(/^::ffff:(?=\d+\.)/i, "") : address;
}

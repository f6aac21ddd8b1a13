/**
 * The one way out: requests that the server makes of hosts which a schema names. Never a redirect, never more bytes or
 * time than the caller allows, and the address that was judged is the one that is connected to: a name that resolves to
 * something else a moment later wins nothing.
 */
import { lookup as lookUp } from "node:dns";
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { isAllowedAddress, isNamed, type OutgoingPolicy, settingsOf } from "./policy.ts";

interface OutgoingBounds {
  /** Of the whole answer, counted as it comes. */
  readonly bytesMax: number;
  /** The setting that gives it, named where an answer is larger; undefined: there is none. */
  readonly bytesSetting?: string;
  readonly timeoutMs: number;
  /** The setting that gives it, named where it ran out; undefined: none does. */
  readonly timeSetting?: string;
}

interface OutgoingRequest {
  /** Absolute. A path that is written in a form of its own stays in it: `%2F` does not become `/`. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** "" for none. */
  readonly body: string;
}

/** One request and its answer. Rejects with OutgoingFailure, and with nothing else. */
export type Ask = (request: OutgoingRequest, bounds: OutgoingBounds) => Promise<OutgoingAnswer>;

/** GET of a URL. Rejects as `Ask`. */
export type GetText = (url: string, bounds: OutgoingBounds) => Promise<OutgoingAnswer>;

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Why there is no answer. The message says so in a few words, without the URL. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
}

/** A connection that nobody uses is closed sooner than servers close theirs: none is lost on the way. */
const idleMs = 1000;
/** To one host. */
const connectionsMax = 256;

/** Connections are kept for the next request to their host. */
export function makeAsk(policy: OutgoingPolicy): Ask {
  const options = {
    keepAlive: true,
    timeout: idleMs,
    maxSockets: connectionsMax,
    lookup: makeLookup(policy),
  };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  return (request, bounds) => send(request, { policy, bounds, agents });
}

/** Each request by a connection of its own. */
export function makeGetText(policy: OutgoingPolicy): GetText {
  const agents = { http: false, https: false } as const;
  return (url, bounds) =>
    send({ url, method: "GET", headers: {}, body: "" }, { policy, bounds, agents });
}

interface SendOptions {
  readonly policy: OutgoingPolicy;
  readonly bounds: OutgoingBounds;
  readonly agents: {
    readonly http: HttpAgent | false;
    readonly https: HttpsAgent | false;
  };
}

async function send(
  request: OutgoingRequest,
  { policy, bounds, agents }: SendOptions,
): Promise<OutgoingAnswer> {
  const url = parseUrl(request.url);
  if (!isNamed(url, policy)) {
    throw new OutgoingFailure(`${url.host} is not among the hosts of ${settingsOf(policy).hosts}`);
  }
  const host = url.hostname.replace(/^\[(?<inner>.*)\]$/, "$<inner>");
  if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) throw refuseAddress(host, policy);
  const isSecure = url.protocol === "https:";
  const { method, body } = request;
  const headers: Record<string, string> = { ...request.headers };
  // Some servers ask for a length where there is nothing to read.
  if (body !== "" || !["GET", "DELETE", "HEAD"].includes(method))
    headers["content-length"] = String(Buffer.byteLength(body));
  return await new Promise((resolve, reject) => {
    let late: OutgoingFailure | undefined;
    let isAnswered = false;
    const fail = (error: Error): void => reject(late ?? explain(error, url));
    const options = {
      host,
      ...(url.port === "" ? {} : { port: url.port }),
      ...(url.username === "" && url.password === "" ? {} : { auth: credentialsOf(url) }),
      path: pathOf(request.url, url),
      method,
      headers,
      lookup: makeLookup(policy),
      agent: isSecure ? agents.https : agents.http,
    };
    let sent: ClientRequest;
    try {
      sent = (isSecure ? requestHttps : requestHttp)(options, (answer) => {
        isAnswered = true;
        readAnswer(answer, bounds).then(resolve, (error: Error) => {
          fail(error);
          sent.destroy();
        });
      });
    } catch (error) {
      // A header or a path with characters that none may have.
      if (!(error instanceof Error)) throw error;
      fail(error);
      return;
    }
    const deadline = setTimeout(() => {
      late = overdue(bounds);
      sent.destroy(late);
    }, bounds.timeoutMs);
    sent.once("error", fail);
    sent.once("close", () => {
      clearTimeout(deadline);
      // Another protocol, which nobody asked for, ends a request without an error.
      if (!isAnswered) fail(new OutgoingFailure("EOF"));
    });
    // As bytes: beside a text Node would write the headers in its encoding, and not in theirs.
    sent.end(Buffer.from(body));
  });
}

function overdue({ timeSetting }: OutgoingBounds): OutgoingFailure {
  const named = timeSetting === undefined ? "" : ` (${timeSetting})`;
  return new OutgoingFailure(`context deadline exceeded${named}`);
}

function credentialsOf({ username, password }: URL): string {
  return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

/** As it is written: `URL` would take `%2e%2e` for a way up. */
function pathOf(text: string, url: URL): string {
  const written = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(?<path>[^#]*)/i.exec(text)?.groups?.["path"];
  if (written === undefined || !/^[\u0021-\u007e]*$/.test(written))
    return url.pathname + url.search;
  return written.startsWith("/") ? written : `/${written}`;
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    const isRelative = text.startsWith("/");
    throw new OutgoingFailure(isRelative ? 'unsupported protocol scheme ""' : "this is no URL");
  }
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new OutgoingFailure(`unsupported protocol scheme "${url.protocol.replace(/:$/, "")}"`);
}

/** Of a name's addresses those that may be asked; none of them: an error. */
function makeLookup(policy: OutgoingPolicy): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const allowed = found.filter(({ address }) => isAllowedAddress(address, policy));
      const [first] = allowed;
      if (first === undefined) {
        callback(refuseAddress(found[0]?.address ?? hostname, policy), []);
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

function refuseAddress(address: string, policy: OutgoingPolicy): OutgoingFailure {
  return new OutgoingFailure(
    `${address} is no public address, and not named in ${settingsOf(policy).private}`,
  );
}

async function readAnswer(
  answer: IncomingMessage,
  { bytesMax, bytesSetting }: OutgoingBounds,
): Promise<OutgoingAnswer> {
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status <= 399) {
    throw new OutgoingFailure(`status ${status}: redirections are not followed`);
  }
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bytesMax) {
      const named = bytesSetting === undefined ? "" : ` (${bytesSetting})`;
      throw new OutgoingFailure(`the answer has more than ${bytesMax} bytes${named}`);
    }
    parts.push(part);
  }
  return { status, headers: answer.headers, text: Buffer.concat(parts, length).toString("utf8") };
}

/** Faults of the connection in the reference's words. */
function explain(error: Error, url: URL): OutgoingFailure {
  if (error instanceof OutgoingFailure) return error;
  const { code, address, port } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (code === "ECONNREFUSED") {
    const host = address?.includes(":") === true ? `[${address}]` : (address ?? url.hostname);
    return new OutgoingFailure(`dial tcp ${host}:${port ?? url.port}: connect: connection refused`);
  }
  if (code === "ENOTFOUND") {
    return new OutgoingFailure(`dial tcp: lookup ${url.hostname}: no such host`);
  }
  if (code === "ECONNRESET") return new OutgoingFailure("EOF");
  if (code === "ERR_INVALID_CHAR") {
    return new OutgoingFailure("a header has a character that headers may not have");
  }
  return new OutgoingFailure(error.message, { cause: error });
}

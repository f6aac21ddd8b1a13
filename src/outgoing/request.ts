/**
 * The one way out: requests that the server makes of hosts which a schema names. Never a redirect, never more bytes or
 * time than the caller allows, and the address that was judged is the one that is connected to: a name that resolves to
 * something else a moment later wins nothing.
 */
import { lookup as lookUp } from "node:dns";
import { request as requestHttp } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { isAllowedAddress, isNamed, type OutgoingPolicy } from "./policy.ts";

interface OutgoingBounds {
  /** Of the whole answer, counted as it comes. */
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

/** GET of a URL. Rejects with OutgoingFailure, and with nothing else. */
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

export function makeGetText(policy: OutgoingPolicy): GetText {
  return (url, bounds) => getText(url, policy, bounds);
}

async function getText(
  text: string,
  policy: OutgoingPolicy,
  bounds: OutgoingBounds,
): Promise<OutgoingAnswer> {
  const url = parseUrl(text);
  if (!isNamed(url, policy)) {
    throw new OutgoingFailure(`${url.host} is not among the hosts of --outgoing hosts`);
  }
  const host = url.hostname.replace(/^\[(?<inner>.*)\]$/, "$<inner>");
  if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) throw refuseAddress(host);
  return await new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const fail = (error: Error): void => reject(explain(error, url));
    const options = { lookup: makeLookup(policy), agent: false } as const;
    const sent = send(url, options, (answer) => {
      readAnswer(answer, bounds.bytesMax)
        .then(resolve, fail)
        .finally(() => sent.destroy());
    });
    const deadline = setTimeout(
      () => sent.destroy(new OutgoingFailure("context deadline exceeded")),
      bounds.timeoutMs,
    );
    sent.once("error", fail);
    sent.once("close", () => clearTimeout(deadline));
    sent.end();
  });
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new OutgoingFailure("this is no URL");
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
        callback(refuseAddress(found[0]?.address ?? hostname), []);
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

function refuseAddress(address: string): OutgoingFailure {
  return new OutgoingFailure(
    `${address} is no public address, and not named in --outgoing private`,
  );
}

async function readAnswer(answer: IncomingMessage, bytesMax: number): Promise<OutgoingAnswer> {
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status <= 399) {
    throw new OutgoingFailure(`status ${status}: redirections are not followed`);
  }
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bytesMax) throw new OutgoingFailure(`the answer has more than ${bytesMax} bytes`);
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
  return new OutgoingFailure(error.message, { cause: error });
}

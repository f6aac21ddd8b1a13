/** Calls of a lambda server by the database: connections are kept, answers bounded. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { systemClock } from "../base/clock.ts";
import { isUnheard, OwnSocket } from "./own-socket.ts";
import { partialHeader, timeLeftHeader, workerPath } from "./wire.ts";
import type { WireAnswer } from "./wire.ts";

/** Where the lambda server is: `$ns` in the URL stands for the namespace. A socket is this database's own server. */
export type LambdaTarget =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "socket"; readonly path: string };

/** `unreachable`: there is no answer; the message tells why. */
export type LambdaReply = WireAnswer | { readonly unreachable: string };

export interface LambdaClient {
  /** Never rejects. `leftMs`: what is left of the request's time; Infinity for no bound. */
  call(namespace: number, body: string, leftMs: number, traceparent?: string): Promise<LambdaReply>;
  close(): void;
}

/** As long as the reference waits. */
const timeoutMs = 60_000;
/** For this database's own server to be there: its script has ten seconds to load. */
const startMsMax = 10_000;
const answerBytesMax = 64 * 1024 * 1024;
const socketsMax = 256;

export function openLambdaClient(target: LambdaTarget): LambdaClient {
  const options = { keepAlive: true, maxSockets: socketsMax };
  const isSecure = target.kind === "url" && target.url.startsWith("https:");
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  const own = target.kind === "socket" ? new OwnSocket(target.path) : undefined;
  return {
    call: async (namespace, body, leftMs, traceparent) => {
      const address = addressOf(target, namespace);
      const began = systemClock.tickMs();
      for (;;) {
        const passedMs = systemClock.tickMs() - began;
        const posted = { body, leftMs: leftMs - passedMs, traceparent };
        const { isNobodyThere, ...reply } = await post(address, agent, posted);
        const waitMs = Math.min(leftMs, startMsMax) - (systemClock.tickMs() - began);
        if (own === undefined || !isNobodyThere || waitMs <= 0) return reply;
        if (!(await own.whenThere(waitMs))) return reply;
      }
    },
    close: () => {
      own?.close();
      agent.destroy();
    },
  };
}

interface Address {
  /** This database's own server, which is told what is left of the request's time; others get what they always got. */
  readonly isOwn: boolean;
  /** As messages write it. */
  readonly url: string;
  readonly isSecure: boolean;
  readonly where: RequestOptions;
}

function addressOf(target: LambdaTarget, namespace: number): Address {
  if (target.kind === "socket") {
    const url = `http://lambda${workerPath}`;
    return {
      url,
      isOwn: true,
      isSecure: false,
      where: { socketPath: target.path, path: workerPath },
    };
  }
  const text = target.url.replaceAll("$ns", String(namespace));
  const { protocol, hostname, port, pathname, search } = new URL(text);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    url: text,
    isOwn: false,
    isSecure: protocol === "https:",
    where: { host, path: pathname + search, ...(port === "" ? {} : { port }) },
  };
}

type PostReply = LambdaReply & {
  /** No connection was made: nothing of the call was seen. */
  readonly isNobodyThere: boolean;
};

interface Posted {
  readonly body: string;
  readonly leftMs: number;
  /** Of the trace that the call belongs to (W3C). */
  readonly traceparent: string | undefined;
}

function post(
  address: Address,
  agent: HttpAgent | HttpsAgent,
  { body, leftMs, traceparent }: Posted,
): Promise<PostReply> {
  const waitMs = Math.max(0, Math.min(timeoutMs, leftMs));
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const unreachable = `Post "${address.url}": ${explain(error, address)}`;
      resolve({ unreachable, isNobodyThere: isUnheard(error) });
    };
    const send = address.isSecure ? httpsRequest : httpRequest;
    const deadline = setTimeout(() => sent.destroy(new Error(timedOut)), waitMs);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(address.isOwn
        ? { [timeLeftHeader]: String(Math.ceil(waitMs)), [partialHeader]: "1" }
        : {}),
    };
    const sent: ClientRequest = send(
      { ...address.where, method: "POST", agent, headers },
      (answer) => {
        readText(answer).then(
          (text) => resolve({ status: answer.statusCode ?? 0, body: text, isNobodyThere: false }),
          fail,
        );
      },
    );
    sent.once("error", fail);
    sent.once("close", () => clearTimeout(deadline));
    sent.end(body);
  });
}

const timedOut = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

async function readText(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > answerBytesMax) {
      answer.destroy();
      throw new Error(`the answer is larger than ${answerBytesMax} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function explain(error: NodeJS.ErrnoException, address: Address): string {
  const { host, port } = address.where;
  const place = `${host ?? "unix"}${port === undefined || port === null ? "" : `:${port}`}`;
  if (isUnheard(error)) return `dial tcp ${place}: connect: connection refused`;
  switch (error.code) {
    case "ENOTFOUND":
      return `dial tcp: lookup ${host ?? ""}: no such host`;
    case "ECONNRESET":
      return "EOF";
    default:
      return error.message;
  }
}

/** One request on its way through the HTTP module, and the few things that every route asks of it. */
import type { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cancellation } from "../base/cancellation.ts";
import { RequestBudget } from "../model/request-budget.ts";
import { strangerFault } from "../engine/authorize.ts";
import { nameLimit } from "../model/limits.ts";
import { BodyTooLarge, type EncodingFaults, nativeEncodingFaults, readBody } from "./body.ts";
import type { BodyWatch } from "./body-watch.ts";
import type { ServerContext } from "./server-context.ts";
import type { RequestHold } from "./request-hold.ts";
import type { WatchedRequest } from "./watched-request.ts";
import type { ReservedStreams } from "./reserved-streams.ts";
import type { Streams } from "./streams.ts";

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly context: ServerContext;
  readonly streams: Streams;
  readonly reserved: ReservedStreams;
  /** The path without its parameters. */
  readonly path: string;
  /** What follows the question mark; "" for nothing. */
  readonly search: string;
  /** What this request holds of the process's memory until it is answered. */
  readonly hold: RequestHold;
  readonly bodies: BodyWatch;
  readonly watched: WatchedRequest;
  /** Once it was opened. */
  budget: RequestBudget | undefined;
}

const noParameters = new URLSearchParams();

export function readParameters(exchange: Exchange): URLSearchParams {
  return exchange.search === "" ? noParameters : new URLSearchParams(exchange.search);
}

/** data: facts, values, variables. text: what somebody writes. Each has its limit. */
export type BodyKind = "data" | "text";

/** The body, read once it is known who sends it: a stranger's only where it is small. */
export function readBytes(
  exchange: Exchange,
  kind: BodyKind,
  faults: EncodingFaults = nativeEncodingFaults,
): Promise<Buffer> {
  const { context } = exchange;
  const reading =
    context.acl === undefined
      ? readKnown(exchange, kind, faults)
      : readOfPrincipal(exchange, kind, faults, context.acl);
  return context.controls.switches.logsRequests ? logRequest(exchange, reading) : reading;
}

function readKnown(exchange: Exchange, kind: BodyKind, faults: EncodingFaults): Promise<Buffer> {
  const { req, hold, bodies, context } = exchange;
  const { bodyBytesMax, textBytesMax } = context.limits;
  const isText = kind === "text" && textBytesMax < bodyBytesMax;
  return readBody(req, {
    bytesMax: isText ? textBytesMax : bodyBytesMax,
    tooLarge: isText
      ? () => refuseSize("text-bytes", textBytesMax)
      : () => refuseSize("body-bytes", bodyBytesMax),
    faults,
    hold,
    watch: bodies,
  });
}

function refuseSize(setting: "text-bytes" | "body-bytes", bytesMax: number): BodyTooLarge {
  const text = `The request's body is over the limit of ${bytesMax} bytes`;
  return new BodyTooLarge(nameLimit(setting, text));
}

/** What who is not known may send: a login at /admin, or a request that is refused in the words of its route. */
const strangerBytesMax = 64 * 1024;

async function readOfPrincipal(
  exchange: Exchange,
  kind: BodyKind,
  faults: EncodingFaults,
  acl: NonNullable<ServerContext["acl"]>,
): Promise<Buffer> {
  const { req, hold, bodies } = exchange;
  const principal = await acl.identify(req.headers);
  if (principal.refusal === undefined) return await readKnown(exchange, kind, faults);
  const tooLarge = (): Error => strangerFault(principal);
  return await readBody(req, { bytesMax: strangerBytesMax, tooLarge, faults, hold, watch: bodies });
}

/** Of one request, at most so much is told. */
const loggedMax = 10_000;

/** Queries and mutations, for an operator who has asked for it: never a login, nor administration. */
async function logRequest(exchange: Exchange, reading: Promise<Buffer>): Promise<Buffer> {
  const { context, path, search } = exchange;
  const body = await reading;
  if (/^\/(?:query|mutate)\/?$/.test(path)) {
    context.logger.info("request", { path, search, body: body.toString("utf8", 0, loggedMax) });
  }
  return body;
}

/** Whether the sender has gone before the answer was written, or an administrator has ended it. Asking costs a look; there is nothing to take down. */
function watchSender(exchange: Exchange): Cancellation {
  return new SenderGone(exchange.res, exchange.watched);
}

/** What this request may use. `timeoutMs`: what its sender asks for, 0 for nothing. */
export function openBudget(exchange: Exchange, timeoutMs: number): RequestBudget {
  const { clock, limits, memory } = exchange.context;
  const signal = watchSender(exchange);
  const budget = new RequestBudget({ clock, limits, timeoutMs, signal, account: memory });
  exchange.budget = budget;
  exchange.watched.budget = budget;
  budget.observer = exchange.watched.observer;
  return budget;
}

class SenderGone implements Cancellation {
  readonly #res: ServerResponse;

  readonly #watched: WatchedRequest;

  constructor(res: ServerResponse, watched: WatchedRequest) {
    this.#res = res;
    this.#watched = watched;
  }

  get aborted(): boolean {
    if (this.#watched.cancelled !== undefined) return true;
    return this.#res.destroyed || this.#res.socket?.destroyed === true;
  }

  get reason(): string | undefined {
    return this.#watched.cancelled;
  }
}

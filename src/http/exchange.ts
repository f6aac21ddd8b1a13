/** One request on its way through the door, and the few things that every route asks of it. */
import type { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cancellation } from "../base/cancellation.ts";
import { RequestBudget } from "../model/request-budget.ts";
import { readBody, nativeEncodingFaults, type EncodingFaults } from "./body.ts";
import type { House } from "./house.ts";
import type { Streams } from "./streams.ts";

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly house: House;
  readonly streams: Streams;
  /** The path without its parameters. */
  readonly path: string;
  /** What follows the question mark; "" for nothing. */
  readonly search: string;
}

const noParameters = new URLSearchParams();

export function readParameters(exchange: Exchange): URLSearchParams {
  return exchange.search === "" ? noParameters : new URLSearchParams(exchange.search);
}

export function readBytes(exchange: Exchange, faults?: EncodingFaults): Promise<Buffer> {
  const { req, house } = exchange;
  const reading = readBody(req, house.limits.bodyBytesMax, faults ?? nativeEncodingFaults);
  return house.controls.switches.logsRequests ? logRequest(exchange, reading) : reading;
}

/** Of one request, at most so much is told. */
const loggedMax = 10_000;

/** Queries and mutations, for an operator who has asked for it: never a login, nor administration. */
async function logRequest(exchange: Exchange, reading: Promise<Buffer>): Promise<Buffer> {
  const { house, path, search } = exchange;
  const body = await reading;
  if (/^\/(?:query|mutate)\/?$/.test(path)) {
    house.logger.info("request", { path, search, body: body.toString("utf8", 0, loggedMax) });
  }
  return body;
}

/** Whether the sender has gone before the answer was written. Asking costs a look; there is nothing to take down. */
export function watchSender(exchange: Exchange): Cancellation {
  return new SenderGone(exchange.res);
}

/** What this request may use. `timeoutMs`: what its sender asks for, 0 for nothing. */
export function openBudget(exchange: Exchange, timeoutMs: number): RequestBudget {
  const { clock, limits } = exchange.house;
  return new RequestBudget({ clock, limits, timeoutMs, signal: watchSender(exchange) });
}

class SenderGone implements Cancellation {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  get aborted(): boolean {
    return this.#res.destroyed || this.#res.socket?.destroyed === true;
  }
}

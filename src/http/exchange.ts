/** One request on its way through the door, and the few things that every route asks of it. */
import type { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, nativeEncodingFaults, type EncodingFaults } from "./body.ts";
import type { House } from "./house.ts";

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly house: House;
  /** The path without its parameters. */
  readonly path: string;
  /** What follows the question mark; "" for nothing. */
  readonly search: string;
}

export function readParameters(exchange: Exchange): URLSearchParams {
  return new URLSearchParams(exchange.search);
}

export async function readBytes(exchange: Exchange, faults?: EncodingFaults): Promise<Buffer> {
  const { req, house } = exchange;
  return await readBody(req, house.limits.bodyBytesMax, faults ?? nativeEncodingFaults);
}

/**
 * Where the request comes from. One that another process of this server handed over names its first sender; only the
 * private socket, which has no address, is believed.
 */
export function findRemoteAddress(req: IncomingMessage): string {
  const direct = req.socket.remoteAddress;
  if (direct !== undefined) return direct;
  const handed = req.headers[handedOverFrom];
  return typeof handed === "string" ? handed : "";
}

/** Set by a process that hands a request over to the owner of its transaction. */
export const handedOverFrom = "x-weft-remote-address";

/** Ends with the request: the work of one whose sender has gone is cancelled. */
export function watchSender(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  const { res } = exchange;
  res.once("close", () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

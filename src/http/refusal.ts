/** What a request that may not administer is told. */
import type { Fault } from "../model/fault.ts";
import type { Refusal } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import { makeErrorReply, plainShape, sendError } from "./reply.ts";

/** 403 for a foreign page, for which there is nothing recorded; else the reference's 200. */
export function sendRefusal(exchange: Exchange, refusal: Refusal, fault: Fault): void {
  const reply = makeErrorReply(fault, plainShape, exchange.house.logger);
  const status = refusal.kind === "page" ? 403 : reply.status;
  // The body was not read: the connection ends with the answer.
  exchange.res.shouldKeepAlive = false;
  sendError(exchange.res, { ...reply, status });
}

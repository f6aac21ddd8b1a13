/** The one place where rights are judged: every route passes it before its work (`rights.ts`). */
import type { IncomingMessage } from "node:http";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { findRefusal, type Refusal } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import type { House } from "./house.ts";
import { findRemoteAddress } from "./peer.ts";
import { makeRefusalReply } from "./refusal.ts";
import { sendError } from "./reply.ts";
import type { RouteRight } from "./rights.ts";

/** What stands in the way of a request to a route; undefined for nothing. Also for the opening of a WebSocket. */
export function judge(
  right: RouteRight,
  req: IncomingMessage,
  house: House,
): MaybePromise<Refusal | undefined> {
  if (right.audience === "everyone") return undefined;
  const remoteAddress = findRemoteAddress(req);
  const { security, keys } = house;
  return findRefusal(right.audience, { headers: req.headers, remoteAddress, security, keys });
}

/** False when the request was refused and answered. */
export function admit(right: RouteRight, exchange: Exchange): MaybePromise<boolean> {
  return andThen(judge(right, exchange.req, exchange.house), (refusal) => {
    if (refusal === undefined) return true;
    // The body was not read: the connection ends with the answer.
    exchange.res.shouldKeepAlive = false;
    sendError(exchange.res, makeRefusalReply(refusal, right.form));
    return false;
  });
}

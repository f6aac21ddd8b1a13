/** The one place where rights are judged: every route passes it before its work (`rights.ts`). */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { AccessKey } from "../auth/access-key.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { type Asking, findRefusal, findWriteRefusal, type Refusal, single } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import type { House } from "./house.ts";
import { findRemoteAddress } from "./peer.ts";
import { makeRefusalReply } from "./refusal.ts";
import { sendError } from "./reply.ts";
import type { RouteRight } from "./rights.ts";

/** What stands in the way of a request to a route; undefined for nothing. */
export function judge(
  right: RouteRight,
  req: IncomingMessage,
  house: House,
): MaybePromise<Refusal | undefined> {
  if (right.audience === "everyone") return undefined;
  return findRefusal(right, askingOf(req.headers, findRemoteAddress(req), house));
}

/** The key that a request shows, which was let in by it; undefined for none. */
export function keyOf(
  headers: IncomingHttpHeaders,
  house: House,
): MaybePromise<AccessKey | undefined> {
  const text = single(headers["x-auth-token"]) ?? "";
  if (text === "") return undefined;
  return andThen(house.keys.judge(text), (verdict) =>
    typeof verdict === "string" ? undefined : verdict,
  );
}

export function askingOf(
  headers: IncomingHttpHeaders,
  remoteAddress: string,
  house: House,
): Asking {
  const { security, keys, acl, graphql } = house;
  return { headers, remoteAddress, security, keys, acl, graphql };
}

/**
 * Why the sender of a request that was let in may not write; undefined when it may. A key that was shown was judged
 * before: no page has one that its reader did not give it.
 */
export function judgeWriting(
  req: IncomingMessage,
  house: House,
): MaybePromise<Refusal | undefined> {
  const { headers } = req;
  if (headers.origin === undefined && headers["sec-fetch-site"] === undefined) return undefined;
  if (!house.security.anonymous || house.acl !== undefined) return undefined;
  if ((single(headers["x-auth-token"]) ?? "") !== "") return undefined;
  return findWriteRefusal(askingOf(headers, findRemoteAddress(req), house));
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

/** The one place where rights are judged: every route passes it before its work (`rights.ts`). */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import {
  type Asking,
  findAccessRefusal,
  findWriteRefusal,
  type AccessRefusal,
  single,
} from "./access.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerContext } from "./server-context.ts";
import { notesOf } from "./audit.ts";
import { accessKeyOf } from "./shown-key.ts";
import { findRemoteAddress, peerOf } from "./peer.ts";
import { makeRefusalReply } from "./refusal.ts";
import { sendError } from "./reply.ts";
import type { RouteRight } from "./rights.ts";

/** What stands in the way of a request to a route; undefined for nothing. */
export function judge(
  right: RouteRight,
  req: IncomingMessage,
  context: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  if (right.audience === "everyone") return undefined;
  return findAccessRefusal(right, askingOf(req.headers, findRemoteAddress(req), context));
}

export function askingOf(
  headers: IncomingHttpHeaders,
  remoteAddress: string,
  context: ServerContext,
): Asking {
  const { security, keys, acl, graphql } = context;
  return { headers, remoteAddress, security, keys, acl, graphql };
}

/**
 * Why the sender of a request that was let in may not write; undefined when it may. A key that was shown was judged
 * before: no page has one that its reader did not give it.
 */
export function judgeWriting(
  req: IncomingMessage,
  context: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  const { headers } = req;
  if (headers.origin === undefined && headers["sec-fetch-site"] === undefined) return undefined;
  if (!context.security.anonymous || context.acl !== undefined) return undefined;
  if ((single(headers["x-auth-token"]) ?? "") !== "") return undefined;
  return findWriteRefusal(askingOf(headers, findRemoteAddress(req), context));
}

/** Counts a request of its sender. Undefined while that one has not sent too many. */
export function findRateRefusal(
  headers: IncomingHttpHeaders,
  address: string,
  context: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  const { rates, acl } = context;
  if (rates === undefined) return undefined;
  return andThen(accessKeyOf(headers, context), (key) =>
    andThen(rates.countsUsers ? acl?.identify(headers) : undefined, (principal) => {
      const name = principal?.refusal === undefined ? principal?.user : undefined;
      const user = name === undefined ? undefined : `${principal?.namespace ?? 0}/${name}`;
      const waitSeconds = rates.take({ address, key: key?.id, user });
      return waitSeconds === 0 ? undefined : { kind: "rate", waitSeconds };
    }),
  );
}

/** Counts a request of data of its sender's namespace. Undefined while that one has not sent too many. */
export function findQuotaRefusal(
  right: RouteRight,
  headers: IncomingHttpHeaders,
  { requestQuotas, acl }: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  if (requestQuotas === undefined || acl === undefined || requestQuotas.isEmpty) return undefined;
  // Who administers can always raise a quota, and log in for it.
  if (right.audience !== "clients") return undefined;
  return andThen(acl.identify(headers), ({ refusal, namespace }) => {
    const over = refusal === undefined ? requestQuotas.take(namespace) : undefined;
    return over && { kind: "quota", namespace, ...over };
  });
}

/** What stands before a request's rights: the rates of its sender, and the records that have to be made of it. */
export function findRouteRefusal(
  right: RouteRight,
  req: IncomingMessage,
  context: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  // What another process of this server sends, or hands over, was counted where it came in.
  if (right.audience === "everyone" || peerOf(req).kind === "private") return undefined;
  return andThen(findCountRefusal(right, req, context), (refusal) => {
    if (refusal !== undefined || !mustBeRecorded(context)) return refusal;
    const isData = right.audience === "clients" && right.writes !== true;
    return isData && context.audit?.queries !== true ? undefined : { kind: "unrecorded" };
  });
}

/** Rates of the sender, then the quota of its namespace. */
function findCountRefusal(
  right: RouteRight,
  req: IncomingMessage,
  context: ServerContext,
): MaybePromise<AccessRefusal | undefined> {
  const rate = findRateRefusal(req.headers, findRemoteAddress(req), context);
  return andThen(rate, (refusal) => refusal ?? findQuotaRefusal(right, req.headers, context));
}

/** Whether nothing may be done now that would have to be written down. */
export function mustBeRecorded({ audit }: ServerContext): boolean {
  return audit !== undefined && audit.isRequired && audit.fault !== undefined;
}

/** False when the request was refused and answered. */
export function admit(right: RouteRight, exchange: Exchange): MaybePromise<boolean> {
  return andThen(judge(right, exchange.req, exchange.context), (refusal) =>
    admitUnless(refusal, right, exchange),
  );
}

/** As `admit`, and counts the request. */
export function admitFirst(right: RouteRight, exchange: Exchange): MaybePromise<boolean> {
  const { req, context } = exchange;
  const { rates, audit, requestQuotas } = context;
  const isCounted = requestQuotas !== undefined && !requestQuotas.isEmpty;
  if (rates === undefined && audit === undefined && !isCounted) return admit(right, exchange);
  return andThen(findRouteRefusal(right, req, context), (refusal) =>
    refusal === undefined ? admit(right, exchange) : admitUnless(refusal, right, exchange),
  );
}

function admitUnless(
  refusal: AccessRefusal | undefined,
  right: RouteRight,
  exchange: Exchange,
): boolean {
  if (refusal === undefined) return true;
  const notes = notesOf(exchange.res);
  if (notes !== undefined) notes.refusal = refusal.kind;
  exchange.watched.refusal = refusal.kind;
  // The body was not read: the connection ends with the answer.
  exchange.res.shouldKeepAlive = false;
  sendError(exchange.res, makeRefusalReply(refusal, right.form));
  return false;
}

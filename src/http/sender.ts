/** Who sends a request to the native endpoints, and which transactions that one may go on with. */
import type { IncomingHttpHeaders } from "node:http";
import { explainRefusal } from "../admin/interface.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import { anyPrincipal, clientPrincipal, type Principal } from "../model/principal.ts";
import { mayAdministerKeyless, single } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import { askingOf } from "./gate.ts";
import { findRemoteAddress } from "./peer.ts";
import type { ServerContext } from "./server-context.ts";
import { accessKeyOf } from "./shown-key.ts";

/** Without ACL everybody is the same, but who may not administer reads no secret of the GraphQL schema. */
export function identify({ context, req }: Exchange): MaybePromise<Principal> {
  if (context.acl !== undefined) return context.acl.identify(req.headers);
  return principalOf(req.headers, findRemoteAddress(req), context);
}

/** The same, of a request that came from `address`. */
export function principalOf(
  headers: IncomingHttpHeaders,
  address: string,
  context: ServerContext,
): MaybePromise<Principal> {
  if (context.acl !== undefined) return context.acl.identify(headers);
  if ((single(headers["x-auth-token"]) ?? "") === "") {
    return mayAdministerKeyless(askingOf(headers, address, context))
      ? anyPrincipal
      : clientPrincipal;
  }
  return andThen(accessKeyOf(headers, context), (key) =>
    key === undefined || key.scopes.includes("admin") ? anyPrincipal : clientPrincipal,
  );
}

/** The key and the login that a request shows, as one text; undefined where it shows neither. */
export async function identifiedBy({ context, req }: Exchange): Promise<string | undefined> {
  const key = await accessKeyOf(req.headers, context);
  const principal = await context.acl?.identify(req.headers);
  const user = principal?.refusal === undefined ? principal?.user : undefined;
  if (key === undefined && user === undefined) return undefined;
  return JSON.stringify([key?.id, principal?.namespace, user]);
}

/** For what is counted of namespaces: users have one. */
export function noteSender({ context, watched }: Exchange, principal: Principal): void {
  if (context.acl === undefined || principal.refusal !== undefined) return;
  watched.namespace = principal.namespace;
}

/** A start time goes with its hash, so that nobody joins a transaction by guessing its number (reference/dql 1.10). */
export function checkHash(
  { context }: Pick<Exchange, "context">,
  startTs: number,
  principal: Principal,
  given: string | null,
): void {
  if (context.acl === undefined || startTs === 0 || principal.refusal !== undefined) return;
  if (given === context.acl.transactionHash(startTs, principal.namespace)) return;
  throw new Fault("E_TXN", "hash mismatch the claimed startTs|namespace");
}

/** What the answer tells for the requests to come; undefined without ACL. */
export function hashOf(
  { context }: Pick<Exchange, "context">,
  startTs: number,
  { namespace }: Principal,
): string | undefined {
  return startTs === 0 ? undefined : context.acl?.transactionHash(startTs, namespace);
}

/** For routes that concern the whole server. Where users log in it takes a guardian of namespace 0. */
export async function checkSuperadmin(exchange: Exchange): Promise<void> {
  const acl = exchange.context.acl !== undefined;
  const message = explainRefusal("superadmin", { principal: await identify(exchange), acl });
  if (message !== undefined) throw new Fault("E_HTTP_ERROR", message);
}

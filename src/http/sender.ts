/** Who sends a request to the native endpoints, and which transactions that one may go on with. */
import { explainRefusal } from "../admin/rights.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { Fault } from "../model/fault.ts";
import { anyVisitor, clientVisitor, type Visitor } from "../model/visitor.ts";
import { mayAdministerKeyless, single } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import { askingOf } from "./gate.ts";
import { findRemoteAddress } from "./peer.ts";
import { keyOf } from "./shown-key.ts";

/** Without ACL everybody is the same, but who may not administer reads no secret of the GraphQL schema. */
export function identify({ house, req }: Exchange): MaybePromise<Visitor> {
  if (house.acl !== undefined) return house.acl.identify(req.headers);
  if ((single(req.headers["x-auth-token"]) ?? "") === "") {
    const asking = askingOf(req.headers, findRemoteAddress(req), house);
    return mayAdministerKeyless(asking) ? anyVisitor : clientVisitor;
  }
  return andThen(keyOf(req.headers, house), (key) =>
    key === undefined || key.scopes.includes("admin") ? anyVisitor : clientVisitor,
  );
}

/** A start time goes with its hash, so that nobody joins a transaction by guessing its number (dql.md 1.10). */
export function checkHash(
  { house }: Exchange,
  startTs: number,
  visitor: Visitor,
  given: string | null,
): void {
  if (house.acl === undefined || startTs === 0 || visitor.refusal !== undefined) return;
  if (given === house.acl.transactionHash(startTs, visitor.namespace)) return;
  throw new Fault("E_TXN", "hash mismatch the claimed startTs|namespace");
}

/** What the answer tells for the requests to come; undefined without ACL. */
export function hashOf(
  { house }: Exchange,
  startTs: number,
  { namespace }: Visitor,
): string | undefined {
  return startTs === 0 ? undefined : house.acl?.transactionHash(startTs, namespace);
}

/** For routes that concern the whole server. Where users log in it takes a guardian of namespace 0. */
export async function checkSuperadmin(exchange: Exchange): Promise<void> {
  const acl = exchange.house.acl !== undefined;
  const message = explainRefusal("superadmin", { visitor: await identify(exchange), acl });
  if (message !== undefined) throw new Fault("E_HTTP_ERROR", message);
}

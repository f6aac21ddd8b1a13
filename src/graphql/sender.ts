/** Who sends a request, where ACL is on: what of the database it is lent, and with whom it may share a subscription. */
import type { MaybePromise } from "../base/maybe.ts";
import type { Reader } from "../graph/reader.ts";
import { restrictReader } from "../graph/restrict.ts";
import type { Visitor } from "../model/visitor.ts";
import type { Caller } from "./caller.ts";
import type { GraphqlRequest } from "./service.ts";

/** By its headers. */
export type Identify = (headers: GraphqlRequest["headers"]) => MaybePromise<Visitor>;

/** What is lent to a query of the sender's; undefined for one that is not believed: opening another tells why. */
export function readerOf(reader: Reader, { visitor }: GraphqlRequest): Reader | undefined {
  return visitor?.refusal === undefined ? restrictReader(reader, visitor?.access) : undefined;
}

/** Equal for senders whose rights are equal, and stay so whatever becomes of a group. */
export function rightsKey({ guard }: Caller, visitor: Visitor | undefined): string {
  if (visitor === undefined || visitor.isGuardian) return guard?.key ?? "";
  const groups = [...(visitor.groups ?? [])].sort();
  return JSON.stringify([guard?.key, visitor.access?.key, groups]);
}

export async function withSender(
  identify: Identify,
  request: GraphqlRequest,
): Promise<GraphqlRequest> {
  const visitor = await identify(request.headers);
  return { ...request, visitor, namespace: visitor.namespace };
}

/** Whether a sender, known by its headers, still has the rights that a subscription was prepared for. */
export async function hasSameRights(
  identify: Identify,
  headers: GraphqlRequest["headers"],
  live: { readonly caller: Caller; readonly rights: string },
): Promise<boolean> {
  const visitor = await identify(headers);
  return visitor.refusal === undefined && rightsKey(live.caller, visitor) === live.rights;
}

/** Who sends a request, where ACL is on: what of the database it is lent, and with whom it may share a subscription. */
import { andThen } from "../../base/maybe.ts";
import type { MaybePromise } from "../../base/maybe.ts";
import type { Reader } from "../../graph/reader.ts";
import { restrictReader } from "../../graph/restrict.ts";
import type { Principal } from "../../model/principal.ts";
import type { Caller } from "../resolve/caller.ts";
import type { GraphqlRequest, IdentifiedRequest } from "../operation/request.ts";

/** By its headers. */
export type Identify = (headers: GraphqlRequest["headers"]) => MaybePromise<Principal>;

/** What is lent to a query of the sender's; undefined for one that is not believed: opening another tells why. */
export function readerOf(reader: Reader, { principal }: IdentifiedRequest): Reader | undefined {
  return principal?.refusal === undefined ? restrictReader(reader, principal?.access) : undefined;
}

/** Equal for senders whose rights are equal, and stay so whatever becomes of a group. */
export function rightsKey({ guard }: Caller, principal: Principal | undefined): string {
  if (principal === undefined || principal.isGuardian) return guard?.key ?? "";
  const groups = [...(principal.groups ?? [])].sort();
  return JSON.stringify([guard?.key, principal.access?.key, groups]);
}

/** `identify` undefined: ACL is off, and there is one namespace. */
export function identifyRequest(
  identify: Identify | undefined,
  request: GraphqlRequest,
): MaybePromise<IdentifiedRequest> {
  if (identify === undefined) return withPrincipal(request, 0, undefined);
  return andThen(identify(request.headers), (principal) =>
    withPrincipal(request, principal.namespace, principal),
  );
}

/** Each member by its name: spreading would cost a microsecond of each request. */
function withPrincipal(
  request: GraphqlRequest,
  namespace: number,
  principal: Principal | undefined,
): IdentifiedRequest {
  return {
    namespace,
    principal,
    kind: request.kind,
    body: request.body,
    headers: request.headers,
    remoteAddress: request.remoteAddress,
    timeoutMs: request.timeoutMs,
    signal: request.signal,
    budget: request.budget,
    closed: request.closed,
    refusesMutations: request.refusesMutations,
    plan: request.plan,
  };
}

/** Whether a sender, known by its headers, still has the rights that a subscription was prepared for. */
export async function hasSameRights(
  identify: Identify,
  headers: GraphqlRequest["headers"],
  live: { readonly caller: Caller; readonly rights: string },
): Promise<boolean> {
  const principal = await identify(headers);
  return principal.refusal === undefined && rightsKey(live.caller, principal) === live.rights;
}

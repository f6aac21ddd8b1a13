/** What a refused request is told, in the words and the envelope of its route. */
import type { KeyScope } from "../auth/access-key.ts";
import { refuseNamespace } from "../auth/acl.ts";
import { quotaFault } from "../engine/namespace-quotas.ts";
import { faultTable } from "../model/fault-table.ts";
import { Fault } from "../model/fault.ts";
import type { AccessRefusal } from "./access.ts";
import { type ErrorReply, makeErrorBody } from "./reply.ts";
import type { RefusalForm } from "./rights.ts";

/** Of requests that carry no administration credentials to the routes which the reference's Zero answers. */
const notWhitelisted =
  "Request is not from a whitelisted IP and does not carry a valid X-Dgraph-AuthToken.";

/**
 * Keys and pages have nothing recorded: 401 where a key is missing or wrong, 403 where it is not enough, and 200 where
 * a GraphQL client expects every outcome as 200. Tokens and addresses are refused as the reference does.
 */
export function makeRefusalReply(refusal: AccessRefusal, form: RefusalForm): ErrorReply {
  const { message, code } = makeRefusalFault(refusal, form);
  const extension = code === "E_HTTP_ERROR" ? tokenExtension(form) : faultTable[code].extension;
  const body = makeErrorBody(message, extension, form === "login");
  return { status: statusOf(refusal, form), body, headers: headersOf(refusal) };
}

function headersOf(refusal: AccessRefusal): readonly string[] {
  if (refusal.kind === "rate" || refusal.kind === "quota") {
    return ["Retry-After", String(refusal.waitSeconds)];
  }
  return refusal.kind === "unrecorded" ? ["Retry-After", "1"] : [];
}

/** What a refused token or address is told where it is no HTTP matter: in the reference's words. */
export function makeRefusalFault(refusal: AccessRefusal, form: RefusalForm): Fault {
  switch (refusal.kind) {
    case "noKey":
      return new Fault("E_UNAUTHORIZED", explainNoKey(refusal.wanted));
    case "wrongKey":
      return new Fault("E_UNAUTHORIZED", "The key in X-Auth-Token is not valid.");
    case "expiredKey":
      return new Fault("E_UNAUTHORIZED", "The key in X-Auth-Token has expired.");
    case "clientKey":
      return new Fault("E_UNAUTHORIZED", "A Client key does not administer: use an Admin key.");
    case "scope":
      return new Fault("E_UNAUTHORIZED", explainScope(refusal.wanted));
    case "namespace":
      return refuseNamespace(refusal.namespace);
    case "page":
      return new Fault("E_UNAUTHORIZED", explainPage(refusal));
    case "rate":
      return new Fault("E_OVERLOADED", "Too many requests of this sender (--rate)");
    case "quota":
      return quotaFault(
        refusal.namespace,
        "requests",
        refusal.quota,
        "it has sent more in a second",
      );
    case "unrecorded":
      return new Fault("E_OVERLOADED", "Audit records cannot be written (--audit on-failure)");
    case "address":
      return makeAddressFault(refusal.address, form);
    case "noToken":
    case "wrongToken":
      return makeTokenFault(refusal, form);
  }
}

function explainNoKey(wanted: "any" | "admin"): string {
  const which = wanted === "admin" ? "an Admin key" : "an Admin or a Client key";
  return `Anonymous access is off: the header X-Auth-Token must carry ${which}.`;
}

function explainScope(wanted: readonly KeyScope[]): string {
  return `This key does not open this route: it has not the scope ${wanted.join(" or ")}.`;
}

function explainPage({ what, value, wish }: AccessRefusal & { readonly kind: "page" }): string {
  const subjects = {
    administer: "Administration from a foreign page",
    write: "Writing from a foreign page",
    reach: "A request from a foreign page",
  };
  const setting = what === "Host" ? "hosts" : "origins";
  return `${subjects[wish]} is refused: ${what} ${value} (--security ${setting})`;
}

function makeAddressFault(address: string, form: RefusalForm): Fault {
  if (form === "assign") return new Fault("E_UNAUTHORIZED", notWhitelisted);
  const code = form === "alter" ? "E_HTTP_ERROR" : "E_UNAUTHORIZED";
  return new Fault(code, `unauthorized ip address: ${address}`);
}

function makeTokenFault(
  refusal: AccessRefusal & { readonly kind: "noToken" | "wrongToken" },
  form: RefusalForm,
): Fault {
  if (form === "assign") return new Fault("E_UNAUTHORIZED", notWhitelisted);
  if (form !== "alter" && form !== "login") {
    return new Fault("E_UNAUTHORIZED", "Invalid X-Dgraph-AuthToken");
  }
  const message =
    refusal.kind === "noToken"
      ? "No Auth Token found. Token needed for Admin operations."
      : `Provided auth token [${refusal.token}] does not match. Permission denied.`;
  return new Fault("E_HTTP_ERROR", message);
}

function tokenExtension(form: RefusalForm): string {
  return form === "login" ? "ErrorInvalidRequest" : "Error";
}

function statusOf(refusal: AccessRefusal, form: RefusalForm): number {
  switch (refusal.kind) {
    case "rate":
    case "quota":
      return 429;
    case "unrecorded":
      return 503;
    case "page":
      return 403;
    case "noKey":
    case "wrongKey":
    case "expiredKey":
      return form === "graphql" ? 200 : 401;
    case "clientKey":
    case "scope":
    case "namespace":
      return form === "graphql" ? 200 : 403;
    case "address":
      if (form === "feed") return 403;
      return form === "assign" ? 401 : 200;
    case "noToken":
    case "wrongToken":
      return form === "assign" || form === "feed" ? 401 : 200;
  }
}

/**
 * Which web pages may read answers, and listen: loopback's, those that `--security origins` names, and those that the
 * schema of the sender's namespace names. Where every request shows credentials, and the schema names nobody, all may:
 * cookies are never looked at, so no page has credentials but those that its reader gave it.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import type { ServerContext } from "./server-context.ts";
import { findForeignDataPage } from "./pages.ts";
import { everyOrigin, setOriginHeaders } from "./reply.ts";
import type { RouteRight } from "./rights.ts";

const allowOrigin = "Access-Control-Allow-Origin";
const forAll: readonly string[] = [allowOrigin, everyOrigin];
const forNone: readonly string[] = [];

/** Flat, name, value, …: the headers about origins. `allowed`: those that the schema names. */
export function originHeaders(
  { headers, method }: Pick<IncomingMessage, "headers" | "method">,
  context: ServerContext,
  allowed: readonly string[],
): readonly string[] {
  const { origin } = headers;
  const isCached = method === "GET" || method === "HEAD";
  const isForAll = allowed.length === 0 && asksForCredentials(context);
  if (origin === undefined) {
    // No page asks; but an answer that a cache keeps may be shown to one later.
    return isForAll || (allowed.length === 0 && !isCached) ? forAll : forNone;
  }
  if (isForAll) return forAll;
  if (mayRead(origin, headers, context, allowed)) {
    // Answers to POST are kept by no cache: those have the headers of the reference.
    const varies = isCached || !allowed.includes(origin);
    return [allowOrigin, origin, ...(varies ? ["Vary", "Origin"] : [])];
  }
  return isCached ? ["Vary", "Origin"] : forNone;
}

function mayRead(
  origin: string,
  headers: IncomingHttpHeaders,
  { security }: ServerContext,
  allowed: readonly string[],
): boolean {
  return allowed.includes(origin) || findForeignDataPage(headers, security) === undefined;
}

/** Whether nobody is served who shows neither a key nor, where users log in, their token. */
function asksForCredentials({ security, acl }: ServerContext): boolean {
  return !security.anonymous || acl !== undefined;
}

/**
 * Settles what the answer, whatever it will be, tells a page of another origin. Requests without an origin need nothing.
 * Administration is open to all, as the reference's: there a foreign page is refused, or has shown credentials.
 */
export function settleOrigin(
  right: RouteRight,
  req: IncomingMessage,
  res: ServerResponse,
  context: ServerContext,
): MaybePromise<void> {
  if (req.headers.origin === undefined) return;
  if (right.audience === "administrators" || right.audience === "logins") {
    setOriginHeaders(res, forAll);
    return;
  }
  const principal = context.acl?.identify(req.headers);
  const namespace = andThen(principal, (known) => known?.namespace ?? 0);
  return andThen(
    andThen(namespace, (number) => context.graphql.allowedOrigins(number)),
    (allowed) => setOriginHeaders(res, originHeaders(req, context, allowed)),
  );
}

/**
 * Whether the page behind an upgrade, or behind an event stream, may listen, which it may where it may read answers. `sender`: the headers by which
 * the sender is known, which for a WebSocket come with its first message; where users log in, one who is not known yet
 * is judged when he is.
 */
export async function mayListen(
  context: ServerContext,
  upgrade: IncomingHttpHeaders,
  sender: IncomingHttpHeaders,
): Promise<boolean> {
  const { origin } = upgrade;
  if (origin === undefined) {
    return (
      asksForCredentials(context) || findForeignDataPage(upgrade, context.security) === undefined
    );
  }
  const principal = await context.acl?.identify(sender);
  if (principal?.refusal !== undefined) return true;
  const allowed = await context.graphql.allowedOrigins(principal?.namespace ?? 0);
  if (allowed.length === 0 && asksForCredentials(context)) return true;
  return mayRead(origin, upgrade, context, allowed);
}

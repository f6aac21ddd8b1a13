/** Which web pages may read answers of /graphql: those that the schema of the sender's namespace names. */
import type { IncomingHttpHeaders } from "node:http";
import type { House } from "./house.ts";
import { everyOrigin } from "./reply.ts";

/** What Access-Control-Allow-Origin says; "" for nothing. */
export function grantOrigin(allowed: readonly string[], origin: string | undefined): string {
  if (allowed.length === 0) return everyOrigin;
  return origin !== undefined && allowed.includes(origin) ? origin : "";
}

/**
 * Whether the page behind an upgrade may listen, which it may where it may read answers. `sender`: the headers by which
 * the sender is known, which for a WebSocket come with its first message; where users log in, one who is not known yet
 * is judged when he is.
 */
export async function mayListen(
  { graphql, acl }: House,
  origin: string | undefined,
  sender: IncomingHttpHeaders,
): Promise<boolean> {
  if (origin === undefined) return true;
  const visitor = await acl?.identify(sender);
  if (visitor?.refusal !== undefined) return true;
  const allowed = await graphql.allowedOrigins(visitor?.namespace ?? 0);
  return grantOrigin(allowed, origin) !== "";
}

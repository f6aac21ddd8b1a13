/** Who is behind a request that runs: asked of its headers when an administrator wants to know. */
import type { RunningRequest } from "./running-request.ts";
import type { ServerContext } from "./server-context.ts";
import { accessKeyOf } from "./shown-key.ts";
import type { WatchedRequest } from "./watched-request.ts";

export async function describeSender(
  { req }: WatchedRequest,
  context: ServerContext,
): Promise<Pick<RunningRequest, "user" | "key" | "namespace">> {
  const key = await accessKeyOf(req.headers, context);
  const principal = await context.acl?.identify(req.headers);
  const isKnown = principal !== undefined && principal.refusal === undefined;
  return {
    user: isKnown ? principal.user : undefined,
    key: key === undefined ? undefined : key.name === "" ? key.id : key.name,
    namespace: isKnown ? principal.namespace : undefined,
  };
}

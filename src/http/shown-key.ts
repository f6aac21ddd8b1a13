/** The key behind a request that was let in. */
import type { IncomingHttpHeaders } from "node:http";
import type { AccessKey } from "../auth/access-key.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { single } from "./access.ts";
import type { ServerContext } from "./server-context.ts";

/** The key that a request shows, which was let in by it; undefined for none. */
export function accessKeyOf(
  headers: IncomingHttpHeaders,
  context: ServerContext,
): MaybePromise<AccessKey | undefined> {
  const text = single(headers["x-auth-token"]) ?? "";
  if (text === "") return undefined;
  return andThen(context.keys.judge(text), (verdict) =>
    typeof verdict === "string" ? undefined : verdict,
  );
}

/** One hearing of a subscription, over one connection: what it tells, whichever way it comes. */
import type { GraphqlResult, Signal } from "./api.ts";

export interface Listener {
  answer(result: GraphqlResult<unknown>): void;
}

/**
 * How a hearing ended: `done`: the server has nothing more to say (the token has expired, the rights have changed);
 * `lost`: the connection is gone, and may be tried again, after `askedMs` at least.
 */
export type Ending =
  | { readonly kind: "done" }
  | { readonly kind: "lost"; readonly error: Error; readonly askedMs?: number };

/** Rejects where the subscription is refused. Ends with the signal. */
export type Listen = (
  body: string,
  headers: Readonly<Record<string, string>>,
  listener: Listener,
  signal: Signal,
) => Promise<Ending>;

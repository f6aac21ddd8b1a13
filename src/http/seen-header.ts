/**
 * Reads of one client in order, over several machines: each answer names a commit that it has seen, and a request that
 * names one is answered by a machine when that has it, too (`--cluster`, docs/cluster.md).
 */
import { Fault } from "../model/fault.ts";
import { single } from "./access.ts";
import type { Exchange } from "./exchange.ts";
import { seenHeader } from "./reply.ts";
import type { SeenState } from "./seen-state.ts";

/** undefined: there is nothing to wait for. Fault E_PARAMETER for a header that is no number. */
export function awaitSeen(exchange: Exchange, state: SeenState): Promise<void> | undefined {
  const { req, watched } = exchange;
  watched.seenTs = () => state.newestTs();
  const given = single(req.headers["x-weft-seen"]);
  if (given === undefined || given === "") return undefined;
  if (!/^\d{1,15}$/.test(given)) {
    throw new Fault("E_PARAMETER", `${seenHeader}: "${given.slice(0, 40)}" is not a number`);
  }
  const commitTs = Number(given);
  return commitTs > state.newestTs() ? state.whenSeen(commitTs) : undefined;
}

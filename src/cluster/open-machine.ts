/** A machine over a log, from its settings: finds out whose log it is, opens the store, and follows. */
import { Fault } from "../model/fault.ts";
import { openNodeStore, type NodeStoreOptions } from "../stores/open.ts";
import { findHistory } from "./founding.ts";
import { openClusterNode, type ClusterNode, type NodeOptions } from "./node.ts";

export interface MachineOptions extends Omit<NodeOptions, "node"> {
  readonly store: Omit<NodeStoreOptions, "storeId" | "logger" | "clock">;
}

/** Faults E_STARTUP and E_LOG, and whatever the log rejects with. The log stays the caller's when it fails. */
export async function openMachine(options: MachineOptions): Promise<ClusterNode> {
  const { log, store, logger, clock, onEnd } = options;
  const history = await findHistory(log);
  if (history === undefined) {
    throw new Fault(
      "E_STARTUP",
      "--cluster: nobody has begun the log yet: weft cluster init does, once for all machines",
    );
  }
  const { storeId } = history;
  let isOver = false;
  const node = await openNodeStore({
    ...store,
    logger,
    clock,
    storeId,
    // What is not written since the lead was lost is no fault of the store's.
    onFatal: (error) => {
      if (!isOver) store.onFatal?.(error);
    },
  });
  try {
    return await openClusterNode({
      ...options,
      node,
      onEnd: (end) => {
        isOver = true;
        onEnd(end);
      },
    });
  } catch (error) {
    await node.close();
    throw error;
  }
}

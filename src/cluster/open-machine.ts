/** A machine over a log, from its settings: finds out whose log it is, opens the store, and follows. */
import { silentLogger } from "../base/log.ts";
import { LogTrimmed } from "../log/replicated-log.ts";
import { Fault } from "../model/fault.ts";
import { holdsStore, openNodeStore, type NodeStoreOptions } from "../stores/open.ts";
import { clearHalfSnapshot } from "../stores/snapshot-store.ts";
import { fetchSnapshot } from "./fetch-snapshot.ts";
import { findHistory, type LogHistory } from "./founding.ts";
import { keepIncarnation, readIncarnation } from "./incarnation.ts";
import { decodePosition } from "./position.ts";
import type { ClusterNode, NodeOptions } from "./cluster-node.ts";
import { openClusterNode } from "./node.ts";

interface MachineOptions extends Omit<NodeOptions, "node" | "incarnation"> {
  readonly store: Omit<NodeStoreOptions, "storeId" | "logger" | "clock">;
}

/** Faults E_STARTUP and E_LOG, and whatever the log rejects with. The log stays the caller's when it fails. */
export async function openMachine(options: MachineOptions): Promise<ClusterNode> {
  for (let tries = 1; ; tries++) {
    try {
      return await openOnce(options);
    } catch (error) {
      // The log was trimmed meanwhile: what is needed is a snapshot.
      if (!(error instanceof LogTrimmed) || tries === triesMax) throw asStartup(error);
    }
  }
}

const triesMax = 5;

function asStartup(error: unknown): unknown {
  if (!(error instanceof LogTrimmed)) return error;
  return new Fault("E_STARTUP", `--cluster: this machine is behind the log: ${error.message}`);
}

async function openOnce(options: MachineOptions): Promise<ClusterNode> {
  const { log, store, logger, clock, onEnd } = options;
  const history = await findHistory(log);
  if (history === undefined) {
    throw new Fault(
      "E_STARTUP",
      "--cluster: nobody has begun the log yet: weft cluster init does, once for all machines",
    );
  }
  const { storeId } = history;
  const incarnation = readIncarnation(store.dir);
  clearHalfSnapshot(store.dir);
  if (await needsSnapshot(options, history)) {
    const { name: node, address, tls } = options;
    const self = { storeId, node, address, incarnation };
    const { dir, encryption } = store;
    await fetchSnapshot({ log, dir, encryption, tls, self, clock, logger });
  }
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
    keepIncarnation(store.dir, incarnation);
    return await openClusterNode({
      ...options,
      node,
      incarnation,
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

/**
 * Whether this machine has nothing that the log could bring forward: no store, where the log does not tell of everything,
 * or one that the log does not reach back to. Within one run of the server the store is not exchanged.
 */
async function needsSnapshot(
  { store, clock }: MachineOptions,
  { storeId, isWhole, first }: LogHistory,
): Promise<boolean> {
  const { dir, identity } = store;
  if (!holdsStore(dir)) return !isWhole;
  if (identity !== undefined) return false;
  const node = await openNodeStore({
    ...store,
    isLinked: false,
    logger: silentLogger,
    clock,
    storeId,
  });
  try {
    const { position } = node;
    return position !== undefined && decodePosition(position).seq + 1 < first;
  } finally {
    await node.close();
  }
}

/** A machine over a log, from its settings: finds out whose log it is, opens the store, and follows. */
import { silentLogger } from "../base/log.ts";
import { systemClock } from "../base/clock.ts";
import type { ChainPoint } from "../log/chain.ts";
import { LogAbsent, LogDamaged, LogTrimmed } from "../log/replicated-log.ts";
import { Fault } from "../model/fault.ts";
import { holdsStore, openNodeStore, type NodeStoreOptions } from "../stores/open.ts";
import { readIdentity } from "../stores/place.ts";
import { clearHalfSnapshot } from "../stores/snapshot-store.ts";
import { fetchSnapshot } from "./fetch-snapshot.ts";
import { findHistory, type LogHistory } from "./founding.ts";
import { keepIncarnation, readIncarnation } from "./incarnation.ts";
import { decodePosition } from "./position.ts";
import type { ClusterNode, NodeOptions } from "./cluster-node.ts";
import { openClusterNode } from "./node.ts";

interface MachineOptions extends Omit<NodeOptions, "node" | "incarnation"> {
  /** How long a start waits for a machine that leads. */
  readonly ledMs: number;
  /** It is open, and answers for itself, while its start goes on; called again where it had to be made anew. */
  readonly onOpen?: (node: ClusterNode) => void;
  readonly store: Omit<NodeStoreOptions, "storeId" | "logger" | "clock">;
}

/** Faults E_STARTUP and E_LOG, and whatever the log rejects with. The log stays the caller's when it fails. */
export async function openMachine(options: MachineOptions): Promise<ClusterNode> {
  const { store, logger, log, ledMs, onOpen } = options;
  for (let tries = 1, lacks: LogDamaged | undefined; ; tries++) {
    try {
      const node = await openOnce(options, lacks);
      onOpen?.(node);
      await node.whenStarted(ledMs);
      lacks = node.damage;
      // Within one run of the server the store is not exchanged.
      if (lacks === undefined || store.identity !== undefined || tries === triesMax) return node;
      await node.close();
    } catch (error) {
      if (error instanceof LogDamaged) lacks = error;
      // The log was trimmed meanwhile: what is needed is a snapshot.
      const isHelped = error instanceof LogDamaged || error instanceof LogTrimmed;
      if (!isHelped || tries === triesMax) throw asStartup(error);
    }
    if (lacks === undefined) continue;
    const fields = { why: lacks.message, place: log.placeOf(lacks.seq) };
    logger.error("the log cannot be read any further, and a snapshot is asked for", fields);
  }
}

const triesMax = 5;

function asStartup(error: unknown): unknown {
  if (!(error instanceof LogTrimmed)) return error;
  return new Fault("E_STARTUP", `--cluster: this machine is behind the log: ${error.message}`);
}

/** `lacks`: a record that this machine needs, and cannot read. */
async function openOnce(
  options: MachineOptions,
  lacks: LogDamaged | undefined,
): Promise<ClusterNode> {
  const { log, store, logger, clock, onEnd } = options;
  const history = await findBegun(options);
  const { storeId } = history;
  const incarnation = readIncarnation(store.dir);
  clearHalfSnapshot(store.dir);
  if (lacks !== undefined || (await needsSnapshot(options, history))) {
    const { name: node, address, tls } = options;
    const self = { storeId, node, address, incarnation };
    const { dir, encryption } = store;
    await fetchSnapshot({ log, dir, encryption, tls, self, clock, logger, lacks });
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

/** A log that is gone is not begun again: what machines have of it would be another history than what comes after. */
async function findBegun(options: MachineOptions): Promise<LogHistory> {
  let why = "it is empty";
  try {
    const history = await findHistory(options.log);
    if (history !== undefined) return history;
  } catch (error) {
    if (!(error instanceof LogAbsent)) throw error;
    why = error.message;
  }
  const { dir } = options.store;
  const storeId = holdsStore(dir) ? (await readIdentity(dir)).storeId : "";
  const position = await readPosition(options.store, storeId);
  throw new Fault(
    "E_STARTUP",
    position === undefined
      ? `--cluster: nobody has begun the log yet (${why}): weft cluster init does, once for all machines`
      : `--cluster: this machine has applied record ${position.seq} of the log, and the log is not there (${why}): bring it back as it was (a disk that is not mounted, another database); do not begin another one, which none of these machines could follow`,
  );
}

/** How far the store that lies there has applied its log; undefined: there is none, or it is of no log. Fault as `openNodeStore`. */
async function readPosition(
  store: MachineOptions["store"],
  storeId: string,
): Promise<ChainPoint | undefined> {
  if (!holdsStore(store.dir)) return undefined;
  const options = { ...store, isLinked: false, logger: silentLogger, clock: systemClock, storeId };
  const node = await openNodeStore(options);
  try {
    return node.position === undefined ? undefined : decodePosition(node.position);
  } finally {
    await node.close();
  }
}

/**
 * Whether this machine has nothing that the log could bring forward: no store, where the log does not tell of everything,
 * or one that the log does not reach back to. Within one run of the server the store is not exchanged.
 */
async function needsSnapshot(
  { store }: MachineOptions,
  { storeId, isWhole, first }: LogHistory,
): Promise<boolean> {
  const { dir, identity } = store;
  if (!holdsStore(dir)) return !isWhole;
  if (identity !== undefined) return false;
  const position = await readPosition(store, storeId);
  return position !== undefined && position.seq + 1 < first;
}

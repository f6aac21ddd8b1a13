/** `weft cluster`: begins the log of several machines, and asks after them. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { foundLog } from "../cluster/founding.ts";
import { encodePosition } from "../cluster/position.ts";
import { openLog } from "../log/open.ts";
import type { ReplicatedLog } from "../log/replicated-log.ts";
import { Fault } from "../model/fault.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openNodeStore } from "../stores/open.ts";
import { readIdentity } from "../stores/place.ts";
import { claimForServing } from "./claim.ts";
import type { ClusterInitFlags, ClusterLogFlags } from "./cluster-commands.ts";
import { readLogFlags } from "./cluster-config.ts";
import { readEncryption } from "./encryption.ts";
import { say } from "./log.ts";

export async function runClusterInit(options: ClusterInitFlags): Promise<void> {
  const { data } = options;
  const log = await openFlagged(options);
  try {
    if (data === undefined) {
      const storeId = randomBytes(16).toString("hex");
      await foundLog(log, { storeId, lastTs: 0, clock: systemClock });
      say(`the log is begun, for the store ${storeId}: start the machines`);
      return;
    }
    const claim = await claimForServing(data);
    try {
      const storeId = await beginWith(data, log, readEncryption(options.encryption));
      say(`the log is begun with the store ${storeId} at ${data}: start that machine first`);
    } finally {
      await claim.release();
    }
  } finally {
    await log.close();
  }
}

/** The store notes its place in the log, and opens only over it from then on. */
async function beginWith(
  dir: string,
  log: ReplicatedLog,
  encryption: UserKey | undefined,
): Promise<string> {
  const { storeId } = await readIdentity(dir);
  const node = await openNodeStore({
    dir,
    storeId,
    encryption,
    logger: silentLogger,
    clock: systemClock,
    isLinked: false,
  });
  try {
    if (node.position !== undefined) {
      throw new Fault("E_STARTUP", `the store at ${dir} is that of a log already`);
    }
    const snapshot = node.snapshot();
    const lastTs = snapshot.ts;
    snapshot.close();
    const point = await foundLog(log, { storeId, lastTs, clock: systemClock });
    node.apply([], encodePosition(point));
  } finally {
    await node.close();
  }
  return storeId;
}

function openFlagged(options: ClusterLogFlags): Promise<ReplicatedLog> {
  const flags = new Map([
    ["cell", options.cell],
    ["unsafe-single", String(options.unsafeSingle)],
  ] as const);
  const { log, cell, isSingle } = readLogFlags(options.log, flags);
  return openLog({ url: log, isSingle }, { cell, clock: systemClock, flag: "--log" });
}

/** Makes the store of a machine that has none, or is behind the log, of another machine's rows (reference/log 7.4). */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { Fault } from "../model/fault.ts";
import type { LogDamaged, ReplicatedLog } from "../log/replicated-log.ts";
import type { UserKey } from "../stores/encryption.ts";
import { openSnapshotTarget } from "../stores/snapshot-store.ts";
import { dialPeer, endWhenIdle, type PeerTls } from "./peer-connection.ts";
import type { PeerSelf } from "./peer-words.ts";
import { receiveSnapshot } from "./snapshot-words.ts";

interface FetchOptions {
  readonly log: ReplicatedLog;
  readonly dir: string;
  readonly encryption: UserKey | undefined;
  readonly tls: PeerTls;
  readonly self: PeerSelf;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whoever gives nothing for so long is not waited for. Default: `snapshotIdleMs`. */
  readonly idleMs?: number;
  /** Why it is needed, where that is a record of the log. */
  readonly lacks?: LogDamaged | undefined;
}

/** A machine that leads is looked for so long, since rows of a snapshot came last. */
const seekMs = 60_000;
const retryMs = 500;
/** Of the connection that carries it, at both ends: reading a block of a large store takes less. */
export const snapshotIdleMs = 60_000;
/** Progress is told so often. */
const tellMs = 5_000;

/** Fault E_STARTUP where no machine gives one; whatever was in `dir` stays then. */
export async function fetchSnapshot(options: FetchOptions): Promise<void> {
  const { clock, logger } = options;
  let untilMs = clock.tickMs() + seekMs;
  const onRows = (): void => void (untilMs = clock.tickMs() + seekMs);
  for (;;) {
    try {
      await fetchOnce(options, onRows);
      return;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof Fault && error.code === "E_STARTUP") throw error;
      if (clock.tickMs() > untilMs) {
        throw new Fault(
          "E_STARTUP",
          `--cluster: this machine needs a snapshot, and no machine gives one: ${why}${explain(options)}`,
        );
      }
      logger.warn("a snapshot could not be had, and is asked for again", { why });
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

function explain({ lacks, log }: FetchOptions): string {
  if (lacks === undefined) return "";
  return `. It is needed since ${lacks.message} (${log.placeOf(lacks.seq)}): start a machine that has applied it`;
}

async function fetchOnce(options: FetchOptions, onRows: () => void): Promise<void> {
  const { log, dir, encryption, tls, self, clock, logger } = options;
  const { address, node } = await log.lease.read();
  if (address === "" || node === self.node) throw new Error("no other machine leads");
  const { socket } = await dialPeer(address, tls, { ...self, purpose: "snapshot" });
  endWhenIdle(socket, options.idleMs ?? snapshotIdleMs);
  try {
    const { storeId } = self;
    const target = await openSnapshotTarget(dir, { storeId, encryption });
    logger.info("this machine is given a snapshot", { by: node });
    let toldMs = clock.tickMs();
    try {
      const rows = await receiveSnapshot(socket, target, (count) => {
        onRows();
        if (clock.tickMs() - toldMs < tellMs) return;
        toldMs = clock.tickMs();
        logger.info("rows of the snapshot have come", { rows: count });
      });
      await target.finish();
      logger.info("the snapshot is complete", { rows });
    } catch (error) {
      await target.abandon();
      throw error;
    }
  } finally {
    socket.destroy();
  }
}

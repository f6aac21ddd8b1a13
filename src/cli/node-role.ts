/** The process that keeps a server's store among those of other machines (`--cluster`): in place of the writer. */
import { readFileSync, statSync } from "node:fs";
import { systemClock } from "../base/clock.ts";
import { must } from "../base/assert.ts";
import type { Logger } from "../base/log.ts";
import type { PeerTls } from "../cluster/peer-connection.ts";
import type { ClusterNode } from "../cluster/cluster-node.ts";
import { openLog } from "../log/open.ts";
import { explainDirectory } from "../stores/claim.ts";
import { DiskRoom } from "../stores/disk-room.ts";
import type { StoreIdentity } from "../stores/place.ts";
import { deriveFill } from "../write/fill.ts";
import { parseAddress } from "./address.ts";
import type { ClosingNotice } from "./closing-notice.ts";
import type { ClusterConfig } from "./cluster-config.ts";
import { scrubOf, type ServeConfig } from "./config.ts";
import { readKeyFile } from "./encryption.ts";
import { storeFailedExit } from "./messages.ts";
import { checkOwnCertificate } from "./own-certificate.ts";
import { OwnMachine } from "./own-machine.ts";
import { openPrivateSockets } from "./private-socket.ts";
import type { Question, SurveyAnswer } from "./questions.ts";
import { SnapshotGiver } from "./snapshot-child.ts";

export interface NodeProcess {
  /** undefined: not for it alone. */
  answer(question: Question): Promise<SurveyAnswer | undefined>;
  checkReaders(): void;
  close(): Promise<void>;
}

interface NodeStart {
  readonly run: string;
  readonly identity: StoreIdentity | undefined;
  readonly closing: ClosingNotice;
}

/** How long a start waits for a machine that leads. */
const ledMs = 30_000;
const tlsLookMs = 5_000;
/** How long a machine that begins to lead waits for the processes of all to come back to their slots. */
const slotGraceMs = 15_000;

/** Fault E_STARTUP, one line. */
export async function openNodeRole(
  config: ServeConfig,
  logger: Logger,
  { run, identity, closing }: NodeStart,
): Promise<NodeProcess> {
  const cluster = must(config.cluster, "the role has its settings");
  const { dataDir, store } = config;
  const sockets = openPrivateSockets(dataDir);
  const log = await openLog(
    { url: cluster.log, isSingle: cluster.isSingle },
    { cell: cluster.cell, clock: systemClock, flag: "--cluster log", isMade: false },
  );
  const { mapBytes, minFreeBytes } = store;
  const giver = new SnapshotGiver(config, logger);
  const own = new OwnMachine(
    { logger, closing },
    {
      log,
      clock: systemClock,
      logger,
      name: cluster.node,
      address: cluster.address,
      bind: cluster.bind,
      tls: readTls(cluster),
      leaseMs: cluster.leaseMs,
      readWaitMs: cluster.readWaitMs,
      retainMs: cluster.retainMs,
      digestMs: cluster.digestMs,
      isQuorum: cluster.reads === "quorum",
      ledMs,
      pathOf: (slot, isGrpc) => (isGrpc ? sockets.grpcPathOf(slot) : sockets.pathOf(slot)),
      giveSnapshot: (socket) => giver.give(socket),
      store: {
        dir: dataDir,
        encryption: readKeyFile(config.keyFile),
        ...(mapBytes === undefined ? {} : { mapBytesMax: mapBytes }),
        room: new DiskRoom(dataDir, systemClock, minFreeBytes),
        derive: deriveFill,
        retention: { ageMsMax: store.logMinutes * 60_000, bytesMax: store.logBytes },
        journal: { run },
        identity,
        scrub: scrubOf(store),
        slotGraceMs,
        onFatal: () => process.exit(storeFailedExit),
      },
    },
  );
  try {
    await own.open();
  } catch (error) {
    await log.close();
    throw explainDirectory(dataDir, error) ?? error;
  }
  watchTls(cluster, own, logger);
  const { leader, role } = own.machine.facts;
  if (leader === undefined && role !== "stopped") logger.warn("no machine leads yet");
  return {
    answer: (question) => answer(own.machine, question),
    checkReaders: () => own.machine.checkReaders(),
    close: async () => {
      giver.close();
      await own.close();
      await log.close();
    },
  };
}

async function answer(machine: ClusterNode, question: Question): Promise<SurveyAnswer | undefined> {
  if (question.kind === "cluster") return { cluster: machine.facts };
  if (question.kind === "resign") return { hasResigned: await machine.resign() };
  if (question.kind === "finalize") return await act(() => machine.finalize());
  if (question.kind !== "evict") return undefined;
  return await act(() => machine.evict(question.node, question.isForced));
}

async function act(work: () => Promise<string>): Promise<SurveyAnswer> {
  try {
    return { act: { isDone: true, words: await work() } };
  } catch (error) {
    return {
      act: { isDone: false, words: error instanceof Error ? error.message : String(error) },
    };
  }
}

function readTls({ ca, cert, key, address }: ClusterConfig): PeerTls {
  checkOwnCertificate({ ca, cert, key, host: parseAddress(address, "--cluster address").host });
  return { ca: readFileSync(ca), cert: readFileSync(cert), key: readFileSync(key) };
}

/** Certificates that have changed are used for what connects from then on. */
function watchTls(cluster: ClusterConfig, own: OwnMachine, logger: Logger): void {
  const look = (): string =>
    [cluster.ca, cluster.cert, cluster.key]
      .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      .join(" ");
  let state = look();
  setInterval(() => {
    const now = look();
    if (now === state) return;
    state = now;
    try {
      const tls = readTls(cluster);
      own.exchangeTls(tls);
      logger.info("certificates of the cluster have changed, and are used from now on");
    } catch (error) {
      logger.error("certificates of the cluster have changed and cannot be used", {
        why: String(error),
      });
    }
  }, tlsLookMs).unref();
}

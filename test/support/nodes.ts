/** Machines over one log with all that a node does (`openClusterNode`), in this process, and gates in their way. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { ClusterNode, NodeEnd } from "../../src/cluster/cluster-node.ts";
import { openClusterNode } from "../../src/cluster/node.ts";
import type { PeerTls } from "../../src/cluster/peer-connection.ts";
import type { ReplicatedLog } from "../../src/log/replicated-log.ts";
import { openNodeStore } from "../../src/stores/open.ts";
import { findFreePort } from "./free-port.ts";
import { atTheEnd, makeMachineFolder } from "./machines.ts";

const certificates = join(import.meta.dirname, "..", "certificates");
const readPem = (name: string): Buffer => readFileSync(join(certificates, name));

export const machineTls: PeerTls = {
  ca: readPem("cluster-authority.pem"),
  cert: readPem("cluster-node.pem"),
  key: readPem("cluster-node.key"),
};

export interface TestNode {
  readonly machine: ClusterNode;
  readonly dir: string;
  /** What it has asked for: to begin anew. */
  readonly ends: readonly NodeEnd[];
}

interface TestNodeOptions {
  readonly dir?: string;
  readonly name?: string;
  /** Where the others find it; default: where it listens. */
  readonly addressOf?: (port: number) => Promise<string>;
  readonly isQuorum?: boolean;
  readonly digestMs?: number;
  /** Asked before each transaction of records: what it throws the store does. */
  readonly beforeApply?: () => void;
  /** Why its store cannot be written. */
  readonly trouble?: () => string | undefined;
}

/** Its lease is short: 300 ms. */
export async function openNode(
  log: ReplicatedLog,
  storeId: string,
  {
    dir = makeMachineFolder(),
    name = "own",
    addressOf = async (port) => `127.0.0.1:${port}`,
    isQuorum = false,
    digestMs = 0,
    beforeApply = () => {},
    trouble = () => undefined,
  }: TestNodeOptions = {},
): Promise<TestNode> {
  const ends: NodeEnd[] = [];
  const port = await findFreePort();
  const options = { dir, storeId, logger: silentLogger, clock: systemClock, onFatal: () => {} };
  const node = await openNodeStore(options);
  const apply = node.apply.bind(node);
  node.apply = (...args) => {
    beforeApply();
    apply(...args);
  };
  node.findTrouble = trouble;
  const machine = await openClusterNode({
    log,
    node,
    clock: systemClock,
    logger: silentLogger,
    name,
    address: await addressOf(port),
    incarnation: "a",
    bind: { host: "127.0.0.1", port },
    tls: machineTls,
    leaseMs: 300,
    readWaitMs: 600,
    retainMs: 86_400_000,
    digestMs,
    isQuorum,
    pathOf: (slot, isGrpc) => join(dir, `${isGrpc ? "grpc" : "http"}-${slot}.sock`),
    giveSnapshot: (socket) => void socket.destroy(),
    onEnd: (end) => void ends.push(end),
  });
  atTheEnd(() => machine.close());
  return { machine, dir, ends };
}

/** In front of a function: while it is closed, calls wait. */
export interface Gate<Args extends readonly unknown[], Result> {
  readonly pass: (...args: Args) => Promise<Result>;
  close(): void;
  /** What waits goes on; `error`: with it. */
  open(error?: Error): void;
  /** Resolves when a call waits. */
  whenStopped(): Promise<void>;
}

export function openGate<Args extends readonly unknown[], Result>(
  behind: (...args: Args) => Promise<Result>,
): Gate<Args, Result> {
  let opened: Promise<Error | undefined> | undefined;
  let open: (error?: Error) => void = () => {};
  let stopped: Promise<void> = Promise.resolve();
  let stop: () => void = () => {};
  return {
    pass: async (...args) => {
      stop();
      const error = await opened;
      if (error !== undefined) throw error;
      return behind(...args);
    },
    close() {
      opened = new Promise((resolve) => (open = resolve));
      stopped = new Promise((resolve) => (stop = resolve));
    },
    open(error) {
      if (opened === undefined) throw new Error("it is open");
      opened = undefined;
      open(error);
    },
    whenStopped: () => stopped,
  };
}

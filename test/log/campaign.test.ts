// Goal: whatever happens to a machine while it takes the lead (its lease passes to another one, its rows turn out to be
// wrong, the log does not answer), it leads with the lease or not at all, and goes on by itself where it can.
import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { ClusterNode } from "../../src/cluster/cluster-node.ts";
import { encodeDigest } from "../../src/cluster/digest-round.ts";
import { sendFrame } from "../../src/cluster/peer-connection.ts";
import { openPeerServer } from "../../src/cluster/peer-server.ts";
import { encodeSeq, peerKind } from "../../src/cluster/peer-words.ts";
import { chainStart } from "../../src/log/chain.ts";
import { connectTwin, TwinEngine } from "../../src/log/contract/twin.ts";
import { Fault } from "../../src/model/fault.ts";
import {
  LogUnavailable,
  type ReplicatedLog,
  type SealedRecord,
} from "../../src/log/replicated-log.ts";
import { LogShipper } from "../../src/log/shipper.ts";
import { waitUntil } from "../e2e/server.ts";
import { closeMachines } from "../support/machines.ts";
import { machineTls, openGate, openNode } from "../support/nodes.ts";

afterAll(closeMachines);

const newId = (): string => randomBytes(16).toString("hex");

/** A log that another machine holds the lease of, by its word alone. */
class RivalLog {
  readonly engine = new TwinEngine({ compares: true, isLazy: false });
  readonly log: ReplicatedLog = connectTwin(this.engine);

  hold(address = "127.0.0.1:1"): void {
    const term = this.engine.lease.term + 1;
    this.engine.lease = { term, beat: 0, node: "rival", address, lastsMs: 300 };
  }
}

function whenIn(machine: ClusterNode, role: string): Promise<void> {
  return waitUntil(() => machine.facts.role === role, 10_000);
}

/** A machine that has taken the lease while what it reads as a follower does not come. */
async function openStalled(rival: RivalLog) {
  const { log } = rival;
  const reads = openGate((after: number, bytesMax: number) => log.read(after, bytesMax));
  let wake = (): void => {};
  const watch: ReplicatedLog["watch"] = (listener) => {
    wake = listener;
    return () => {};
  };
  rival.hold();
  const { machine, ends } = await openNode({ ...log, read: reads.pass, watch }, newId());
  await whenIn(machine, "following");
  reads.close();
  wake();
  await reads.whenStopped();
  await whenIn(machine, "campaigning");
  return { machine, ends, reads };
}

test("who lost its lease before it began in the log deposes nobody, and goes on", async () => {
  const rival = new RivalLog();
  const { machine, ends, reads } = await openStalled(rival);
  rival.hold();
  reads.open();
  await whenIn(machine, "following");
  expect(rival.engine.tail).toBe(0);
  // The other one gives no sign of life.
  await whenIn(machine, "leading");
  expect([rival.engine.tail > 0, ends]).toEqual([true, []]);
});

test("who has begun in the log, and lost its lease meanwhile, begins anew", async () => {
  const rival = new RivalLog();
  const { log, engine } = rival;
  const appends = openGate((records: readonly SealedRecord[]) => log.append(records));
  appends.close();
  let refused = 0;
  const beat = async (term: number): Promise<boolean> => {
    const isHeld = await log.lease.beat(term);
    if (!isHeld) refused++;
    return isHeld;
  };
  const lease = { ...log.lease, beat };
  const { machine, ends } = await openNode({ ...log, append: appends.pass, lease }, newId());
  await appends.whenStopped();
  rival.hold();
  await waitUntil(() => refused > 0, 5000);
  appends.open();
  await waitUntil(() => ends.length > 0, 5000);
  expect([ends, machine.facts.problem, engine.tail]).toEqual([["lost"], undefined, 1]);
});

test("who goes out of service while it takes the lead gives the lease up, and does not lead", async () => {
  const rival = new RivalLog();
  const { machine, reads } = await openStalled(rival);
  reads.open(new Fault("E_LOG", "a record that cannot be read"));
  await whenIn(machine, "stopped");
  await waitUntil(() => rival.engine.lease.beat < 0, 5000);
  expect(machine.facts.problem).toBe("a record that cannot be read");
  expect(rival.engine.tail).toBe(0);
});

test("whose rows turn out to be others while it takes the lead gives the lease up, and does not lead", async () => {
  const rival = new RivalLog();
  const { log, engine } = rival;
  const storeId = newId();
  await shipDigest(log, storeId);
  const leader = await openFalseLeader(storeId);
  rival.hold(leader.address);
  // The record that asks for the digest is seen when the machine has the lease, and has ended to follow.
  let visible = 1;
  const read: ReplicatedLog["read"] = async (after, bytesMax) =>
    (await log.read(after, bytesMax)).filter(({ seq }) => seq <= visible);
  const beat = (term: number): Promise<boolean> => {
    visible = engine.tail;
    return log.lease.beat(term);
  };
  const appends = openGate((records: readonly SealedRecord[]) => log.append(records));
  appends.close();
  const lease = { ...log.lease, beat };
  const { machine, ends } = await openNode({ ...log, read, lease, append: appends.pass }, storeId);
  const beating = setInterval(() => void log.lease.beat(engine.lease.term), 50);
  await waitUntil(() => machine.facts.kept >= digestSeq, 10_000);
  clearInterval(beating);
  await appends.whenStopped();
  await whenIn(machine, "stopped");
  appends.open();
  await waitUntil(() => engine.lease.beat < 0, 5000);
  const { role, problem } = machine.facts;
  expect([role, problem, ends]).toEqual([
    "stopped",
    `its rows are not the leader's at record ${digestSeq} of the log`,
    [],
  ]);
  await leader.close();
});

const digestSeq = 2;

/** A begin, a record that asks for a digest, and one that says that it is kept. */
async function shipDigest(log: ReplicatedLog, storeId: string): Promise<void> {
  const history = Buffer.from(storeId, "hex");
  const pause = async (): Promise<boolean> => false;
  const options = { history, term: 1, rowFormat: 5, clock: systemClock, pause };
  const shipper = new LogShipper(log, chainStart, options);
  for (const kind of ["begin", "digest", "barrier"] as const) await shipper.ship({ kind });
}

/** It tells whoever follows it of rows that nobody has. */
async function openFalseLeader(storeId: string) {
  const server = await openPeerServer({
    bind: { host: "127.0.0.1", port: 0 },
    tls: machineTls,
    storeId,
    logger: silentLogger,
    take: (_hello, socket) => {
      sendFrame(socket, peerKind.welcome);
      sendFrame(socket, peerKind.digest, encodeDigest(digestSeq, Buffer.alloc(32)));
      sendFrame(socket, peerKind.kept, encodeSeq(digestSeq));
      socket.resume();
    },
  });
  return { address: `127.0.0.1:${server.port}`, close: () => server.close() };
}

test("who has no room begins nothing, and leads when there is some", async () => {
  const rival = new RivalLog();
  let refused = 0;
  let isFull = true;
  const beforeApply = (): void => {
    if (!isFull) return;
    refused++;
    throw new Fault("E_STORE_FULL", "the disk is full");
  };
  const { machine } = await openNode(rival.log, newId(), { beforeApply });
  // Others may have the lease at once, each time.
  await waitUntil(() => refused > 1 && rival.engine.lease.beat === -1, 10_000);
  expect(rival.engine.tail).toBe(0);
  isFull = false;
  await whenIn(machine, "leading");
});

test("who gives the lead up while the log does not answer begins anew all the same", async () => {
  const rival = new RivalLog();
  const { log } = rival;
  const giveUp = async (): Promise<void> => {
    throw new LogUnavailable("the log cannot be reached");
  };
  const { machine, ends } = await openNode({ ...log, lease: { ...log.lease, giveUp } }, newId());
  await whenIn(machine, "leading");
  expect(await machine.resign()).toBe(true);
  expect(ends).toEqual(["resigned"]);
});

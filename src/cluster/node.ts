/**
 * One machine of several (reference/log 7): follows the log, takes the lead when nobody holds it, has the processes of
 * its server in as a writer does, and answers the other machines. In: an open store and log. Never here: processes,
 * settings, HTTP.
 */
import type { Socket } from "node:net";
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { ClusterFacts, ClusterMember, ClusterRole } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import {
  LogTrimmed,
  LogUnavailable,
  LogUnknown,
  type ReplicatedLog,
} from "../log/replicated-log.ts";
import type {
  LeadingStore,
  LeadNotice,
  NodeLink,
  NodeLinkHost,
  NodeStore,
  ProcessSession,
  SlotToken,
} from "../stores/open.ts";
import { AppliedPoint } from "./applied.ts";
import { Followers } from "./followers.ts";
import { showMachine } from "./node-metrics.ts";
import { LeaderLink } from "./leader-link.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { sendFrame, type PeerTls } from "./peer-connection.ts";
import { openPeerServer, type PeerServer } from "./peer-server.ts";
import { peerKind, type PeerHello } from "./peer-words.ts";
import { ProcessDoors } from "./process-doors.ts";
import {
  OwnSession,
  openRemoteSession,
  serveSession,
  type ServedSession,
} from "./remote-session.ts";
import { Replica, rowFormats } from "./replica.ts";
import { Signal } from "./signal.ts";
import { findTrim } from "./trimming.ts";

export interface NodeOptions {
  readonly log: ReplicatedLog;
  readonly node: NodeStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What it is called among the machines. */
  readonly name: string;
  /** HOST:PORT by which the others reach it. */
  readonly address: string;
  readonly bind: { readonly host: string; readonly port: number };
  readonly tls: PeerTls;
  readonly leaseMs: number;
  /** How long a strict read waits for what it has to know. */
  readonly readWaitMs: number;
  /** How long the log is kept. */
  readonly retainMs: number;
  /** Whether each strict read waits for a beat of the lease, so that it trusts no clock. */
  readonly isQuorum: boolean;
  /** Where the process of a slot is reached on this machine. */
  readonly pathOf: (slot: number, isGrpc: boolean) => string;
  /** Sends all rows of this machine's store, as `sendSnapshot` does, and ends the connection. */
  readonly giveSnapshot: (socket: Socket) => void;
  /** The process has to end, and begins anew as a follower. Called once. */
  readonly onEnd: (end: NodeEnd) => void;
}

/** lost: the lead; what was under way is for the next leader to tell. resigned: the lead was given up in order. */
export type NodeEnd = "lost" | "resigned";

export interface ClusterNode {
  readonly facts: ClusterFacts;
  /** Resolves when somebody leads, or after `ms`: whether somebody does. */
  whenLed(ms: number): Promise<boolean>;
  /** Gives the lead up; the machine has to be opened anew (`onEnd`). false: it does not lead. */
  resign(): Promise<boolean>;
  exchangeTls(tls: PeerTls): void;
  /** A process of this machine has ended. */
  checkReaders(): void;
  /** Gives the lead up, where it has it, and closes the store. */
  close(): Promise<void>;
}

/** Records whose number is not told by the leader are looked for so often. */
const lookMs = 1000;
/** While no leader is known the lease is looked at so often. */
const seekMs = 150;
/** After an error of the log. */
const errorMs = 250;
/** What the leader's answer rests on is waited for so long; the answer goes out then all the same. */
const answerWaitMs = 1000;
/** For how long an append whose outcome is not known is sent again before the lead is given up. */
const appendWaitMs = 10_000;
/** The log is trimmed so often at most. */
const trimMs = 600_000;
/** Followers are told of themselves so often. */
const reportMs = 500;

/** Faults E_STARTUP and E_LOG, and whatever the log rejects with. */
export async function openClusterNode(options: NodeOptions): Promise<ClusterNode> {
  const machine = new Machine(options);
  await machine.open();
  return machine;
}

class Machine implements ClusterNode, NodeLinkHost {
  readonly #options: NodeOptions;
  readonly #lease: LeaseKeeper;
  readonly #link: NodeLink;
  readonly #self: Pick<PeerHello, "storeId" | "node" | "address">;
  readonly #leaderLink: LeaderLink;
  readonly #followers: Followers;
  readonly #doors: ProcessDoors;
  readonly #applied: AppliedPoint;
  /** Something that a loop waits for: records, the lease, a leader. */
  readonly #records = new Signal();
  readonly #leases = new Signal();
  readonly #led = new Signal();
  readonly #beats = new Signal();
  readonly #sessions = new Set<ServedSession>();
  readonly #own = new Set<OwnSession>();
  /** Sessions of this machine's processes at another one, by its address. */
  readonly #remote = new Map<ProcessSession, string>();
  #tls: PeerTls;
  #replica: Replica | undefined;
  #server: PeerServer | undefined;
  #store: LeadingStore | undefined;
  #role: ClusterRole = "catching";
  #term = 0;
  #kept = 0;
  #commitTs = 0;
  #members: readonly ClusterMember[] = [];
  #logError: string | undefined;
  #isEnded = false;
  /** When the log is trimmed next, and up to where it was. */
  #trimMs = 0;
  #trimmedTo = 1;
  #isFollowing: Promise<void> = Promise.resolve();
  #stopWatch: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    const { node, log, clock, leaseMs, name, address, logger } = options;
    this.#tls = options.tls;
    this.#self = { storeId: node.storeId, node: name, address };
    this.#lease = new LeaseKeeper({ lease: log.lease, clock, leaseMs, node: name, address });
    this.#applied = new AppliedPoint(0, clock);
    this.#commitTs = readCommitTs(node);
    this.#link = node.serve(this, () => this.#commitTs);
    this.#leaderLink = new LeaderLink({
      tls: () => this.#tls,
      self: this.#self,
      formats: rowFormats,
      logger,
      applied: () => this.#applied.seq,
      onKept: (seq) => this.#noteKept(seq),
      onMembers: (members) => this.#noteMembers(members),
      onResigned: () => this.#leases.raise(),
      onDigest: () => {},
      onChange: () => {
        this.#led.raise();
        this.#leases.raise();
      },
    });
    this.#followers = new Followers({
      confirm: () => this.#confirm(),
      kept: () => this.#kept,
      onChange: () => this.#tellMembers(),
      onDigest: () => {},
    });
    const { pathOf } = options;
    this.#doors = new ProcessDoors({ pathOf, self: this.#self, tls: () => this.#tls, logger });
  }

  async open(): Promise<void> {
    const { log, node, clock, bind, logger, tls } = this.#options;
    const { storeId } = node;
    this.#replica = await Replica.open(node, { log, clock, pause: makePause(this.#options) });
    this.#applied.reach(this.#replica.point.seq);
    this.#server = await openPeerServer({
      bind,
      tls,
      storeId,
      logger,
      take: (hello, socket) => this.#take(hello, socket),
    });
    showMachine(() => this.facts);
    this.#stopWatch = log.watch(() => this.#records.raise());
    this.#timer = setInterval(() => this.#report(), reportMs);
    this.#isFollowing = this.#follow();
    void this.#minding();
  }

  get facts(): ClusterFacts {
    const { seen } = this.#lease;
    const leads = this.#role === "leading";
    return {
      node: this.#options.name,
      role: this.#role,
      term: this.#term,
      applied: this.#applied.seq,
      kept: Math.max(this.#kept, this.#applied.seq),
      leader: leads ? this.#options.name : this.#leaderLink.isConnected ? seen?.node : undefined,
      members: this.#members,
      problem: this.#logError,
    };
  }

  async whenLed(ms: number): Promise<boolean> {
    const endMs = this.#options.clock.tickMs() + ms;
    for (;;) {
      if (this.#isLed) return true;
      const leftMs = endMs - this.#options.clock.tickMs();
      if (leftMs <= 0 || this.#isEnded) return false;
      await this.#led.wait(leftMs);
    }
  }

  exchangeTls(tls: PeerTls): void {
    this.#tls = tls;
    this.#server?.exchangeTls(tls);
  }

  checkReaders(): void {
    this.#options.node.checkReaders();
  }

  async resign(): Promise<boolean> {
    if (this.#role !== "leading") return false;
    await this.#giveUp();
    this.#end("resigned");
    return true;
  }

  async close(): Promise<void> {
    if (this.#role === "leading") await this.#giveUp().catch(() => {});
    this.#isEnded = true;
    this.#wakeAll();
    this.#part();
    await this.#isFollowing;
    await this.#options.node.close();
    await this.#options.log.close();
  }

  // What processes of this machine ask of it.

  async openSession(slot: SlotToken | undefined): Promise<ProcessSession> {
    for (;;) {
      if (this.#isEnded || this.#role === "stopped") throw new Error("this machine is closed");
      if (this.#store !== undefined) return this.#openOwn(this.#store, slot);
      const leader = this.#lease.seen?.address;
      if (this.#leaderLink.isConnected && leader !== undefined) {
        try {
          const session = await openRemoteSession(leader, this.#tls, { self: this.#self, slot });
          this.#remote.set(session, leader);
          if (leader === this.#lease.seen?.address) return session;
          this.#dropRemote(session);
        } catch {
          // It leads no more, or cannot be reached: perhaps another one soon.
        }
      }
      await this.#led.wait(seekMs);
    }
  }

  async whenCurrent(): Promise<void> {
    const { clock, readWaitMs } = this.#options;
    const untilMs = clock.tickMs() + readWaitMs;
    for (;;) {
      const seq = await this.#askCurrent();
      if (seq !== undefined) {
        this.#noteKept(seq);
        if (await this.#applied.when(seq, untilMs)) return;
      }
      if (clock.tickMs() >= untilMs || this.#isEnded || this.#role === "stopped")
        throw notCurrent(this.#logError);
      if (seq === undefined) await this.#led.wait(Math.min(50, untilMs - clock.tickMs()));
    }
  }

  async whenApplied(seq: number): Promise<void> {
    this.#noteKept(seq);
    await this.#applied.when(seq, this.#options.clock.tickMs() + answerWaitMs);
  }

  pause(): Promise<() => void> {
    return this.#options.node.pause();
  }

  // Following.

  async #follow(): Promise<void> {
    const replica = must(this.#replica, "it was opened");
    while (!this.#isEnded && (this.#role === "following" || this.#role === "catching")) {
      try {
        replica.tell(this.#kept);
        const moved = await replica.follow();
        this.#logError = undefined;
        if (moved) {
          this.#noteApplied(replica.point.seq);
          continue;
        }
        if (this.#role === "catching") this.#role = "following";
        if (this.#kept <= replica.point.seq) await this.#records.wait(lookMs);
        // Told to be kept, and not to be read yet: an engine may show it a moment later.
        else await this.#records.wait(5);
      } catch (error) {
        if (!(await this.#noteError(error))) return;
      }
    }
  }

  /** Whether to go on. */
  async #noteError(error: unknown): Promise<boolean> {
    if (error instanceof LogUnavailable || error instanceof LogUnknown) {
      this.#noteLogError(error);
      await this.#records.wait(errorMs);
      return true;
    }
    if (error instanceof Fault && error.code === "E_STORE_FULL") {
      this.#noteLogError(error);
      await this.#records.wait(lookMs);
      return true;
    }
    this.#stopService(error);
    return false;
  }

  /**
   * This machine cannot go on: nobody reads what it has. It stays, so that what is wrong can be asked for. What an
   * operator has to do is in docs/cluster.md.
   */
  #stopService(error: unknown): void {
    if (this.#role === "stopped") return;
    const at = this.#applied.seq;
    const why =
      error instanceof LogTrimmed
        ? `it has applied the log up to record ${at}, and the log begins at ${error.first}`
        : wordsOf(error);
    this.#role = "stopped";
    this.#logError = why;
    this.#options.logger.error("this machine is out of service", { why });
    this.#followLeader(undefined);
    void this.#link.tellLead({ kind: "stopped", why });
  }

  #noteLogError(error: Error): void {
    if (this.#logError === undefined) {
      this.#options.logger.error("the log of the machines cannot be reached", {
        why: causeOf(error),
      });
    }
    this.#logError = causeOf(error);
  }

  #noteKept(seq: number): void {
    if (seq <= this.#kept) return;
    this.#kept = seq;
    this.#records.raise();
  }

  /** Processes hear of commits before anything that waits for them is answered. */
  #noteApplied(seq: number): void {
    const commitTs = readCommitTs(this.#options.node);
    if (commitTs > this.#commitTs) {
      this.#commitTs = commitTs;
      this.#link.notify(commitTs);
    }
    this.#applied.reach(seq);
  }

  #noteMembers(members: readonly ClusterMember[]): void {
    this.#members = members;
    this.#doors.update(members);
  }

  // The lease.

  /** While it follows: looks whether the lead is free. While it leads: beats. */
  async #minding(): Promise<void> {
    while (!this.#isEnded && this.#role !== "stopped") {
      try {
        if (this.#role === "leading") await this.#beat();
        else if (this.#role === "following" && (await this.#lease.look())) await this.#campaign();
        else await this.#seek();
      } catch (error) {
        if (this.#isEnded) return;
        if (error instanceof LogUnavailable || error instanceof LogUnknown) {
          this.#noteLogError(error);
          await this.#leases.wait(errorMs);
        } else {
          this.#stopService(error);
          return;
        }
      }
    }
  }

  async #seek(): Promise<void> {
    const { name } = this.#options;
    const { seen } = this.#lease;
    const isOther = seen !== undefined && seen.term > 0 && seen.node !== name;
    if (isOther) this.#term = seen.term;
    this.#followLeader(isOther ? seen.address : undefined);
    await this.#leases.wait(this.#leaderLink.isConnected ? this.#lease.beatMs : seekMs);
    // What could not be read in this role is read before the next look.
    if (this.#role === "catching") await this.#lease.look();
  }

  /** One that leads no more may stand still, and would never answer. */
  #followLeader(address: string | undefined): void {
    this.#leaderLink.follow(address);
    for (const [session, at] of this.#remote) if (at !== address) this.#dropRemote(session);
  }

  #dropRemote(session: ProcessSession): void {
    this.#remote.delete(session);
    session.close();
  }

  async #campaign(): Promise<void> {
    const { logger } = this.#options;
    const replica = must(this.#replica, "it was opened");
    if (!(await this.#lease.take())) return;
    this.#role = "campaigning";
    this.#followLeader(undefined);
    this.#records.raise();
    await this.#isFollowing;
    if (this.#isEnded) return;
    const beating = setInterval(() => {
      this.#lease.beat().catch(() => {});
    }, this.#lease.beatMs);
    try {
      const store = await replica.lead(() => this.#lose());
      if (this.#isEnded) return;
      if (store !== undefined) {
        this.#begin(store, replica);
        logger.info("this machine leads", { term: this.#term, record: replica.point.seq });
        return;
      }
      // Another machine's begin came first.
      this.#lease.lose();
    } catch (error) {
      await this.#lease.giveUp().catch(() => {});
      if (!(error instanceof LogUnavailable || error instanceof LogUnknown)) throw error;
      this.#noteLogError(error);
    } finally {
      clearInterval(beating);
    }
    this.#role = "catching";
    this.#isFollowing = this.#follow();
  }

  #begin(store: LeadingStore, replica: Replica): void {
    this.#store = store;
    this.#role = "leading";
    this.#term = must(this.#lease.term, "it was taken");
    this.#kept = replica.point.seq;
    this.#noteApplied(replica.point.seq);
    store.onCommit((commitTs) => {
      this.#commitTs = commitTs;
      this.#link.notify(commitTs);
    });
    replica.onKept((seq) => {
      this.#kept = seq;
      this.#applied.reach(seq);
      this.#followers.tellKept();
    });
    void this.#link.tellLead(this.#notice);
    this.#tellMembers();
    this.#led.raise();
  }

  async #beat(): Promise<void> {
    await this.#leases.wait(this.#lease.beatMs);
    if (this.#role !== "leading") return;
    await this.#beatOnce();
    await must(this.#replica, "it leads").markKept();
    await this.#trim();
  }

  /** Never what a machine that is connected has not applied. */
  async #trim(): Promise<void> {
    const { clock, log, retainMs } = this.#options;
    if (clock.tickMs() < this.#trimMs) return;
    this.#trimMs = clock.tickMs() + Math.min(trimMs, Math.max(retainMs, 1000));
    const applied = this.#followers.all.map((one) => one.applied);
    const last = Math.min(this.#kept, ...applied);
    const below = await findTrim(log, last, clock.nowMs() - retainMs);
    if (below > this.#trimmedTo) await log.trim(below);
    this.#trimmedTo = below;
  }

  async #beatOnce(): Promise<void> {
    if (!(await this.#lease.beat())) {
      this.#lose();
      return;
    }
    this.#logError = undefined;
    void this.#link.tellLead(this.#notice);
    this.#beats.raise();
  }

  /** What its processes may rely on: where no clock is trusted, nothing. */
  get #notice(): LeadNotice {
    const { certain } = this.#lease;
    if (certain === undefined) return { kind: "follows" };
    // Over at once: each read asks.
    const untilMs = this.#options.isQuorum ? 0 : certain.untilMs;
    return { kind: "leads", term: { ...certain, untilMs } };
  }

  /** As of now: `kept` is what was acknowledged, at most. Rejects where another machine may lead. */
  async #confirm(): Promise<number> {
    if (this.#role !== "leading") throw new Error("this machine does not lead");
    if (this.#options.isQuorum || !this.#lease.isCertain()) {
      const beaten = this.#beats.wait(this.#options.readWaitMs);
      this.#leases.raise();
      await beaten;
      if (this.#role !== "leading" || !this.#lease.isCertain()) {
        throw new Error("this machine is not certain that it leads");
      }
    }
    return this.#kept;
  }

  async #askCurrent(): Promise<number | undefined> {
    try {
      if (this.#role === "leading") return await this.#confirm();
      return await this.#leaderLink.askCurrent();
    } catch {
      return undefined;
    }
  }

  get #isLed(): boolean {
    return this.#role === "leading" || this.#leaderLink.isConnected;
  }

  // The lead, and its end.

  #openOwn(store: LeadingStore, slot: SlotToken | undefined): ProcessSession {
    const host = { ...this.#sessionHost, onClose: () => void this.#own.delete(session) };
    const session: OwnSession = new OwnSession(store.openSession(), slot, host);
    this.#own.add(session);
    this.#tellMembers();
    return session;
  }

  readonly #sessionHost = {
    seq: (): number => this.#kept,
    leads: (): boolean => this.#role === "leading",
    onChange: (): void => this.#tellMembers(),
  };

  #take(hello: PeerHello, socket: Socket): void {
    switch (hello.purpose) {
      case "follow":
        if (this.#role !== "leading") throw new Error("this machine does not lead");
        this.#followers.take(hello, socket);
        return;
      case "session": {
        const store = this.#store;
        if (this.#role !== "leading" || store === undefined) {
          throw new Error("this machine does not lead");
        }
        this.#serve(serveSession(socket, store.openSession(), { hello, host: this.#sessionHost }));
        return;
      }
      case "process":
        this.#doors.enter(hello.slot, hello.isGrpc, socket);
        return;
      case "snapshot":
        sendFrame(socket, peerKind.welcome);
        this.#options.giveSnapshot(socket);
    }
  }

  #serve(session: ServedSession): void {
    this.#sessions.add(session);
    session.onClose(() => this.#sessions.delete(session));
    this.#tellMembers();
  }

  /** Who is there, and which slots their processes have: told when it has changed, once a turn. */
  #tellMembers(): void {
    if (this.#isTelling || this.#role !== "leading") return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      if (this.#role !== "leading") return;
      const members = this.#listMembers();
      this.#noteMembers(members);
      this.#followers.tellMembers(members);
    });
  }

  #isTelling = false;

  #listMembers(): readonly ClusterMember[] {
    const { name, address } = this.#options;
    const slotsOf = (node: string): readonly number[] =>
      [...this.#sessions].flatMap((session) => (session.node === node ? (session.slot ?? []) : []));
    const own = {
      node: name,
      address,
      slots: this.#link.slots,
      leads: true,
      applied: this.#applied.seq,
    };
    const others = this.#followers.all.map(({ hello, applied }) => ({
      node: hello.node,
      address: hello.address,
      slots: slotsOf(hello.node),
      leads: false,
      applied,
    }));
    return [own, ...others];
  }

  /** What was under way is not answered: whoever leads next knows what came of it. */
  #lose(): void {
    if (this.#role !== "leading" && this.#role !== "campaigning") return;
    this.#options.logger.warn("this machine does not lead any more", { term: this.#term });
    this.#end("lost");
  }

  /** In order: nothing more is written, no process trusts the lease, the next one may take it. */
  async #giveUp(): Promise<void> {
    const replica = must(this.#replica, "it leads");
    const { certain } = this.#lease;
    this.#role = "resigning";
    const [, isHeard] = await Promise.all([
      this.#options.node.pause(),
      this.#link.tellLead({ kind: "follows" }),
    ]);
    this.#options.node.abandon();
    replica.resign();
    // A process that has not heard it may go on reading for as long as it was told.
    if (!isHeard && certain !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, this.#options.leaseMs));
    }
    await this.#lease.giveUp();
    this.#followers.tellResigned();
    // The frame leaves before the connections end.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  #end(end: NodeEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#store = undefined;
    this.#lease.lose();
    this.#part();
    this.#wakeAll();
    this.#options.onEnd(end);
  }

  #part(): void {
    clearInterval(this.#timer);
    this.#stopWatch();
    for (const session of this.#sessions) session.close();
    for (const session of this.#own) session.lose();
    this.#followers.close();
    this.#leaderLink.close();
    this.#link.partAll();
    this.#applied.close();
    void this.#doors.close();
    void this.#server?.close();
  }

  #wakeAll(): void {
    for (const signal of [this.#records, this.#leases, this.#led, this.#beats]) signal.raise();
  }

  #report(): void {
    if (this.#role === "leading") this.#tellMembers();
    else this.#leaderLink.reportApplied(this.#applied.seq);
  }
}

function readCommitTs(node: NodeStore): number {
  const snapshot = node.snapshot();
  const { ts } = snapshot;
  snapshot.close();
  return ts;
}

function makePause({ clock }: NodeOptions): (tries: number) => Promise<boolean> {
  let sinceMs = 0;
  return async (tries) => {
    if (tries === 1) sinceMs = clock.tickMs();
    if (clock.tickMs() - sinceMs > appendWaitMs) return false;
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 * tries, 500)));
    return true;
  };
}

function notCurrent(logError: string | undefined): Fault {
  const why = logError === undefined ? "no machine leads that can be reached" : logError;
  return new Fault(
    "E_NOT_CURRENT",
    `the newest state of the machines cannot be known: ${why} (--cluster read-wait)`,
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function causeOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}

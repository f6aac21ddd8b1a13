/**
 * One machine of several (reference/log 7): follows the log, takes the lead when nobody holds it, has the processes of
 * its server in as a writer does, and answers the other machines. In: an open store and log. Never here: processes,
 * settings, HTTP.
 */
import type { Socket } from "node:net";
import { must } from "../base/assert.ts";
import type { ClusterFacts, ClusterMember, ClusterRole } from "../model/cluster-facts.ts";
import { Fault } from "../model/fault.ts";
import { LogDamaged } from "../log/replicated-log.ts";
import { LogLost } from "../log/shipper.ts";
import type {
  LeadingStore,
  NodeLink,
  NodeLinkHost,
  ProcessSession,
  SlotToken,
} from "../stores/open.ts";
import { AppliedPoint, readCommitTs } from "./applied.ts";
import type { ClusterNode, NodeEnd, NodeOptions } from "./cluster-node.ts";
import { DigestCheck } from "./digest-check.ts";
import { snapshotIdleMs } from "./fetch-snapshot.ts";
import { Leadership } from "./leadership.ts";
import { showMachine } from "./node-metrics.ts";
import { LeaderLink } from "./leader-link.ts";
import { LeadWishes } from "./lead-wishes.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { endWhenIdle, sendFrame, type PeerTls } from "./peer-connection.ts";
import { openPeerServer, type PeerServer } from "./peer-server.ts";
import {
  causeOf,
  explainDifference,
  explainEnd,
  explainWait,
  isPassing,
  makeAppendPause,
  notCurrent,
  outOfService,
} from "./machine-faults.ts";
import { peerKind, type PeerHello, type PeerSelf } from "./peer-words.ts";
import { ProcessDoors } from "./process-doors.ts";
import { openRemoteSession } from "./remote-session.ts";
import { Replica, rowFormats } from "./replica.ts";
import { evictedWords, isEvicted, readRoster } from "./roster.ts";
import { StoreTrouble } from "./store-trouble.ts";
import { Wakeup } from "./wakeup.ts";

/** A start looks so often how far it is. */
const startLookMs = 50;
/** A record that is kept, says the leader, and that cannot be read for so long will not come. */
const stallMs = 3000;
/** More often than that no other machine comes first. */
const refusedMax = 3;
/** Records whose number is not told by the leader are looked for so often. */
const lookMs = 1000;
/** While no leader is known the lease is looked at so often. */
const seekMs = 150;
/** After an error of the log. */
const errorMs = 250;
/** What the leader's answer rests on is waited for so long; the answer goes out then all the same. */
const answerWaitMs = 1000;
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
  readonly #self: PeerSelf;
  readonly #formats: readonly number[];
  readonly #leaderLink: LeaderLink;
  readonly #digests: DigestCheck;
  readonly #doors: ProcessDoors;
  readonly #trouble: StoreTrouble;
  readonly #wishes: LeadWishes;
  readonly #applied: AppliedPoint;
  /** Something that a loop waits for: records, the lease, a leader. */
  readonly #records = new Wakeup();
  readonly #leases = new Wakeup();
  readonly #led = new Wakeup();
  /** Sessions of this machine's processes at another one, by its address. */
  readonly #remote = new Map<ProcessSession, string>();
  #tls: PeerTls;
  #replica: Replica | undefined;
  #server: PeerServer | undefined;
  #leadership: Leadership | undefined;
  #role: ClusterRole = "catching";
  #term = 0;
  #kept = 0;
  #commitTs = 0;
  #members: readonly ClusterMember[] = [];
  #logError: string | undefined;
  #damage: LogDamaged | undefined;
  /** Of the leader: others have other rows, and nobody knows whose are right. */
  #doubt: string | undefined;
  /** Times that the log did not take this machine's begin, one after the other. */
  #refused = 0;
  #isEnded = false;
  #isFollowing: Promise<void> = Promise.resolve();
  #stopWatch: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    const { node, log, clock, leaseMs, name, address, logger, incarnation } = options;
    this.#tls = options.tls;
    this.#formats = options.formats ?? rowFormats;
    this.#self = { storeId: node.storeId, node: name, address, incarnation };
    this.#lease = new LeaseKeeper({ lease: log.lease, clock, leaseMs, node: name, address });
    this.#applied = new AppliedPoint(0, clock);
    this.#trouble = new StoreTrouble({ node, clock });
    this.#commitTs = readCommitTs(node);
    this.#link = node.serve(this, () => this.#commitTs);
    this.#leaderLink = new LeaderLink({
      tls: () => this.#tls,
      self: this.#self,
      formats: this.#formats,
      logger,
      applied: () => this.#applied.seq,
      onKept: (seq) => this.#noteKept(seq),
      onMembers: (members) => this.#noteMembers(members),
      onResigned: () => this.#leases.raise(),
      onDigest: (payload) => this.#digests.hear(payload),
      onSilent: () => {
        for (const session of this.#remote.keys()) this.#dropRemote(session);
      },
      onChange: () => {
        this.#led.raise();
        this.#leases.raise();
      },
    });
    this.#digests = new DigestCheck({
      node,
      report: (payload) => this.#leaderLink.reportDigest(payload),
      onDifference: (seq) => {
        const isPair = this.#members.filter(({ isAway }) => !isAway).length === 2;
        this.#stopService(new Error(explainDifference(seq, isPair)));
      },
    });
    this.#lease.onWake(() => this.#leases.raise());
    const { pathOf } = options;
    const tls = (): PeerTls => this.#tls;
    this.#wishes = new LeadWishes({
      lease: log.lease,
      clock,
      self: this.#self,
      tls,
      patienceMs: leaseMs,
      machines: () => readRoster(node).filter((one) => !one.isEvicted),
    });
    this.#doors = new ProcessDoors({ pathOf, self: this.#self, tls, logger, clock });
  }

  async open(): Promise<void> {
    const { log, node, clock, bind, logger, tls } = this.#options;
    const { storeId } = node;
    if (this.#isEvicted) throw new Fault("E_STARTUP", `--cluster: ${evictedWords}`);
    const formats = this.#formats;
    const pause = makeAppendPause(clock);
    this.#replica = await Replica.open(node, { log, clock, pause, formats });
    this.#replica.onDigest((seq) => this.#digests.begin(seq));
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
    const leads = this.#role === "leading";
    return {
      node: this.#options.name,
      role: this.#role,
      term: this.#term,
      applied: this.#applied.seq,
      kept: Math.max(this.#kept, this.#applied.seq),
      format: this.#replica?.format ?? 0,
      leader: leads ? this.#ownLead : this.#knownLeader,
      members: this.#members,
      problem: this.#problem ?? this.#unreached,
    };
  }

  /** One that is connected, and of whose lease a beat was seen: without the log it leads nobody. */
  get #knownLeader(): string | undefined {
    const isKnown = this.#leaderLink.isConnected && !this.#lease.isSilent;
    return isKnown ? this.#lease.seen?.node : undefined;
  }

  get #unreached(): string | undefined {
    const isLeft = this.#role === "following" && !this.#leaderLink.isConnected;
    return isLeft ? this.#explainWait(undefined) : undefined;
  }

  /** One that does not reach the log any more does not know whether it leads. */
  get #ownLead(): string | undefined {
    return this.#lease.isCertain() ? this.#options.name : undefined;
  }

  /** Why this machine cannot do its work, or could not lead. */
  get #problem(): string | undefined {
    return this.#logError ?? this.#trouble.words ?? this.#doubt;
  }

  async whenStarted(ms: number): Promise<void> {
    if (!(await this.#whenLed(ms))) return;
    for (let kept: number | undefined; !this.#isEnded && !this.#hasStopped;) {
      kept ??= await this.#askCurrent();
      this.#noteKept(kept ?? 0);
      if (kept !== undefined && this.#applied.seq >= kept) return;
      if (!this.#isLed && !(await this.#whenLed(ms))) return;
      await this.#led.wait(startLookMs);
    }
  }

  async #whenLed(ms: number): Promise<boolean> {
    const endMs = this.#options.clock.tickMs() + ms;
    for (;;) {
      if (this.#isLed) return true;
      const leftMs = endMs - this.#options.clock.tickMs();
      if (leftMs <= 0 || this.#isEnded || this.#hasStopped) return false;
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
    if (this.#role !== "leading" || this.#leadership === undefined) return false;
    try {
      await this.#giveUp(this.#leadership);
    } finally {
      this.#end("resigned");
    }
    return true;
  }

  async finalize(): Promise<string> {
    return await this.#keeper.finalize();
  }

  async evict(node: string, isForced: boolean): Promise<string> {
    return await this.#keeper.evict(node, isForced);
  }

  get #keeper(): Leadership["roster"] {
    const { leader = "no machine that can be reached", node } = this.facts;
    if (this.#role === "leading" && this.#leadership !== undefined) return this.#leadership.roster;
    throw new Fault("E_CLUSTER", `${node} does not lead: ${leader} does`);
  }

  async close(): Promise<void> {
    const leadership = this.#role === "leading" ? this.#leadership : undefined;
    if (leadership !== undefined) await this.#giveUp(leadership).catch(() => {});
    this.#isEnded = true;
    this.#wakeAll();
    this.#part();
    await this.#isFollowing;
    await this.#options.node.close();
  }

  // What processes of this machine ask of it.

  async openSession(slot: SlotToken | undefined): Promise<ProcessSession> {
    for (;;) {
      if (this.#isEnded) throw new Error("this machine is closed");
      if (this.#role === "stopped") throw outOfService(this.#logError);
      if (this.#leadership !== undefined) return this.#leadership.openSession(slot);
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
      if (this.#role === "stopped") throw outOfService(this.#logError);
      const seq = await this.#askCurrent();
      if (seq !== undefined) {
        this.#noteKept(seq);
        if (await this.#applied.when(seq, untilMs)) return;
      }
      if (clock.tickMs() >= untilMs || this.#isEnded) {
        throw notCurrent(this.#logError ?? this.#explainWait(seq));
      }
      if (seq === undefined) await this.#led.wait(Math.min(50, untilMs - clock.tickMs()));
    }
  }

  #explainWait(seq: number | undefined): string {
    const { name } = this.#options;
    const { isConnected } = this.#leaderLink;
    const leads = this.#leadership !== undefined;
    return explainWait(seq, { name, leads, isConnected, seen: this.#lease.seen });
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
    /** Since when what is kept does not come. */
    let stalledMs: number | undefined;
    while (!this.#isEnded && (this.#role === "following" || this.#role === "catching")) {
      try {
        replica.tell(this.#kept);
        const moved = await replica.follow();
        // Rows were compared meanwhile.
        if (this.#hasStopped) return;
        this.#logError = undefined;
        if (moved) {
          stalledMs = undefined;
          this.#refused = 0;
          this.#noteApplied(replica.point.seq);
          if (this.#isEvicted) throw new Error(evictedWords);
          continue;
        }
        if (this.#role === "catching") this.#role = "following";
        if (this.#kept <= replica.point.seq) await this.#records.wait(lookMs);
        else {
          // Told to be kept, and not to be read yet: an engine may show it a moment later.
          const nowMs = this.#options.clock.tickMs();
          stalledMs ??= nowMs;
          if (nowMs - stalledMs > stallMs) await replica.explainStall(this.#kept);
          await this.#records.wait(nowMs - stalledMs > lookMs ? 50 : 5);
        }
      } catch (error) {
        if (!(await this.#noteError(error))) return;
      }
    }
  }

  /** Whether the log, as far as it is applied, says that this machine's store is none of the machines'. */
  get #isEvicted(): boolean {
    return isEvicted(readRoster(this.#options.node), this.#self);
  }

  get #hasStopped(): boolean {
    return this.#role === "stopped";
  }

  /** Whether to go on. */
  async #noteError(error: unknown): Promise<boolean> {
    if (!isPassing(error)) {
      this.#stopService(error);
      return false;
    }
    this.#noteLogError(error);
    await this.#records.wait(error instanceof Fault ? lookMs : errorMs);
    return true;
  }

  /**
   * This machine cannot go on: nobody reads what it has. It stays, so that what is wrong can be asked for. What an
   * operator has to do is in docs/cluster.md.
   */
  #stopService(error: unknown): void {
    if (this.#role === "stopped") return;
    const why = explainEnd(error, this.#applied.seq, this.#options.log);
    this.#damage = error instanceof LogDamaged ? error : undefined;
    this.#role = "stopped";
    this.#logError = why;
    this.#options.logger.error("this machine is out of service", { why });
    this.#followLeader(undefined);
    this.#wakeAll();
    void this.#link.tellLead({ kind: "stopped", why });
  }

  get damage(): LogDamaged | undefined {
    return this.#damage;
  }

  #noteLogError(error: Error): void {
    if (this.#logError === undefined) {
      const what = error instanceof Fault ? "applied" : "reached";
      this.#options.logger.error(`the log of the machines cannot be ${what}`, {
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
        if (this.#leadership !== undefined) await this.#beat(this.#leadership);
        else if (this.#role === "following" && (await this.#mayTake())) await this.#campaign();
        else await this.#seek();
      } catch (error) {
        if (this.#isEnded) return;
        // Of its last beat, while it gives the lead up; or the log has another leader's record.
        if (error instanceof LogLost) {
          if (this.#role !== "resigning") this.#lose();
          await this.#leases.wait(errorMs);
        } else if (isPassing(error)) {
          this.#noteLogError(error);
          await this.#leases.wait(errorMs);
        } else {
          this.#stopService(error);
          return;
        }
      }
    }
  }

  async #mayTake(): Promise<boolean> {
    if (!(await this.#lease.look(this.#trouble.words !== undefined))) return false;
    const { seen } = this.#lease;
    if (seen === undefined || seen.beat >= 0) return true;
    return !(await this.#wishes.areOfOthers(seen.term)) || (await this.#lease.look(true));
  }

  async #seek(): Promise<void> {
    const { name, address } = this.#options;
    const { seen } = this.#lease;
    const isOther =
      seen !== undefined && seen.term > 0 && (seen.node !== name || seen.address !== address);
    if (isOther) this.#term = seen.term;
    this.#followLeader(isOther ? seen.address : undefined);
    const isMissed = isOther && seen.beat >= 0 && !this.#leaderLink.isConnected;
    if (isMissed && this.#problem === undefined) this.#wishes.miss(seen.term, seen.node);
    else this.#wishes.rest();
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
      // What it was still reading may have taken longer than the lease lasts: then it would depose whoever has it now.
      const mayLead = !this.#hasStopped && (await this.#lease.beat());
      const store = mayLead ? await replica.lead(() => this.#lose()) : undefined;
      if (this.#isEnded) return;
      if (store !== undefined && this.#isEvicted) this.#stopService(new Error(evictedWords));
      if (this.#hasStopped) {
        // Its rows were found to differ meanwhile: whoever leads next has the others'.
        replica.resign();
        await this.#lease.giveUp().catch(() => {});
        return;
      }
      if (store !== undefined) {
        // The lease passed to another machine while the log took its begin: what it has begun is not gone on with.
        if (this.#lease.term === undefined) this.#lose();
        else this.#begin(store, replica, this.#lease.term);
        return;
      }
      // Another machine's begin came first, or it has the lease; or the log is not what this one has applied.
      this.#lease.lose();
      if (++this.#refused >= refusedMax) await replica.explainStall(0);
    } catch (error) {
      await this.#lease.giveUp().catch(() => {});
      if (!isPassing(error)) throw error;
      this.#noteLogError(error);
      // Whoever has room is to be first.
      if (error instanceof Fault) await this.#leases.wait(lookMs);
    } finally {
      clearInterval(beating);
    }
    if (this.#hasStopped) return;
    this.#role = "catching";
    this.#isFollowing = this.#follow();
  }

  #begin(store: LeadingStore, replica: Replica, term: number): void {
    this.#role = "leading";
    this.#term = term;
    this.#kept = replica.point.seq;
    this.#noteApplied(replica.point.seq);
    store.onCommit((commitTs) => {
      this.#commitTs = commitTs;
      this.#link.notify(commitTs);
    });
    this.#leadership = new Leadership({
      ...this.#options,
      formats: this.#formats,
      store,
      replica,
      lease: this.#lease,
      link: this.#link,
      term,
      problem: () => this.#problem,
      onDoubt: (why) => void (this.#doubt = why),
      onMinority: (why) => void this.#stopLeading(why),
      onOutvoted: (by) => {
        const why = "machines that reach each other do not reach this one";
        this.#options.logger.warn("this machine gives the lead up", { why, machines: by });
        void this.resign().catch(() => {});
      },
      onMembers: (members) => this.#noteMembers(members),
      onKept: (seq) => {
        this.#kept = seq;
        this.#applied.reach(seq);
      },
    });
    this.#led.raise();
    this.#options.logger.info("this machine leads", { term, record: replica.point.seq });
  }

  async #beat(leadership: Leadership): Promise<void> {
    // One that gives the lead up beats no more, however many wait for a beat: it must not go round without a pause.
    const isDue = this.#role === "leading" && leadership.isAwaited;
    if (!isDue) await this.#leases.wait(this.#lease.beatMs);
    if (this.#role !== "leading") return;
    if (await leadership.beat()) this.#logError = undefined;
    else this.#lose();
  }

  async #askCurrent(): Promise<number | undefined> {
    try {
      if (this.#leadership !== undefined) return await this.#leadership.confirm();
      return await this.#leaderLink.askCurrent();
    } catch {
      return undefined;
    }
  }

  get #isLed(): boolean {
    return this.#role === "leading" || this.#leaderLink.isConnected;
  }

  // The lead, and its end.

  #take(hello: PeerHello, socket: Socket): void {
    this.#leadership?.admit(hello);
    switch (hello.purpose) {
      case "follow":
        this.#leading.takeFollower(hello, socket);
        return;
      case "session":
        this.#leading.serve(hello, socket);
        return;
      case "process":
        this.#doors.enter(hello.slot, hello.isGrpc, socket);
        return;
      case "snapshot":
        this.#leading.holdLog(hello.node);
        endWhenIdle(socket, snapshotIdleMs);
        sendFrame(socket, peerKind.welcome);
        this.#options.giveSnapshot(socket);
    }
  }

  get #leading(): Leadership {
    if (this.#leadership === undefined) throw new Error("this machine does not lead");
    return this.#leadership;
  }

  /** What was under way is not answered: whoever leads next knows what came of it. */
  #lose(): void {
    if (this.#role !== "leading" && this.#role !== "campaigning") return;
    this.#options.logger.warn("this machine does not lead any more", { term: this.#term });
    this.#end("lost");
  }

  /** Most others have other rows: one of them is to lead. */
  async #stopLeading(why: string): Promise<void> {
    const leadership = this.#leadership;
    if (this.#role !== "leading" || leadership === undefined) return;
    await this.#giveUp(leadership).catch(() => {});
    if (this.#isEnded) return;
    leadership.end();
    this.#leadership = undefined;
    this.#stopService(new Error(why));
  }

  async #giveUp(leadership: Leadership): Promise<void> {
    this.#role = "resigning";
    await leadership.giveUp();
  }

  #end(end: NodeEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#lease.lose();
    this.#part();
    this.#wakeAll();
    this.#options.onEnd(end);
  }

  #part(): void {
    clearInterval(this.#timer);
    this.#stopWatch();
    this.#leadership?.end();
    this.#leadership = undefined;
    this.#digests.close();
    this.#leaderLink.close();
    this.#link.partAll();
    this.#applied.close();
    void this.#doors.close();
    void this.#server?.close();
  }

  #wakeAll(): void {
    for (const signal of [this.#records, this.#leases, this.#led]) signal.raise();
  }

  #report(): void {
    this.#trouble.look();
    const leadership = this.#leadership;
    if (leadership === undefined) {
      const problem = this.#role === "following" ? this.#problem : `it is ${this.#role}`;
      this.#leaderLink.reportApplied(this.#applied.seq, problem);
      return;
    }
    leadership.tellMembers();
    const { successor } = leadership;
    if (!this.#trouble.isLasting || successor === undefined || this.#role !== "leading") return;
    const fields = { why: this.#trouble.words, successor };
    this.#options.logger.warn("this machine gives the lead up to one that can write", fields);
    void this.resign().catch(() => {});
  }
}

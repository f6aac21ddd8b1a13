/**
 * What the machine that leads does for the others (reference/log 7): takes what their processes write, tells what is
 * kept, says who is there, keeps its lease, trims the log and has rows compared. It is made when the lead begins, and
 * ends with it.
 */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { ClusterMember } from "../model/cluster-facts.ts";
import type { ReplicatedLog } from "../log/replicated-log.ts";
import type {
  LeadingStore,
  LeadNotice,
  NodeLink,
  NodeStore,
  ProcessSession,
  SlotToken,
} from "../stores/open.ts";
import { Beats } from "./beats.ts";
import { DigestRound } from "./digest-round.ts";
import { Followers, type FollowHello } from "./followers.ts";
import { LeadVote } from "./lead-wishes.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import {
  OwnSession,
  serveSession,
  type ServedSession,
  type SessionHello,
} from "./remote-session.ts";
import { explainFormat, type Replica } from "./replica.ts";
import { evictedWords, isEvicted } from "./roster.ts";
import { RosterKeeper } from "./roster-keeper.ts";
import { findTrim } from "./trimming.ts";
import type { PeerHello } from "./peer-words.ts";

interface LeadershipOptions {
  readonly log: ReplicatedLog;
  readonly node: NodeStore;
  readonly store: LeadingStore;
  readonly replica: Replica;
  readonly lease: LeaseKeeper;
  readonly link: NodeLink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: number;
  readonly name: string;
  readonly address: string;
  readonly incarnation: string;
  readonly formats: readonly number[];
  readonly leaseMs: number;
  readonly readWaitMs: number;
  readonly retainMs: number;
  readonly digestMs: number;
  /** Whether each strict read waits for a beat of the lease, so that it trusts no clock. */
  readonly isQuorum: boolean;
  /** Why this machine had better not lead. */
  readonly problem: () => string | undefined;
  readonly onMembers: (members: readonly ClusterMember[]) => void;
  readonly onKept: (seq: number) => void;
  /** Other machines, which reach each other and not this one, ask for another leader. */
  readonly onOutvoted: (by: readonly string[]) => void;
  /** This machine's rows are not those of most others. */
  readonly onMinority: (why: string) => void;
  /** Rows of machines differ, and nobody can know whose are right; undefined: most agree with this one. */
  readonly onDoubt: (why: string | undefined) => void;
}

/** The log is trimmed so often at most. */
const trimMs = 600_000;
/** So long after it was given a snapshot a machine has to follow. */
const holdMs = 600_000;
/** A machine that lacks more records would take long to take the lead. */
const behindMax = 1000;

export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #followers: Followers;
  readonly #sessions = new Set<ServedSession>();
  readonly #own = new Set<OwnSession>();
  readonly #beats = new Beats();
  readonly #digests: DigestRound;
  readonly #vote: LeadVote;
  readonly roster: RosterKeeper;
  #kept: number;
  #isOver = false;
  /** When the log is trimmed next, and up to where it was. */
  #trimMs: number;
  #trimmedTo = 1;
  /** Machines that were given a snapshot: what is not trimmed before they follow, or a time has passed. */
  readonly #held = new Map<string, { readonly seq: number; readonly untilMs: number }>();
  #isTelling = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    const { replica, clock } = options;
    this.#kept = replica.point.seq;
    this.#trimMs = clock.tickMs() + Math.min(trimMs, options.retainMs);
    this.#followers = new Followers({
      confirm: () => this.confirm(),
      kept: () => this.#kept,
      onChange: () => this.tellMembers(),
      onSilent: (node) => this.#closeSessions(node),
      onDigest: (node, payload) => this.#digests.hear(node, payload),
    });
    this.#digests = new DigestRound(options, {
      names: () => this.#followers.all.map(({ hello }) => hello.node),
      tell: (payload) => this.#followers.tellDigest(payload),
    });
    const { log, term, leaseMs } = options;
    this.#vote = new LeadVote({ lease: log.lease, clock, term, freshMs: leaseMs });
    const { name: node, address, incarnation, formats } = options;
    this.roster = new RosterKeeper({
      ...options,
      own: { node, address, incarnation, formats },
      hellos: () => this.#followers.all.map(({ hello }) => hello),
      part: (other) => {
        this.#followers.part(other);
        this.#closeSessions(other);
      },
      onChange: () => this.tellMembers(),
    });
    replica.onKept((seq) => {
      this.#kept = seq;
      options.onKept(seq);
      this.#followers.tellKept();
    });
    this.tellLead();
    this.tellMembers();
  }

  /** A machine that could lead in place of this one: it is connected, can write, and has applied nearly all. */
  get successor(): string | undefined {
    const able = this.#followers.all.filter(
      ({ problem, applied }) => problem === undefined && this.#kept - applied <= behindMax,
    );
    return able.toSorted((one, other) => other.applied - one.applied)[0]?.hello.node;
  }

  /** Of a process of this machine. */
  openSession(slot: SlotToken | undefined): ProcessSession {
    const host = { ...this.#sessionHost, onClose: () => void this.#own.delete(session) };
    const session: OwnSession = new OwnSession(this.#options.store.openSession(false), slot, host);
    this.#own.add(session);
    this.tellMembers();
    return session;
  }

  /** Of a process of another machine. */
  serve(hello: SessionHello, socket: Socket): void {
    const opened = this.#options.store.openSession(true);
    const session = serveSession(socket, opened, { hello, host: this.#sessionHost });
    this.#sessions.add(session);
    session.onClose(() => this.#sessions.delete(session));
    this.tellMembers();
  }

  /** Throws for a machine that was evicted. */
  admit(hello: PeerHello): void {
    if (isEvicted(this.roster.entries, hello)) throw new Error(evictedWords);
  }

  takeFollower(hello: FollowHello, socket: Socket): void {
    const { name, address, replica } = this.#options;
    if (!hello.formats.includes(replica.format)) {
      throw new Error(`rows have ${explainFormat(replica.format, hello.formats)}`);
    }
    const namesake = this.#followers.all.find((one) => one.hello.node === hello.node)?.hello;
    const isTaken = hello.node === name ? address : namesake?.address;
    if (isTaken !== undefined && isTaken !== hello.address) {
      throw new Error(`another machine is called ${hello.node}, too: at ${isTaken}`);
    }
    this.#held.delete(hello.node);
    this.#followers.take(hello, socket);
  }

  /** As of now: `kept` is what was acknowledged, at least. Rejects where another machine may lead. */
  async confirm(): Promise<number> {
    const { isQuorum, lease, readWaitMs } = this.#options;
    let isKept = true;
    if (isQuorum || !lease.isCertain()) {
      const next = this.#beats.waitForNext(readWaitMs);
      lease.wake();
      isKept = await next;
    }
    if (!isKept || this.#isOver || !lease.isCertain()) {
      throw new Error("this machine is not certain that it leads");
    }
    return this.#kept;
  }

  /** A machine is given a snapshot, and needs all that is kept from now on until it follows. */
  holdLog(node: string): void {
    const untilMs = this.#options.clock.tickMs() + holdMs;
    this.#held.set(node, { seq: this.#kept, untilMs });
  }

  /** Whether a read waits for the next beat. */
  get isAwaited(): boolean {
    return this.#beats.areAwaited;
  }

  /** Keeps the lease; false: another machine holds it. Rejects as the log does. */
  async beat(): Promise<boolean> {
    const { lease, replica } = this.#options;
    const keep = this.#beats.send();
    if (!(await lease.beat())) return false;
    this.tellLead();
    keep();
    await replica.markKept();
    void this.roster.note();
    await this.#count();
    await this.#trim();
    this.#digests.beginWhenDue();
    return true;
  }

  /** Who asks for another leader. */
  async #count(): Promise<void> {
    const connected = new Set(this.#followers.all.map(({ hello }) => hello.node));
    const by = await this.#vote.look(connected);
    if (by.length > 0) this.#options.onOutvoted(by);
  }

  /** What its processes may rely on: where no clock is trusted, nothing. */
  tellLead(): void {
    const { lease, isQuorum, link } = this.#options;
    const { certain } = lease;
    if (certain === undefined) return;
    // Over at once: each read asks.
    const term = { ...certain, untilMs: isQuorum ? 0 : certain.untilMs };
    const notice: LeadNotice = { kind: "leads", term };
    void link.tellLead(notice);
  }

  /** Who is there, and which slots their processes have: told once a turn. */
  tellMembers(): void {
    if (this.#isTelling || this.#isOver) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      if (this.#isOver) return;
      const members = this.#listMembers();
      this.#options.onMembers(members);
      this.#followers.tellMembers(members);
    });
  }

  /** In order: nothing more is written, no process trusts the lease, the next one may take it. */
  async giveUp(): Promise<void> {
    const { node, link, replica, lease, leaseMs, logger } = this.#options;
    this.#isOver = true;
    const { certain } = lease;
    const [, isHeard] = await Promise.all([node.pause(), link.tellLead({ kind: "follows" })]);
    node.abandon();
    replica.resign();
    // A process that has not heard it may go on reading for as long as it was told.
    if (!isHeard && certain !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, leaseMs));
    }
    // Where the log does not answer, it ends by itself.
    await lease.giveUp().catch((error: unknown) => {
      logger.warn("the lease could not be given up", { error: String(error) });
    });
    this.#followers.tellResigned();
    // The frame leaves before the connections end.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** What was under way is not answered: whoever leads next knows what came of it. */
  end(): void {
    this.#isOver = true;
    for (const session of this.#sessions) session.close();
    for (const session of this.#own) session.lose();
    this.#followers.close();
    this.#digests.close();
    this.#beats.close();
  }

  #closeSessions(node: string): void {
    for (const session of this.#sessions) if (session.node === node) session.close();
  }

  readonly #sessionHost = {
    seq: (): number => this.#kept,
    leads: (): boolean => !this.#isOver,
    onChange: (): void => this.tellMembers(),
  };

  #listMembers(): readonly ClusterMember[] {
    const { name, address, link, formats } = this.#options;
    const slotsOf = (node: string): readonly number[] =>
      [...this.#sessions].flatMap((session) => (session.node === node ? (session.slot ?? []) : []));
    const own = { node: name, address, formats, slots: link.slots, leads: true };
    const problem = this.#options.problem();
    const ownMember = { ...own, applied: this.#kept, isAway: false, problem };
    const others = this.#followers.all.map(({ hello, applied, problem: theirs }) => ({
      node: hello.node,
      address: hello.address,
      slots: slotsOf(hello.node),
      formats: hello.formats,
      leads: false,
      applied,
      isAway: false,
      problem: theirs,
    }));
    return [ownMember, ...others, ...this.roster.away];
  }

  /** Never what a machine that is connected has not applied. */
  async #trim(): Promise<void> {
    const { clock, log, replica, retainMs } = this.#options;
    if (clock.tickMs() < this.#trimMs) return;
    this.#trimMs = clock.tickMs() + Math.min(trimMs, Math.max(retainMs, 1000));
    const applied = this.#followers.all.map((one) => one.applied);
    for (const [node, { untilMs }] of this.#held) {
      if (clock.tickMs() > untilMs) this.#held.delete(node);
    }
    const held = [...this.#held.values()].map(({ seq }) => seq);
    const last = Math.min(this.#kept, ...held, ...applied);
    const below = await findTrim(log, last, clock.nowMs() - retainMs);
    if (below > this.#trimmedTo) {
      await replica.notePlace();
      await log.trim(below);
    }
    this.#trimmedTo = below;
  }
}

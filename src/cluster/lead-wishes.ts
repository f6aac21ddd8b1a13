/**
 * A leader that reaches the log keeps its lease, whether or not anybody reaches it (reference/log 7.3). Machines that do
 * not, and reach each other, say so in the log; a leader that reads there that more of them reach each other than it
 * reaches itself gives the lead up. Who leads next reaches more machines than the one before, so this comes to an end; two
 * machines with a cut line between them are equals, and the holder stays.
 */
import type { Clock } from "../base/clock.ts";
import type { LeadWish, LogLease } from "../log/replicated-log.ts";
import { dialPeer, PeerRefused, type PeerTls } from "./peer-connection.ts";
import type { PeerSelf } from "./peer-words.ts";
import { noSlot } from "./process-doors.ts";

interface LeadWishesOptions {
  readonly lease: LogLease;
  readonly clock: Clock;
  readonly self: PeerSelf;
  readonly tls: () => PeerTls;
  /** So long the leader is not reached before another one is asked for. */
  readonly patienceMs: number;
  /** Machines that are known; those that ask are, too. */
  readonly machines: () => readonly Pick<PeerSelf, "node" | "address">[];
}

/** Of a machine that does not lead. */
export class LeadWishes {
  readonly #options: LeadWishesOptions;
  #term = 0;
  #sinceMs: number | undefined;
  #count = 0;
  #isAsking = false;

  constructor(options: LeadWishesOptions) {
    this.#options = options;
  }

  /** The leader is reached, or nobody leads. */
  rest(): void {
    this.#sinceMs = undefined;
  }

  /** The leader of the term beats, and is not reached: to be told with each look at the lease. */
  miss(term: number, leader: string): void {
    const { clock, patienceMs } = this.#options;
    if (term !== this.#term) this.rest();
    this.#term = term;
    this.#sinceMs ??= clock.tickMs();
    if (this.#isAsking || clock.tickMs() - this.#sinceMs < patienceMs) return;
    this.#isAsking = true;
    void this.#ask(term, leader)
      // It is asked again with the next look.
      .catch(() => {})
      .finally(() => (this.#isAsking = false));
  }

  async #ask(term: number, leader: string): Promise<void> {
    const { lease, self, machines } = this.#options;
    // At once: the store may be closed by the time that the log has answered.
    const members = machines();
    const asking = (await lease.wishes()).filter((wish) => wish.term === term);
    const known = new Map([...members, ...asking].map((one) => [one.node, one]));
    const others = [...known.values()].filter(({ node }) => node !== self.node && node !== leader);
    const reached = await Promise.all(others.map((one) => this.#reaches(one.address)));
    const reaches = others.flatMap(({ node }, i) => (reached[i] === true ? node : []));
    if (this.#sinceMs === undefined) return;
    const { node, address } = self;
    await lease.wish({ node, address, term, count: ++this.#count, reaches });
  }

  async #reaches(address: string): Promise<boolean> {
    const { self, tls } = this.#options;
    const hello = { ...self, purpose: "process", slot: noSlot, isGrpc: false } as const;
    try {
      (await dialPeer(address, tls(), hello)).socket.destroy();
      return true;
    } catch (error) {
      // No process has that slot: whoever says so is heard.
      return error instanceof PeerRefused;
    }
  }

  /** Whether the leader of the term gave it up for others than this machine. */
  async areOfOthers(term: number): Promise<boolean> {
    const { lease, self } = this.#options;
    const wishes = (await lease.wishes()).filter((wish) => wish.term === term);
    return largestGroup(wishes) > 1 && !wishes.some(({ node }) => node === self.node);
  }
}

interface LeadVoteOptions {
  readonly lease: Pick<LogLease, "wishes">;
  readonly clock: Clock;
  readonly term: number;
  /** A wish that does not grow for so long is one no more. */
  readonly freshMs: number;
}

/** Of the machine that leads. */
export class LeadVote {
  readonly #options: LeadVoteOptions;
  readonly #seen = new Map<string, { readonly count: number; readonly grownMs: number }>();
  #looks = 0;

  constructor(options: LeadVoteOptions) {
    this.#options = options;
  }

  /**
   * The machines that ask for another leader, where more of them reach each other than this one reaches, itself counted,
   * and have done so for two looks; else none. `connected`: those that follow. Rejects as the log does.
   */
  async look(connected: ReadonlySet<string>): Promise<readonly string[]> {
    const { lease, clock, term, freshMs } = this.#options;
    const nowMs = clock.tickMs();
    const wishes = (await lease.wishes()).filter((wish) => wish.term === term);
    const fresh = wishes.filter(({ node, count }) => {
      const seen = this.#seen.get(node);
      if (seen === undefined) this.#seen.set(node, { count, grownMs: -Infinity });
      else if (seen.count !== count) this.#seen.set(node, { count, grownMs: nowMs });
      const { grownMs = -Infinity } = this.#seen.get(node) ?? {};
      return !connected.has(node) && nowMs - grownMs <= freshMs;
    });
    const isOutvoted = largestGroup(fresh) > 1 + connected.size;
    this.#looks = isOutvoted ? this.#looks + 1 : 0;
    return this.#looks >= 2 ? fresh.map(({ node }) => node) : [];
  }
}

/** Most machines that one of those who ask reaches, and that reach it and ask, too; itself counted. */
function largestGroup(wishes: readonly LeadWish[]): number {
  const sizes = wishes.map(
    ({ node, reaches }) =>
      1 +
      wishes.filter((other) => reaches.includes(other.node) && other.reaches.includes(node)).length,
  );
  return Math.max(0, ...sizes);
}

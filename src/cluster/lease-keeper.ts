/**
 * Who is to lead, as far as clocks tell (reference/log 7.3): a holder beats; who has seen no new beat for the lease's
 * time, on a clock of its own, may take it. No two clocks are compared. What is kept is decided by the log alone.
 */
import type { Clock } from "../base/clock.ts";
import { isOffsetKept, sharedTickMs, wallOffsetMs } from "../base/shared-clock.ts";
import type { Lease, LogLease } from "../log/replicated-log.ts";
import type { LeadTerm } from "../stores/open.ts";

interface LeaseKeeperOptions {
  readonly lease: Omit<LogLease, "wish" | "wishes">;
  readonly clock: Clock;
  /** Without a beat for so long it is free. */
  readonly leaseMs: number;
  readonly node: string;
  readonly address: string;
}

/** The holder is certain of it for this part of the time, counted from when it sent its last beat. */
const certainPart = 0.9;
/** On top of a lease's time: so long a machine stands back that had better not lead. */
const standBackMs = 1000;

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  #seen: Lease | undefined = undefined;
  /** On `clock`: when the newest beat was first seen. */
  #sinceMs = 0;
  /** Of the lease that is held. */
  #term: number | undefined = undefined;
  #certain: LeadTerm | undefined = undefined;
  #onWake: () => void = () => {};

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** As it was read last. */
  get seen(): Lease | undefined {
    return this.#seen;
  }

  /** Of the lease that this machine holds. */
  get term(): number | undefined {
    return this.#term;
  }

  /** Until when this machine holds it for certain; undefined: it does not hold it. */
  get certain(): LeadTerm | undefined {
    return this.#certain;
  }

  /** Whoever beats, or looks, does it now. */
  wake(): void {
    this.#onWake();
  }

  onWake(listener: () => void): void {
    this.#onWake = listener;
  }

  /** How often the holder beats. */
  get beatMs(): number {
    return this.#options.leaseMs / 3;
  }

  /** No beat was seen for so long that nobody can be said to hold it. */
  get isSilent(): boolean {
    const { clock, leaseMs } = this.#options;
    return clock.tickMs() - this.#sinceMs >= Math.max(leaseMs, this.#seen?.lastsMs ?? 0);
  }

  /**
   * Whether this machine may take it now. Rejects as the log does. `isLast`: it stands back for so long that all others
   * have had their turn.
   */
  async look(isLast = false): Promise<boolean> {
    const { lease, clock, leaseMs, node, address } = this.#options;
    const seen = await lease.read();
    const isNew = seen.term !== this.#seen?.term || seen.beat !== this.#seen.beat;
    if (isNew) this.#sinceMs = clock.tickMs();
    this.#seen = seen;
    // The process that held it on this machine is gone: there is one at a time.
    const isOwn = seen.node === node && seen.address === address;
    const isFree = seen.term === 0 || seen.beat < 0 || isOwn;
    // Where machines are set otherwise, the holder's word counts: it trusts its lease for as long.
    const waitMs = Math.max(leaseMs, seen.lastsMs);
    const freeMs = isFree ? 0 : waitMs;
    const lastMs = isLast ? leaseMs + standBackMs : 0;
    return clock.tickMs() - this.#sinceMs >= freeMs + lastMs;
  }

  /** Takes it as it was seen last; false: another machine was first. Rejects as the log does. */
  async take(): Promise<boolean> {
    const { lease, node, address, leaseMs } = this.#options;
    const seen = this.#seen;
    if (seen === undefined) return false;
    const sentMs = sharedTickMs();
    const term = seen.term + 1;
    if (!(await lease.take(seen, { term, node, address, lastsMs: leaseMs }))) return false;
    this.#term = term;
    this.#noteSent(sentMs);
    return true;
  }

  /** false: another machine holds it. Rejects as the log does. */
  async beat(): Promise<boolean> {
    if (this.#term === undefined) return false;
    const sentMs = sharedTickMs();
    if (!(await this.#options.lease.beat(this.#term))) {
      this.lose();
      return false;
    }
    this.#noteSent(sentMs);
    return true;
  }

  lose(): void {
    this.#term = undefined;
    this.#certain = undefined;
  }

  /** The next may take it at once. */
  async giveUp(): Promise<void> {
    const term = this.#term;
    this.lose();
    if (term !== undefined) await this.#options.lease.giveUp(term);
  }

  /** Whether this machine holds it at this moment. */
  isCertain(): boolean {
    const certain = this.#certain;
    if (certain === undefined || sharedTickMs() >= certain.untilMs) return false;
    return isOffsetKept(this.#options.clock, certain.wallOffsetMs);
  }

  #noteSent(sentMs: number): void {
    if (this.#term === undefined) return;
    const untilMs = sentMs + this.#options.leaseMs * certainPart;
    this.#certain = { untilMs, wallOffsetMs: wallOffsetMs(this.#options.clock) };
  }
}

/**
 * A process whose changes lost the same key twice in a row is next: those of other processes that need it are held back
 * for up to 50 ms (reference/transactions 4.7). Within a process requests wait for each other by themselves, and a try
 * has another id than the one before; so what is counted are the losses of a process with a key.
 */
import type { Clock } from "../../base/clock.ts";
import type { Change, StoreRefusal } from "../../store/store.ts";

const lossesMax = 2;
const holdMs = 50;
/** Losers that are counted; forgotten all at once above it. */
const countedMax = 10_000;

interface Starving {
  readonly loser: string;
  readonly slot: number;
  readonly keys: ReadonlySet<string>;
  readonly untilMs: number;
}

export class StarvationGuard {
  private readonly clock: Clock;
  private readonly losses = new Map<string, number>();
  private starving: Starving | undefined = undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  noteLoss(change: Change, { reason }: StoreRefusal): void {
    // A client's own transaction that has lost is not tried again.
    const isTriedAgain =
      reason === "basis" || (reason === "conflict" && change.startTs === change.basisTs);
    const loser = nameLoser(change);
    if (!isTriedAgain || loser === undefined) return;
    const count = (this.losses.get(loser) ?? 0) + 1;
    if (this.losses.size >= countedMax) this.losses.clear();
    this.losses.set(loser, count);
    if (count < lossesMax || this.isActive()) return;
    this.starving = {
      loser,
      slot: change.id.slot,
      keys: new Set([...change.conflictKeys, ...change.basisKeys]),
      untilMs: this.clock.tickMs() + holdMs,
    };
  }

  /** It is committed. */
  forget(change: Change): void {
    if (this.losses.size === 0) return;
    const loser = nameLoser(change);
    if (loser === undefined) return;
    this.losses.delete(loser);
    if (this.starving?.loser === loser) this.starving = undefined;
  }

  holdsBack({ id, conflictKeys, basisKeys }: Change): boolean {
    const { starving } = this;
    if (starving === undefined || starving.slot === id.slot || !this.isActive()) return false;
    const isWanted = (key: string): boolean => starving.keys.has(key);
    return conflictKeys.some(isWanted) || basisKeys.some(isWanted);
  }

  private isActive(): boolean {
    if (this.starving !== undefined && this.clock.tickMs() >= this.starving.untilMs) {
      this.starving = undefined;
    }
    return this.starving !== undefined;
  }
}

/** A request names its keys in the same order in each of its tries. */
function nameLoser({ id, conflictKeys, basisKeys }: Change): string | undefined {
  const key = conflictKeys[0] ?? basisKeys[0];
  return key === undefined ? undefined : `${id.slot}.${key}`;
}

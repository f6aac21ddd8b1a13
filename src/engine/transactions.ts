/**
 * Transactions over several requests (reference/transactions 5). State exists only once a transaction has written, or
 * was ended: its start time says everything else. Requests of one transaction run one after the other.
 */
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Overlay } from "../graph/overlay.ts";
import { Fault } from "../model/fault.ts";
import type { Limits } from "../model/limits.ts";
import type { Edit } from "../write/edit.ts";
import { aborted } from "./commits.ts";
import { StartTimeGiver, unpackStartTime } from "./start-time.ts";
import type { StartTime } from "./start-time.ts";

/** A transaction that has written. */
export interface Transaction {
  readonly startTs: number;
  readonly namespace: number;
  /** The commit number that it reads at. */
  readonly commit: number;
  readonly overlay: Overlay;
  readonly edits: Edit[];
  readonly conflictKeys: Set<string>;
  /** Names of the predicates it wrote. */
  readonly predicates: Set<string>;
  usedMs: number;
}

interface TransactionsOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly slot: number;
  readonly floorTs: number;
}

/** Marks of ended transactions that are kept; older ones are forgotten by raising the floor past them. */
const endedMax = 100_000;

export class Transactions {
  readonly #options: TransactionsOptions;
  readonly #giver: StartTimeGiver;
  /** In the order of their last use, the oldest first. */
  readonly #open = new Map<number, Transaction>();
  /** Ended start times, oldest mark first. */
  readonly #ended = new Set<number>();
  /** Start times of this process below it cannot be written with any more. */
  #floor = 0;
  /** The last request under way of each start time. */
  readonly #scheduler = new Map<number, Promise<unknown>>();

  constructor(options: TransactionsOptions) {
    this.#options = options;
    this.#giver = new StartTimeGiver(options);
  }

  /** Start times of this process. */
  get giver(): StartTimeGiver {
    return this.#giver;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** After all requests of the transaction that came before. */
  async inTurn<T>(startTs: number, work: () => Promise<T>): Promise<T> {
    const before = this.#scheduler.get(startTs);
    const turn = (before ?? Promise.resolve()).then(work, work);
    this.#scheduler.set(startTs, turn);
    try {
      return await turn;
    } finally {
      if (this.#scheduler.get(startTs) === turn) this.#scheduler.delete(startTs);
    }
  }

  /** The transaction's state, if it has any that still counts. */
  find(startTs: number, namespace: number): Transaction | undefined {
    const found = this.#open.get(startTs);
    if (found === undefined || found.namespace !== namespace) return undefined;
    const nowMs = this.#options.clock.tickMs();
    if (nowMs - found.usedMs > this.#options.limits.txnAbortAfterMs) {
      this.end(startTs);
      return undefined;
    }
    return found;
  }

  /** Throws `aborted` unless the start time may still be written with; `newest` is the newest commit number. */
  checkWritable(startTs: number, newest: number): StartTime {
    const time = unpackStartTime(startTs);
    const { slot, floorTs } = this.#options;
    if (
      time.serial === 0 ||
      time.slot !== slot ||
      time.commit < floorTs ||
      this.#ended.has(startTs) ||
      (startTs < this.#floor && !this.#open.has(startTs)) ||
      (time.commit <= newest && !this.#giver.mayHaveGiven(time))
    ) {
      throw aborted();
    }
    return time;
  }

  /** Makes the state of a transaction's first write. */
  begin(startTs: number, namespace: number, overlay: Overlay): Transaction {
    if (this.#open.size >= this.#options.limits.txnOpenMax && !this.#endIdle()) {
      throw new Fault("E_OVERLOADED", "too many open transactions, please try again");
    }
    const transaction: Transaction = {
      startTs,
      namespace,
      commit: unpackStartTime(startTs).commit,
      overlay,
      edits: [],
      conflictKeys: new Set(),
      predicates: new Set(),
      usedMs: this.#options.clock.tickMs(),
    };
    this.#open.set(startTs, transaction);
    return transaction;
  }

  touch(transaction: Transaction): void {
    transaction.usedMs = this.#options.clock.tickMs();
    const { startTs } = transaction;
    if (this.#open.delete(startTs)) this.#open.set(startTs, transaction);
  }

  /** Forgets the state and marks the start time: it cannot be written with any more. Reads stay allowed. */
  end(startTs: number): void {
    this.#open.delete(startTs);
    const time = unpackStartTime(startTs);
    if (time.slot !== this.#options.slot || time.serial === 0) return;
    this.#ended.add(startTs);
    if (this.#ended.size <= endedMax) return;
    const half = [...this.#ended].sort((a, b) => a - b).slice(0, endedMax / 2);
    for (const old of half) this.#ended.delete(old);
    this.#floor = Math.max(this.#floor, must(half.at(-1), "half of many are some") + 1);
    for (const open of this.#open.keys()) if (open < this.#floor) this.#open.delete(open);
  }

  /** Ends the one that was not used for the longest time; false when all have requests under way. */
  #endIdle(): boolean {
    for (const startTs of this.#open.keys()) {
      if (this.#scheduler.has(startTs)) continue;
      this.end(startTs);
      return true;
    }
    return false;
  }

  /** All open ones end as aborted. */
  close(): void {
    for (const startTs of this.#open.keys()) this.end(startTs);
  }
}

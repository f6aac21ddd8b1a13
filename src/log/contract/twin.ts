/**
 * The naive twin of a log's engine: all in memory, nothing clever. It can be told to behave as engines do that promise
 * less: to take a record whatever lies before it, and to show records that are not durable yet and may vanish.
 */
import { must } from "../../base/assert.ts";
import {
  LogTrimmed,
  LogUnknown,
  type Appended,
  type LeadWish,
  type Lease,
  type LogLease,
  type ReplicatedLog,
  type SealedRecord,
} from "../replicated-log.ts";

interface TwinPromises {
  /** Whether a record is taken only behind the one that it names. Else its number alone decides. */
  readonly compares: boolean;
  /** Whether records are visible before they are durable (`TwinEngine.sync`). */
  readonly isLazy: boolean;
}

/** What all its clients share. */
export class TwinEngine {
  readonly promises: TwinPromises;
  readonly records = new Map<number, SealedRecord>();
  first = 1;
  /** All up to it survive a fail-over. */
  durable = 0;
  lease: Lease = { term: 0, beat: 0, node: "", address: "", lastsMs: 0 };
  readonly wishes = new Map<string, LeadWish>();
  readonly #wakes = new Set<() => void>();

  constructor(promises: TwinPromises) {
    this.promises = promises;
  }

  get tail(): number {
    let seq = this.first - 1;
    while (this.records.has(seq + 1)) seq++;
    return seq;
  }

  /** What is visible becomes durable. */
  sync(): void {
    this.durable = this.tail;
  }

  /** Another machine takes over, which has only what is durable. */
  failOver(): void {
    for (const seq of this.records.keys()) if (seq > this.durable) this.records.delete(seq);
  }

  append(records: readonly SealedRecord[]): Appended {
    for (const record of records) {
      const there = this.records.get(record.seq);
      if (there !== undefined && there.sum.equals(record.sum)) continue;
      if (there !== undefined || record.seq < this.first || !this.#follows(record)) return "fenced";
      this.records.set(record.seq, record);
    }
    if (!this.promises.isLazy) this.sync();
    for (const wake of this.#wakes) wake();
    return "kept";
  }

  #follows({ seq, prev }: SealedRecord): boolean {
    if (!this.promises.compares || seq === 1) return true;
    return this.records.get(seq - 1)?.sum.equals(prev) === true;
  }

  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }
}

/** A client of the twin. */
export function connectTwin(engine: TwinEngine): ReplicatedLog {
  return {
    async append(records) {
      const appended = engine.append(records);
      const last = must(records.at(-1), "something is appended");
      // Answered when it is durable: a lazy engine says so by and by.
      while (appended === "kept" && engine.durable < last.seq) {
        await new Promise(setImmediate);
        if (engine.records.get(last.seq)?.sum.equals(last.sum) !== true) throw new LogUnknown();
      }
      return appended;
    },
    async read(after, bytesMax) {
      if (after + 1 < engine.first) throw new LogTrimmed(engine.first);
      const found: SealedRecord[] = [];
      let bytes = 0;
      for (let seq = after + 1; bytes < bytesMax; seq++) {
        const record = engine.records.get(seq);
        if (record === undefined) break;
        found.push(record);
        bytes += record.head.length + record.body.length;
      }
      return found;
    },
    tail: async () => engine.tail,
    watch: (wake) => engine.watch(wake),
    placeOf: (seq) => `number ${seq}`,
    async trim(below) {
      const first = Math.min(below, engine.tail);
      for (let seq = engine.first; seq < first; seq++) engine.records.delete(seq);
      engine.first = Math.max(engine.first, first);
    },
    lease: twinLease(engine),
    close: async () => {},
  };
}

function twinLease(engine: TwinEngine): LogLease {
  return {
    read: async () => engine.lease,
    async take(seen, mine) {
      const { term, beat } = engine.lease;
      if (term !== seen.term || beat !== seen.beat) return false;
      engine.lease = { ...mine, beat: 0 };
      return true;
    },
    async beat(term) {
      const { lease } = engine;
      if (lease.term !== term || lease.beat < 0) return false;
      engine.lease = { ...lease, beat: lease.beat + 1 };
      return true;
    },
    async giveUp(term) {
      if (engine.lease.term === term) engine.lease = { ...engine.lease, beat: -1 };
    },
    wish: async (wish) => void engine.wishes.set(wish.node, wish),
    wishes: async () => [...engine.wishes.values()],
  };
}

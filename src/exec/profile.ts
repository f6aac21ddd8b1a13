/**
 * What the steps of one run did: nodes in and out, time, and what was read. Made for `profile` alone: a run without one
 * pays a comparison with undefined for each step, none for each row.
 */
import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import type {
  ColumnsOf,
  UidSetsOf,
  ListBounds,
  ListRef,
  Reader,
  TokenRange,
  ColumnRequest,
  VectorAnswer,
  VectorQuestion,
} from "../graph/reader.ts";
import type { Schema } from "../graph/schema.ts";
import type { UidSet } from "../model/uid.ts";
import { partOfFilter } from "../optimizer/filter-order.ts";
import type { Reads } from "../optimizer/query-cost.ts";
import type { FilterPlan } from "../plan/plan.ts";

/** What a step read of the store, without the steps inside it. */
type StepReads = { -readonly [K in keyof Reads]: number };

export interface Measure {
  /** How often it ran: batches, frames of a recursion. */
  times: number;
  /** undefined for steps that begin something. */
  in: number | undefined;
  out: number;
  /** When it first began. */
  startMs: number;
  /** With the steps inside it. */
  ms: number;
  readonly reads: StepReads;
  readonly store: StoreTime;
  readonly notes: Set<string>;
}

/** What a step waited for the store, its caches included, without the steps inside it. */
interface StoreTime {
  /** Of the first read. */
  startMs: number;
  ms: number;
  reads: number;
}

/** A step under way. */
interface Span {
  end(outCount: number): void;
  /** Ends it; the next one of the same step goes on with it. */
  pause(): void;
}

function makeMeasure(): Measure {
  const reads = { records: 0, lists: 0, tokens: 0, uids: 0 };
  const store = { startMs: Infinity, ms: 0, reads: 0 };
  const notes = new Set<string>();
  return { times: 0, in: undefined, out: 0, startMs: Infinity, ms: 0, reads, store, notes };
}

/** Steps of a run follow one another or lie inside one another, so what is read belongs to the innermost. */
export class Profiler {
  readonly #clock: Clock;
  /** By the part of the plan that does the step. */
  readonly #measures = new Map<object, Measure>();
  /** Of an AND: its parts in the order in which they were asked first. */
  readonly #orders = new Map<object, readonly object[]>();
  readonly #open: Measure[] = [];
  readonly #outside = makeMeasure();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  measureOf(part: object): Measure | undefined {
    return this.#measures.get(part);
  }

  begin(part: object, inCount?: number): Span {
    const measure = this.#at(part);
    const depth = this.#open.push(measure);
    const startMs = this.#clock.tickMs();
    if (startMs < measure.startMs) measure.startMs = startMs;
    measure.times++;
    if (inCount !== undefined) measure.in = (measure.in ?? 0) + inCount;
    const close = (): void => {
      // Those inside that ended by an error are gone too.
      this.#open.length = depth - 1;
      // A step inside itself is timed by the outer one.
      if (!this.#open.includes(measure)) measure.ms += this.#clock.tickMs() - startMs;
    };
    return {
      end: (outCount) => {
        measure.out += outCount;
        close();
      },
      pause: () => {
        measure.times--;
        close();
      },
    };
  }

  /** Nodes in and out of a step, beside its spans. */
  tell(part: object, inCount: number, outCount: number): void {
    const measure = this.#at(part);
    measure.in = (measure.in ?? 0) + inCount;
    measure.out += outCount;
  }

  /** The parts of a filter as they were asked; a later run of the same filter may choose otherwise, and says so. */
  tellOrder(part: object, filters: readonly FilterPlan[]): void {
    const order = filters.map(partOfFilter);
    const before = this.#orders.get(part);
    if (before === undefined) this.#orders.set(part, order);
    else if (before.some((other, i) => other !== order[i])) {
      this.note(part, "its parts were asked in different orders");
    }
  }

  orderOf(part: object): readonly object[] | undefined {
    return this.#orders.get(part);
  }

  note(part: object, text: string): void {
    this.#at(part).notes.add(text);
  }

  /** What all steps read. */
  total(): Reads {
    const total = { ...this.#outside.reads };
    for (const { reads } of this.#measures.values()) {
      total.records += reads.records;
      total.lists += reads.lists;
      total.tokens += reads.tokens;
      total.uids += reads.uids;
    }
    return total;
  }

  /** The reader, with an eye on what is read of it. */
  watch(reader: Reader): Reader {
    return new WatchedReader(reader, this.#clock, () => this.#open.at(-1) ?? this.#outside);
  }

  #at(part: object): Measure {
    let measure = this.#measures.get(part);
    if (measure === undefined) this.#measures.set(part, (measure = makeMeasure()));
    return measure;
  }
}

/** How many of the flags are set. */
export function countFlags(flags: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < flags.length; i++) count += flags[i] ?? 0;
  return count;
}

class WatchedReader implements Reader {
  readonly #reader: Reader;
  readonly #clock: Clock;
  readonly #step: () => Measure;

  constructor(reader: Reader, clock: Clock, step: () => Measure) {
    this.#reader = reader;
    this.#clock = clock;
    this.#step = step;
  }

  #reads(): StepReads {
    return this.#step().reads;
  }

  /** A read belongs to the step that began it; what a scan's visitor does is in its time. */
  #time<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    const { store } = this.#step();
    const startMs = this.#clock.tickMs();
    if (startMs < store.startMs) store.startMs = startMs;
    store.reads++;
    const end = (): void => {
      store.ms += this.#clock.tickMs() - startMs;
    };
    const found = read();
    if (found instanceof Promise) return found.finally(end);
    end();
    return found;
  }

  get schema(): Schema {
    return this.#reader.schema;
  }

  get ts(): number {
    return this.#reader.ts;
  }

  async nearest(question: VectorQuestion): Promise<VectorAnswer | undefined> {
    const reads = this.#reads();
    const found = await this.#time<VectorAnswer | undefined>(() =>
      this.#reader.nearest?.(question),
    );
    reads.uids += found?.uids.length ?? 0;
    return found;
  }

  readLevel<const Requests extends readonly ColumnRequest[]>(
    uids: Float64Array,
    requests: Requests,
  ): MaybePromise<ColumnsOf<Requests>> {
    const reads = this.#reads();
    reads.records += uids.length;
    return this.#time(() => this.#reader.readLevel(uids, requests));
  }

  readLists<const Lists extends readonly ListRef[]>(
    lists: Lists,
    bounds?: ListBounds,
  ): MaybePromise<UidSetsOf<Lists>> {
    const reads = this.#reads();
    reads.lists += lists.length;
    const count = (sets: UidSetsOf<Lists>): UidSetsOf<Lists> => {
      for (const set of sets) reads.uids += set.length;
      return sets;
    };
    const sets = this.#time(() => this.#reader.readLists(lists, bounds));
    return andThen(sets, count);
  }

  countLists(lists: readonly ListRef[]): MaybePromise<Float64Array> {
    this.#reads().lists += lists.length;
    return this.#time(() => this.#reader.countLists(lists));
  }

  intersectList(list: ListRef, uids: UidSet): MaybePromise<UidSet> {
    const reads = this.#reads();
    reads.lists++;
    const count = (set: UidSet): UidSet => {
      reads.uids += set.length;
      return set;
    };
    const set = this.#time(() => this.#reader.intersectList(list, uids));
    return andThen(set, count);
  }

  isCached(list: ListRef): MaybePromise<boolean> {
    return this.#reader.isCached(list);
  }

  scanList(
    list: ListRef,
    bounds: ListBounds,
    visit: (uids: UidSet) => boolean,
  ): MaybePromise<void> {
    const reads = this.#reads();
    reads.lists++;
    const count = (uids: UidSet): boolean => {
      reads.uids += uids.length;
      return visit(uids);
    };
    return this.#time(() => this.#reader.scanList(list, bounds, count));
  }

  scanTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    const reads = this.#reads();
    const count = (token: Uint8Array, uids: UidSet): boolean => {
      reads.tokens++;
      reads.uids += uids.length;
      return visit(token, uids);
    };
    return this.#time(() => this.#reader.scanTokens(index, range, count));
  }

  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): MaybePromise<void> {
    const reads = this.#reads();
    const tell = (token: Uint8Array, count: number): boolean => {
      reads.tokens++;
      return visit(token, count);
    };
    return this.#time(() => this.#reader.countTokens(index, range, tell));
  }

  scanCounts(
    index: number,
    range: { readonly from: number; readonly to: number },
    visit: (count: number, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    const reads = this.#reads();
    const tell = (count: number, uids: UidSet): boolean => {
      reads.tokens++;
      reads.uids += uids.length;
      return visit(count, uids);
    };
    return this.#time(() => this.#reader.scanCounts(index, range, tell));
  }

  /** The reader is closed by whoever opened it. */
  close(): void {
    this.#reader.close();
  }
}

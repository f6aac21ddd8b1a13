/**
 * The one writer: gathers what waits into one transaction (3.5 times the throughput), judges, applies, logs, answers.
 * Works on any engine; everything that is kept in memory moves only after the transaction is durable.
 */
import { must } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { changeIdText } from "../../store/patch-codec.ts";
import { metrics } from "../../base/metrics.ts";
import { Fault } from "../../model/fault.ts";
import {
  type Change,
  type ChangeId,
  type CommitResult,
  type Derive,
  type FillJob,
  type FillResult,
  type PlacedRows,
  type SweepRequest,
  type SweepResult,
  StoreRefusal,
} from "../../store/store.ts";
import { defaultTuning, type Tuning } from "../apply/tuning.ts";
import {
  FatalEngineError,
  prepareNow,
  transact,
  type KeyValue,
  type Pieces,
  type Prepared,
  type WriteEngine,
} from "../key-value.ts";
import { ChangeQueue, type Waiting } from "./change-queue.ts";
import { StarvationGuard } from "./starvation-guard.ts";
import { runFill } from "./fill.ts";
import { applyGroup, BadChange, type Outcome } from "./group.ts";
import { ConflictChecker, encodeKeys } from "./conflict-checker.ts";
import { defaultRetention, LogTail, type LogRetention } from "./log-tail.ts";
import {
  decodeSlots,
  decodeState,
  encodeSlots,
  encodeState,
  slotsKey,
  stateKey,
  type SlotHold,
  type StoreState,
} from "./state.ts";
import { Pauses } from "./pauses.ts";
import { SlotTable } from "./slot-table.ts";
import { runSweep } from "./sweep.ts";
import { toAnswer, toUnavailable } from "./commit-failure.ts";
import {
  changesCommitted,
  commitGroups,
  countRefusal,
  patchesCommitted,
} from "./commit-metrics.ts";
import { UidLease } from "./uid-lease.ts";

interface CommitterOptions {
  readonly clock: Clock;
  readonly tuning?: Tuning;
  readonly retention?: LogRetention;
  /** Changes that may wait; one more is answered "overloaded". */
  readonly queueMax?: number;
  readonly derive?: Derive;
  /** Of one of several machines: what it knows of commits before it led. Default: nothing is known of what came before. */
  readonly checker?: ConflictChecker;
}

/**
 * A group begins when a turn of the event loop has brought nothing more, or so long after it could have begun. Whom the
 * group before answered come back over some turns; without waiting for them groups are half as large, and a group costs
 * as much as twenty of its changes (decision 0021).
 */
const gatherMsMax = 6;

/** When all that waits is held back for a starving change. */
const heldRetryMs = 3;

/** So long a large group is applied before the process looks at what else there is to do. */
const sliceMs = 5;

/** A group whose transaction has begun. */
interface Flight {
  readonly group: readonly Waiting[];
  readonly pieces: Pieces<Prepared<Outcome>>;
  /** Between the two steps; undefined in the first. */
  prepared: Prepared<Outcome> | undefined;
}

export class Committer {
  private readonly engine: WriteEngine;
  private readonly tuning: Tuning;
  private readonly clock: Clock;
  private readonly derive: Derive | undefined;
  private readonly checker: ConflictChecker;
  private readonly log: LogTail;
  private readonly leases: UidLease;
  private readonly starvationGuard: StarvationGuard;
  private state: StoreState;
  readonly slots: SlotTable;
  private readonly queue: ChangeQueue;
  /** By slot. A process sends its changes in the order of their sequences: the log knows none that is higher. */
  private readonly newestIds = new Map<number, ChangeId>();
  private isScheduled = false;
  /** At most one: the next group stands on its state. */
  private flight: Flight | undefined = undefined;
  /** Who waits for the end of a large group's first step. */
  private appliers: (() => void)[] = [];
  /** A transaction of its own that is shipped; beside a flight there is none. */
  private isInJob = false;
  /** Who waits for the end of what is shipped. */
  private readonly landers: (() => void)[] = [];
  private readonly pauses = new Pauses(() => this.schedule());
  /** Of the pause beside which there is no other. */
  private lonePause: Promise<void> | undefined = undefined;
  private dead: unknown = undefined;
  private readonly listeners = new Set<(commitTs: number) => void>();
  private fatalListener: (error: unknown) => void = () => {};

  constructor(engine: WriteEngine, options: CommitterOptions) {
    this.engine = engine;
    this.tuning = options.tuning ?? defaultTuning;
    this.clock = options.clock;
    this.queue = new ChangeQueue(options.queueMax ?? 10_000);
    this.derive = options.derive;
    this.starvationGuard = new StarvationGuard(options.clock);
    const opened = transact(engine, (kv) => {
      const state = decodeState(kv.get(stateKey));
      return {
        state,
        slots: decodeSlots(kv.get(slotsKey)),
        log: new LogTail(kv, options.clock, options.retention ?? defaultRetention),
        leases: new UidLease(kv, state.nextUid, this.tuning),
      };
    });
    this.state = opened.state;
    this.slots = new SlotTable(opened.slots, {
      commitTs: () => this.state.commitTs,
      commit: (change) => this.commit(change),
      isStopped: () => this.dead !== undefined,
      whenWritable: () => this.whenWritable(),
      write: (make, settle) => this.writeSlots(make, settle),
    });
    this.log = opened.log;
    this.leases = opened.leases;
    this.checker = options.checker ?? new ConflictChecker(this.state.commitTs);
    metrics.gauge(
      "weft_commits_waiting",
      "Changes that wait for the writer",
      () => this.queue.length,
    );
  }

  get commitTs(): number {
    return this.state.commitTs;
  }

  get nextUid(): number {
    return this.leases.nextUid;
  }

  /** Below it conflicts are not known any more (reference/transactions 4.2). */
  get horizon(): number {
    return this.checker.horizon;
  }

  onCommit(listener: (commitTs: number) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * A change that was sent before (its id is in the log, or waits) is recognised and not applied again. `sentAfter`:
   * for a resend, the newest commit when it was first sent.
   */
  commit(change: Change, sentAfter?: number): Promise<CommitResult> {
    if (this.dead !== undefined) return Promise.reject(toUnavailable(this.dead));
    const id = changeIdText(change.id);
    const waiting = this.queue.promiseOf(id);
    if (waiting !== undefined) return waiting;
    if (sentAfter !== undefined && this.isShipping) {
      return this.whenLanded().then(() => this.commit(change, sentAfter));
    }
    const known = this.findKnown(change.id, sentAfter);
    if (known !== undefined) return Promise.resolve({ commitTs: known });
    if (sentAfter !== undefined && !this.log.reachesBackTo(sentAfter, this.state.commitTs)) {
      return Promise.reject(
        new Fault("E_OUTCOME_UNKNOWN", "the outcome of the transaction is unknown"),
      );
    }
    if (this.queue.isFull) {
      return Promise.reject(
        new Fault("E_OVERLOADED", "the server is overloaded, please try again"),
      );
    }
    const promise = this.queue.add(change, id);
    this.schedule();
    return promise;
  }

  /** The commit that a change became before. Its id is noted; one that is sent for the first time is not looked up. */
  private findKnown(id: ChangeId, sentAfter: number | undefined): number | undefined {
    const newest = this.newestIds.get(id.slot);
    const isSameProcess = newest?.floorTs === id.floorTs;
    const isNewest = !isSameProcess || id.sequence > newest.sequence;
    if (isNewest) this.newestIds.set(id.slot, id);
    if (isSameProcess && isNewest && sentAfter === undefined) return undefined;
    return this.log.findNewest(id) ?? this.findOlder(id, sentAfter);
  }

  private findOlder(id: ChangeId, sentAfter: number | undefined): number | undefined {
    if (sentAfter === undefined) return undefined;
    return this.run((kv) => this.log.findAfter(kv, id, sentAfter));
  }

  /** An entry of the log that cannot be read: what it and older ones tell is not known. */
  get damagedLogAt(): number | undefined {
    return this.log.damagedAt;
  }

  async lease(count: number): Promise<number> {
    // Each addition asks: where nothing is to be waited for, not even a turn of promises is.
    if (this.pauses.isOn || this.isApplying) await this.whenWritable();
    this.assertAlive();
    for (;;) {
      const taken = this.leases.take(count);
      if (taken !== undefined) return taken;
      await this.raiseBound(count);
    }
  }

  /**
   * The uid is never handed out from now on, also after a restart of the writer. At once for those below what is set
   * aside on disk; one far above it is kept by the commit that uses it.
   */
  reserve(uid: number): void | Promise<void> {
    this.leases.reserve(uid);
    return this.leases.isBeyondBound ? this.keepReserved() : undefined;
  }

  private async keepReserved(): Promise<void> {
    await this.whenWritable();
    this.assertAlive();
    if (this.leases.isBeyondBound) await this.raiseBound(1);
  }

  /** Sets uids aside on disk, so that `count` more can be handed out. */
  private raiseBound(count: number): Promise<void> {
    // The state is read in it: a group that is in flight lands first.
    const raise = (kv: KeyValue): number => {
      const bound = this.leases.boundFor(count);
      kv.put(stateKey, encodeState({ ...this.state, nextUid: bound }));
      return bound;
    };
    return this.runInTurn(raise, (bound) => {
      this.leases.raiseBound(bound);
      this.state = { ...this.state, nextUid: bound };
    });
  }

  /** The version moves with the row: a state that shows the one shows the other. */
  private writeSlots(
    make: () => ReadonlyMap<number, SlotHold>,
    settle: (slots: ReadonlyMap<number, SlotHold>) => void,
  ): Promise<void> {
    const write = (kv: KeyValue): ReadonlyMap<number, SlotHold> => {
      const slots = make();
      const slotsVersion = this.state.slotsVersion + 1;
      kv.put(slotsKey, encodeSlots(slots));
      kv.put(stateKey, encodeState({ ...this.state, slotsVersion }));
      return slots;
    };
    return this.runInTurn(write, (slots) => {
      this.state = { ...this.state, slotsVersion: this.state.slotsVersion + 1 };
      settle(slots);
    });
  }

  async fill(job: FillJob): Promise<FillResult> {
    await this.whenWritable();
    this.assertAlive();
    const { derive } = this;
    if (derive === undefined) throw new Fault("E_STARTUP", "the store was opened without derive");
    const startMs = this.clock.tickMs();
    let result: Omit<FillResult, "tookMs"> | undefined;
    const fill = (kv: KeyValue): Omit<FillResult, "tookMs"> =>
      runFill({ kv, tuning: this.tuning, state: this.state, derive }, job);
    await this.runInTurn(fill, (filled) => (result = filled));
    return {
      ...must(result, "it was run"),
      tookMs: this.clock.tickMs() - startMs,
    };
  }

  async sweep(request: SweepRequest): Promise<SweepResult> {
    await this.whenWritable();
    this.assertAlive();
    let result: SweepResult | undefined;
    await this.runInTurn(
      (kv) => runSweep(kv, this.tuning, request),
      (swept) => (result = swept),
    );
    return must(result, "it was run");
  }

  async place({ slot, floorTs, rows, uids }: PlacedRows): Promise<void> {
    await this.whenWritable();
    this.assertAlive();
    const place = (kv: KeyValue): { readonly reserved: number; readonly nextUid: number } => {
      if (!this.slots.admits({ slot, floorTs, sequence: 0 })) throw new StoreRefusal("slot");
      for (const { key, value } of rows) kv.put(key, value);
      for (const uid of uids) this.leases.reserve(uid);
      const reserved = this.leases.writeReserved(kv, this.tuning);
      const nextUid = this.leases.durableNext;
      if (uids.length > 0) kv.put(stateKey, encodeState({ ...this.state, nextUid }));
      return { reserved, nextUid };
    };
    await this.runInTurn(place, ({ reserved, nextUid }) => {
      this.leases.settleReserved(reserved);
      if (uids.length === 0) return;
      this.leases.raiseBound(nextUid);
      this.state = { ...this.state, nextUid };
    });
  }

  /**
   * What is under way is committed before it returns; then nothing is written until what it gives is called. Changes,
   * leases and all else wait meanwhile.
   */
  pause(): Promise<() => void> {
    return this.lonePause === undefined ? this.beginPause() : this.pauseLater(this.lonePause);
  }

  private async pauseLater(lonePause: Promise<void>): Promise<() => void> {
    await lonePause;
    return this.pause();
  }

  /** As `pause`; nobody else's pause is on meanwhile. */
  async pauseAlone(): Promise<() => void> {
    while (this.pauses.isOn || this.lonePause !== undefined) {
      await (this.lonePause ?? this.pauses.whenOver());
    }
    let end = (): void => {};
    this.lonePause = new Promise((resolve) => (end = resolve));
    const goOn = await this.beginPause();
    return () => {
      goOn();
      this.lonePause = undefined;
      end();
    };
  }

  private async beginPause(): Promise<() => void> {
    if (this.engine.isShipped !== true) this.finishFlight();
    const goOn = this.pauses.begin();
    await this.whenLanded();
    return goOn;
  }

  /**
   * What follows its end at once is written outside of all pauses, and holds nothing up: a large group that is being
   * applied slice by slice would be applied at once for it.
   */
  async whenWritable(): Promise<void> {
    do await this.whenApplied();
    while (this.pauses.isOn);
  }

  private async whenApplied(): Promise<void> {
    await this.pauses.whenOver();
    while (this.isApplying) await new Promise<void>((resolve) => this.appliers.push(resolve));
  }

  /** Between two slices of a large group. */
  private get isApplying(): boolean {
    return this.flight !== undefined && this.flight.prepared === undefined;
  }

  /** Called once, when the engine cannot go on. */
  onFatal(listener: (error: unknown) => void): void {
    this.fatalListener = listener;
  }

  get hasFailed(): boolean {
    return this.dead instanceof FatalEngineError;
  }

  /** Everything that waits is refused; nothing is written any more. */
  stop(reason: unknown): void {
    this.dead ??= reason;
    for (const waiting of this.queue.takeAll()) this.queue.refuse(waiting, toUnavailable(reason));
  }

  /** Commits what waits now. */
  async flush(): Promise<void> {
    if (this.engine.isShipped !== true) this.flushNow();
    while (this.isShipping || this.queue.length > 0) {
      if (this.dead !== undefined) return;
      if (!this.isShipping) this.start();
      await this.whenLanded();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private flushNow(): void {
    this.finishFlight();
    while (this.queue.length > 0 && this.dead === undefined) {
      this.start();
      this.finishFlight();
    }
  }

  /** With one in flight, the queue is looked at when it has landed; in a pause, at its end. */
  private schedule(): void {
    if (this.isScheduled || this.isBusy || this.queue.length === 0) return;
    if (this.pauses.isOn) return;
    this.isScheduled = true;
    if (this.queue.isHeld) setTimeout(this.begin, heldRetryMs);
    else this.gather(0, this.clock.tickMs());
  }

  /** `seen`: how many waited a turn ago. */
  private gather(seen: number, sinceMs: number): void {
    setImmediate(() => {
      const { length } = this.queue;
      const isGrowing = length > seen && this.clock.tickMs() - sinceMs < gatherMsMax;
      if (isGrowing) this.gather(length, sinceMs);
      else this.begin();
    });
  }

  private readonly begin = (): void => {
    this.isScheduled = false;
    const canStart = !this.isBusy && !this.pauses.isOn;
    if (canStart && this.dead === undefined) this.start();
    this.schedule();
  };

  private assertAlive(): void {
    if (this.dead !== undefined) throw toUnavailable(this.dead);
  }

  /** The engine cannot go on, as it found beside the transactions. */
  fail(cause: unknown): void {
    if (this.dead !== undefined) return;
    const error = new FatalEngineError("the store cannot be written", { cause });
    this.stop(error);
    this.fatalListener(error);
  }

  /** A transaction of its own, behind the group that is in flight. */
  private run<T>(work: (kv: KeyValue) => T): T {
    this.finishFlight();
    try {
      return transact(this.engine, work);
    } catch (error) {
      this.noteFatal(error);
      throw error;
    }
  }

  /** The same; where the engine ships it waits for its turn, and for the log. `settle` comes before all that follows. */
  private async runInTurn<T>(work: (kv: KeyValue) => T, settle: (value: T) => void): Promise<void> {
    if (this.engine.isShipped !== true) {
      settle(this.run(work));
      return;
    }
    while (this.isBusy || this.pauses.isOn) {
      await this.pauses.whenOver();
      await this.whenLanded();
    }
    this.assertAlive();
    this.isInJob = true;
    try {
      const prepared = prepareNow(this.engine, work);
      await prepared.commit();
      settle(prepared.value);
    } catch (error) {
      this.noteFatal(error);
      throw error;
    } finally {
      this.isInJob = false;
      this.tellLanded();
      this.schedule();
    }
  }

  /** Whether a transaction is between its begin and its end. */
  private get isBusy(): boolean {
    return this.flight !== undefined || this.isInJob;
  }

  /** Whether one is that nobody can end at once. */
  private get isShipping(): boolean {
    return this.isBusy && this.engine.isShipped === true;
  }

  private async whenLanded(): Promise<void> {
    while (this.isShipping) await new Promise<void>((resolve) => this.landers.push(resolve));
  }

  private tellLanded(): void {
    if (this.landers.length === 0) return;
    for (const go of this.landers.splice(0)) go();
  }

  private noteFatal(error: unknown): void {
    if (!(error instanceof FatalEngineError) || this.dead !== undefined) return;
    this.stop(error);
    this.fatalListener(error);
  }

  /** The first slice of the next group's transaction: for most groups all of its first step. */
  private start(): void {
    this.startWith(this.queue.takeGroup());
  }

  private startWith(group: readonly Waiting[]): void {
    if (group.length === 0) return;
    const { tuning, state, checker, starvationGuard, log, leases, slots } = this;
    const host = { tuning, state, checker, starvationGuard, log, leases, slots };
    const pieces = this.engine.prepare((kv) => applyGroup(kv, host, group));
    this.flight = { group, pieces, prepared: undefined };
    this.advance(this.flight, this.clock.tickMs() + sliceMs);
  }

  /** Goes on with the first step until a time. */
  private advance(flight: Flight, untilMs: number): void {
    if (this.flight !== flight || flight.prepared !== undefined) return;
    try {
      if (this.dead !== undefined) flight.pieces.throw(this.dead);
      for (;;) {
        const piece = flight.pieces.next();
        if (piece.done === true) {
          flight.prepared = piece.value;
          break;
        }
        if (this.clock.tickMs() < untilMs) continue;
        setImmediate(() => this.advance(flight, this.clock.tickMs() + sliceMs));
        return;
      }
    } catch (error) {
      if (error instanceof BadChange) this.startWithout(flight, error);
      else this.crash(flight, error);
      return;
    } finally {
      if (!this.isApplying) this.tellApplied();
    }
    this.depart(flight, flight.prepared);
  }

  private tellApplied(): void {
    if (this.appliers.length === 0) return;
    const waiting = this.appliers;
    this.appliers = [];
    for (const go of waiting) go();
  }

  private startWithout({ group }: Flight, { at, cause }: BadChange): void {
    this.flight = undefined;
    this.queue.refuse(must(group[at], "the change is of the group"), cause);
    this.startWith(group.filter((_, i) => i !== at));
    if (this.flight === undefined) this.schedule();
  }

  private depart(flight: Flight, prepared: Prepared<Outcome>): void {
    prepared
      .commit(() => encodeKeys(prepared.value.keys))
      .then(
        () => this.land(flight, prepared.value),
        (error: unknown) => this.crash(flight, error),
      );
  }

  private land(flight: Flight, outcome: Outcome): void {
    if (this.flight !== flight) return;
    this.flight = undefined;
    this.settle(flight.group, outcome);
    this.tellLanded();
    this.schedule();
  }

  private crash(flight: Flight, error: unknown): void {
    if (this.flight !== flight) return;
    this.flight = undefined;
    this.fall(flight.group, error);
    this.tellLanded();
    this.schedule();
  }

  /** Lands what is in flight, before returning. */
  private finishFlight(): void {
    for (let { flight } = this; flight !== undefined; flight = this.flight) {
      this.advance(flight, Infinity);
      const { prepared } = flight;
      // It was begun again without a change, or has crashed.
      if (prepared === undefined || this.flight !== flight) continue;
      try {
        prepared.commitNow();
      } catch (error) {
        this.crash(flight, error);
        continue;
      }
      this.land(flight, prepared.value);
    }
  }

  /** Nothing of the group is in the store. */
  private fall(group: readonly Waiting[], error: unknown): void {
    this.noteFatal(error);
    const isFull = error instanceof Fault && error.code === "E_STORE_FULL";
    if (isFull && group.length > 1) {
      // Full for all of them together: one that removes may still go on.
      for (const waiting of group) waiting.isAlone = true;
      this.queue.putBack(group);
      return;
    }
    for (const waiting of group) this.queue.refuse(waiting, isFull ? error : toAnswer(error));
  }

  private settle(group: readonly Waiting[], outcome: Outcome): void {
    commitGroups.count++;
    const isChanged = outcome.state.commitTs > this.state.commitTs;
    outcome.settle();
    this.checker.record(outcome.keys);
    this.state = outcome.state;
    const held: Waiting[] = [];
    for (const [i, waiting] of group.entries()) {
      const verdict = must(outcome.verdicts[i], "a verdict for each change");
      if (verdict.kind === "held") held.push(waiting);
      else if (verdict.kind === "committed") {
        changesCommitted.count++;
        patchesCommitted.count += waiting.change.patches.length;
        this.starvationGuard.forget(waiting.change);
        this.queue.resolve(waiting, { commitTs: verdict.commitTs });
      } else {
        countRefusal(verdict.error);
        if (verdict.error instanceof StoreRefusal) {
          this.starvationGuard.noteLoss(waiting.change, verdict.error);
        }
        this.queue.refuse(waiting, verdict.error);
      }
    }
    this.queue.hold(held);
    if (isChanged) for (const listener of this.listeners) listener(this.state.commitTs);
  }
}

/** Changes → the store: ids of changes, the log's entry, and which refusals are worth another try. */
import type { Clock } from "../base/clock.ts";
import { metrics } from "../base/metrics.ts";
import type { Random } from "../base/random.ts";
import { encodeLogEntry } from "../codec/log-entry.ts";
import { Fault } from "../model/fault.ts";
import { StoreRefusal } from "../store/store.ts";
import type { SchemaState } from "../graph/schema-state.ts";
import type { RequestBudget } from "../model/request-budget.ts";
import type { Change, Patch, Snapshot, Store } from "../store/store.ts";
import { ContendedKeys, Contender } from "./contended-keys.ts";
import type { View } from "./reader-factory.ts";

interface CommitterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** This process's slot for start times and its floor. */
  readonly slot: number;
  readonly floorTs: number;
}

interface ChangeRequest {
  /** The commit number that conflict keys are judged against. */
  readonly startTs: number;
  readonly conflictKeys: Iterable<string>;
  readonly basisKeys: Iterable<string>;
  readonly touchedNodes?: Iterable<string> | undefined;
  readonly deletedNodes?: Iterable<string> | undefined;
  readonly patches: readonly Patch[];
  readonly raisesFence?: boolean;
  readonly author?: string;
}

const commits = metrics.counter(
  "weft_transaction_commits_total",
  "Transactions that were committed",
);
const aborts = metrics.counter(
  "weft_transaction_aborts_total",
  "Transactions that the server aborted",
);
const retries = metrics.counters(
  "weft_transaction_retries_total",
  "Writes that were derived anew and tried again, by what had come between",
  "reason",
);

const noKeys: readonly string[] = [];

/** Tries of what has no deadline before it is given up. */
const triesMax = 64;

/** What `retry` asks of who has work tried again. */
interface RetryOptions {
  /** Tries end with its time. */
  readonly budget?: RequestBudget | undefined;
  /** Told before the request waits for another one. */
  readonly onWait?: (() => void) | undefined;
}

export class ChangeSender {
  readonly #options: CommitterOptions;
  readonly #contended = new ContendedKeys();
  #sequence = 0;
  #marks = 0;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  get slot(): number {
    return this.#options.slot;
  }

  get floorTs(): number {
    return this.#options.floorTs;
  }

  /** A text that no process has made before, nor will. */
  makeMark(): string {
    return `${this.slot}.${this.floorTs}.${++this.#marks}`;
  }

  /**
   * Commits what was derived on `view`. Rejects with StoreRefusal: also without asking the store, as "basis", where
   * another request that lost one of `contender.wanted` comes first.
   */
  commit(view: View, request: ChangeRequest, contender?: Contender): Promise<number> {
    const { clock, slot, floorTs } = this.#options;
    const { schema } = view.known;
    const conflictKeys = [...request.conflictKeys];
    const basisKeys = [...request.basisKeys];
    if (contender !== undefined) {
      // Whose own start is older may have lost already: the store says so without a wait.
      const isNew = request.startTs === view.snapshot.ts;
      contender.wanted = isNew ? [conflictKeys, basisKeys] : [basisKeys];
      if (this.#contended.isTaken(contender)) {
        return Promise.reject(new StoreRefusal("basis"));
      }
    }
    return this.#send({
      id: { slot, floorTs, sequence: ++this.#sequence },
      startTs: request.startTs,
      basisTs: view.snapshot.ts,
      fence: view.snapshot.fence,
      raisesFence: request.raisesFence ?? false,
      conflictKeys,
      basisKeys,
      touched: request.touchedNodes === undefined ? noKeys : [...request.touchedNodes],
      deleted: request.deletedNodes === undefined ? noKeys : [...request.deletedNodes],
      patches: request.patches,
      log: encodeLogEntry({
        namespace: schema.namespace,
        storageId: schema.storageId,
        schemaVersion: schema.version,
        author: request.author ?? "",
        committedMs: clock.nowMs(),
        // Each changed slot and member stands in the entry's patches, with what was there before.
        facts: [],
      }),
    });
  }

  async #send(change: Change): Promise<number> {
    try {
      const { commitTs } = await this.#options.store.commit(change);
      if (change.patches.length > 0) commits.count++;
      return commitTs;
    } catch (error) {
      // Nothing of it is committed, and no other try of this process would be.
      if (error instanceof StoreRefusal && error.reason === "slot") throw aborted();
      throw error;
    }
  }

  /** Rows that belong to no view: a namespace's first ones, the list of what is to be swept. */
  async commitRows(
    snapshot: Snapshot,
    state: SchemaState | undefined,
    patches: readonly Patch[],
    kind: Pick<Change, "raisesFence" | "beginsLog"> = {},
  ): Promise<void> {
    const { clock, slot, floorTs } = this.#options;
    await this.#send({
      ...kind,
      id: { slot, floorTs, sequence: ++this.#sequence },
      startTs: snapshot.ts,
      basisTs: snapshot.ts,
      fence: snapshot.fence,
      conflictKeys: [],
      basisKeys: [],
      patches,
      log: encodeLogEntry({
        namespace: state?.namespace ?? 0,
        storageId: state?.storageId ?? 0,
        schemaVersion: state?.version ?? 0,
        author: "",
        committedMs: clock.nowMs(),
        facts: [],
      }),
    });
  }

  /** A commit that holds nothing: a new number, from which serials of start times begin again. */
  async commitEmpty(ts: number): Promise<number> {
    const { slot, floorTs } = this.#options;
    return this.#send({
      id: { slot, floorTs, sequence: ++this.#sequence },
      startTs: ts,
      basisTs: ts,
      fence: Number.MAX_SAFE_INTEGER,
      conflictKeys: [],
      basisKeys: [],
      patches: [],
      log: new Uint8Array(0),
    });
  }

  /**
   * Runs `attempt` until the store takes what it commits, or the time of the budget is over. Each attempt reads the newest
   * state anew. Those that lost the same keys are tried one after the other; what names none is spread by chance.
   */
  async retry<T>(
    attempt: (contender: Contender) => Promise<T>,
    { budget, onWait }: RetryOptions = {},
  ): Promise<T> {
    const { clock } = this.#options;
    const contender = new Contender();
    const hasDeadline = budget !== undefined && budget.deadlineMs !== Infinity;
    try {
      for (let tries = 1; ; tries++) {
        const beganMs = clock.tickMs();
        try {
          return await attempt(contender);
        } catch (error) {
          if (!(error instanceof StoreRefusal)) throw error;
          retries.of(error.reason).count++;
          if (!hasDeadline && tries === triesMax) throw aborted();
          contender.triedMs = clock.tickMs() - beganMs;
          const isLost = error.reason === "conflict" || error.reason === "basis";
          await this.#untilNext(contender, { tries, isLost, budget, onWait });
        }
        budget?.check();
      }
    } finally {
      this.#contended.leave(contender);
    }
  }

  #untilNext(
    contender: Contender,
    { tries, isLost, budget, onWait }: RetryOptions & { tries: number; isLost: boolean },
  ): Promise<void> | undefined {
    if (isLost && contender.hasKeys) {
      const turn = this.#contended.enter(contender, budget?.leftMs() ?? Infinity);
      if (turn !== undefined) onWait?.();
      return turn;
    }
    return tries > 1 ? this.#pause(tries) : undefined;
  }

  #pause(tries: number): Promise<void> {
    const ms = this.#options.random.next() * Math.min(50, 2 ** Math.min(tries, 6));
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

/** The reference's answer to a transaction that lost (reference/dql 1.5). */
export function aborted(): Fault {
  aborts.count++;
  return new Fault(
    "E_TXN_ABORTED",
    "rpc error: code = Aborted desc = Transaction has been aborted. Please retry",
  );
}

/**
 * Opens readers: the newest state, an older one through the version history, a transaction's with its own writes
 * (reference/transactions 6).
 */
import { andThen } from "../base/maybe.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { Clock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import type { Logger } from "../base/log.ts";
import { RecordCache } from "../graph/cache.ts";
import { stackDeltas } from "../graph/delta.ts";
import { openReader } from "../graph/open-reader.ts";
import type { ReaderSource, SnapshotReader } from "../graph/open-reader.ts";
import type { ReservedOptions } from "../graph/reserved.ts";
import { SchemaCache } from "../graph/schema-rows.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import type { Delta } from "../graph/delta.ts";
import type { Overlay } from "../graph/overlay.ts";
import { VectorIndexes } from "../graph/vector-indexes.ts";
import type { VectorLimits } from "../graph/vector-indexes.ts";
import { VersionHistory, outOfReach } from "../graph/version-history.ts";
import { Fault } from "../model/fault.ts";
import type { Snapshot, Store } from "../store/store.ts";

interface ReaderFactoryOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly reserved: ReservedOptions;
  readonly cacheBytes: number;
  readonly undoBytes: number;
  /** undefined for no vector indexes. */
  readonly vectors?: VectorLimits;
  readonly logger?: Logger;
}

/** A reader with what a writer needs beside it. */
export interface View {
  readonly reader: SnapshotReader;
  readonly known: KnownSchema;
  readonly snapshot: Snapshot;
  /** The state is the same at every commit number from this one to the snapshot's, as far as is known. */
  readonly sameSince: number;
}

/** A reader that lives longer goes on with a newer snapshot. */
const snapshotMs = 1000;

/** How long a start time in the future is waited for, unless the request says otherwise. */
const futureWaitMs = 10_000;

/** The undo is forgotten when no older state was read for so long. */
const undoIdleMs = 60_000;

/** Commits without a query, after which requests no longer keep the record cache at the newest state. */
const unqueriedMax = 4096;

/** What a reader is opened for: a query, a request that may be one (or is handed over to a transaction), a change. */
type ReaderUse = "query" | "request" | "change";

export class ReaderFactory {
  readonly store: Store;
  readonly vectors: VectorIndexes;
  readonly #clock: Clock;
  readonly #schemas: SchemaCache;
  #cache: RecordCache;
  readonly #history: VersionHistory;
  #isEmbedded = true;
  #undoUsedMs = 0;
  /** The newest commit that was there when a query was opened. */
  #queriedTs = 0;

  constructor(options: ReaderFactoryOptions) {
    this.store = options.store;
    this.#clock = options.clock;
    this.#schemas = new SchemaCache(options.reserved);
    this.#cache = new RecordCache(options.cacheBytes);
    this.#history = new VersionHistory(options.undoBytes);
    this.vectors = new VectorIndexes({
      store: options.store,
      clock: options.clock,
      logger: options.logger ?? silentLogger,
      ...(options.vectors ?? { bytesMax: 0 }),
      open: (namespace) => this.#openIfThere(namespace),
    });
  }

  /** Whether the store answers at once: then so does every read. */
  get isEmbedded(): boolean {
    return this.#isEmbedded;
  }

  /** That the cache takes, by its own count. */
  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  /** What is kept of the old cache goes with the readers that use it. */
  resizeCache(bytes: number): void {
    this.#cache = new RecordCache(bytes);
  }

  /** A request turned out to be a query at commit `ts`: the record cache is kept at the newest state from now on. */
  noteQuery(ts: number): void {
    if (ts > this.#queriedTs) this.#queriedTs = ts;
  }

  /**
   * The newest state, of all machines where there are several. Readers that may serve a query fill the record cache,
   * those of changes only look.
   */
  openNewest(namespace: number, use: ReaderUse = "query", overlay?: Overlay): MaybePromise<View> {
    const current = this.store.whenCurrent?.();
    if (current === undefined) return this.openOwn(namespace, use, overlay);
    return andThen(current, () => this.openOwn(namespace, use, overlay));
  }

  /** The newest state that this machine has. */
  openOwn(namespace: number, use: ReaderUse = "query", overlay?: Overlay): MaybePromise<View> {
    const opened = this.store.snapshot();
    this.#isEmbedded = !(opened instanceof Promise);
    return andThen(opened, (snapshot) =>
      this.#open(snapshot, { namespace, use, ts: snapshot.ts, overlay }),
    );
  }

  /**
   * A view for a change over the snapshot of a reader that `openNewest` gave, which is given away with it: nothing is
   * opened a second time. undefined where the reader has gone on to another snapshot; then it is closed.
   */
  takeOver(given: SnapshotReader, overlay: Overlay): MaybePromise<View> | undefined {
    const snapshot = given.handOver();
    if (snapshot === undefined) return undefined;
    const { namespace } = given.schema;
    return this.#open(snapshot, { namespace, use: "change", ts: snapshot.ts, overlay });
  }

  /**
   * The state at commit `ts` with a transaction's own writes over it. Waits for a commit that is not there yet, until
   * `deadlineMs` (tick scale) at most. Aborted where the log no longer reaches back, or a change of the schema lies
   * in between.
   */
  async openAt(
    namespace: number,
    ts: number,
    options: { readonly overlay?: Overlay | undefined; readonly deadlineMs?: number } = {},
  ): Promise<View> {
    let snapshot = await this.store.snapshot();
    if (snapshot.ts < ts) {
      snapshot.close();
      await this.#waitFor(ts, options.deadlineMs ?? Infinity);
      snapshot = await this.store.snapshot();
    }
    if (snapshot.fence > ts) {
      snapshot.close();
      throw outOfReach();
    }
    return this.#open(snapshot, { namespace, use: "query", ts, overlay: options.overlay });
  }

  /** For whoever follows a namespace: undefined where that is gone. */
  async #openIfThere(namespace: number): Promise<View | undefined> {
    const snapshot = await this.store.snapshot();
    let isThere = false;
    try {
      isThere = (await this.#schemas.read(snapshot, namespace)) !== undefined;
    } finally {
      if (!isThere) snapshot.close();
    }
    if (!isThere) return undefined;
    return this.#open(snapshot, { namespace, use: "change", ts: snapshot.ts, overlay: undefined });
  }

  /** The schema of the newest state. */
  async schema(namespace: number): Promise<KnownSchema> {
    const view = await this.openOwn(namespace, "change");
    view.reader.close();
    return view.known;
  }

  /** Closes the snapshot when anything goes wrong. */
  #open(snapshot: Snapshot, request: OpenRequest): MaybePromise<View> {
    const fail = (error: unknown): never => {
      snapshot.close();
      throw error;
    };
    try {
      const opened = this.#openSteps(snapshot, request);
      return opened instanceof Promise ? opened.catch(fail) : opened;
    } catch (error) {
      return fail(error);
    }
  }

  #openSteps(snapshot: Snapshot, request: OpenRequest): MaybePromise<View> {
    const advanced = this.#advances(request.use, snapshot)
      ? this.#cache.advance(this.store, snapshot)
      : undefined;
    return andThen(advanced, () =>
      andThen(this.#schemas.read(snapshot, request.namespace), (known) => {
        if (known === undefined) {
          throw new Fault("E_TXN", `namespace ${request.namespace} does not exist`);
        }
        return this.#layer(snapshot, known, request);
      }),
    );
  }

  /**
   * Who derives a change needs few records: reading the log for the cache's sake would cost more than it saves. A
   * request keeps the cache ready for queries, unless nobody asked one for a long time.
   */
  #advances(use: ReaderUse, snapshot: Snapshot): boolean {
    if (use === "query") {
      this.noteQuery(snapshot.ts);
      return true;
    }
    return use === "request" && snapshot.ts - this.#queriedTs < unqueriedMax;
  }

  #sameSince({ ts, fence }: Snapshot): number {
    return this.#cache.number === ts ? Math.max(this.#cache.changedAt, fence) : ts;
  }

  #layer(snapshot: Snapshot, known: KnownSchema, request: OpenRequest): MaybePromise<View> {
    const finish = (past: Delta | undefined): View => ({
      snapshot,
      known,
      sameSince: this.#sameSince(snapshot),
      reader: openReader({
        snapshot,
        schema: known.schema,
        cache: this.#cache.number >= snapshot.ts ? this.#cache : undefined,
        fillsCache: request.use !== "change",
        delta: stackDeltas(request.overlay, past),
        ts: request.ts,
        vectors: { indexes: this.vectors, own: request.overlay },
        ...(request.use !== "change" ? { renew: this.#renewer(snapshot, known, request) } : {}),
      }),
    });
    if (request.ts === snapshot.ts) {
      if (this.#history.bytes > 0 && this.#clock.tickMs() - this.#undoUsedMs > undoIdleMs) {
        this.#history.clear();
      }
      return finish(undefined);
    }
    this.#undoUsedMs = this.#clock.tickMs();
    const { storageId } = known.schema;
    return andThen(this.#history.view(this.store, snapshot, request.ts, storageId), (past) => {
      if (past === undefined) throw outOfReach();
      return finish(past);
    });
  }

  /**
   * Every second a newer snapshot with the undo up to the reader's number. Not where the schema changed in between:
   * then the reader keeps the old snapshot to its end, and neither with a network store, whose snapshots pin nothing.
   */
  #renewer(first: Snapshot, known: KnownSchema, request: OpenRequest): ReaderSource["renew"] & {} {
    let heldTs = first.ts;
    let dueMs = this.#clock.tickMs() + snapshotMs;
    return () => {
      const nowMs = this.#clock.tickMs();
      if (nowMs < dueMs) return undefined;
      dueMs = nowMs + snapshotMs;
      const snapshot = this.store.snapshot();
      if (snapshot instanceof Promise) {
        void snapshot.then((late) => late.close());
        return undefined;
      }
      const past =
        snapshot.ts === heldTs || snapshot.fence > request.ts
          ? undefined
          : this.#history.view(this.store, snapshot, request.ts, known.schema.storageId);
      if (past === undefined || past instanceof Promise) {
        snapshot.close();
        return undefined;
      }
      this.#undoUsedMs = nowMs;
      heldTs = snapshot.ts;
      return { snapshot, delta: stackDeltas(request.overlay, past) };
    };
  }

  #waitFor(ts: number, deadlineMs: number): Promise<void> {
    const leftMs = Math.min(futureWaitMs, deadlineMs - this.#clock.tickMs());
    return new Promise((resolve, reject) => {
      const stop = this.store.onCommit((commitTs) => {
        if (commitTs < ts) return;
        clearTimeout(timer);
        stop();
        resolve();
      });
      const timer = setTimeout(
        () => {
          stop();
          reject(new Fault("E_DEADLINE", "context deadline exceeded"));
        },
        Math.max(0, leftMs),
      );
    });
  }
}

interface OpenRequest {
  readonly namespace: number;
  readonly use: ReaderUse;
  readonly ts: number;
  readonly overlay: Overlay | undefined;
}

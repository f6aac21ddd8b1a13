/**
 * Filling an index in rounds: what a stretch of nodes has in it is gathered beside everything else, then written list by
 * list. Nodes that change meanwhile are told by the log; their entries are left out, and derived anew by the writer at
 * the end of the round. So nothing is ever written that is not true at that moment.
 */
import type { Clock } from "../base/clock.ts";
import type { IndexBuild } from "../graph/schema-diff.ts";
import { isBuilding } from "../graph/schema-diff.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import type { FillJob, FillResult, Store } from "../store/store.ts";
import { encodeFillDetail } from "../write/fill.ts";
import type { FillWhat } from "../write/fill.ts";
import {
  GatheredEntries,
  ParcelCutter,
  sortRun,
  visitEntries,
  wantFor,
} from "../write/index-entries.ts";
import type { View } from "./views.ts";

export interface RoundOptions {
  readonly clock: Clock;
  readonly store: Store;
  readonly namespace: number;
  readonly build: IndexBuild;
  /** How much is gathered before it is written. */
  readonly bytesMax: number;
  /** A view of the newest state; undefined where the namespace is gone. Close its reader. */
  readonly open: () => Promise<View | undefined>;
  /** How many of the round's nodes are done, as far as one can tell. */
  readonly tell: (nodes: number) => void;
  /** Called between slices, with how long the one before kept others; false ends the round. */
  readonly rest: (slice: RoundSlice) => Promise<boolean>;
}

export interface RoundSlice {
  readonly by: "reader" | "writer";
  readonly tookMs: number;
}

export interface RoundResult {
  /** The last node of the stretch. */
  readonly after: number;
  readonly nodes: number;
  readonly isLast: boolean;
}

/** Nodes that are read at a time. */
const readNodes = 32;
/** How long others wait for a slice: of the process that gathers, and of the writer. */
const gatherMs = 3;
const writeMs = 8;
/** A parcel's price (`ParcelCutter`): the least takes some 3 ms of CPU, a third of it for the transaction itself. */
const priceMin = 2048;
const priceMax = 65_536;
const nodesAtOnce = 16;

/** The log no longer tells what changed since the round began: it is done anew. */
export class LogGap extends Error {
  override readonly name = "LogGap";
}

export class IndexRound {
  readonly #options: RoundOptions;
  readonly #entries = new GatheredEntries();
  /** Nodes whose predicate changed since the round began. */
  readonly #changed = new Set<number>();
  /** The commit up to which `#changed` is known. */
  #knownTs = -1;
  #after: number;
  #nodes = 0;
  #isLast = false;

  constructor(options: RoundOptions, after: number) {
    this.#options = options;
    this.#after = after;
  }

  /** undefined where it was ended, or the index is not wanted any more. Throws LogGap. */
  async run(): Promise<RoundResult | undefined> {
    if (!(await this.#gather())) return undefined;
    if (!(await this.#writeEntries()) || !(await this.#writeChanged())) return undefined;
    return { after: this.#after, nodes: this.#nodes, isLast: this.#isLast };
  }

  async #gather(): Promise<boolean> {
    const { rest, clock, tell } = this.#options;
    while (!this.#isWhole) {
      const startMs = clock.tickMs();
      const isWanted = await this.#look(async (view) => {
        do await this.#gatherSome(view);
        while (!this.#isWhole && clock.tickMs() - startMs < gatherMs);
      });
      tell(this.#nodes / 2);
      if (!isWanted || !(await rest({ by: "reader", tookMs: clock.tickMs() - startMs }))) {
        return false;
      }
    }
    return true;
  }

  get #isWhole(): boolean {
    return this.#isLast || this.#entries.bytes >= this.#options.bytesMax;
  }

  async #gatherSome({ reader, known }: View): Promise<void> {
    const { build } = this.#options;
    const list = { kind: "presence", predicate: build.predicate } as const;
    const bounds = { after: this.#after, limit: readNodes };
    const [uids] = await reader.readLists([list], bounds);
    const predicate = known.schema.predicateById(build.predicate)!;
    const [column] = await reader.readLevel(uids!, [wantFor(predicate)]);
    const { storageId } = known.schema;
    visitEntries(
      { build, predicate },
      storageId,
      { uids: uids!, column: column! },
      this.#entries.add,
    );
    this.#after = uids!.at(-1) ?? this.#after;
    this.#nodes += uids!.length;
    this.#isLast = uids!.length < readNodes;
  }

  async #sort(): Promise<ParcelCutter | undefined> {
    const { clock, rest } = this.#options;
    const runs = this.#entries.takeRuns();
    for (const run of runs) {
      const startMs = clock.tickMs();
      sortRun(run);
      if (!(await rest({ by: "reader", tookMs: clock.tickMs() - startMs }))) return undefined;
    }
    return new ParcelCutter(runs);
  }

  async #writeEntries(): Promise<boolean> {
    const cutter = await this.#sort();
    if (cutter === undefined) return false;
    let price = priceMin;
    while (!cutter.isDone) {
      let basisTs = 0;
      const known = await this.#schemaAt((ts) => (basisTs = ts));
      if (known === undefined) return false;
      const parcel = cutter.next(price, this.#changed);
      const result = await this.#fill(known, { kind: "parcel", parcel }, basisTs);
      if (!result.done) throw new LogGap("the log is too short for an index build");
      price = nextSize(price, {
        tookMs: result.tookMs,
        aimMs: writeMs,
        min: priceMin,
        max: priceMax,
      });
      this.#options.tell((this.#nodes * (1 + cutter.share)) / 2);
      if (!(await this.#options.rest({ by: "writer", tookMs: result.tookMs }))) return false;
    }
    return true;
  }

  /** In their own transactions, from what is true there. */
  async #writeChanged(): Promise<boolean> {
    const known = await this.#schemaAt(() => {});
    if (known === undefined) return false;
    const uids = Float64Array.from(this.#changed).sort();
    for (let from = 0; from < uids.length; from += nodesAtOnce) {
      const slice = uids.subarray(from, from + nodesAtOnce);
      const { tookMs } = await this.#fill(known, { kind: "nodes", uids: slice });
      if (!(await this.#options.rest({ by: "writer", tookMs }))) return false;
    }
    return true;
  }

  /** The schema now; undefined where the index is not wanted any more. */
  async #schemaAt(see: (ts: number) => void): Promise<KnownSchema | undefined> {
    let known: KnownSchema | undefined;
    await this.#look(async (view) => {
      known = view.known;
      see(view.snapshot.ts);
    });
    return known;
  }

  /** Whether the index is still wanted. What changed up to the view is known then. */
  async #look(work: (view: View) => Promise<void>): Promise<boolean> {
    const { build, open } = this.#options;
    const view = await open();
    if (view === undefined) return false;
    try {
      if (!isBuilding(view.known.state, build)) return false;
      await this.#follow(view);
      await work(view);
      return true;
    } finally {
      view.reader.close();
    }
  }

  async #follow({ snapshot, known }: View): Promise<void> {
    const { build, store } = this.#options;
    if (this.#knownTs < 0) this.#knownTs = snapshot.ts;
    if (snapshot.ts <= this.#knownTs) return;
    const { storageId } = known.schema;
    const isWhole = await store.walkLog(snapshot, this.#knownTs, {
      begin: () => true,
      wantsMembers: false,
      record: (id, uid, predicate) => {
        if (id === storageId && predicate === build.predicate) this.#changed.add(uid);
      },
      member() {},
      meta() {},
    });
    if (!isWhole) throw new LogGap("the log is too short for an index build");
    this.#knownTs = snapshot.ts;
  }

  #fill(known: KnownSchema, what: FillWhat, basisTs?: number): Promise<FillResult> {
    const { build, namespace, store } = this.#options;
    const { storageId, version } = known.schema;
    const predicate = known.schema.predicateById(build.predicate)!;
    const detail = encodeFillDetail({ build, predicate, namespace, schemaVersion: version }, what);
    const job: FillJob = { storageId, predicate: build.predicate, after: 0, limit: 0, detail };
    return store.fill(basisTs === undefined ? job : { ...job, basisTs });
  }
}

/** Larger or smaller by half at most, so that one slow slice does not decide alone. */
export function nextSize(
  size: number,
  { tookMs, aimMs, min, max }: { tookMs: number; aimMs: number; min: number; max: number },
): number {
  const wanted = (size * aimMs) / Math.max(0.5, tookMs);
  const next = Math.round(Math.min(size * 1.5, Math.max(size / 4, wanted)));
  return Math.max(min, Math.min(max, next));
}

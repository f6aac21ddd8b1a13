/**
 * Filling an index in rounds: what a stretch of nodes has in it is gathered beside everything else, then written list by
 * list. Nodes that change meanwhile are told by the log; their entries are left out, and derived anew by the writer at
 * the end of the round. So nothing is ever written that is not true at that moment.
 */
import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { IndexBuild } from "../graph/schema-diff.ts";
import { isBuilding } from "../graph/schema-diff.ts";
import type { KnownSchema } from "../graph/schema-rows.ts";
import type { FillJob, FillResult, Store } from "../store/store.ts";
import { encodeFillDetail } from "../write/fill.ts";
import type { FillWhat } from "../write/fill.ts";
import { GatheredEntries, ParcelCutter, sortRun, visitEntries } from "../write/index-entries.ts";
import { NodeWalk, walkEdges } from "./node-walk.ts";
import type { WalkPlace } from "./node-walk.ts";
import type { View } from "./reader-factory.ts";

interface RoundOptions {
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

interface RoundSlice {
  readonly by: "reader" | "writer";
  readonly tookMs: number;
}

export interface RoundResult {
  /** Where the next round goes on. */
  readonly place: WalkPlace;
  /** How many were passed. */
  readonly nodes: number;
  readonly isLast: boolean;
}

/** How long others wait for a slice: of the process that gathers, and of the writer. */
const gatherMs = 3;
const writeMs = 8;
/** A parcel's price (`ParcelCutter`): the least takes some 3 ms of CPU, a third of it for the transaction itself. */
const priceMin = 2048;
const priceMax = 65_536;
const nodesAtOnce = 16;
/** Edges of one node that are written as a stretch of their own, and objects whose nodes are counted: at a time. */
const stepMin = 128;
const stepMax = 4096;
/** Of memory, for an object that is to be counted; and how many are gathered at most, since a set grows at one go. */
const objectBytes = 50;
const objectsMax = 50_000;

const noPredicate = "a build is of a predicate";

/** The log no longer tells what changed since the round began: it is done anew. */
export class LogGap extends Error {
  override readonly name = "LogGap";
}

export class IndexRound {
  readonly #options: RoundOptions;
  readonly #entries = new GatheredEntries();
  /** What is gathered for counts of reverse lists: the writer counts the lists as they are by then. */
  readonly #objects = new Set<number>();
  /** Nodes whose predicate changed since the round began. */
  readonly #changed = new Set<number>();
  /** The commit up to which `#changed` is known. */
  #knownTs = -1;
  readonly #start: WalkPlace;
  readonly #walk: NodeWalk;

  constructor(options: RoundOptions, place: WalkPlace) {
    this.#options = options;
    this.#start = place;
    this.#walk = new NodeWalk(place);
  }

  /** undefined where it was ended, or the index is not wanted any more. Throws LogGap. */
  async run(): Promise<RoundResult | undefined> {
    if (!(await this.#gather())) return undefined;
    const isWritten = this.#countsReverse
      ? await this.#writeObjects()
      : (await this.#writeEntries()) && (await this.#writeChanged());
    if (!isWritten) return undefined;
    const { place, nodes, isDone } = this.#walk;
    return { place, nodes, isLast: isDone };
  }

  async #gather(): Promise<boolean> {
    const { rest, clock, tell } = this.#options;
    while (!this.#isWhole) {
      const startMs = clock.tickMs();
      const isWanted = await this.#look(async (view) => {
        do await this.#gatherSome(view);
        while (!this.#isWhole && clock.tickMs() - startMs < gatherMs);
      });
      tell(this.#walk.nodes / 2);
      if (!isWanted || !(await rest({ by: "reader", tookMs: clock.tickMs() - startMs }))) {
        return false;
      }
    }
    return true;
  }

  get #countsReverse(): boolean {
    return this.#options.build.kind === "reverseCount";
  }

  get #isWhole(): boolean {
    const { size } = this.#objects;
    const bytes = this.#entries.bytes + size * objectBytes;
    return this.#walk.isDone || size >= objectsMax || bytes >= this.#options.bytesMax;
  }

  async #gatherSome({ reader, known }: View): Promise<void> {
    const { build } = this.#options;
    const predicate = must(known.schema.predicateById(build.predicate), noPredicate);
    const piece = await this.#walk.next(reader, predicate);
    if (!this.#countsReverse) {
      visitEntries({ build, predicate }, known.schema.storageId, piece, this.#entries.add);
    } else if (piece.column.kind === "edges") {
      const { offsets, targets } = piece.column;
      for (const object of targets.subarray(0, offsets[piece.uids.length])) {
        this.#objects.add(object);
      }
    }
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
      this.#options.tell((this.#walk.nodes * (1 + cutter.share)) / 2);
      if (!(await this.#options.rest({ by: "writer", tookMs: result.tookMs }))) return false;
    }
    return true;
  }

  /** In transactions of their own, from what is true there. */
  async #writeChanged(): Promise<boolean> {
    const known = await this.#schemaAt(() => {});
    if (known === undefined) return false;
    const { place } = this.#walk;
    // What changed elsewhere is kept right by the changes, or comes later.
    const end = place.within?.uid ?? place.after;
    const uids = new Float64Array(this.#changed)
      .filter((uid) => uid > this.#start.after && uid <= end)
      .sort();
    for (let from = 0; from < uids.length; from += nodesAtOnce) {
      const slice = uids.subarray(from, from + nodesAtOnce);
      const long = await this.#findLong(slice);
      if (long === undefined) return false;
      for (const uid of long) if (!(await this.#writeNode(known, uid))) return false;
      const what = { kind: "nodes", uids: slice.filter((uid) => !long.has(uid)) } as const;
      if (!(await this.#write(known, what)).goesOn) return false;
    }
    return true;
  }

  /** Those with so many edges that they are cut; undefined where the index is not wanted any more. */
  async #findLong(uids: Float64Array): Promise<ReadonlySet<number> | undefined> {
    const found = new Set<number>();
    const { kind, predicate } = this.#options.build;
    const isWanted = await this.#look(async ({ reader }) => {
      if (kind !== "reverse") return;
      const [column] = await reader.readLevel(uids, [{ kind: "count", predicate }]);
      column.counts.forEach((count, i) => {
        if (count > stepMin) found.add(must(uids[i], "a count for each node"));
      });
    });
    return isWanted ? found : undefined;
  }

  /** The edges of a node that the round came by, stretch by stretch. */
  async #writeNode(known: KnownSchema, uid: number): Promise<boolean> {
    const { predicate } = this.#options.build;
    const [from, to] = [this.#start.within, this.#walk.place.within];
    const end = to?.uid === uid ? to.target : Number.MAX_SAFE_INTEGER;
    let step = stepMin;
    let after = from?.uid === uid ? from.target : 0;
    for (let isLast = false; !isLast;) {
      let last = end;
      const isWanted = await this.#look(async ({ reader }) => {
        const bounds = { predicate, after, limit: step };
        const { targets } = await walkEdges(reader, Float64Array.of(uid), bounds);
        const target = targets.at(-1) ?? end;
        isLast = targets.length < step || target >= end;
        if (!isLast) last = target;
      });
      if (!isWanted) return false;
      const { tookMs, goesOn } = await this.#write(known, { kind: "stretch", uid, after, last });
      if (!goesOn) return false;
      step = nextSize(step, { tookMs, aimMs: writeMs, min: stepMin, max: stepMax });
      after = last;
    }
    return true;
  }

  async #writeObjects(): Promise<boolean> {
    const known = await this.#schemaAt(() => {});
    if (known === undefined) return false;
    const objects = new Float64Array(this.#objects);
    this.#objects.clear();
    let step = stepMin;
    for (let from = 0; from < objects.length;) {
      const uids = objects.subarray(from, from + step);
      const { tookMs, goesOn } = await this.#write(known, { kind: "objects", uids });
      if (!goesOn) return false;
      from += uids.length;
      step = nextSize(step, { tookMs, aimMs: writeMs, min: stepMin, max: stepMax });
      this.#options.tell((this.#walk.nodes * (1 + from / objects.length)) / 2);
    }
    return true;
  }

  /** A slice of what is derived in the writer, and the rest after it. */
  async #write(
    known: KnownSchema,
    what: FillWhat,
  ): Promise<{ readonly tookMs: number; readonly goesOn: boolean }> {
    const { tookMs } = await this.#fill(known, what);
    return { tookMs, goesOn: await this.#options.rest({ by: "writer", tookMs }) };
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
    if (snapshot.ts <= this.#knownTs || this.#countsReverse) return;
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
    const predicate = must(known.schema.predicateById(build.predicate), noPredicate);
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

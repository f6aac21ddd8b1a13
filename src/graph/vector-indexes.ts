/**
 * Vector indexes of a process (docs/decisions, "Vectors"): made when a search first asks, kept right from the log like
 * the record cache. Each has a number up to which it is right; a search beyond it first takes in the commits in
 * between, read from its own snapshot. Where there is no index (yet) the asker compares all vectors.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { decodeCell } from "../codec/cell.ts";
import type { Commit, Snapshot, Store } from "../store/store.ts";
import type { Reader, VectorAnswer, VectorQuestion } from "./reader.ts";
import type { PredicateIndex, Schema } from "./schema.ts";
import { graphOptionsOf } from "./vector-metric.ts";
import { VectorSet } from "./vector-set.ts";

/** The view that a search reads. */
export interface VectorView {
  readonly schema: Schema;
  readonly snapshot: Snapshot;
  readonly ts: number;
  /** Nodes whose vectors the view itself changed, ascending. */
  readonly changed: Float64Array;
  /** How many nodes have the predicate. */
  countNodes(predicate: number): Promise<number>;
}

export interface VectorLimits {
  /** For all indexes of the process; 0 for none. */
  readonly bytesMax: number;
  /** Fewer vectors are compared one by one; 2,000 unless said. */
  readonly nodesMin?: number;
}

export interface VectorIndexFacts {
  readonly namespace: number;
  readonly predicate: number;
  readonly state: "loading" | "serving" | "off";
  /** Nodes that have a vector, and how many vectors the graph has yet to link. */
  readonly nodes: number;
  readonly unlinked: number;
}

export interface VectorIndexesOptions extends VectorLimits {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A view of the newest state. Close its reader. */
  open(namespace: number): Promise<{ readonly reader: Reader; readonly snapshot: Snapshot }>;
}

const nodesMinDefault = 2000;
/** Nodes that are read at a time. */
const loadNodes = 1024;
/** A search takes in so many commits; more are taken in beside it. */
const commitsMax = 1000;
/** How long the process is kept busy at a time, and the rest in between. */
const workMs = 4;
const restMs = 4;
/** Commits of so long are taken in together when nobody asks. */
const followMs = 1000;
/** An index that could not be kept is tried again after so long. */
const offMs = 60_000;
/** What its own writes may be, for a search to use an index beside them. */
const changedMax = 1000;
/** The graph is made anew when this part of it is dead, and so many. */
const deadShare = 1 / 4;
const deadMin = 1000;

interface VectorIndex {
  readonly key: string;
  readonly namespace: number;
  readonly storageId: number;
  readonly predicate: number;
  readonly index: PredicateIndex;
  state: "loading" | "serving" | "off";
  set: VectorSet | undefined;
  /** The graph that will take the place of `set`. */
  next: VectorSet | undefined;
  /** The commit number up to which it is right. */
  number: number;
  /** When it is off: until when. */
  offUntilMs: number;
}

export class VectorIndexes {
  readonly #options: VectorIndexesOptions;
  readonly #indexes = new Map<string, VectorIndex>();
  #stopFollowing: (() => void) | undefined = undefined;
  #following = false;
  #working = false;
  #isClosed = false;

  constructor(options: VectorIndexesOptions) {
    this.#options = options;
  }

  /** undefined: compare all vectors. */
  async nearest(view: VectorView, question: VectorQuestion): Promise<VectorAnswer | undefined> {
    const { schema, changed } = view;
    if (this.#options.bytesMax === 0 || changed.length > changedMax) return undefined;
    const index = this.#indexes.get(keyOf(schema, question.index));
    if (index === undefined) {
      await this.#begin(view, question);
      return undefined;
    }
    if (index.state === "off" && this.#options.clock.tickMs() > index.offUntilMs) {
      this.#startLoading(index);
    }
    if (index.state !== "serving" || !(await this.#catchUp(index, view.snapshot))) return undefined;
    const { set } = index;
    const { target, count } = question;
    if (set === undefined || view.ts < set.floor || view.ts > index.number) return undefined;
    if (set.dimensions !== target.length || count > set.live / 4) return undefined;
    const ef = question.ef ?? set.options.efSearch;
    const { ts } = view;
    const { pause } = question;
    const skipped = new Set(changed);
    return { ...(await set.find({ target, count, ef, ts, skipped, pause })), changed };
  }

  describe(): readonly VectorIndexFacts[] {
    return Array.from(this.#indexes.values(), ({ namespace, predicate, state, set, next }) => ({
      namespace,
      predicate,
      state,
      nodes: set?.live ?? 0,
      unlinked: (set?.unlinked ?? 0) + (next?.unlinked ?? 0),
    }));
  }

  close(): void {
    this.#isClosed = true;
    this.#stopFollowing?.();
    this.#indexes.clear();
  }

  async #begin(view: VectorView, question: VectorQuestion): Promise<void> {
    const { predicate, index } = question;
    const nodes = await view.countNodes(predicate);
    const key = keyOf(view.schema, index);
    if (nodes < (this.#options.nodesMin ?? nodesMinDefault) || this.#indexes.has(key)) return;
    const { namespace, storageId } = view.schema;
    const begun: VectorIndex = {
      key,
      namespace,
      storageId,
      predicate,
      index,
      state: "loading",
      set: undefined,
      next: undefined,
      number: 0,
      offUntilMs: 0,
    };
    this.#indexes.set(key, begun);
    this.#stopFollowing ??= this.#options.store.onCommit(() => this.#followSoon());
    this.#startLoading(begun);
  }

  #startLoading(index: VectorIndex): void {
    index.state = "loading";
    this.#load(index).catch((error: unknown) => {
      if (this.#isClosed) return;
      this.#options.logger.warn("a vector index could not be read", { error: String(error) });
      this.#turnOff(index);
    });
  }

  /**
   * Reads all vectors in slices, each in a snapshot of its own: commits in between are taken in from the log. After a
   * gap in the log it begins again; what did not change keeps its place in the graph.
   */
  async #load(index: VectorIndex): Promise<void> {
    let seen = new Set<number>();
    let after = 0;
    index.number = 0;
    while (index.state === "loading" && !this.#isClosed) {
      const { reader, snapshot } = await this.#options.open(index.namespace);
      try {
        if (!isWanted(index, reader.schema)) {
          this.#indexes.delete(index.key);
          return;
        }
        if (after > 0 && !(await this.#takeIn(index, snapshot))) {
          seen = new Set();
          after = 0;
        }
        index.number = snapshot.ts;
        const uids = await this.#loadSlice(index, reader, after);
        for (const uid of uids) seen.add(uid);
        after = uids[uids.length - 1] ?? after;
        if (uids.length < loadNodes) this.#endLoading(index, seen, after);
      } finally {
        reader.close();
      }
      this.#workSoon();
      await rest(0);
    }
  }

  async #loadSlice(index: VectorIndex, reader: Reader, after: number): Promise<Float64Array> {
    const { predicate } = index;
    const bounds = { after, limit: loadNodes };
    const [uids] = await reader.readLists([{ kind: "presence", predicate }], bounds);
    if (uids === undefined) return new Float64Array(0);
    const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate }]);
    if (column?.kind !== "cells") return uids;
    uids.forEach((uid, row) => {
      const value = column.cells[row]?.[0]?.value;
      this.#put(index, uid, value?.kind === "float32vector" ? value.vector : undefined);
    });
    return uids;
  }

  /** `after`: the last node that was read; later ones came by the log. */
  #endLoading(index: VectorIndex, seen: ReadonlySet<number>, after: number): void {
    if (index.state !== "loading") return;
    const { set, number } = index;
    if (set === undefined) return this.#turnOff(index);
    for (const uid of set.nodes)
      if (uid <= after && !seen.has(uid)) set.put(number, uid, undefined);
    set.floor = number;
    index.next = undefined;
    index.state = "serving";
  }

  /** Whether the index is right up to the snapshot now. */
  async #catchUp(index: VectorIndex, snapshot: Snapshot): Promise<boolean> {
    if (snapshot.ts - index.number > commitsMax) {
      this.#followSoon();
      return false;
    }
    if (await this.#takeIn(index, snapshot)) return index.state === "serving";
    if (index.state === "serving") this.#startLoading(index);
    return false;
  }

  /** False when the log has a gap. */
  async #takeIn(index: VectorIndex, snapshot: Snapshot): Promise<boolean> {
    if (snapshot.ts <= index.number) return true;
    const commits = await this.#options.store.readLog(snapshot, index.number);
    if (commits === undefined) return snapshot.ts <= index.number;
    for (const commit of commits) {
      if (commit.commitTs > index.number) this.#takeInCommit(index, commit);
    }
    this.#workSoon();
    return true;
  }

  #takeInCommit(index: VectorIndex, commit: Commit): void {
    index.number = commit.commitTs;
    for (const { patch } of commit.applied) {
      if (patch.kind !== "cell" || patch.predicate !== index.predicate) continue;
      if (patch.storageId !== index.storageId || patch.slot !== "") continue;
      const value = patch.cell === undefined ? undefined : decodeCell(patch.cell).value;
      this.#put(index, patch.uid, value?.kind === "float32vector" ? value.vector : undefined);
    }
  }

  /** Vectors of different lengths cannot be compared at all: the asker finds that out by itself. */
  #put(index: VectorIndex, uid: number, vector: Float32Array | undefined): void {
    if (index.state === "off") return;
    const given = vector === undefined || vector.length === 0 ? undefined : vector;
    if (given !== undefined && index.set === undefined) {
      index.set = new VectorSet(given.length, graphOptionsOf(index.index.options), index.number);
    }
    const { set, next } = index;
    if (set === undefined) return;
    if (given !== undefined && given.length !== set.dimensions) return this.#turnOff(index);
    set.put(index.number, uid, given);
    next?.put(index.number, uid, given);
    if (this.#bytes() <= this.#options.bytesMax) return;
    this.#options.logger.warn("vectors take more memory than they may: searches compare them all", {
      predicate: index.predicate,
      bytesMax: this.#options.bytesMax,
    });
    this.#turnOff(index);
  }

  #bytes(): number {
    let bytes = 0;
    for (const { set, next } of this.#indexes.values()) {
      bytes += (set?.bytes ?? 0) + (next?.bytes ?? 0);
    }
    return bytes;
  }

  #turnOff(index: VectorIndex): void {
    index.state = "off";
    index.set = undefined;
    index.next = undefined;
    index.offUntilMs = this.#options.clock.tickMs() + offMs;
  }

  #followSoon(): void {
    if (this.#following || this.#indexes.size === 0 || this.#isClosed) return;
    this.#following = true;
    void rest(followMs)
      .then(() => this.#follow())
      .catch((error: unknown) => {
        if (this.#isClosed) return;
        this.#options.logger.warn("vector indexes could not follow", { error: String(error) });
      })
      .finally(() => {
        this.#following = false;
      });
  }

  async #follow(): Promise<void> {
    for (const index of this.#indexes.values()) {
      if (index.state !== "serving" || this.#isClosed) continue;
      const { reader, snapshot } = await this.#options.open(index.namespace);
      try {
        if (!isWanted(index, reader.schema)) this.#indexes.delete(index.key);
        else if (!(await this.#takeIn(index, snapshot))) this.#startLoading(index);
      } finally {
        reader.close();
      }
    }
  }

  /** Links what is new, a little at a time. */
  #workSoon(): void {
    if (this.#working || this.#isClosed) return;
    this.#working = true;
    void this.#work().finally(() => {
      this.#working = false;
    });
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const set = this.#findWork();
      if (set === undefined || this.#isClosed) return;
      const untilMs = clock.tickMs() + workMs;
      while (set.unlinked > 0 && clock.tickMs() < untilMs) set.linkNext();
      await rest(restMs);
    }
  }

  #findWork(): VectorSet | undefined {
    for (const index of this.#indexes.values()) {
      const { set, next } = index;
      if (set === undefined) continue;
      if (set.unlinked > 0) return set;
      if (next !== undefined && next.unlinked > 0) return next;
      if (next !== undefined) {
        index.set = next;
        index.next = undefined;
      } else if (index.state === "serving" && isMostlyDead(set)) {
        index.next = set.copyLive(index.number);
        return index.next;
      }
    }
    return undefined;
  }
}

function isMostlyDead(set: VectorSet): boolean {
  return set.dead >= deadMin && set.dead > (set.dead + set.live) * deadShare;
}

function keyOf(schema: Schema, index: PredicateIndex): string {
  return `${schema.storageId}/${index.id}`;
}

function isWanted(index: VectorIndex, schema: Schema): boolean {
  if (schema.storageId !== index.storageId) return false;
  const predicate = schema.predicateById(index.predicate);
  return predicate?.indexes.some(({ id }) => id === index.index.id) ?? false;
}

/** Never keeps a process alive. */
function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

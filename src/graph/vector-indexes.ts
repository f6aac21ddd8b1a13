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
import { VectorSet, vectorBytes } from "./vector-set.ts";

/** The view that a search reads. */
interface VectorView {
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

/** `full`: it needs more memory than there is for it; `off`: its vectors cannot be compared, or not be read. */
type VectorIndexState = "loading" | "serving" | "full" | "off";

export interface VectorIndexFacts {
  readonly namespace: number;
  /** The predicate's name. */
  readonly predicate: string;
  readonly state: VectorIndexState;
  /** Nodes that have a vector, and how many vectors the graph has yet to link. */
  readonly nodes: number;
  readonly unlinked: number;
  /** Of memory, nearly. */
  readonly bytes: number;
}

interface VectorIndexesOptions extends VectorLimits {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A view of the newest state; undefined where the namespace is gone. Close its reader. */
  open(
    namespace: number,
  ): Promise<{ readonly reader: Reader; readonly snapshot: Snapshot } | undefined>;
}

const nodesMinDefault = 2000;
/** Nodes that are read at a time. */
const loadNodes = 256;
/** A search takes in so many commits; more are taken in beside it. */
const commitsMax = 1000;
/** How long the process is kept busy at a time, and the rest in between. */
const workMs = 4;
const restMs = 4;
/** Commits of so long are taken in together when nobody asks. */
const followMs = 1000;
/** Vectors that are copied at a time. */
const copySlots = 256;
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
  readonly name: string;
  readonly index: PredicateIndex;
  state: VectorIndexState;
  set: VectorSet | undefined;
  /** The graph that will take the place of `set`. */
  next: VectorSet | undefined;
  /** Slots of `set` below it were looked at for `next`; Infinity when all were. */
  copied: number;
  /** Whether the log was told that there is too little memory for it. */
  toldFull: boolean;
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
  /** Whether something was committed since the last following began. */
  #isAsked = false;
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
    if (index.offUntilMs > 0 && this.#options.clock.tickMs() > index.offUntilMs) {
      await this.#tryLoading(index, view, question);
    }
    if (index.state !== "serving" || !(await this.#catchUp(index, view.snapshot))) return undefined;
    const { set } = index;
    const { target, count } = question;
    if (set === undefined || view.ts < set.floor || view.ts > index.number) return undefined;
    if (set.dimensions !== target.length || count > set.live / 4) return undefined;
    const ef = question.ef ?? set.options.efSearch;
    // So many candidates are better found by comparing, which takes breaks.
    if (ef > set.live / 4) return undefined;
    const { ts } = view;
    const { pause } = question;
    const skipped = new Set(changed);
    return { ...(await set.find({ target, count, ef, ts, skipped, pause })), changed };
  }

  describe(): readonly VectorIndexFacts[] {
    return Array.from(this.#indexes.values(), (index) => {
      const { namespace, name, state, set, next } = index;
      const unlinked = (set?.unlinked ?? 0) + (next?.unlinked ?? 0);
      return {
        namespace,
        predicate: name,
        state,
        nodes: set?.live ?? 0,
        unlinked,
        bytes: bytesOfIndex(index),
      };
    });
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
      name: view.schema.predicateById(predicate)?.definition.name ?? "",
      index,
      state: "loading",
      set: undefined,
      next: undefined,
      copied: 0,
      toldFull: false,
      number: 0,
      offUntilMs: 0,
    };
    this.#indexes.set(key, begun);
    this.#stopFollowing ??= this.#options.store.onCommit(() => this.#followSoon());
    this.#loadIfItFits(begun, nodes, question.target.length);
  }

  async #tryLoading(
    index: VectorIndex,
    view: VectorView,
    { target, predicate }: VectorQuestion,
  ): Promise<void> {
    // Others ask again later, also where counting fails.
    index.offUntilMs = this.#options.clock.tickMs() + offMs;
    this.#loadIfItFits(index, await view.countNodes(predicate), target.length);
  }

  /** What will be too much is not read at all. */
  #loadIfItFits(index: VectorIndex, nodes: number, dimensions: number): void {
    if (this.#bytes() + nodes * vectorBytes(dimensions) > this.#options.bytesMax)
      this.#turnFull(index);
    else this.#startLoading(index);
  }

  #startLoading(index: VectorIndex): void {
    index.state = "loading";
    index.offUntilMs = 0;
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
    // Of nodes that were there before, some may be gone.
    const isAnew = index.set !== undefined;
    let seen = isAnew ? new Set<number>() : undefined;
    let after = 0;
    index.number = 0;
    while (index.state === "loading" && !this.#isClosed) {
      const view = await this.#options.open(index.namespace);
      if (view === undefined) return this.#forget(index);
      const { reader, snapshot } = view;
      try {
        if (!isWanted(index, reader.schema)) return this.#forget(index);
        if (after > 0 && !(await this.#takeIn(index, snapshot))) {
          seen = new Set();
          after = 0;
        }
        index.number = snapshot.ts;
        const uids = await this.#loadSlice(index, reader, after);
        if (seen !== undefined) for (const uid of uids) seen.add(uid);
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
    const [column] = await reader.readLevel(uids, [{ kind: "cells", predicate }]);
    uids.forEach((uid, row) => {
      const value = column.cells[row]?.[0]?.value;
      this.#put(index, uid, value?.kind === "float32vector" ? value.vector : undefined);
    });
    return uids;
  }

  /** `after`: the last node that was read; later ones came by the log. */
  #endLoading(index: VectorIndex, seen: ReadonlySet<number> | undefined, after: number): void {
    if (index.state !== "loading") return;
    const { set, number } = index;
    if (set === undefined) return this.#turnOff(index);
    if (seen !== undefined) {
      for (const uid of set.nodes) {
        if (uid <= after && !seen.has(uid)) set.put(number, uid, undefined);
      }
    }
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
    if (index.state === "off" || index.state === "full") return;
    const given = vector === undefined || vector.length === 0 ? undefined : vector;
    if (given !== undefined && index.set === undefined) {
      index.set = new VectorSet(given.length, graphOptionsOf(index.index.options), index.number);
    }
    const { set, next } = index;
    if (set === undefined) return;
    if (given !== undefined && given.length !== set.dimensions) return this.#turnOff(index);
    set.put(index.number, uid, given);
    next?.put(index.number, uid, given);
    if (this.#bytes() > this.#options.bytesMax) this.#turnFull(index);
  }

  #bytes(): number {
    let bytes = 0;
    for (const index of this.#indexes.values()) bytes += bytesOfIndex(index);
    return bytes;
  }

  #turnFull(index: VectorIndex): void {
    const { name: predicate, namespace, toldFull } = index;
    this.#turnOff(index);
    index.state = "full";
    index.toldFull = true;
    if (toldFull) return;
    const { logger, bytesMax } = this.#options;
    const text = "vectors take more memory than --limit vector-bytes: searches compare them all";
    logger.warn(text, { namespace, predicate, bytesMax });
  }

  #turnOff(index: VectorIndex): void {
    index.state = "off";
    index.set = undefined;
    index.next = undefined;
    index.offUntilMs = this.#options.clock.tickMs() + offMs;
  }

  #forget(index: VectorIndex): void {
    this.#indexes.delete(index.key);
  }

  #followSoon(): void {
    if (this.#indexes.size === 0 || this.#isClosed) return;
    this.#isAsked = true;
    if (this.#following) return;
    this.#following = true;
    void rest(followMs)
      .then(() => {
        this.#isAsked = false;
        return this.#follow();
      })
      .catch((error: unknown) => {
        if (this.#isClosed) return;
        this.#options.logger.warn("vector indexes could not follow", { error: String(error) });
      })
      .finally(() => {
        this.#following = false;
        if (this.#isAsked) this.#followSoon();
      });
  }

  async #follow(): Promise<void> {
    for (const index of this.#indexes.values()) {
      if (index.state !== "serving" || this.#isClosed) continue;
      const view = await this.#options.open(index.namespace);
      if (view === undefined) {
        this.#forget(index);
        continue;
      }
      const { reader, snapshot } = view;
      try {
        if (!isWanted(index, reader.schema)) this.#forget(index);
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
    void this.#work();
  }

  async #work(): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const index = this.#isClosed ? undefined : this.#findWork();
      if (index === undefined) {
        // In the same turn as the look: what comes later starts the work anew.
        this.#working = false;
        return;
      }
      const untilMs = clock.tickMs() + workMs;
      while (doSome(index) && clock.tickMs() < untilMs);
      await rest(restMs);
    }
  }

  #findWork(): VectorIndex | undefined {
    for (const index of this.#indexes.values()) {
      const { set, next } = index;
      if (set === undefined) continue;
      if (set.unlinked > 0) return index;
      if (next !== undefined && (index.copied < Infinity || next.unlinked > 0)) return index;
      if (next !== undefined) {
        index.set = next;
        index.next = undefined;
      } else if (index.state === "serving" && isMostlyDead(set) && this.#hasRoomFor(set)) {
        index.next = new VectorSet(set.dimensions, set.options, index.number);
        index.copied = 0;
        return index;
      }
    }
    return undefined;
  }

  #hasRoomFor(set: VectorSet): boolean {
    return this.#bytes() + set.live * vectorBytes(set.dimensions) <= this.#options.bytesMax;
  }
}

/** Links one vector, or copies a few; false where nothing is left to do. */
function doSome(index: VectorIndex): boolean {
  const { set, next, number } = index;
  if (set === undefined) return false;
  if (set.unlinked > 0) set.linkNext();
  else if (next === undefined) return false;
  else if (index.copied < Infinity) {
    const isLeft = next.copySlots(set, number, { first: index.copied, count: copySlots });
    index.copied = isLeft ? index.copied + copySlots : Infinity;
    // What was taken away before it was copied is not there: it is whole from now on.
    if (!isLeft) next.floor = number;
  } else if (next.unlinked > 0) next.linkNext();
  else return false;
  return true;
}

function bytesOfIndex({ set, next }: VectorIndex): number {
  return (set?.bytes ?? 0) + (next?.bytes ?? 0);
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

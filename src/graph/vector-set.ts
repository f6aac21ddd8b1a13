/**
 * The vectors of an index in one process, with the commits that brought and took them: a search at commit `ts` finds
 * exactly what was there then. What the graph has not linked yet is compared vector by vector.
 */
import { must } from "../base/assert.ts";
import { RankHeap } from "./rank-heap.ts";
import { VectorGraph, linkBytes } from "./vector-graph.ts";
import type { GraphOptions } from "./vector-metric.ts";
import { VectorStore } from "./vector-store.ts";

interface VectorSearch {
  readonly target: Float32Array;
  readonly count: number;
  /** Candidates that the search keeps. */
  readonly ef: number;
  /** The commit number that is read at. */
  readonly ts: number;
  /** Nodes that are left out. */
  readonly skipped: ReadonlySet<number>;
  /** Called every few hundred vectors; a promise means a break. */
  readonly pause: () => Promise<void> | undefined;
}

interface NearNodes {
  /** Nearest first. */
  readonly uids: Float64Array;
  readonly distances: Float64Array;
}

/** Vectors that are compared between two looks at the clock. */
const scanStep = 256;

export class VectorSet {
  readonly options: GraphOptions;
  /** The lowest commit number at which it is whole. */
  floor: number;
  readonly #store: VectorStore;
  readonly #graph: VectorGraph;
  readonly #uids: number[] = [];
  readonly #bornTs: number[] = [];
  readonly #diedTs: number[] = [];
  /** The slot of each node that has a vector now. */
  readonly #slots = new Map<number, number>();

  constructor(dimensions: number, options: GraphOptions, floor: number) {
    this.options = options;
    this.floor = floor;
    this.#store = new VectorStore(dimensions, options.metric);
    this.#graph = new VectorGraph(this.#store, options);
  }

  get dimensions(): number {
    return this.#store.dimensions;
  }

  /** Nodes that have a vector now. */
  get live(): number {
    return this.#slots.size;
  }

  /** Slots whose vector was replaced or removed. */
  get dead(): number {
    return this.#uids.length - this.#slots.size;
  }

  get unlinked(): number {
    return this.#uids.length - this.#graph.linked;
  }

  get bytes(): number {
    return this.#uids.length * vectorBytes(this.dimensions);
  }

  get nodes(): Iterable<number> {
    return this.#slots.keys();
  }

  /** What commit `ts` made of a node; undefined for no vector. */
  put(ts: number, uid: number, vector: Float32Array | undefined): void {
    const old = this.#slots.get(uid);
    if (old !== undefined) {
      if (vector !== undefined && this.#store.isEqual(old, vector)) return;
      this.#diedTs[old] = ts;
      this.#slots.delete(uid);
    }
    if (vector !== undefined) this.#append(ts, uid, vector);
  }

  #append(ts: number, uid: number, vector: Float32Array): void {
    const slot = this.#store.add(vector);
    this.#uids.push(uid);
    this.#bornTs.push(ts);
    this.#diedTs.push(Infinity);
    this.#slots.set(uid, slot);
  }

  /** Of a set with something unlinked. */
  linkNext(): void {
    this.#graph.linkNext();
  }

  /** Takes in what `from` has in these slots now; what is here already is newer. Returns whether slots are left. */
  copySlots(from: VectorSet, ts: number, slots: { first: number; count: number }): boolean {
    const end = Math.min(from.#uids.length, slots.first + slots.count);
    for (let slot = slots.first; slot < end; slot++) {
      const uid = must(from.#uids[slot], "each slot has its columns");
      if (from.#diedTs[slot] !== Infinity || this.#slots.has(uid)) continue;
      this.#append(ts, uid, from.#store.vector(slot));
    }
    return end < from.#uids.length;
  }

  async find(search: VectorSearch): Promise<NearNodes> {
    const { target, count, ts, skipped } = search;
    const isThere = (slot: number): boolean =>
      must(this.#bornTs[slot], "each slot has its columns") <= ts &&
      ts < must(this.#diedTs[slot], "each slot has its columns") &&
      (skipped.size === 0 || !skipped.has(must(this.#uids[slot], "each slot has its columns")));
    // Slots that are linked or added while this search takes a break were seen already, or are too young.
    const { linked } = this.#graph;
    const size = this.#uids.length;
    const found = this.#graph.search(target, Math.max(search.ef, count), isThere);
    const kept = new RankHeap(true);
    found.slots.forEach((slot, i) =>
      keep(kept, count, must(found.ranks[i], "each found one has its rank"), slot),
    );
    this.#store.face(target);
    const store = this.#store;
    for (let slot = linked; slot < size; slot++) {
      if (isThere(slot)) keep(kept, count, store.near(slot), slot);
      if (slot % scanStep !== 0) continue;
      const pause = search.pause();
      if (pause === undefined) continue;
      await pause;
      // Others faced their own questions meanwhile.
      store.face(target);
    }
    const nearest = kept.drain();
    return {
      uids: Float64Array.from(nearest.slots, (slot) =>
        must(this.#uids[slot], "each slot has its columns"),
      ),
      distances: Float64Array.from(nearest.slots, (slot, i) =>
        this.#store.toDistance(target, slot, must(nearest.ranks[i], "each found one has its rank")),
      ),
    };
  }
}

function keep(kept: RankHeap, count: number, rank: number, slot: number): void {
  if (kept.size >= count) {
    if (rank >= kept.topRank) return;
    kept.pop();
  }
  kept.push(rank, slot);
}

/** Memory of one vector, nearly: its numbers, its neighbours, its node. */
export function vectorBytes(dimensions: number): number {
  return dimensions * 4 + linkBytes + 96;
}

/**
 * Hot: bench/vectors.ts. A navigable graph over vectors (HNSW: Malkov and Yashunin, 2016): each node knows some near
 * ones on its layers, a search walks from the top layer down. Slots are linked in their order; who asks decides which
 * ones may be found, so that a slot that is not wanted any more still shows the way.
 */
import { must } from "../base/assert.ts";
import { makeSeededRandom } from "../base/random.ts";
import type { Random } from "../base/random.ts";
import { RankHeap } from "./rank-heap.ts";
import type { GraphOptions } from "./vector-metric.ts";
import type { VectorStore } from "./vector-store.ts";

/** Neighbours on the upper layers, and on the lowest. */
const linksMax = 16;
const linksMax0 = 32;
/** So many more may come before a row is cut back: choosing costs more than all the rest of an insert. */
const slack = 8;
const rowLength0 = linksMax0 + slack + 1;
const rowLength = linksMax + slack + 1;

/** Rows of neighbours lie in pieces: their count, then their slots. */
const pieceBits = 12;
const pieceSlots = 1 << pieceBits;

/** Found ones, nearest first. */
interface Found {
  readonly slots: readonly number[];
  readonly ranks: readonly number[];
}

export class VectorGraph {
  readonly #store: VectorStore;
  readonly #options: GraphOptions;
  readonly #random: Random;
  readonly #lowest: Int32Array[] = [];
  /** Of the few slots that reach above the lowest layer: layer 1's row, then layer 2's … */
  readonly #upper = new Map<number, Int32Array>();
  #linked = 0;
  #entry = -1;
  #top = 0;
  /** Slot → number of the search that saw it last. */
  #seen = new Uint32Array(pieceSlots);
  #search = 0;
  readonly #open = new RankHeap(false);
  readonly #kept = new RankHeap(true);

  constructor(store: VectorStore, options: GraphOptions) {
    this.#store = store;
    this.#options = options;
    this.#random = makeSeededRandom(1);
  }

  /** Slots below it are linked. */
  get linked(): number {
    return this.#linked;
  }

  /** Links the next slot of the store: a millisecond of CPU or so (decision 0012). */
  linkNext(): void {
    const slot = this.#linked++;
    const store = this.#store;
    if ((slot & (pieceSlots - 1)) === 0) this.#lowest.push(new Int32Array(pieceSlots * rowLength0));
    if (slot >= this.#seen.length) this.#growSeen();
    const level = this.#drawLevel();
    if (level > 0) this.#upper.set(slot, new Int32Array(rowLength * level));
    if (this.#entry < 0) {
      this.#entry = slot;
      this.#top = level;
      return;
    }
    store.faceSlot(slot);
    let from = this.#entry;
    for (let layer = this.#top; layer > level; layer--) from = this.#descend(from, layer);
    for (let layer = Math.min(level, this.#top); layer >= 0; layer--) {
      this.#walk(from, { layer, ef: this.#options.efConstruction, accept: undefined });
      const near = this.#kept.drain();
      from = near.slots[0] ?? from;
      this.#connect(slot, layer, this.#choose(near, linksMax));
    }
    if (level > this.#top) {
      this.#entry = slot;
      this.#top = level;
    }
  }

  /** The nearest of the linked slots that `accept` takes; at least `ef` candidates are kept on the way. */
  search(question: Float32Array, ef: number, accept: (slot: number) => boolean): Found {
    if (this.#entry < 0) return { slots: [], ranks: [] };
    this.#store.face(question);
    let from = this.#entry;
    for (let layer = this.#top; layer > 0; layer--) from = this.#descend(from, layer);
    this.#walk(from, { layer: 0, ef, accept });
    return this.#kept.drain();
  }

  #growSeen(): void {
    const grown = new Uint32Array(this.#seen.length * 2);
    grown.set(this.#seen);
    this.#seen = grown;
  }

  #drawLevel(): number {
    const level = Math.floor(-Math.log(1 - this.#random.next()) / Math.log(linksMax));
    return Math.min(level, this.#options.levels - 1);
  }

  /** The nearest slot of a layer that is reached by going nearer with each step. */
  #descend(from: number, layer: number): number {
    const store = this.#store;
    let best = from;
    let bestRank = store.near(from);
    for (;;) {
      const row = this.#row(best, layer);
      const at = this.#rowStart(best, layer);
      let next = -1;
      for (let i = at + 1; i <= at + must(row[at], "a row begins with its count"); i++) {
        const found = store.near(must(row[i], "a row begins with its count"));
        if (found < bestRank) {
          bestRank = found;
          next = must(row[i], "a row begins with its count");
        }
      }
      if (next < 0) return best;
      best = next;
    }
  }

  /** Leaves the nearest ones of a layer in `#kept`, at most `ef`. */
  #walk(
    from: number,
    how: { layer: number; ef: number; accept: ((slot: number) => boolean) | undefined },
  ): void {
    const { layer, ef, accept } = how;
    const store = this.#store;
    const seen = this.#seen;
    const mark = this.#nextMark();
    const open = this.#open;
    const kept = this.#kept;
    open.clear();
    kept.clear();
    seen[from] = mark;
    const first = store.near(from);
    open.push(first, from);
    if (accept === undefined || accept(from)) kept.push(first, from);
    while (open.size > 0) {
      if (kept.size >= ef && open.topRank > kept.topRank) return;
      const slot = open.pop();
      const row = this.#row(slot, layer);
      const at = this.#rowStart(slot, layer);
      for (let i = at + 1, end = at + must(row[at], "a row begins with its count"); i <= end; i++) {
        const other = must(row[i], "a row begins with its count");
        if (seen[other] === mark) continue;
        seen[other] = mark;
        const found = store.near(other);
        if (kept.size >= ef && found >= kept.topRank) continue;
        open.push(found, other);
        if (accept !== undefined && !accept(other)) continue;
        kept.push(found, other);
        if (kept.size > ef) kept.pop();
      }
    }
  }

  #nextMark(): number {
    if (this.#search === 0xffffffff) {
      this.#seen.fill(0);
      this.#search = 0;
    }
    return ++this.#search;
  }

  /** Of candidates, nearest first, those that are not nearer to a chosen one: so clusters stay connected. */
  #choose(near: Found, count: number): number[] {
    const { slots, ranks } = near;
    const chosen: number[] = [];
    const passed: number[] = [];
    for (let i = 0; i < slots.length && chosen.length < count; i++) {
      const slot = must(slots[i], "within bounds");
      if (this.#isShadowed(slot, must(ranks[i], "within bounds"), chosen)) passed.push(slot);
      else chosen.push(slot);
    }
    for (let i = 0; i < passed.length && chosen.length < count; i++)
      chosen.push(must(passed[i], "within bounds"));
    return chosen;
  }

  #isShadowed(slot: number, rank: number, chosen: readonly number[]): boolean {
    const store = this.#store;
    for (let i = 0; i < chosen.length; i++)
      if (store.between(slot, must(chosen[i], "within bounds")) < rank) return true;
    return false;
  }

  #connect(slot: number, layer: number, neighbours: readonly number[]): void {
    this.#setRow(slot, layer, neighbours);
    const max = layer === 0 ? linksMax0 : linksMax;
    for (const other of neighbours) {
      const row = this.#row(other, layer);
      const at = this.#rowStart(other, layer);
      const count = must(row[at], "a row begins with its count");
      row[at + 1 + count] = slot;
      row[at] = count + 1;
      if (count + 1 === max + slack) this.#cutBack(other, layer, max);
    }
  }

  #cutBack(of: number, layer: number, max: number): void {
    const at = this.#rowStart(of, layer);
    const row = this.#row(of, layer);
    const sorted = this.#kept;
    sorted.clear();
    for (let i = at + 1; i <= at + max + slack; i++) {
      sorted.push(
        this.#store.between(of, must(row[i], "a row begins with its count")),
        must(row[i], "a row begins with its count"),
      );
    }
    const near = sorted.drain();
    this.#setRow(of, layer, this.#choose(near, max));
  }

  #setRow(slot: number, layer: number, neighbours: readonly number[]): void {
    const row = this.#row(slot, layer);
    const at = this.#rowStart(slot, layer);
    row[at] = neighbours.length;
    for (let i = 0; i < neighbours.length; i++)
      row[at + 1 + i] = must(neighbours[i], "within bounds");
  }

  #row(slot: number, layer: number): Int32Array {
    return layer === 0
      ? must(this.#lowest[slot >> pieceBits], "each slot has its piece")
      : must(this.#upper.get(slot), "a node of a higher layer has its row");
  }

  #rowStart(slot: number, layer: number): number {
    return layer === 0 ? (slot & (pieceSlots - 1)) * rowLength0 : (layer - 1) * rowLength;
  }
}

/** Bytes of a slot's neighbours, nearly. */
export const linkBytes = rowLength0 * 4 + 8;

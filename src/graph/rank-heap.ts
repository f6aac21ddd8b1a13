/** Hot: bench/vectors.ts. Slots by rank in typed arrays: the lowest on top, or the highest. */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";

export class RankHeap {
  readonly #sign: number;
  #ranks = new Float64Array(256);
  #slots = new Int32Array(256);
  #size = 0;

  constructor(highestOnTop: boolean) {
    this.#sign = highestOnTop ? -1 : 1;
  }

  get size(): number {
    return this.#size;
  }

  /** Of a heap that is not empty. */
  get topRank(): number {
    return must(this.#ranks[0], "it is not empty") * this.#sign;
  }

  clear(): void {
    this.#size = 0;
  }

  push(rank: number, slot: number): void {
    if (this.#size === this.#ranks.length) this.#grow();
    const ranks = this.#ranks;
    const slots = this.#slots;
    const signed = rank * this.#sign;
    let at = this.#size++;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = ranks[above]!;
      if (parent <= signed) break;
      ranks[at] = parent;
      slots[at] = slots[above]!;
      at = above;
    }
    ranks[at] = signed;
    slots[at] = slot;
  }

  /** The slot on top of a heap that is not empty. */
  pop(): number {
    const ranks = this.#ranks;
    const slots = this.#slots;
    const top = must(slots[0], "it is not empty");
    const size = --this.#size;
    const rank = must(ranks[size], "it is not empty");
    const slot = must(slots[size], "it is not empty");
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= size) break;
      let child = ranks[below]!;
      if (below + 1 < size) {
        const right = ranks[below + 1]!;
        if (right < child) {
          child = right;
          below++;
        }
      }
      if (child >= rank) break;
      ranks[at] = child;
      slots[at] = slots[below]!;
      at = below;
    }
    ranks[at] = rank;
    slots[at] = slot;
    return top;
  }

  /** Empties a heap whose highest is on top; lowest first. */
  drain(): { slots: number[]; ranks: number[] } {
    const slots = makeArray<number>(this.#size);
    const ranks = makeArray<number>(this.#size);
    for (let i = this.#size - 1; i >= 0; i--) {
      ranks[i] = this.topRank;
      slots[i] = this.pop();
    }
    return { slots, ranks };
  }

  #grow(): void {
    const ranks = new Float64Array(this.#ranks.length * 2);
    const slots = new Int32Array(ranks.length);
    ranks.set(this.#ranks);
    slots.set(this.#slots);
    this.#ranks = ranks;
    this.#slots = slots;
  }
}

/**
 * Sorting and selecting of many places, which rest every few milliseconds: sorting a million takes a second. Price: sorted
 * runs that are merged cost what one sort does.
 */
import { Heap } from "../base/heap.ts";
import type { Pace } from "./pace.ts";

export type ComparePlaces = (a: number, b: number) => number;

/** Fewer are sorted at once. */
export const pacedFrom = 4096;

/** Places sorted, or merged, between two looks at the clock. */
const runLength = 512;

/** In order, in the array given or one as long. Stable. Throws what the pace throws. */
export async function sortPaced(
  pace: Pace,
  places: Uint32Array,
  compare: ComparePlaces,
): Promise<Uint32Array> {
  if (places.length < pacedFrom) return places.sort(compare);
  for (let from = 0; from < places.length; from += runLength) {
    places.subarray(from, from + runLength).sort(compare);
    const pause = pace.check();
    if (pause !== undefined) await pause;
  }
  let source: Uint32Array = places;
  let target: Uint32Array = new Uint32Array(places.length);
  for (let width = runLength; width < places.length; width *= 2) {
    const merge = new Merge(source, target, width, compare);
    while (!merge.step(runLength)) {
      const pause = pace.check();
      if (pause !== undefined) await pause;
    }
    [source, target] = [target, source];
  }
  return source;
}

/** One pass: neighbouring runs of `width` become runs of twice that. */
class Merge {
  readonly #source: Uint32Array;
  readonly #target: Uint32Array;
  readonly #width: number;
  readonly #compare: ComparePlaces;
  #at = 0;
  #left = 0;
  #leftEnd = 0;
  #right = 0;
  #rightEnd = 0;

  constructor(source: Uint32Array, target: Uint32Array, width: number, compare: ComparePlaces) {
    this.#source = source;
    this.#target = target;
    this.#width = width;
    this.#compare = compare;
    this.#open(0);
  }

  #open(from: number): void {
    const { length } = this.#source;
    this.#left = from;
    this.#leftEnd = Math.min(from + this.#width, length);
    this.#right = this.#leftEnd;
    this.#rightEnd = Math.min(this.#leftEnd + this.#width, length);
  }

  /** Merges at most `count`; true where the pass is done. */
  step(count: number): boolean {
    const source = this.#source;
    const target = this.#target;
    const compare = this.#compare;
    const end = Math.min(this.#at + count, source.length);
    let at = this.#at;
    while (at < end) {
      if (this.#left === this.#leftEnd && this.#right === this.#rightEnd) this.#open(at);
      const isLeft =
        this.#right === this.#rightEnd ||
        (this.#left < this.#leftEnd && compare(source[this.#left]!, source[this.#right]!) <= 0);
      target[at++] = isLeft ? source[this.#left++]! : source[this.#right++]!;
    }
    this.#at = at;
    return at === source.length;
  }
}

/** The first `count` of the places in order, by a heap. Equal ones come in an unspecified order. */
export async function selectPaced(
  pace: Pace,
  places: Uint32Array,
  count: number,
  compare: ComparePlaces,
): Promise<Uint32Array> {
  if (count <= 0) return new Uint32Array(0);
  const heap = new Heap<number>((a, b) => compare(b, a) < 0);
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!;
    if (heap.size < count) heap.push(place);
    else if (compare(place, heap.peek()!) < 0) heap.replace(place);
    if ((i & (runLength - 1)) !== runLength - 1) continue;
    const pause = pace.check();
    if (pause !== undefined) await pause;
  }
  return Uint32Array.from(heap.drain().reverse());
}

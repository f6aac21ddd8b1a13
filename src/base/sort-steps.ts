/** Sorting in steps: a million places take a second. Price: sorted runs that are merged cost what one sort does. */
import { must } from "./assert.ts";
import type { Steps } from "./maybe.ts";

export type ComparePlaces = (a: number, b: number) => number;

/** Places sorted, or merged, in one step. */
export const runLength = 512;

/** In order, in the array given or one as long. Stable. Each step yields what `rest` gives. */
export function* sortInSteps(
  places: Uint32Array,
  compare: ComparePlaces,
  rest: () => Promise<void> | undefined,
): Steps<Uint32Array> {
  for (let from = 0; from < places.length; from += runLength) {
    places.subarray(from, from + runLength).sort(compare);
    yield rest();
  }
  let source: Uint32Array = places;
  let target: Uint32Array = new Uint32Array(places.length);
  for (let width = runLength; width < places.length; width *= 2) {
    const merge = new Merge(source, target, width, compare);
    while (!merge.step(runLength)) yield rest();
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
        (this.#left < this.#leftEnd &&
          compare(
            must(source[this.#left], "both sides are within the source"),
            must(source[this.#right], "both sides are within the source"),
          ) <= 0);
      target[at++] = isLeft
        ? must(source[this.#left++], "both sides are within the source")
        : must(source[this.#right++], "both sides are within the source");
    }
    this.#at = at;
    return at === source.length;
  }
}

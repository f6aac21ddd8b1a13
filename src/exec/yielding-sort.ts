/** Sorting and selecting of many places, which rest every few milliseconds. */
import { must } from "../base/assert.ts";
import { Heap } from "../base/heap.ts";
import { drive } from "../base/maybe.ts";
import { type ComparePlaces, runLength, sortInSteps } from "../base/sort-steps.ts";
import type { Yielder } from "./yielder.ts";

/** Fewer are sorted at once. */
export const yieldingFrom = 4096;

/** In order, in the array given or one as long. Stable. Throws what the yielder throws. */
export async function sortYielding(
  yielder: Yielder,
  places: Uint32Array,
  compare: ComparePlaces,
): Promise<Uint32Array> {
  if (places.length < yieldingFrom) return places.sort(compare);
  return drive(sortInSteps(places, compare, () => yielder.check()));
}

/** The first `count` of the places in order, by a heap. Equal ones come in an unspecified order. */
export async function selectYielding(
  yielder: Yielder,
  places: Uint32Array,
  count: number,
  compare: ComparePlaces,
): Promise<Uint32Array> {
  if (count <= 0) return new Uint32Array(0);
  const heap = new Heap<number>((a, b) => compare(b, a) < 0);
  for (let i = 0; i < places.length; i++) {
    const place = must(places[i], "within bounds");
    if (heap.size < count) heap.push(place);
    else if (compare(place, must(heap.peek(), "the heap is full")) < 0) heap.replace(place);
    if ((i & (runLength - 1)) !== runLength - 1) continue;
    const pause = yielder.check();
    if (pause !== undefined) await pause;
  }
  return Uint32Array.from(heap.drain().reverse());
}

/** A binary heap: the smallest by `isBefore` on top. */
import { must } from "./assert.ts";
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.isBefore = isBefore;
  }

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items, isBefore } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above]!;
      if (!isBefore(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.sink(last);
    return top;
  }

  /** `pop` and `push` in one step; the heap must not be empty. */
  replace(item: T): T {
    const top = must(this.items[0], "it is not empty");
    this.sink(item);
    return top;
  }

  /** Takes one of the larger items, in O(1). */
  dropLast(): T | undefined {
    return this.items.pop();
  }

  /** Empties the heap, in order. */
  drain(): T[] {
    const ordered: T[] = [];
    for (let item = this.pop(); item !== undefined; item = this.pop()) ordered.push(item);
    return ordered;
  }

  private sink(item: T): void {
    const { items, isBefore } = this;
    const size = items.length;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= size) break;
      let child = items[below]!;
      if (below + 1 < size) {
        const right = items[below + 1]!;
        if (isBefore(right, child)) {
          child = right;
          below++;
        }
      }
      if (!isBefore(child, item)) break;
      items[at] = child;
      at = below;
    }
    items[at] = item;
  }
}

/**
 * The first `count` of `items` in order, in O(n log count). Equal ones come in an unspecified order: make `isBefore`
 * total where that matters.
 */
export function selectFirst<T>(
  items: Iterable<T>,
  count: number,
  isBefore: (a: T, b: T) => boolean,
): T[] {
  if (count <= 0) return [];
  const heap = new Heap<T>((a, b) => isBefore(b, a));
  for (const item of items) {
    if (heap.size < count) heap.push(item);
    else if (isBefore(item, must(heap.peek(), "count is at least one"))) heap.replace(item);
  }
  return heap.drain().reverse();
}

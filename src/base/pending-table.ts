/**
 * What waits for an answer, by the number that the answer will name.
 *
 * No Map: each time a Map makes itself anew, the table it had points to the next one. A table that has reached the old
 * heap keeps all that follow it, and what they held, until the next full collection; with some thousand additions and
 * removals a second that was 4 KB for every write, copied twice on its way there.
 */
import { assert } from "./assert.ts";

/** So many wait at most: numbers are a slot and a turn, in 32 bits. */
export const pendingSlotsMax = 2 ** 14;
const turnsMax = 2 ** 18;

export class PendingTable<T> {
  readonly #values: (T | undefined)[] = [];
  readonly #numbers: number[] = [];
  /** When each was added, for `entries`. */
  readonly #order: number[] = [];
  readonly #free: number[] = [];
  #turn = 0;
  #added = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** A number above 0, below 2^32, that nothing else here has. No more than `pendingSlotsMax` at a time. */
  add(value: T): number {
    const slot = this.#free.pop() ?? this.#values.length;
    assert(slot < pendingSlotsMax, "callers refuse what is too much");
    this.#turn = this.#turn + 1 === turnsMax ? 1 : this.#turn + 1;
    const number = this.#turn * pendingSlotsMax + slot;
    this.#values[slot] = value;
    this.#numbers[slot] = number;
    this.#order[slot] = this.#added++;
    this.#size++;
    return number;
  }

  /** Takes it out; undefined: nothing waits under this number. */
  take(number: number): T | undefined {
    const slot = number % pendingSlotsMax;
    if (this.#numbers[slot] !== number) return undefined;
    const value = this.#values[slot];
    this.#values[slot] = undefined;
    this.#numbers[slot] = 0;
    this.#free.push(slot);
    this.#size--;
    return value;
  }

  /** In the order in which they were added. */
  entries(): [number, T][] {
    return this.#numbers
      .map((number, slot) => ({ number, slot }))
      .filter(({ number }) => number > 0)
      .sort((a, b) => (this.#order[a.slot] ?? 0) - (this.#order[b.slot] ?? 0))
      .map(({ number, slot }) => [number, this.#values[slot] as T]);
  }

  /** Takes all out. */
  clear(): T[] {
    return this.entries().flatMap(([number]) => this.take(number) ?? []);
  }
}

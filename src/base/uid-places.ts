/** Hot: uids numbered in the order in which they come. A look-up costs 5 to 10 ns, in a `Map` 40. */
import { must } from "./assert.ts";
export class UidPlaces {
  /** Open addressing; the uid of slot s is keys[s], its place values[s] − 1, and 0 where the slot is free. */
  #keys = new Float64Array(1024);
  #values = new Uint32Array(1024);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** The place of a uid, −1 where it never came. */
  find(uid: number): number {
    return must(this.#values[this.#slotOf(uid)], "a slot of the table") - 1;
  }

  /** The place of a uid, which is `size` before the call where it is new. */
  add(uid: number): number {
    const slot = this.#slotOf(uid);
    const value = must(this.#values[slot], "a slot of the table");
    if (value !== 0) return value - 1;
    this.#keys[slot] = uid;
    this.#values[slot] = ++this.#count;
    if (this.#count * 2 > this.#keys.length) this.#grow();
    return this.#count - 1;
  }

  #slotOf(uid: number): number {
    const keys = this.#keys;
    const values = this.#values;
    const mask = keys.length - 1;
    // Both halves of a uid of up to 53 bits.
    const high = Math.floor(uid / 0x100000000);
    let slot = (Math.imul(uid | 0, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & mask;
    while (values[slot] !== 0 && keys[slot] !== uid) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Float64Array(keys.length * 2);
    this.#values = new Uint32Array(keys.length * 2);
    for (let i = 0; i < keys.length; i++) {
      if (values[i] === 0) continue;
      const slot = this.#slotOf(must(keys[i], "each key has its value"));
      this.#keys[slot] = must(keys[i], "each key has its value");
      this.#values[slot] = must(values[i], "each key has its value");
    }
  }
}

/** Labels of a whole load → uids. One scope for all its files. */
import { must } from "../base/assert.ts";
import { type Client, leaseUids } from "./client.ts";

/** Asked for at once; unused ones are lost, which costs nothing out of 2^53. */
const leaseCount = 50_000;

/**
 * A table of fingerprints instead of the labels: 16 bytes a node at half load, whatever the labels are. Two labels of
 * ten million meet in 64 bits with a chance of 3 in a million; a Map of strings takes ten times the memory.
 */
export class LabelUids {
  readonly #client: Client;
  /** Names that are numbers, and nodes that they stand for instead. */
  readonly #aliases = new Map<number, number>();
  readonly #onNew: ((low: number, high: number, uid: number) => void) | undefined;
  #low = new Uint32Array(1 << 12);
  #high = new Uint32Array(1 << 12);
  #uids = new Float64Array(1 << 12);
  #count = 0;
  #free = 0;
  #freeEnd = 0;

  /** `onNew`: told each label that is given a node. */
  constructor(client: Client, onNew?: (low: number, high: number, uid: number) => void) {
    this.#client = client;
    this.#onNew = onNew;
  }

  /** A label that has its node from before, by its fingerprint. */
  restore(low: number, high: number, uid: number): void {
    if (this.#count * 2 >= this.#uids.length) this.#grow();
    const at = this.#find(low, high);
    if (this.#uids[at] === 0) this.#count++;
    this.#low[at] = low;
    this.#high[at] = high;
    this.#uids[at] = uid;
  }

  /** What the files call `name` is the node `uid`. */
  link(name: string, uid: number): void {
    if (uidPattern.test(name)) {
      if (Number(name) !== uid) this.#aliases.set(Number(name), uid);
      return;
    }
    const { low, high } = fingerprint(name);
    this.restore(low, high, uid);
    this.#onNew?.(low, high, uid);
  }

  /** The node of a name that is a number: itself, unless it was linked to another. */
  resolveNumber(name: string): number | undefined {
    return this.#aliases.size === 0 ? undefined : this.#aliases.get(Number(name));
  }

  /** Makes sure that `count` new labels find a uid without waiting. */
  async prepare(count: number): Promise<void> {
    if (this.#freeEnd - this.#free >= count) return;
    const size = Math.max(count, leaseCount);
    this.#free = await leaseUids(this.#client, size);
    this.#freeEnd = this.#free + size;
  }

  /** The node of a label; a new one gets the next uid. */
  resolve(label: string): number {
    if (this.#count * 2 >= this.#uids.length) this.#grow();
    const { low, high } = fingerprint(label);
    const at = this.#find(low, high);
    if (this.#uids[at] === 0) {
      this.#low[at] = low;
      this.#high[at] = high;
      this.#uids[at] = this.#free++;
      this.#count++;
      this.#onNew?.(low, high, this.#uids[at]);
    }
    return this.#uids[at] ?? 0;
  }

  #find(low: number, high: number): number {
    const mask = this.#uids.length - 1;
    let at = low & mask;
    while (this.#uids[at] !== 0 && (this.#low[at] !== low || this.#high[at] !== high)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  #grow(): void {
    const [lows, highs, uids] = [this.#low, this.#high, this.#uids];
    this.#low = new Uint32Array(uids.length * 2);
    this.#high = new Uint32Array(uids.length * 2);
    this.#uids = new Float64Array(uids.length * 2);
    for (const [i, uid] of uids.entries()) {
      if (uid === 0) continue;
      const low = must(lows[i], "each label has its halves");
      const high = must(highs[i], "each label has its halves");
      const at = this.#find(low, high);
      this.#low[at] = low;
      this.#high[at] = high;
      this.#uids[at] = uid;
    }
  }
}

export const uidPattern: RegExp = /^(?:0[xX][0-9a-fA-F]+|\d+)$/;

/** Two multiplicative hashes side by side, mixed at the end. */
function fingerprint(label: string): { low: number; high: number } {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let i = 0; i < label.length; i++) {
    const code = label.charCodeAt(i);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return { low: low >>> 0, high: high >>> 0 };
}

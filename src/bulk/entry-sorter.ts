/**
 * Hot: what the nodes of a bucket have in indexes, sorted by lists. Keys of lists lie one behind the other in one piece
 * of memory and are sorted as numbers, by what follows what all of an index have in common: an object for each of
 * millions of entries cost three times as much, most of it for the collector.
 */
import { must } from "../base/assert.ts";
import { reverseList } from "../codec/key.ts";
import type { ListEntry } from "./entries.ts";

type EntryVisitor = (entry: ListEntry) => void;

/** Lists of one index by their keys; members come in ascending order. */
export class KeyedEntries {
  #keys = new Uint8Array(16 * 1024);
  #keysAt = 0;
  #ends = new Int32Array(1024);
  #members = new Float64Array(1024);
  #count = 0;

  add(list: Uint8Array, member: number): void {
    const { length } = list;
    const at = this.#keysAt;
    if (at + length > this.#keys.length) this.#growKeys();
    if (this.#count === this.#ends.length) this.#grow();
    const keys = this.#keys;
    for (let i = 0; i < length; i++) keys[at + i] = must(list[i], "a byte of the key");
    this.#keysAt = at + length;
    this.#ends[this.#count] = at + length;
    this.#members[this.#count++] = member;
  }

  #growKeys(): void {
    const grown = new Uint8Array(this.#keys.length * 2);
    grown.set(this.#keys);
    this.#keys = grown;
  }

  #grow(): void {
    const ends = new Int32Array(this.#count * 2);
    ends.set(this.#ends);
    this.#ends = ends;
    const members = new Float64Array(this.#count * 2);
    members.set(this.#members);
    this.#members = members;
  }

  visit(visitor: EntryVisitor): void {
    const order = this.#sort();
    for (let i = 0; i < order.length;) {
      const first = must(order[i], "within bounds");
      const members: number[] = [];
      let last = -1;
      do {
        const member = must(
          this.#members[must(order[i], "within bounds")],
          "each entry has its columns",
        );
        // Two values of a node may have the same token.
        if (member !== last) members.push(member);
        last = member;
        i++;
      } while (i < order.length && this.#compare(first, must(order[i], "within bounds")) === 0);
      const list = this.#keys.slice(this.#begin(first), this.#ends[first]);
      visitor({ list, members, facets: undefined });
    }
  }

  #begin(entry: number): number {
    return entry === 0 ? 0 : must(this.#ends[entry - 1], "each entry has its end");
  }

  #sort(): Uint32Array {
    const count = this.#count;
    const order = new Uint32Array(count);
    const shared = this.#sharedBytes();
    const ranks = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      order[i] = i;
      ranks[i] = this.#rank(i, shared);
    }
    // Equal keys keep the order of their members.
    return order.sort((a, b) => ranks[a]! - ranks[b]! || this.#compare(a, b) || a - b);
  }

  /** How many bytes all keys begin with. */
  #sharedBytes(): number {
    const keys = this.#keys;
    let shared = must(this.#ends[0], "each entry has its end");
    for (let entry = 1; entry < this.#count; entry++) {
      const begin = this.#begin(entry);
      shared = Math.min(shared, must(this.#ends[entry], "each entry has its end") - begin);
      let i = 0;
      while (i < shared && keys[i] === keys[begin + i]) i++;
      shared = i;
    }
    return shared;
  }

  /** The first six bytes behind what is shared, as a number. */
  #rank(entry: number, shared: number): number {
    const begin = this.#begin(entry) + shared;
    const end = must(this.#ends[entry], "each entry has its end");
    let rank = 0;
    for (let i = 0; i < 6; i++)
      rank = rank * 256 + (begin + i < end ? must(this.#keys[begin + i], "a byte of the key") : 0);
    return rank;
  }

  #compare(a: number, b: number): number {
    const keys = this.#keys;
    const [beginA, beginB] = [this.#begin(a), this.#begin(b)];
    const [lengthA, lengthB] = [
      must(this.#ends[a], "each entry has its end") - beginA,
      must(this.#ends[b], "each entry has its end") - beginB,
    ];
    const length = lengthA < lengthB ? lengthA : lengthB;
    for (let i = 0; i < length; i++) {
      const difference = keys[beginA + i]! - keys[beginB + i]!;
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }
}

/** Nodes that point at objects, of one reverse index; members come in ascending order. */
export class ReverseEntries {
  readonly #storageId: number;
  readonly #index: number;
  #objects = new Float64Array(1024);
  #members = new Float64Array(1024);
  #count = 0;
  /** By place. */
  readonly #facets = new Map<number, Uint8Array>();

  constructor(storageId: number, index: number) {
    this.#storageId = storageId;
    this.#index = index;
  }

  add(object: number, member: number, facets: Uint8Array): void {
    const place = this.#count++;
    if (place === this.#objects.length) {
      const objects = new Float64Array(place * 2);
      objects.set(this.#objects);
      this.#objects = objects;
      const members = new Float64Array(place * 2);
      members.set(this.#members);
      this.#members = members;
    }
    this.#objects[place] = object;
    this.#members[place] = member;
    if (facets.length > 0) this.#facets.set(place, facets);
  }

  visit(visitor: EntryVisitor): void {
    const objects = this.#objects;
    const order = Uint32Array.from({ length: this.#count }, (_, i) => i);
    order.sort((a, b) => objects[a]! - objects[b]! || a - b);
    for (let i = 0; i < order.length;) {
      const object = must(objects[must(order[i], "within bounds")], "each entry has its columns");
      const members: number[] = [];
      let facets: Map<number, Uint8Array> | undefined;
      for (; i < order.length && objects[must(order[i], "within bounds")] === object; i++) {
        const place = must(order[i], "within bounds");
        const member = must(this.#members[place], "each entry has its columns");
        members.push(member);
        const own = this.#facets.get(place);
        if (own !== undefined) (facets ??= new Map()).set(member, own);
      }
      const list = reverseList(this.#storageId, this.#index, object);
      visitor({ list, members, facets });
    }
  }
}

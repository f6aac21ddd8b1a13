/** A stretch of input as facts in columns: what a thread makes of it, and what goes between threads. */
import { must } from "../base/assert.ts";
export const noTarget = 0xffffffff;

/** Names of nodes are places in its own table of labels: only who sees all chunks knows their uids. */
export interface ParsedChunk {
  readonly count: number;
  /** Fingerprints of the labels; of an explicit uid the uid, else 0. */
  readonly labelLow: Uint32Array;
  readonly labelHigh: Uint32Array;
  readonly labelUid: Float64Array;
  /** Places of labels. */
  readonly subjects: Uint32Array;
  /** Of an edge; `noTarget` of a value. */
  readonly targets: Uint32Array;
  readonly predicates: Uint32Array;
  /** Where the payload of each fact ends: of a value its slot (a run) and its cell, of an edge its facets. */
  readonly ends: Uint32Array;
  readonly payload: Uint8Array;
  /** Facts whose predicates no schema knows, as they stand there. */
  readonly unknown: string;
  /** Predicate → length of its vectors, where they are indexed. */
  readonly vectorLengths: readonly (readonly [predicate: number, length: number])[];
}

export function buffersOf(chunk: ParsedChunk): ArrayBuffer[] {
  const { labelLow, labelHigh, labelUid, subjects, targets, predicates, ends, payload } = chunk;
  return [labelLow, labelHigh, labelUid, subjects, targets, predicates, ends, payload].map(
    ({ buffer }) => buffer as ArrayBuffer,
  );
}

/** Grows as it is filled. */
export class ChunkBuilder {
  #labelLow = new Uint32Array(1024);
  #labelHigh = new Uint32Array(1024);
  #labelUid = new Float64Array(1024);
  #labelCount = 0;
  /** Open addressing: place + 1 of a label, 0 for none. */
  #slots = new Int32Array(4096);
  #subjects = new Uint32Array(4096);
  #targets = new Uint32Array(4096);
  #predicates = new Uint32Array(4096);
  #ends = new Uint32Array(4096);
  #count = 0;
  #payload = new Uint8Array(256 * 1024);
  #at = 0;
  readonly unknown: string[] = [];
  readonly vectorLengths = new Map<number, number>();

  /** The place of a label by its fingerprint, or of an explicit uid. */
  label(low: number, high: number, uid: number): number {
    const mask = this.#slots.length - 1;
    for (let at = (low ^ (uid * 0x9e3779b1)) & mask; ; at = (at + 1) & mask) {
      const place = must(this.#slots[at], "a slot of the table") - 1;
      if (place < 0) return this.#addLabel(at, low, high, uid);
      const isSame = this.#labelLow[place] === low && this.#labelHigh[place] === high;
      if (isSame && this.#labelUid[place] === uid) return place;
    }
  }

  #addLabel(at: number, low: number, high: number, uid: number): number {
    const place = this.#labelCount++;
    if (place === this.#labelLow.length) {
      this.#labelLow = grow(this.#labelLow, new Uint32Array(place * 2));
      this.#labelHigh = grow(this.#labelHigh, new Uint32Array(place * 2));
      this.#labelUid = grow(this.#labelUid, new Float64Array(place * 2));
    }
    this.#labelLow[place] = low;
    this.#labelHigh[place] = high;
    this.#labelUid[place] = uid;
    this.#slots[at] = place + 1;
    if (this.#labelCount * 2 > this.#slots.length) this.#rehash();
    return place;
  }

  #rehash(): void {
    const mask = this.#slots.length * 2 - 1;
    this.#slots = new Int32Array(mask + 1);
    for (let place = 0; place < this.#labelCount; place++) {
      let at =
        (must(this.#labelLow[place], "each label has its columns") ^
          (must(this.#labelUid[place], "each label has its columns") * 0x9e3779b1)) &
        mask;
      while (this.#slots[at] !== 0) at = (at + 1) & mask;
      this.#slots[at] = place + 1;
    }
  }

  /** Room for a payload of so many bytes; gives where it begins in `payload`. */
  takePayload(size: number): number {
    const at = this.#at;
    this.#at = at + size;
    if (this.#at > this.#payload.length) {
      const size = Math.max(this.#at, this.#payload.length * 2);
      this.#payload = grow(this.#payload, new Uint8Array(size));
    }
    return at;
  }

  /** Until the next `takePayload`. */
  get payload(): Uint8Array {
    return this.#payload;
  }

  /** Ends a fact whose payload was taken. */
  addFact(subject: number, predicate: number, target: number): void {
    const at = this.#count++;
    if (at === this.#subjects.length) {
      this.#subjects = grow(this.#subjects, new Uint32Array(at * 2));
      this.#targets = grow(this.#targets, new Uint32Array(at * 2));
      this.#predicates = grow(this.#predicates, new Uint32Array(at * 2));
      this.#ends = grow(this.#ends, new Uint32Array(at * 2));
    }
    this.#subjects[at] = subject;
    this.#targets[at] = target;
    this.#predicates[at] = predicate;
    this.#ends[at] = this.#at;
  }

  finish(): ParsedChunk {
    return {
      count: this.#count,
      labelLow: this.#labelLow.slice(0, this.#labelCount),
      labelHigh: this.#labelHigh.slice(0, this.#labelCount),
      labelUid: this.#labelUid.slice(0, this.#labelCount),
      subjects: this.#subjects.slice(0, this.#count),
      targets: this.#targets.slice(0, this.#count),
      predicates: this.#predicates.slice(0, this.#count),
      ends: this.#ends.slice(0, this.#count),
      payload: this.#payload.slice(0, this.#at),
      unknown: this.unknown.join("\n"),
      vectorLengths: [...this.vectorLengths],
    };
  }
}

function grow<Numbers extends Uint32Array | Float64Array | Uint8Array>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from);
  return to;
}

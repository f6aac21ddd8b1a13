/** Values that several nodes have: hashes first, 8 bytes a node, then the texts of those whose hash was seen twice. */

interface Repeated {
  readonly text: string;
  readonly uids: readonly number[];
}

export class RepeatedValues {
  #hashes = new Float64Array(1024);
  #count = 0;
  #suspects: ReadonlySet<number> | undefined;
  readonly #uidsOf = new Map<string, number[]>();

  /** First pass. */
  note(texts: readonly (string | undefined)[]): void {
    for (const text of texts) if (text !== undefined) this.#push(hashText(text));
  }

  /** Between the passes: whether there is a second one. */
  areSuspected(): boolean {
    return this.#findSuspects().size > 0;
  }

  /** Second pass, over the same nodes. */
  compare(uids: Float64Array, texts: readonly (string | undefined)[]): void {
    const suspects = this.#findSuspects();
    texts.forEach((text, row) => {
      const uid = uids[row];
      if (text === undefined || uid === undefined || !suspects.has(hashText(text))) return;
      const known = this.#uidsOf.get(text);
      if (known === undefined) this.#uidsOf.set(text, [uid]);
      else known.push(uid);
    });
  }

  repeated(): readonly Repeated[] {
    return [...this.#uidsOf]
      .filter(([, uids]) => uids.length > 1)
      .map(([text, uids]) => ({ text, uids }));
  }

  #push(hash: number): void {
    if (this.#count === this.#hashes.length) {
      const larger = new Float64Array(2 * this.#count);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes[this.#count++] = hash;
  }

  #findSuspects(): ReadonlySet<number> {
    if (this.#suspects !== undefined) return this.#suspects;
    const sorted = this.#hashes.subarray(0, this.#count).sort();
    const found = new Set<number>();
    sorted.forEach((hash, at) => {
      if (at > 0 && hash === sorted[at - 1]) found.add(hash);
    });
    this.#suspects = found;
    return found;
  }
}

/** 53 bits of two sums over the characters (FNV-1a with two bases). */
function hashText(text: string): number {
  let a = 0x811c9dc5;
  let b = 0x01000193 ^ text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return (a >>> 0) * 2 ** 21 + (b >>> 11);
}

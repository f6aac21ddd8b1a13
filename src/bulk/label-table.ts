/** Labels → numbers from 1 on, in the order in which they come: 16 bytes for a label, as a fingerprint of 64 bits. */
import { must } from "../base/assert.ts";
export class LabelTable {
  #low = new Uint32Array(1 << 16);
  #high = new Uint32Array(1 << 16);
  /** 0: the place is free. */
  #numbers = new Float64Array(1 << 16);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Of memory. */
  get bytes(): number {
    return this.#numbers.length * 16;
  }

  numberOf(low: number, high: number): number {
    const at = this.#find(low, high);
    const known = must(this.#numbers[at], "a slot of the table");
    if (known !== 0) return known;
    const number = ++this.#count;
    this.#low[at] = low;
    this.#high[at] = high;
    this.#numbers[at] = number;
    if (this.#count * 3 > this.#numbers.length * 2) this.#grow();
    return number;
  }

  #find(low: number, high: number): number {
    const mask = this.#numbers.length - 1;
    let at = low & mask;
    while (this.#numbers[at] !== 0) {
      if (this.#low[at] === low && this.#high[at] === high) return at;
      at = (at + 1) & mask;
    }
    return at;
  }

  #grow(): void {
    const [lows, highs, numbers] = [this.#low, this.#high, this.#numbers];
    this.#low = new Uint32Array(numbers.length * 2);
    this.#high = new Uint32Array(numbers.length * 2);
    this.#numbers = new Float64Array(numbers.length * 2);
    for (let i = 0; i < numbers.length; i++) {
      if (numbers[i] === 0) continue;
      const at = this.#find(
        must(lows[i], "each label has its columns"),
        must(highs[i], "each label has its columns"),
      );
      this.#low[at] = must(lows[i], "each label has its columns");
      this.#high[at] = must(highs[i], "each label has its columns");
      this.#numbers[at] = must(numbers[i], "each label has its columns");
    }
  }
}

/**
 * LMDB's list of free pages: what it will write over. Its rows have no checksum, but a page is either in use or free:
 * a list that says both of one, or names one twice, or one behind the end, is damaged, and the next commit would write
 * over rows. A row's value is a count, then so many words: 0 is a gap, a number is a page, a negative one the length of
 * a run whose first page follows.
 */
import { must } from "../../base/assert.ts";
import { PageDamage } from "./pages.ts";

const wordBytes = 8;

/** Pages that a walk has met, each of them once. */
export class PageUse {
  private readonly bits: Uint8Array;
  private readonly lastPage: number;

  constructor(lastPage: number) {
    this.lastPage = lastPage;
    this.bits = new Uint8Array((lastPage >> 3) + 1);
  }

  /** Throws PageDamage where one of them was met before. */
  take(first: number, count = 1): void {
    for (let page = first; page < first + count; page++) {
      if (!this.note(page)) throw new PageDamage(`page ${page} is in use, and listed as free`);
    }
  }

  /** Throws PageDamage where a value of the list of free pages is none. */
  free(value: Buffer): void {
    const words = Math.floor(value.length / wordBytes) - 1;
    const count = words < 0 ? -1 : Number(value.readBigInt64LE(0));
    if (count < 0 || count > words) throw damagedList();
    for (let i = 1; i <= count; i++) {
      let word = readWord(value, i);
      let length = 1;
      if (word === 0) continue;
      if (word < 0) {
        length = -word;
        word = ++i <= count ? readWord(value, i) : 0;
      }
      if (word < 2 || word + length - 1 > this.lastPage) throw damagedList();
      for (let page = word; page < word + length; page++) {
        if (!this.note(page)) throw damagedList();
      }
    }
  }

  /** False where it was noted before. */
  private note(page: number): boolean {
    const bit = 1 << (page & 7);
    const at = page >> 3;
    const bits = must(this.bits[at], "a word of the map");
    this.bits[at] = bits | bit;
    return (bits & bit) === 0;
  }
}

function readWord(value: Buffer, index: number): number {
  return Number(value.readBigInt64LE(index * wordBytes));
}

function damagedList(): PageDamage {
  return new PageDamage("its list of free pages is damaged");
}

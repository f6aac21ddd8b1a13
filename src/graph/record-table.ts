/**
 * Hot: records by uid, in pages of sixteen neighbours. Nodes that were made together are mostly read together, and each
 * look-up in a large Map is two misses of the processor's cache.
 */
import { makeArray } from "../base/array.ts";
import type { NodeRecord } from "./record.ts";

export type RecordPage = (NodeRecord | undefined)[];

const pageBits = 4;
const pageSize = 1 << pageBits;
/** What a page takes, with its place in the Map. Measured. */
const pageBytes = 210;

export class RecordTable {
  readonly #pages = new Map<number, RecordPage>();

  /** The number of the page that a uid is in. A shift needs 32 bits. */
  static numberOf(uid: number): number {
    return uid < 0x80000000 ? uid >> pageBits : Math.floor(uid / pageSize);
  }

  /** The place of a uid in its page. */
  static slotOf(uid: number, number: number): number {
    return uid - number * pageSize;
  }

  /** Whether nothing was ever put here. */
  get isEmpty(): boolean {
    return this.#pages.size === 0;
  }

  page(number: number): RecordPage | undefined {
    return this.#pages.get(number);
  }

  get(uid: number): NodeRecord | undefined {
    const number = RecordTable.numberOf(uid);
    return this.#pages.get(number)?.[RecordTable.slotOf(uid, number)];
  }

  /** Tells how many bytes it takes for that itself, the record not counted. */
  set(uid: number, record: NodeRecord): number {
    const number = RecordTable.numberOf(uid);
    const slot = RecordTable.slotOf(uid, number);
    const page = this.#pages.get(number);
    if (page !== undefined) {
      page[slot] = record;
      return 0;
    }
    const made = makeArray<NodeRecord | undefined>(pageSize);
    made[slot] = record;
    this.#pages.set(number, made);
    return pageBytes;
  }

  /** Its page stays: what was changed is mostly read again. */
  delete(uid: number): void {
    const number = RecordTable.numberOf(uid);
    const page = this.#pages.get(number);
    if (page !== undefined) page[RecordTable.slotOf(uid, number)] = undefined;
  }
}

/** What a transaction has put and removed so far, above the newest commit: the last word on each key counts. */
import { must } from "../../base/assert.ts";
import { compareBytes } from "../../base/bytes.ts";
import type { ScanRange } from "../../store/store.ts";
import { keyText } from "../key-text.ts";
import type { RowSource } from "./database.ts";
import { RowWriter } from "./journal-format.ts";
import { scanRows } from "./rows.ts";

/** In place of a row that the transaction removed. */
export const removed: unique symbol = Symbol("removed");

interface StagedRow {
  readonly key: Uint8Array;
  readonly stored: Uint8Array | undefined;
}

export class StagedRows {
  /** As the journal keeps them, in the order of writing. */
  readonly rows = new RowWriter();
  /** Where in `rows` the last word on a key lies, by the key's text. */
  private readonly places = new Map<string, number>();

  get isEmpty(): boolean {
    return this.places.size === 0;
  }

  /** `isRead`: the rows are still read by others. */
  clear(isRead: boolean): void {
    if (isRead) this.rows.leave();
    else this.rows.clear();
    this.places.clear();
  }

  /** Lent until the next call that writes; undefined when the transaction says nothing of the key. */
  get(key: Uint8Array): Uint8Array | typeof removed | undefined {
    if (this.places.size === 0) return undefined;
    const place = this.places.get(keyText(key));
    return place === undefined ? undefined : (this.rows.valueAt(place) ?? removed);
  }

  /** Room for `length` bytes of the key's value, to be filled before the next call. */
  put(key: Uint8Array, length: number): Uint8Array {
    const place = this.rows.add(key, length);
    this.places.set(keyText(key), place);
    return must(this.rows.valueAt(place), "the row was added with room");
  }

  remove(key: Uint8Array): void {
    this.places.set(keyText(key), this.rows.add(key, undefined));
  }

  /** The last word on each key. Lent. */
  visit(visit: (key: Uint8Array, stored: Uint8Array | undefined) => void): void {
    for (const place of this.places.values()) {
      visit(this.rows.keyAt(place), this.rows.valueAt(place));
    }
  }

  /** The rows of a range as the transaction sees them. The price grows with all that is staged. */
  scan(
    source: RowSource,
    range: ScanRange,
    visit: (key: Uint8Array, stored: Uint8Array) => boolean,
  ): void {
    const staged = this.places.size === 0 ? [] : this.inRange(range);
    if (staged.length === 0) {
      scanRows(source, range, visit);
      return;
    }
    const direction = range.reverse === true ? -1 : 1;
    let next = 0;
    let isOver = false;
    const give = ({ key, stored }: StagedRow): void => {
      if (stored !== undefined) isOver = !visit(key, stored);
    };
    scanRows(source, range, (lentKey, stored) => {
      let order = 1;
      for (let row = staged[next]; !isOver && row !== undefined; row = staged[++next]) {
        order = compareBytes(lentKey, row.key) * direction;
        if (order < 0) break;
        give(row);
        if (order !== 0) continue;
        next++;
        break;
      }
      if (!isOver && order !== 0) isOver = !visit(lentKey, stored);
      return !isOver;
    });
    for (; !isOver && next < staged.length; next++)
      give(must(staged[next], "next is below the end"));
  }

  private inRange({ start, end, reverse }: ScanRange): StagedRow[] {
    const found: StagedRow[] = [];
    this.visit((key, stored) => {
      if (compareBytes(key, start) >= 0 && compareBytes(key, end) < 0) found.push({ key, stored });
    });
    found.sort((a, b) => compareBytes(a.key, b.key));
    return reverse === true ? found.reverse() : found;
  }
}

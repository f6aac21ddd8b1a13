/**
 * All pages of a state of the data file, from its roots: that each is the one that it must be, is whole, and leads where
 * its keys say; and all rows with their checksums. Reads the file itself, so that no damage ends the process. The state
 * must not be overwritten meanwhile: nobody writes, or a transaction that is no older holds it.
 */
import { must } from "../../base/assert.ts";
import * as fs from "node:fs";
import { toHex } from "../../base/bytes.ts";
import { isIntact } from "./checksum.ts";
import { PageUse } from "./free-list.ts";
import type { Meta } from "./meta-pages.ts";
import {
  longPages,
  PageDamage,
  readLongPlace,
  readLongValue,
  readPage,
  type Node,
  type FilePage,
} from "./pages.ts";

interface WalkOptions {
  /** Leaves and their rows, too; otherwise only what leads to them, a hundredth of the file. */
  readonly isDeep: boolean;
  /** Rows below are left out, and the list of free pages. */
  readonly from?: Uint8Array;
  /** All rows that can be reached, whatever the list of free pages is like, and the size and shape of their tree. */
  readonly isRowsOnly?: boolean;
  /** Asked after each leaf: whether the walk ends here. */
  readonly isEnough?: () => boolean;
  /** Goes on behind damage, and tells of each; without it the first one ends the walk. */
  readonly onDamage?: (damage: PageDamage) => void;
  /** Each sound row. Lent. */
  readonly onRow?: (key: Buffer, stored: Buffer) => void;
}

interface Walked {
  readonly rows: number;
  readonly pages: number;
  /** Where the next walk begins; undefined: the end was reached. */
  readonly next: Uint8Array | undefined;
}

interface Findings {
  /** The first damage to what leads to the rows, as a part of a sentence. */
  readonly structure: string | undefined;
  /** The same of rows, each. */
  readonly rows: readonly string[];
  /** Whether the key of one of them does not fit where it lies. */
  readonly isMoved: boolean;
}

/** `file`: its path, or a handle that is open. */
export function examinePages(file: string | number, meta: Meta, isDeep: boolean): Findings {
  let structure: string | undefined;
  const rows: string[] = [];
  let isAnyMoved = false;
  const onDamage = ({ message, isRow, isMoved }: PageDamage): void => {
    isAnyMoved ||= isMoved;
    if (isRow) rows.push(message);
    else structure ??= message;
  };
  walkPages(file, meta, { isDeep, onDamage });
  return { structure, rows, isMoved: isAnyMoved };
}

/** `file`: its path, or a handle that is open. Throws PageDamage unless `onDamage` takes it. */
export function walkPages(file: string | number, meta: Meta, options: WalkOptions): Walked {
  if (typeof file === "number") return new PageWalk(file, meta, options).run();
  const opened = fs.openSync(file, "r");
  try {
    return new PageWalk(opened, meta, options).run();
  } finally {
    fs.closeSync(opened);
  }
}

/** Keys that may lie below a page: from `low` on, and below `high`. */
interface Bounds {
  readonly low: Buffer | undefined;
  readonly high: Buffer | undefined;
}

class PageWalk {
  private readonly file: number;
  private readonly meta: Meta;
  private readonly options: WalkOptions;
  private readonly size: number;
  private readonly use: PageUse;
  private rows = 0;
  private pages = 0;
  private readonly tree = { branchPages: 0, leafPages: 0, rows: 0 };
  private isDamaged = false;
  private next: Buffer | undefined = undefined;
  private isOver = false;

  constructor(file: number, meta: Meta, options: WalkOptions) {
    this.file = file;
    this.meta = meta;
    this.options = options;
    this.size = fs.fstatSync(file).size;
    this.use = new PageUse(meta.lastPage);
  }

  run(): Walked {
    const [free, rows] = this.meta.roots;
    const { from, isRowsOnly } = this.options;
    if (free !== undefined && from === undefined && isRowsOnly !== true) {
      this.guard(() => this.visitFree(this.take(free, this.meta.transaction), 0));
    }
    if (rows !== undefined) this.guard(() => this.visitRoot(rows));
    const isWhole = from === undefined && !this.isOver && !this.isDamaged;
    if (isWhole && isRowsOnly !== true) this.guard(() => this.checkSize());
    return { rows: this.rows, pages: this.pages, next: this.next };
  }

  private guard(work: () => void, bounds?: Bounds): void {
    const { onDamage } = this.options;
    if (onDamage === undefined) {
      work();
      return;
    }
    try {
      work();
    } catch (error) {
      if (!(error instanceof PageDamage)) throw error;
      this.isDamaged ||= !error.isRow;
      onDamage(bounds === undefined ? error : new PageDamage(`${error.message}${tell(bounds)}`));
    }
  }

  /** Every transaction of ours writes rows, so it writes the root of their tree anew. */
  private visitRoot(number: number): void {
    const { transaction } = this.meta;
    const page = this.take(number, transaction);
    if (page.transaction !== transaction)
      throw new PageDamage(`page ${number} is of another state`);
    this.visit(page, { low: undefined, high: undefined }, 0);
  }

  /** An older page in the place of one fits in where no newer one is below it, and leads to other rows. */
  private checkSize(): void {
    const { tree, meta } = this;
    const isRight =
      tree.branchPages === meta.branchPages &&
      tree.leafPages === meta.leafPages &&
      (tree.rows === meta.rows || !this.options.isDeep);
    if (!isRight) throw new PageDamage("it does not have the rows that it should have");
  }

  private visit(page: FilePage, bounds: Bounds, depth: number): void {
    if (depth > depthMax) throw new PageDamage("its pages lead in a circle");
    if (!page.isBranch) this.treeDepth ??= depth;
    if (this.options.isRowsOnly !== true && this.treeDepth !== undefined) {
      const isLeafsPlace = depth >= this.treeDepth;
      if (page.isBranch === isLeafsPlace) throw new PageDamage("its leaves are not all as deep");
    }
    if (!page.isBranch) {
      this.visitLeaf(page, bounds);
      return;
    }
    this.tree.branchPages++;
    const { nodes } = page;
    for (const [i, { child, key }] of nodes.entries()) {
      if (this.isOver) break;
      // The first key of a branch is not looked at.
      const low = i === 0 ? bounds.low : key;
      const high = nodes[i + 1]?.key ?? bounds.high;
      this.guard(
        () => {
          checkOrder(low, bounds, high);
          if (this.isPassed(high)) return;
          const isLeafLevel = !this.options.isDeep && depth + 1 >= this.depthOf(page);
          if (isLeafLevel) {
            this.takePlace(child);
            this.tree.leafPages++;
          } else {
            this.visit(this.take(child, page.transaction), { low, high }, depth + 1);
          }
        },
        { low, high },
      );
    }
  }

  /** Of the tree: that of its first leaf, since all are as deep. */
  private treeDepth: number | undefined = undefined;

  private depthOf(page: FilePage): number {
    if (this.treeDepth !== undefined) return this.treeDepth;
    let depth = 0;
    for (let one = page; one.isBranch && depth <= depthMax; depth++) {
      one = this.read(must(one.nodes[0], "a branch has nodes").child, one.transaction);
    }
    this.treeDepth = depth;
    return depth;
  }

  private isPassed(high: Buffer | undefined): boolean {
    const { from } = this.options;
    return from !== undefined && high !== undefined && Buffer.compare(high, from) <= 0;
  }

  private visitLeaf(page: FilePage, { low, high }: Bounds): void {
    this.tree.leafPages++;
    this.tree.rows += page.nodes.length;
    let previous: Buffer | undefined;
    for (const [i, node] of page.nodes.entries()) {
      this.guard(() => {
        const { key } = node;
        const stored = this.readStored(node);
        if (!isIntact(key, stored)) {
          const [before, behind] = [page.nodes[i - 1]?.key ?? low, page.nodes[i + 1]?.key ?? high];
          const isMoved = !isBelow(before, key, before === low) || !isBelow(key, behind, false);
          throw new PageDamage(`the row ${toHex(key)} is damaged`, true, isMoved);
        }
        const isInside =
          (previous === undefined
            ? low === undefined || Buffer.compare(low, key) <= 0
            : Buffer.compare(previous, key) < 0) &&
          (high === undefined || Buffer.compare(key, high) < 0);
        if (!isInside) throw new PageDamage(`the row ${toHex(key)} is out of order`);
        previous = key;
        this.giveRow(key, stored);
      });
    }
    if (this.options.isEnough?.() === true && high !== undefined) {
      this.next = high;
      this.isOver = true;
    }
  }

  private giveRow(key: Buffer, stored: Buffer): void {
    const { from, onRow } = this.options;
    if (from !== undefined && Buffer.compare(key, from) < 0) return;
    this.rows++;
    onRow?.(key, stored);
  }

  private readStored(node: Node): Buffer {
    return node.isLong ? this.readLong(node) : node.value;
  }

  private readLong(node: Node): Buffer {
    const { pageBytes } = this.meta;
    const place = readLongPlace(node.value);
    // More than it needs where a longer value was put before in the same transaction.
    if (place.pages < longPages(node.size, pageBytes) || place.pages > this.meta.lastPage) {
      throw new PageDamage(`the row ${toHex(node.key)} is damaged`, true);
    }
    this.takePlace(place.first, place.pages);
    const bytes = Buffer.allocUnsafe(place.pages * pageBytes);
    fs.readSync(this.file, bytes, 0, bytes.length, place.first * pageBytes);
    this.pages += place.pages;
    return readLongValue(bytes, place, node.size);
  }

  /** Keys are numbers of transactions there. */
  private visitFree(page: FilePage, depth: number): void {
    if (depth > depthMax) throw new PageDamage("its free pages lead in a circle");
    for (const node of page.nodes) {
      if (page.isBranch) this.visitFree(this.take(node.child, page.transaction), depth + 1);
      else this.use.free(this.readStored(node));
    }
  }

  private takePlace(first: number, pages = 1): void {
    this.checkPlace(first, pages);
    this.use.take(first, pages);
  }

  private take(number: number, writtenBy: number): FilePage {
    this.takePlace(number);
    return this.read(number, writtenBy);
  }

  private checkPlace(first: number, pages = 1): void {
    const { pageBytes, lastPage } = this.meta;
    const end = first + pages;
    if (first < 2 || end > lastPage + 1 || end * pageBytes > this.size) {
      throw new PageDamage(`page ${first} is missing`);
    }
  }

  /** A page is copied when one below it is: none below is newer. */
  private read(number: number, writtenBy: number): FilePage {
    this.checkPlace(number);
    const { pageBytes } = this.meta;
    const bytes = Buffer.allocUnsafe(pageBytes);
    fs.readSync(this.file, bytes, 0, pageBytes, number * pageBytes);
    this.pages++;
    const page = readPage(bytes, number);
    if (page.transaction > writtenBy) throw new PageDamage(`page ${number} is of another state`);
    return page;
  }
}

const depthMax = 32;

/** What cannot be reached behind a page. */
function tell({ low, high }: Bounds): string {
  const [from, to] = [low, high].map((key) => (key === undefined ? "the end" : toHex(key)));
  return `, with it all rows from ${from} to ${to}`;
}

/** Separators are in order, and within those above. */
function checkOrder(low: Buffer | undefined, bounds: Bounds, high: Buffer | undefined): void {
  const isRight =
    isBelow(bounds.low, low, true) && isBelow(low, high, false) && isBelow(high, bounds.high, true);
  if (!isRight) throw new PageDamage("the keys that lead to its rows are out of order");
}

function isBelow(a: Buffer | undefined, b: Buffer | undefined, mayBeSame: boolean): boolean {
  if (a === undefined || b === undefined) return true;
  const order = Buffer.compare(a, b);
  return mayBeSame ? order <= 0 : order < 0;
}

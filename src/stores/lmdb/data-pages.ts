/**
 * LMDB's pages as they lie in the data file, read without LMDB: over damage it ends the process. A page begins with its
 * number, the transaction that wrote it, two bytes, flags, and the bounds of its free room. Only what our files use is
 * known here: no duplicates, no databases with names.
 */
import * as fs from "node:fs";

const headBytes = 24;
const metaMagic = 0xbeefc0de;
const flagsAt = 18;
const lowerAt = 20;
const transactionAt = 8;
const databasesAt = 48;
const databaseBytes = 48;
const rootAt = 40;
const lastPageAt = 144;
const metaTransactionAt = 152;

const branchFlag = 0x01;
const leafFlag = 0x02;
const overflowFlag = 0x04;
const bigDataFlag = 0x01;
const noPage = 0xffff_ffff_ffff_ffffn;

/** The newest of two meta pages. */
export interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
  /** Of the list of free pages, then of the rows; undefined: empty. */
  readonly roots: readonly (number | undefined)[];
}

/** undefined where neither page is one. */
export function readMeta(metas: Buffer): Meta | undefined {
  if (metas.length < 160) return undefined;
  let pageBytes = readPageBytes(metas, 0);
  if (pageBytes === undefined) {
    pageBytes = pageSizes.find((size) => readPageBytes(metas, size) === size);
  }
  if (pageBytes === undefined) return undefined;
  const found = [0, pageBytes].flatMap((at) => readOne(metas, at, pageBytes) ?? []);
  return found.sort((a, b) => b.transaction - a.transaction)[0];
}

const pageSizes = [4096, 8192, 16384, 32768, 65536];

function readPageBytes(metas: Buffer, at: number): number | undefined {
  if (at + 160 > metas.length || metas.readUInt32LE(at + headBytes) !== metaMagic) return undefined;
  const size = metas.readUInt32LE(at + databasesAt);
  return pageSizes.includes(size) ? size : undefined;
}

function readOne(metas: Buffer, at: number, pageBytes: number): Meta | undefined {
  if (readPageBytes(metas, at) !== pageBytes) return undefined;
  const numbers = [lastPageAt, metaTransactionAt].map((place) =>
    Number(metas.readBigUInt64LE(at + place)),
  );
  const roots = [0, 1].map((index) => {
    const root = metas.readBigUInt64LE(at + databasesAt + index * databaseBytes + rootAt);
    return root === noPage ? undefined : Number(root);
  });
  return { pageBytes, lastPage: numbers[0]!, transaction: numbers[1]!, roots };
}

export function readMetaOf(path: string): Meta | undefined {
  const front = Buffer.alloc(2 * 65536);
  let file: number;
  try {
    file = fs.openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return readMeta(front.subarray(0, fs.readSync(file, front, 0, front.length, 0)));
  } finally {
    fs.closeSync(file);
  }
}

export interface WalkOptions {
  /** Leaves and long values, too; otherwise only what leads to them, a hundredth of the file. */
  readonly isDeep: boolean;
  /** Called after some pages; throws to end the walk. */
  readonly onPages?: (count: number) => void;
}

/** What is wrong with the pages of a state, as a part of a sentence; undefined: nothing was found. */
export function findPageDamage(
  path: string,
  meta: Meta,
  options: WalkOptions = { isDeep: false },
): string | undefined {
  const file = fs.openSync(path, "r");
  try {
    const walk = new PageWalk(file, meta, options);
    for (const [index, root] of meta.roots.entries()) {
      if (root !== undefined) walk.visitRoot(root, index === 1);
    }
    return undefined;
  } catch (error) {
    if (error instanceof PageDamage) return error.message;
    throw error;
  } finally {
    fs.closeSync(file);
  }
}

class PageDamage extends Error {}

class PageWalk {
  private readonly file: number;
  private readonly meta: Meta;
  private readonly options: WalkOptions;
  private readonly size: number;
  private readonly seen = new Set<number>();

  constructor(file: number, meta: Meta, options: WalkOptions) {
    this.file = file;
    this.meta = meta;
    this.options = options;
    this.size = fs.fstatSync(file).size;
  }

  /** Every transaction of ours writes rows, so it writes the root of their tree anew. */
  visitRoot(number: number, isOfRows: boolean): void {
    const page = this.read(number, this.meta.transaction);
    const transaction = Number(page.readBigUInt64LE(transactionAt));
    if (isOfRows && transaction !== this.meta.transaction) {
      throw new PageDamage(`page ${number} is of another state`);
    }
    this.visit(page, number, { depth: 0, isOfRows });
  }

  private visit(
    page: Buffer,
    number: number,
    { depth, isOfRows }: { readonly depth: number; readonly isOfRows: boolean },
  ): void {
    if (depth > 32) throw new PageDamage(`page ${number} leads to itself`);
    const flags = page.readUInt16LE(flagsAt);
    const isBranch = (flags & branchFlag) !== 0;
    if (isBranch === ((flags & leafFlag) !== 0)) {
      throw new PageDamage(`page ${number} is none of a tree`);
    }
    const lower = page.readUInt16LE(lowerAt);
    const count = lower >> 1;
    if (headBytes + lower > page.length || (lower & 1) !== 0 || (isBranch && count < 2)) {
      throw new PageDamage(`page ${number} is damaged`);
    }
    if (!isBranch && !this.options.isDeep && isOfRows) return;
    const writtenBy = Number(page.readBigUInt64LE(transactionAt));
    let previous: Buffer | undefined;
    for (let i = 0; i < count; i++) {
      const node = page.readUInt16LE(headBytes + 2 * i) + headBytes;
      if (node + 8 > page.length) throw new PageDamage(`page ${number} is damaged`);
      const keyBytes = page.readUInt16LE(node + 6);
      const keyEnd = node + 8 + keyBytes;
      if (keyEnd > page.length) throw new PageDamage(`page ${number} is damaged`);
      const key = page.subarray(node + 8, keyEnd);
      const isFirstOfBranch = isBranch && i === 0;
      if (isOfRows && !isFirstOfBranch) {
        if (previous !== undefined && Buffer.compare(previous, key) >= 0) {
          throw new PageDamage(`the keys of page ${number} are out of order`);
        }
        previous = key;
      }
      if (isBranch)
        this.descend(page.readUIntLE(node, 6), writtenBy, { depth: depth + 1, isOfRows });
      else this.checkLeaf(page, number, { node, keyEnd, writtenBy });
    }
  }

  /** A page is copied when one below it is: none below is newer. */
  private descend(
    child: number,
    writtenBy: number,
    at: { readonly depth: number; readonly isOfRows: boolean },
  ): void {
    const page = this.read(child, writtenBy);
    this.visit(page, child, at);
  }

  private checkLeaf(
    page: Buffer,
    number: number,
    { node, keyEnd, writtenBy }: { node: number; keyEnd: number; writtenBy: number },
  ): void {
    const size = page.readUInt32LE(node);
    if ((page.readUInt16LE(node + 4) & bigDataFlag) === 0) {
      if (keyEnd + size > page.length) throw new PageDamage(`page ${number} is damaged`);
      return;
    }
    if (keyEnd + 8 > page.length) throw new PageDamage(`page ${number} is damaged`);
    const first = Number(page.readBigUInt64LE(keyEnd));
    const head = this.read(first, writtenBy);
    if ((head.readUInt16LE(flagsAt) & overflowFlag) === 0) {
      throw new PageDamage(`page ${first} holds no value`);
    }
    const pages = head.readUInt32LE(lowerAt);
    const isWhole = pages * this.meta.pageBytes >= size + headBytes;
    if (!isWhole || (first + pages) * this.meta.pageBytes > this.size) {
      throw new PageDamage(`page ${first} is damaged`);
    }
  }

  private read(number: number, writtenBy: number): Buffer {
    const { pageBytes, lastPage } = this.meta;
    if (number < 2 || number > lastPage || (number + 1) * pageBytes > this.size) {
      throw new PageDamage(`page ${number} is missing`);
    }
    if (this.seen.has(number)) throw new PageDamage(`page ${number} is used twice`);
    this.seen.add(number);
    const page = Buffer.allocUnsafe(pageBytes);
    fs.readSync(this.file, page, 0, pageBytes, number * pageBytes);
    if (Number(page.readBigUInt64LE(0)) !== number) {
      throw new PageDamage(`page ${number} is another one`);
    }
    const transaction = Number(page.readBigUInt64LE(transactionAt));
    if (transaction > writtenBy) throw new PageDamage(`page ${number} is of another state`);
    this.options.onPages?.(this.seen.size);
    return page;
  }
}

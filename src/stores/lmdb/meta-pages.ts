/** LMDB's two meta pages, read without LMDB: which state of the data file is the newest. */
import * as fs from "node:fs";

const headBytes = 24;
const metaMagic = 0xbeefc0de;
const databasesAt = 48;
const databaseBytes = 48;
const branchPagesAt = 8;
const leafPagesAt = 16;
const entriesAt = 32;
const rootAt = 40;
const lastPageAt = 144;
const metaTransactionAt = 152;
const noPage = 0xffff_ffff_ffff_ffffn;

/** The newest of two meta pages. */
export interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
  /** Of the list of free pages, then of the rows; undefined: empty. */
  readonly roots: readonly (number | undefined)[];
  /** What the rows' tree is made of. */
  readonly branchPages: number;
  readonly leafPages: number;
  readonly rows: number;
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
  const rowsAt = databasesAt + databaseBytes;
  const [lastPage, transaction, branchPages, leafPages, rows] = [
    lastPageAt,
    metaTransactionAt,
    rowsAt + branchPagesAt,
    rowsAt + leafPagesAt,
    rowsAt + entriesAt,
  ].map((place) => Number(metas.readBigUInt64LE(at + place))) as Numbers;
  const roots = [0, 1].map((index) => {
    const root = metas.readBigUInt64LE(at + databasesAt + index * databaseBytes + rootAt);
    return root === noPage ? undefined : Number(root);
  });
  return { pageBytes, lastPage, transaction, roots, branchPages, leafPages, rows };
}

type Numbers = [number, number, number, number, number];

/** `file`: its path, or a handle that is open. */
export function readMetaOf(file: string | number): Meta | undefined {
  if (typeof file === "number") return readFront(file);
  let opened: number;
  try {
    opened = fs.openSync(file, "r");
  } catch {
    return undefined;
  }
  try {
    return readFront(opened);
  } finally {
    fs.closeSync(opened);
  }
}

function readFront(file: number): Meta | undefined {
  const front = Buffer.alloc(2 * 65536);
  return readMeta(front.subarray(0, fs.readSync(file, front, 0, front.length, 0)));
}

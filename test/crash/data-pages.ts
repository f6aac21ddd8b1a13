/** Which pages of an LMDB data file one of its states reaches: all that a reader of that state ever looks at. */

const headBytes = 24;
const metaMagic = 0xbeefc0de;
/** The list of free pages, then the rows. */
const databaseAt = 48;
const databaseBytes = 48;
const leafFlag = 0x02;
const overflowFlag = 0x04;
const branchFlag = 0x01;
const bigDataFlag = 0x01;
const noPage = 0xffff_ffff_ffff_ffffn;

export interface Reached {
  readonly pageBytes: number;
  /** By page number: whether the state needs it. The two meta pages are not counted. */
  readonly pages: Uint8Array;
}

export function readPageBytes(metas: Buffer): number {
  return metas.readUInt32LE(databaseAt);
}

/**
 * `metas`: the two meta pages of the state, the newer of which counts. Throws where the file does not hold it. `only`: of
 * the rows, without the list of free pages.
 */
export function reachedPages(file: Buffer, metas: Buffer, only?: "rows"): Reached {
  const pageBytes = readPageBytes(metas);
  const metaPages = [metas.subarray(0, pageBytes), metas.subarray(pageBytes, 2 * pageBytes)];
  for (const page of metaPages) {
    if (page.readUInt32LE(headBytes) !== metaMagic) throw new Error("no meta page");
  }
  const newest = metaPages.sort((a, b) =>
    Number(b.readBigUInt64LE(152) - a.readBigUInt64LE(152)),
  )[0]!;
  const pages = new Uint8Array(Math.ceil(file.length / pageBytes));
  const walk = new PageWalk(file, pageBytes, pages);
  const rowsAt = databaseAt + databaseBytes;
  for (const at of only === "rows" ? [rowsAt] : [databaseAt, rowsAt]) {
    const root = newest.readBigUInt64LE(at + 40);
    if (root !== noPage) walk.visit(Number(root));
  }
  return { pageBytes, pages };
}

class PageWalk {
  private readonly file: Buffer;
  private readonly pageBytes: number;
  private readonly pages: Uint8Array;

  constructor(file: Buffer, pageBytes: number, pages: Uint8Array) {
    this.file = file;
    this.pageBytes = pageBytes;
    this.pages = pages;
  }

  visit(number: number): void {
    const page = this.take(number);
    const flags = page.readUInt16LE(18);
    if ((flags & (branchFlag | leafFlag)) === 0)
      throw new Error(`page ${number} is none of a tree`);
    const count = page.readUInt16LE(20) >> 1;
    for (let i = 0; i < count; i++) {
      const node = page.readUInt16LE(headBytes + 2 * i) + headBytes;
      if ((flags & branchFlag) !== 0) this.visit(page.readUIntLE(node, 6));
      else if ((page.readUInt16LE(node + 4) & bigDataFlag) !== 0) {
        const data = node + 8 + page.readUInt16LE(node + 6);
        this.takeOverflow(Number(page.readBigUInt64LE(data)));
      }
    }
  }

  private takeOverflow(number: number): void {
    const page = this.take(number);
    if ((page.readUInt16LE(18) & overflowFlag) === 0) {
      throw new Error(`page ${number} holds no value`);
    }
    this.pages.fill(1, number, number + page.readUInt32LE(20));
  }

  private take(number: number): Buffer {
    const at = number * this.pageBytes;
    if (at + this.pageBytes > this.file.length) throw new Error(`page ${number} is missing`);
    const page = this.file.subarray(at, at + this.pageBytes);
    if (Number(page.readBigUInt64LE(0)) !== number)
      throw new Error(`page ${number} is another one`);
    this.pages[number] = 1;
    return page;
  }
}

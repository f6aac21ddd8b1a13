/** What is verified of the data file's pages before LMDB follows them: over damage there it would end the process. */
import * as fs from "node:fs";
import { refuseDamage } from "./header.ts";
import { readMetaOf } from "./meta-pages.ts";
import { examinePages } from "./page-walk.ts";

/** A data file up to this size is verified as a whole, a second for each gibibyte or so; of others what leads to rows. */
const wholeBytesMax = 128 * 1024 * 1024;

interface Verified {
  /** All pages and rows were looked at, and are sound. */
  readonly isWhole: boolean;
  /** In words. The others can be read. */
  readonly damagedRows: readonly string[];
  /** All rows were looked at, and each lies where its key belongs. */
  readonly isOrdered: boolean;
}

/** Nobody may write, or a pin must hold the newest state. Fault E_STORE_CORRUPT where pages do not lead to the rows. */
export function verifyPages(dir: string, dataPath: string): Verified {
  const meta = readMetaOf(dataPath);
  if (meta === undefined) return { isWhole: false, damagedRows: [], isOrdered: false };
  const isDeep = fs.statSync(dataPath).size <= wholeBytesMax;
  const { structure, rows, isMoved } = examinePages(dataPath, meta, isDeep);
  if (structure !== undefined) throw refuseDamage(dir, `data.mdb is damaged (${structure})`);
  return { isWhole: isDeep && rows.length === 0, damagedRows: rows, isOrdered: isDeep && !isMoved };
}

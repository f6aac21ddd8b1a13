/** The rows of an encrypted store's blocks, whatever became of the tree above them: for `weft check --repair`. */
import { toHex } from "../../base/bytes.ts";
import { damagedBlock, openBlock, readBlockKey, rootBlock } from "./block-rows.ts";
import { TreeBlock, longLevel } from "./block.ts";
import type { StoreCipher } from "./store-cipher.ts";

type OnRow = (key: Buffer, stored: Buffer) => void;

/** `walk` gives all blocks as LMDB has them, each time it is called. Rows come in no order; `lose` is told what is not sound. */
export function visitBlockRows(
  walk: (onRow: OnRow) => void,
  cipher: StoreCipher,
  { onRow, lose }: { readonly onRow: OnRow; readonly lose: (what: string) => void },
): void {
  const long = new Map<number, Buffer>();
  walk((key, stored) => {
    const id = readBlockKey(key);
    if (id === rootBlock) return;
    const plain = id === undefined ? undefined : openBlock(cipher, key, stored);
    if (plain === undefined) {
      lose(`${damagedBlock(id ?? 0).message}, with all rows in it`);
      return;
    }
    visitRowsOf(new TreeBlock(plain), long, onRow);
  });
  if (long.size > 0) visitLong(walk, cipher, long, onRow);
  for (const key of long.values()) lose(`the row ${toHex(key)} is damaged`);
}

/** Those with values in blocks of their own are noted. */
function visitRowsOf(block: TreeBlock, long: Map<number, Buffer>, onRow: OnRow): void {
  if (block.level !== 0) return;
  for (let i = 0; i < block.count; i++) {
    const key = Buffer.from(block.keyAt(i));
    if (block.isLongAt(i)) long.set(block.blockAt(i), key);
    else onRow(key, Buffer.from(block.payloadAt(i)));
  }
}

/** What was found is taken out of `long`. */
function visitLong(
  walk: (onRow: OnRow) => void,
  cipher: StoreCipher,
  long: Map<number, Buffer>,
  onRow: OnRow,
): void {
  walk((key, stored) => {
    const id = readBlockKey(key) ?? rootBlock;
    const rowKey = long.get(id);
    const plain = rowKey && openBlock(cipher, key, stored);
    if (rowKey === undefined || plain?.[0] !== longLevel) return;
    long.delete(id);
    onRow(rowKey, plain.subarray(1));
  });
}

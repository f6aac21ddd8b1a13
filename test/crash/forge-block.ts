/** What somebody does who can write a store's files, and has no key: changes a block, and its checksum with it. */
import { checksumBytes, checksumOf } from "../../src/stores/lmdb/checksum.ts";
import { openDatabase, walkRows } from "../../src/stores/lmdb/database.ts";
import { readHeader, writeClosed } from "../../src/stores/lmdb/header.ts";

export async function forgeBlock(dir: string): Promise<void> {
  const { storeId } = readHeader(dir);
  const db = openDatabase(dir, { readOnly: false, noSync: false });
  const range = { start: new Uint8Array([0]), end: new Uint8Array(8).fill(255) };
  const blocks: { key: Buffer; stored: Buffer }[] = [];
  walkRows({ db, options: undefined }, range, (key, stored) => {
    blocks.push({ key: Buffer.from(key), stored: Buffer.from(stored) });
    return true;
  });
  const { key, stored } = blocks[Math.floor(blocks.length / 2)]!;
  stored[100]! ^= 1;
  const length = stored.length - checksumBytes;
  stored.writeUInt32LE(checksumOf(key, stored, length), length);
  db.transactionSync(() => void db.put(key, stored));
  await db.close();
  writeClosed(dir, storeId);
}

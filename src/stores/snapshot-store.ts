/**
 * A store that is made of another machine's rows (reference/log 7.4), under the same identity. It is made aside and comes
 * to its place when all rows are in it, in place of an older one if there is one. A stop at any moment leaves the older
 * store, the new one, or none, which is made again.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { Fault } from "../model/fault.ts";
import { isIntact } from "./lmdb/checksum.ts";
import { Environment } from "./lmdb/environment.ts";
import { dataName, headerName, makeDirectory, syncDirectory, writeClosed } from "./lmdb/header.ts";
import { removeJournal } from "./lmdb/recovery.ts";
import { claimForWriting } from "./lmdb/writing-claim.ts";
import { SpareRoom } from "./lmdb/spare-room.ts";
import { keysName } from "./sealed/keys-name.ts";
import { createKeys } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";
import type { StoredRow } from "./stored-rows.ts";

const asideName = "snapshot.new";

export interface SnapshotTarget {
  /** In the order of their keys. Fault E_STORE_CORRUPT for a row that is not what was stored. */
  put(rows: readonly StoredRow[]): void;
  /** The store is whole, on the disk and in its place when it resolves. */
  finish(): Promise<void>;
  /** What was made goes; an older store stays. */
  abandon(): Promise<void>;
}

/** What a stop in the middle has left of the exchange goes: a store without its header is none. */
export function clearHalfSnapshot(dir: string): void {
  if (!fs.existsSync(join(dir, asideName))) return;
  if (!fs.existsSync(join(dir, headerName))) {
    for (const name of [dataName, keysName]) fs.rmSync(join(dir, name), { force: true });
  }
  fs.rmSync(join(dir, asideName), { recursive: true, force: true });
}

/** Fault E_STARTUP where another process writes there. */
export async function openSnapshotTarget(
  dir: string,
  { storeId, encryption }: { readonly storeId: string; readonly encryption: UserKey | undefined },
): Promise<SnapshotTarget> {
  makeDirectory(dir);
  const claim = await claimForWriting(dir, 0);
  if (claim === undefined) {
    throw new Fault("E_STARTUP", `cannot make the store at ${dir}: another process writes to it`);
  }
  clearHalfSnapshot(dir);
  const aside = join(dir, asideName);
  fs.mkdirSync(aside, { mode: 0o700 });
  const cipher = encryption === undefined ? undefined : createKeys(aside, encryption);
  const room = new SpareRoom(dir, {
    purpose: `make the store at ${dir} of a snapshot`,
    outcome: "nothing is left of it",
  });
  const environment = new Environment({ dir: aside, noSync: true, cipher, room });
  return {
    put(rows) {
      if (!rows.every(({ key, stored }) => isIntact(key, stored))) {
        throw new Fault("E_STORE_CORRUPT", "a row of the snapshot is not what was stored");
      }
      environment.putRows((put) => {
        for (const { key, stored } of rows) put(key, stored);
      });
    },
    async finish() {
      try {
        await environment.close();
        const data = fs.openSync(join(aside, dataName), "r+");
        fs.fsyncSync(data);
        fs.closeSync(data);
        writeClosed(aside, storeId);
        exchange(dir, aside);
      } finally {
        await claim.release();
      }
    },
    async abandon() {
      await environment.close();
      fs.rmSync(aside, { recursive: true, force: true });
      await claim.release();
    },
  };
}

/** The older one's header goes first and the new one's comes last: between the two there is no store. */
function exchange(dir: string, aside: string): void {
  fs.rmSync(join(dir, headerName), { force: true });
  removeJournal(dir);
  syncDirectory(dir);
  for (const name of [keysName, dataName]) {
    fs.rmSync(join(dir, name), { force: true });
    if (fs.existsSync(join(aside, name))) fs.renameSync(join(aside, name), join(dir, name));
  }
  // Whatever a file system does first: the header is not there before the rows.
  syncDirectory(dir);
  fs.renameSync(join(aside, headerName), join(dir, headerName));
  fs.rmSync(aside, { recursive: true, force: true });
  syncDirectory(dir);
}

/**
 * A store that is filled in one go, without commits, journal and log. Its files are made aside and come to their place
 * when all is in them: a load that is ended leaves nothing that a server would open.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { storageRange } from "../codec/key.ts";
import { Fault } from "../model/fault.ts";
import { claimServing } from "./claim.ts";
import { decodeState, encodeState, stateKey } from "./commit/state.ts";
import type { PutRow } from "./lmdb/database.ts";
import { Environment } from "./lmdb/environment.ts";
import {
  dataBytes,
  dataName,
  headerName,
  makeDirectory,
  readHeader,
  syncDirectory,
  writeClosed,
} from "./lmdb/header.ts";
import { SpareRoom } from "./lmdb/spare-room.ts";
import { toStored } from "./row-builder.ts";
import { keysName } from "./sealed/keys-name.ts";
import { unlockStore } from "./sealed/store-keys.ts";
import type { UserKey } from "./sealed/user-key.ts";

/** Where a new store is made, while nobody else makes one there. */
interface BulkPlace {
  readonly aside: string;
  /** The store comes to its place; gives its bytes. */
  place(): number;
  /** What was made goes. */
  abandon(): void;
  release(): Promise<void>;
}

/** Fault E_STARTUP where `dir` holds a store already, or anything else, or somebody makes or writes one there. */
export async function claimBulkPlace(dir: string, asideName: string): Promise<BulkPlace> {
  makeDirectory(dir);
  const claim = await claimServing(dir, { isChecked: false });
  const aside = join(dir, asideName);
  try {
    // Ended between two renames: data whose header is still aside is no store.
    const isHalf = fs.existsSync(join(aside, headerName)) && !fs.existsSync(join(dir, headerName));
    if (isHalf)
      for (const name of [keysName, dataName]) fs.rmSync(join(dir, name), { force: true });
    checkEmpty(dir, asideName);
    fs.rmSync(aside, { recursive: true, force: true });
    fs.mkdirSync(aside, { mode: 0o700 });
  } catch (error) {
    await claim.release();
    throw error;
  }
  return {
    aside,
    place() {
      const bytes = dataBytes(aside);
      // The header last: without it nobody opens the data.
      for (const name of [keysName, dataName, headerName]) {
        const isThere = name !== keysName || fs.existsSync(join(aside, name));
        if (isThere) fs.renameSync(join(aside, name), join(dir, name));
      }
      fs.rmSync(aside, { recursive: true, force: true });
      syncDirectory(dir);
      return bytes;
    },
    abandon: () => fs.rmSync(aside, { recursive: true, force: true }),
    release: () => claim.release(),
  };
}

function checkEmpty(dir: string, asideName: string): void {
  const held = fs.readdirSync(dir);
  if (held.includes(headerName) || held.includes(dataName)) {
    throw new Fault("E_STARTUP", `${dir} holds a store already: a new one is made elsewhere`);
  }
  const other = held.find((name) => name !== asideName);
  if (other !== undefined) {
    throw new Fault("E_STARTUP", `${dir} is not empty: it holds ${other}`);
  }
}

export interface BulkStore {
  /** All rows of a storage id go. */
  clear(storageId: number): void;
  /** One transaction. In the order of keys pages become full. */
  put(fill: (put: PutRow) => void): void;
  /** No uid below `nextUid` is given to a new node. All is on the disk when it resolves. */
  finish(nextUid: number): Promise<void>;
}

/** A store that was made, and closed, by a writer. */
export function openBulkStore(aside: string, encryption?: UserKey): BulkStore {
  const header = readHeader(aside);
  const { storeId } = header;
  const cipher = unlockStore(aside, header, encryption);
  const dir = dirname(aside);
  const room = new SpareRoom(dir, {
    purpose: `make the store at ${dir}`,
    outcome: "nothing is left of it",
  });
  const environment = new Environment({ dir: aside, noSync: true, cipher, room });
  return {
    clear(storageId) {
      const keys: Uint8Array[] = [];
      environment.read((snapshot) => {
        void snapshot.scan(storageRange(storageId), (key) => keys.push(key.slice()) > 0);
      });
      environment.putRows((put) => {
        for (const key of keys) put(key, undefined);
      });
    },
    put: (fill) => environment.putRows(fill),
    async finish(nextUid) {
      let bytes: Uint8Array | undefined;
      environment.read((snapshot) => {
        void snapshot.readMany([stateKey], (_, row) => (bytes = row?.slice()));
      });
      const state = decodeState(bytes);
      const row = encodeState({ ...state, nextUid: Math.max(nextUid, state.nextUid) });
      environment.putRows((put) => put(stateKey, toStored(stateKey, row)));
      await environment.close();
      const data = fs.openSync(join(aside, dataName), "r+");
      fs.fsyncSync(data);
      fs.closeSync(data);
      writeClosed(aside, storeId);
    },
  };
}

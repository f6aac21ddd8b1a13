/**
 * Who restores into a store that is served, at most one at a time: a row of the server's own, with the slot of the
 * process and the storage ids that it fills. It is held for as long as its process has the slot; what a process that is
 * gone has left half filled is given to be swept by whoever comes next.
 */
import { decodeUtf8, encodeUtf8, equalBytes } from "../base/bytes.ts";
import { Fault } from "../model/fault.ts";
import { countersPatch, readCounters, retiredPatch } from "../graph/schema-rows.ts";
import type { Patch, Store } from "../store/store.ts";
import type { ChangeSender } from "./commits.ts";
import { ownRowPatch, readOwnRow, type SystemRows } from "./system-rows.ts";

export const holdName = "restore";

interface StoredHold {
  readonly slot: number;
  readonly floorTs: number;
  readonly storageIds: readonly number[];
}

/** Of a process that restores. */
export interface RestoreHold {
  /** As it is stored: whoever ends the hold expects it. */
  readonly row: Uint8Array;
  readonly storageIds: readonly number[];
}

type SlotsOf = Pick<Store, "slots">;

/** Whether a process restores into the store now. */
export async function isRestoring(rows: SystemRows, store: SlotsOf): Promise<boolean> {
  const row = await rows.read(holdName);
  return row !== undefined && (await isLive(decode(row), store));
}

/** Fault E_BACKUP where another process restores. */
export async function checkNotRestoring(rows: SystemRows, store: SlotsOf): Promise<void> {
  if (await isRestoring(rows, store)) throw busy();
}

/** Fault E_BACKUP where another process restores. */
export async function takeRestoreHold(store: Store, committer: ChangeSender): Promise<RestoreHold> {
  return await committer.retry(async () => {
    const snapshot = await store.snapshot();
    try {
      const before = await readOwnRow(snapshot, holdName);
      const held = before === undefined ? undefined : decode(before);
      if (held !== undefined && (await isLive(held, store))) throw busy();
      const row = encode(committer, []);
      const patches = [ownRowPatch(holdName, row, before), ...retire(held?.storageIds ?? [])];
      await committer.commitRows(snapshot, undefined, patches);
      return { row, storageIds: [] };
    } finally {
      snapshot.close();
    }
  });
}

/** With storage ids that nobody else is given, `count` of them. Fault E_BACKUP where the hold is lost. */
export async function fillRestoreHold(
  store: Store,
  committer: ChangeSender,
  { hold, count }: { readonly hold: RestoreHold; readonly count: number },
): Promise<RestoreHold> {
  return await committer.retry(async () => {
    const snapshot = await store.snapshot();
    try {
      const now = await readOwnRow(snapshot, holdName);
      if (now === undefined || !equalBytes(now, hold.row)) throw busy();
      const counters = await readCounters(snapshot);
      const { nextStorageId, nextNamespace } = counters.counters;
      const storageIds = Array.from({ length: count }, (_, i) => nextStorageId + i);
      const row = encode(committer, storageIds);
      await committer.commitRows(snapshot, undefined, [
        countersPatch({ nextStorageId: nextStorageId + count, nextNamespace }, counters),
        ownRowPatch(holdName, row, hold.row),
      ]);
      return { row, storageIds };
    } finally {
      snapshot.close();
    }
  });
}

function encode({ slot, floorTs }: ChangeSender, storageIds: readonly number[]): Uint8Array {
  return encodeUtf8([slot, floorTs, ...storageIds].join(" "));
}

/** Nothing comes of it: what was filled is swept. */
export async function dropRestoreHold(
  store: Store,
  committer: ChangeSender,
  { row, storageIds }: RestoreHold,
): Promise<void> {
  const snapshot = await store.snapshot();
  try {
    const patches = [ownRowPatch(holdName, undefined, row), ...retire(storageIds)];
    await committer.commitRows(snapshot, undefined, patches);
  } finally {
    snapshot.close();
  }
}

/** What a process that is gone has left. Whether another one holds it, which may be gone, too, and not be missed yet. */
export async function clearLostRestore(store: Store, committer: ChangeSender): Promise<boolean> {
  return await committer.retry(async () => {
    const snapshot = await store.snapshot();
    try {
      const row = await readOwnRow(snapshot, holdName);
      if (row === undefined) return false;
      const held = decode(row);
      if (await isLive(held, store)) return true;
      const patches = [ownRowPatch(holdName, undefined, row), ...retire(held.storageIds)];
      await committer.commitRows(snapshot, undefined, patches);
      return false;
    } finally {
      snapshot.close();
    }
  });
}

function retire(storageIds: readonly number[]): Patch[] {
  return storageIds.map((storageId) => retiredPatch({ kind: "storage", storageId, id: 0 }));
}

async function isLive({ slot, floorTs }: StoredHold, store: SlotsOf): Promise<boolean> {
  return (await store.slots()).get(slot) === floorTs;
}

function decode(row: Uint8Array): StoredHold {
  const [slot = 0, floorTs = 0, ...storageIds] = decodeUtf8(row).split(" ").map(Number);
  return { slot, floorTs, storageIds };
}

function busy(): Fault {
  return new Fault("E_BACKUP", "another restore operation is already running. Please retry later.");
}

/** Rows of a state for a store that is served already: what a restore brings (`PlacedRows`). */
import { chunkMembers, isHead, openChunkOf } from "../codec/chunk.ts";
import {
  globalStorageId,
  keyKind,
  kindRange,
  moveKey,
  readStorageId,
  storageRange,
} from "../codec/key.ts";
import type { PlacedRows, Snapshot } from "../store/store.ts";
import { decodeState, stateKey } from "./commit/state.ts";

interface KnownUids {
  /** None from here on was handed out. */
  readonly nextUid: number;
  /** Explicit ones above it. */
  readonly reserved: readonly number[];
}

/** Which uids a state has given out, or may not give out. */
export async function readUids(snapshot: Snapshot): Promise<KnownUids> {
  let state = decodeState(undefined);
  await snapshot.readMany([stateKey], (_, row) => (state = decodeState(row)));
  const reserved: number[] = [];
  await snapshot.scan(kindRange(globalStorageId, keyKind.reserved), (_key, row) => {
    const chunk = isHead(row) ? openChunkOf(row) : row;
    if (chunk !== undefined) reserved.push(...chunkMembers(chunk));
    return true;
  });
  return { nextUid: state.nextUid, reserved: reserved.filter((uid) => uid >= state.nextUid) };
}

/** All rows of a storage id under another one, some `bytes` of them at a time. */
export async function* readMovedRows(
  snapshot: Snapshot,
  { from, into, bytes }: { readonly from: number; readonly into: number; readonly bytes: number },
): AsyncGenerator<PlacedRows["rows"]> {
  const { start, end } = storageRange(from);
  for (let at: Uint8Array | undefined = start; at !== undefined;) {
    const rows: PlacedRows["rows"][number][] = [];
    let left = bytes;
    let next: Uint8Array | undefined;
    await snapshot.scan({ start: at, end }, (key, value) => {
      if (left <= 0) {
        next = key.slice();
        return false;
      }
      rows.push({ key: moveKey(key, into), value: value.slice() });
      left -= key.length + value.length;
      return true;
    });
    yield rows;
    at = next;
  }
}

/** How many rows each storage id has. */
export class StorageCounts {
  readonly #counts = new Map<number, number>();

  add(rows: readonly { readonly key: Uint8Array }[]): void {
    for (const { key } of rows) {
      const id = readStorageId(key);
      this.#counts.set(id, this.of(id) + 1);
    }
  }

  of(storageId: number): number {
    return this.#counts.get(storageId) ?? 0;
  }
}

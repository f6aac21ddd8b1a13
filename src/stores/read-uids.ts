/** Which uids a state has given out, or may not give out: for a store that gets its rows. */
import { chunkMembers, isHead, openChunkOf } from "../codec/chunk.ts";
import { globalStorageId, keyKind, kindRange } from "../codec/key.ts";
import type { Snapshot } from "../store/store.ts";
import { decodeState, stateKey } from "./commit/state.ts";

interface KnownUids {
  /** None from here on was handed out. */
  readonly nextUid: number;
  /** Explicit ones above it. */
  readonly reserved: readonly number[];
}

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

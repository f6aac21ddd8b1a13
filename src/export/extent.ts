/** How far the nodes of a namespace reach, for telling how far an export is. */
import { keyKind, kindRange, readRecordKey } from "../codec/key.ts";
import type { Schema } from "../graph/schema.ts";
import type { Snapshot } from "../store/store.ts";

/** The last node; 0 where there is none. */
export async function readLastUid(snapshot: Snapshot, { storageId }: Schema): Promise<number> {
  let last = 0;
  await snapshot.scan({ ...kindRange(storageId, keyKind.record), reverse: true }, (key) => {
    last = readRecordKey(key).uid;
    return false;
  });
  return last;
}

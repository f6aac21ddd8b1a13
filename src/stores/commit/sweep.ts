/** One slice of clearing what was dropped, inside of a write transaction (store.ts, SweepRequest). */
import {
  indexPrefix,
  keyKind,
  prefixRange,
  presenceList,
  storageRange,
  type KeyRange,
} from "../../codec/key.ts";
import type { SweepRequest, SweepResult } from "../../store/store.ts";
import type { Tuning } from "../apply/tuning.ts";
import { WorkingSet } from "../apply/working-set.ts";
import type { KeyValue } from "../key-value.ts";
import { readMembersAfter } from "./fill.ts";

export function runSweep(kv: KeyValue, tuning: Tuning, request: SweepRequest): SweepResult {
  const { storageId, limit } = request;
  switch (request.kind) {
    case "storage":
      return { done: removeRows(kv, [storageRange(storageId)], limit) };
    case "index": {
      const kinds = [keyKind.index, keyKind.reverse, keyKind.count] as const;
      const ranges = kinds.map((kind) => prefixRange(indexPrefix(storageId, kind, request.index)));
      return { done: removeRows(kv, ranges, limit) };
    }
    case "predicate":
      return { done: sweepPredicate(kv, tuning, request) };
  }
}

/** Whether nothing is left. */
function removeRows(kv: KeyValue, ranges: readonly KeyRange[], limit: number): boolean {
  const keys: Uint8Array[] = [];
  for (const range of ranges) {
    if (keys.length > limit) break;
    kv.scan(range, (key) => {
      keys.push(key.slice());
      return keys.length <= limit;
    });
  }
  for (const key of keys.slice(0, limit)) kv.remove(key);
  return keys.length <= limit;
}

function sweepPredicate(
  kv: KeyValue,
  tuning: Tuning,
  request: Extract<SweepRequest, { kind: "predicate" }>,
): boolean {
  const { storageId, predicate, limit } = request;
  const presence = presenceList(storageId, predicate);
  const uids = readMembersAfter(kv, presence, 0, limit);
  const working = new WorkingSet(kv, tuning);
  const list = working.openList(presence);
  for (const uid of uids) {
    working.openRecord(storageId, uid).clear(predicate);
    list.edit(uid, undefined);
  }
  working.flush();
  return uids.length < limit;
}

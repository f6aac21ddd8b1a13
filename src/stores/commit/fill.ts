/** One slice of filling an index, inside of a write transaction (store.ts, FillJob). */
import { chunkMembers, isHead, openChunkOf } from "../../codec/chunk.ts";
import { chunkKey, presenceList, readChunkNumber } from "../../codec/key.ts";
import type { Derive, FillJob, FillResult, Snapshot } from "../../store/store.ts";
import type { Tuning } from "../apply/tuning.ts";
import { WorkingSet } from "../apply/working-set.ts";
import { viewAsSnapshot, type KeyValue } from "../key-value.ts";
import { walkLog } from "../read-log.ts";
import type { StoreState } from "./state.ts";

interface FillHost {
  readonly kv: KeyValue;
  readonly tuning: Tuning;
  readonly state: StoreState;
  readonly derive: Derive;
}

export function runFill(host: FillHost, job: FillJob): Omit<FillResult, "tookMs"> {
  const { kv, state } = host;
  const list = presenceList(job.storageId, job.predicate);
  const uids = readMembersAfter(kv, list, job.after, job.limit);
  if (uids.length === 0 && job.limit > 0) return { after: job.after, done: true };
  const snapshot = viewAsSnapshot(kv, { ...state, ts: state.commitTs });
  const changed = findChanged(snapshot, job);
  if (changed === undefined) return { after: job.after, done: false };
  const patches = host.derive(snapshot, job, uids);
  const working = new WorkingSet(kv, host.tuning);
  for (const patch of patches) {
    if (patch.kind !== "member" || !changed.has(patch.member)) working.apply(patch);
  }
  working.endChange();
  working.flush();
  return { after: uids.at(-1) ?? job.after, done: job.limit === 0 || uids.length < job.limit };
}

/** Nodes that had a change of the predicate after the job's basis; undefined when the log does not tell. */
function findChanged(snapshot: Snapshot, job: FillJob): ReadonlySet<number> | undefined {
  const changed = new Set<number>();
  if (job.basisTs === undefined || job.basisTs >= snapshot.ts) return changed;
  const isKnown = walkLog(snapshot, job.basisTs, {
    begin: () => true,
    wantsMembers: false,
    record(storageId, uid, predicate) {
      if (storageId === job.storageId && predicate === job.predicate) changed.add(uid);
    },
    member() {},
    meta() {},
  });
  return isKnown === true ? changed : undefined;
}

/** The first `limit` members of a list that are greater than `after`. */
export function readMembersAfter(
  kv: KeyValue,
  list: Uint8Array,
  after: number,
  limit: number,
): Float64Array {
  if (limit === 0) return new Float64Array(0);
  const found: number[] = [];
  const take = (row: Uint8Array): boolean => {
    for (const uid of chunkMembers(row)) {
      if (uid > after && found.length < limit) found.push(uid);
    }
    return found.length < limit;
  };
  const row0 = kv.get(chunkKey(list, 0));
  if (row0 === undefined) return new Float64Array(0);
  if (!isHead(row0)) take(row0);
  else {
    const open = openChunkOf(row0)?.slice();
    const start = chunkKey(list, firstChunkFor(kv, list, after));
    kv.scan({ start, end: chunkKey(list, 2 ** 53) }, (_key, row) => take(row));
    if (open !== undefined) take(open);
  }
  return new Float64Array(found);
}

/** The number of the chunk that may hold members behind `after`. */
function firstChunkFor(kv: KeyValue, list: Uint8Array, after: number): number {
  let number = 1;
  const range = { start: chunkKey(list, 1), end: chunkKey(list, after + 1), reverse: true };
  if (after < 1) return number;
  kv.scan(range, (key) => {
    number = readChunkNumber(key);
    return false;
  });
  return number;
}

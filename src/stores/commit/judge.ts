/** Whether a change may be committed: fence, conflicts, basis, the schema's rows (architecture 4). */
import { equalBytes } from "../../base/bytes.ts";
import { StoreRefusal, type Change, type MetaPatch } from "../../store/store.ts";
import type { KeyValue } from "../key-value.ts";
import { ConflictMap } from "./conflict-map.ts";

/** Keys kept at most, by each of the two maps. */
const keysMaxDefault = 500_000;

/** Keys that the changes of the group at hand wrote; forgotten when the group is tried again. */
export interface GroupKeys {
  readonly conflict: Map<string, number>;
  readonly basis: Map<string, number>;
}

export function makeGroupKeys(): GroupKeys {
  return { conflict: new Map(), basis: new Map() };
}

export class Judge {
  private readonly conflicts: ConflictMap;
  private readonly bases: ConflictMap;

  /** A restarted writer knows nothing of what came before. */
  constructor(horizon: number, keysMax = keysMaxDefault) {
    this.conflicts = new ConflictMap(horizon, keysMax);
    this.bases = new ConflictMap(horizon, keysMax);
  }

  get horizon(): number {
    return this.conflicts.horizon;
  }

  /** undefined when the change may go on. */
  judge(change: Change, fence: number, kv: KeyValue, group: GroupKeys): StoreRefusal | undefined {
    if (change.fence < fence) return new StoreRefusal("fence");
    if (change.conflictKeys.length > 0) {
      if (change.startTs < this.conflicts.horizon) return new StoreRefusal("horizon");
      if (isTouched(this.conflicts, group.conflict, change.conflictKeys, change.startTs)) {
        return new StoreRefusal("conflict");
      }
    }
    if (change.basisKeys.length > 0) {
      if (change.basisTs < this.bases.horizon) return new StoreRefusal("basis");
      if (isTouched(this.bases, group.basis, change.basisKeys, change.basisTs)) {
        return new StoreRefusal("basis");
      }
    }
    for (const patch of change.patches) {
      if (patch.kind === "meta" && !isExpected(kv, patch)) return new StoreRefusal("schema");
    }
    return undefined;
  }

  record(group: GroupKeys): void {
    for (const [key, ts] of group.conflict) this.conflicts.record(key, ts);
    for (const [key, ts] of group.basis) this.bases.record(key, ts);
  }
}

export function noteKeys(group: GroupKeys, change: Change, commitTs: number): void {
  for (const key of change.conflictKeys) group.conflict.set(key, commitTs);
  for (const key of change.basisKeys) group.basis.set(key, commitTs);
}

function isTouched(
  map: ConflictMap,
  group: ReadonlyMap<string, number>,
  keys: readonly string[],
  ts: number,
): boolean {
  for (const key of keys) {
    const last = group.get(key) ?? map.lastCommit(key);
    if (last !== undefined && last > ts) return true;
  }
  return false;
}

function isExpected(kv: KeyValue, patch: MetaPatch): boolean {
  if (patch.expected === "any") return true;
  const stored = kv.get(patch.key);
  if (patch.expected === undefined) return stored === undefined;
  return stored !== undefined && equalBytes(stored, patch.expected);
}

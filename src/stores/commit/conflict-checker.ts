/** Whether a change may be committed: fence, conflicts, basis, the schema's rows (reference/transactions 4.6). */
import { ByteReader, ByteWriter, equalBytes } from "../../base/bytes.ts";
import { StoreRefusal, type Change, type MetaPatch } from "../../store/store.ts";
import type { KeyValue } from "../key-value.ts";
import { ConflictMap, KeyGroup } from "./conflict-map.ts";

/** Keys kept at most, by each of the maps. */
const keysMaxDefault = 500_000;

/** Keys that the changes of the group at hand wrote; forgotten when the group is tried again. */
export interface GroupKeys {
  readonly conflict: KeyGroup;
  readonly basis: KeyGroup;
  readonly touched: KeyGroup;
  readonly deleted: KeyGroup;
}

export class ConflictChecker {
  private readonly conflicts: ConflictMap;
  private readonly bases: ConflictMap;
  /** Nodes that were written to, and those that were deleted: each is judged against the other. */
  private readonly touched: ConflictMap;
  private readonly deleted: ConflictMap;
  /** Those that were recorded last: making tables costs more than filling them. */
  private spare: GroupKeys | undefined = undefined;

  /** A restarted writer knows nothing of what came before. */
  constructor(horizon: number, keysMax = keysMaxDefault) {
    this.conflicts = new ConflictMap(horizon, keysMax);
    this.bases = new ConflictMap(horizon, keysMax);
    this.touched = new ConflictMap(horizon, keysMax);
    this.deleted = new ConflictMap(horizon, keysMax);
  }

  get horizon(): number {
    return this.conflicts.horizon;
  }

  /** None yet. */
  beginGroup(): GroupKeys {
    const known = this.spare;
    this.spare = undefined;
    if (known !== undefined) return known;
    return {
      conflict: new KeyGroup(),
      basis: new KeyGroup(),
      touched: new KeyGroup(),
      deleted: new KeyGroup(),
    };
  }

  /** undefined when the change may go on. */
  checker(change: Change, fence: number, kv: KeyValue, group: GroupKeys): StoreRefusal | undefined {
    if (change.fence < fence) return new StoreRefusal("fence");
    if (change.conflictKeys.length > 0) {
      if (change.startTs < this.conflicts.horizon) return new StoreRefusal("horizon");
      if (this.conflicts.isTouched(change.conflictKeys, change.startTs, group.conflict)) {
        return new StoreRefusal("conflict");
      }
    }
    const nodes = this.checkNodes(change, group);
    if (nodes !== undefined) return nodes;
    if (change.basisKeys.length > 0) {
      if (change.basisTs < this.bases.horizon) return new StoreRefusal("basis");
      if (this.bases.isTouched(change.basisKeys, change.basisTs, group.basis)) {
        return new StoreRefusal("basis");
      }
    }
    for (const patch of change.patches) {
      if (patch.kind === "meta" && !isExpected(kv, patch)) return new StoreRefusal("schema");
    }
    return undefined;
  }

  private checkNodes(change: Change, group: GroupKeys): StoreRefusal | undefined {
    const { touched, deleted, startTs } = change;
    if (touched !== undefined && touched.length > 0) {
      if (startTs < this.deleted.horizon) return new StoreRefusal("horizon");
      if (this.deleted.isTouched(touched, startTs, group.deleted)) {
        return new StoreRefusal("conflict");
      }
    }
    if (deleted !== undefined && deleted.length > 0) {
      if (startTs < this.touched.horizon) return new StoreRefusal("horizon");
      if (this.touched.isTouched(deleted, startTs, group.touched)) {
        return new StoreRefusal("conflict");
      }
    }
    return undefined;
  }

  /** Keys of commits of another machine, in the order of the log; none of what was no group of changes. */
  recordShipped(keys: Uint8Array): void {
    if (keys.length === 0) return;
    const reader = new ByteReader(keys);
    for (const map of [this.conflicts, this.bases, this.touched, this.deleted]) {
      map.recordFrom(reader);
    }
  }

  /** The group is given away: it is not used afterwards. */
  record(group: GroupKeys): void {
    this.conflicts.recordGroup(group.conflict);
    this.bases.recordGroup(group.basis);
    this.touched.recordGroup(group.touched);
    this.deleted.recordGroup(group.deleted);
    group.conflict.clear();
    group.basis.clear();
    group.touched.clear();
    group.deleted.clear();
    this.spare = group;
  }
}

/** For machines that may judge later: what `recordShipped` of theirs reads. */
export function encodeKeys({ conflict, basis, touched, deleted }: GroupKeys): Uint8Array {
  const writer = new ByteWriter(256);
  for (const group of [conflict, basis, touched, deleted]) group.write(writer);
  return writer.finish();
}

export function noteKeys(group: GroupKeys, change: Change, commitTs: number): void {
  group.conflict.note(change.conflictKeys, commitTs);
  group.basis.note(change.basisKeys, commitTs);
  if (change.touched !== undefined) group.touched.note(change.touched, commitTs);
  if (change.deleted !== undefined) group.deleted.note(change.deleted, commitTs);
}

function isExpected(kv: KeyValue, patch: MetaPatch): boolean {
  if (patch.expected === "any") return true;
  const stored = kv.get(patch.key);
  if (patch.expected === undefined) return stored === undefined;
  return stored !== undefined && equalBytes(stored, patch.expected);
}

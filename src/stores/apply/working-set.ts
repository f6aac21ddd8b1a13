/**
 * The patches of a group of changes, applied inside one write transaction. Changes come one after the other, each
 * with its own account of what it changed; chunks and parts are written once, by `flush`.
 */
import { assert, must, unreachable } from "../../base/assert.ts";
import { emptyBytes, equalBytes } from "../../base/bytes.ts";
import { countList, presenceList, readStorageId } from "../../codec/key.ts";
import type {
  AppliedPatch,
  CellPatch,
  EdgePatch,
  MemberPatch,
  MetaPatch,
  Patch,
} from "../../store/store.ts";
import { keyText } from "../key-text.ts";
import { finishPieces, type KeyValue, type Pieces } from "../key-value.ts";
import { EditedChunk } from "./edited-chunk.ts";
import { Slots } from "./slots.ts";
import { defaultTuning, type Tuning } from "./tuning.ts";
import { WorkingList } from "./working-list.ts";
import { countEntry, WorkingRecord, type RecordHost, type WorkingEntry } from "./working-record.ts";

/** Rows of a piece of `flush`: some hundred microseconds. */
const rowsInPiece = 64;

/** A list whose count may have moved in the change at hand, and what it was before. */
interface TouchedList {
  readonly before: number;
  readonly countIndex: number;
  readonly owner: number;
}

export class WorkingSet implements RecordHost {
  readonly kv: KeyValue;
  readonly tuning: Tuning;
  private readonly records = new Map<number, Map<number, WorkingRecord>>();
  private readonly lists = new Map<string, WorkingList>();
  /** The same lists by the very bytes that named them first: patches of one process often share a list's name. */
  private readonly named = new Map<Uint8Array, WorkingList>();
  /** The lists that every new value touches, found without their keys: storage id → predicate. */
  private readonly presence = new Map<number, Map<number, WorkingList>>();
  private readonly touchedEntries: WorkingEntry[] = [];
  private touchedLists: Map<WorkingList, TouchedList> | undefined = undefined;
  private applied: AppliedPatch[] = [];
  private latestRecord: WorkingRecord | undefined = undefined;

  constructor(kv: KeyValue, tuning: Tuning = defaultTuning) {
    this.kv = kv;
    this.tuning = tuning;
  }

  apply(patch: Patch): void {
    switch (patch.kind) {
      case "cell":
        return this.applyCell(patch);
      case "edge":
        return this.applyEdge(patch);
      case "member":
        return this.applyMember(patch);
      case "meta":
        return this.applyMeta(patch);
      default:
        return unreachable(patch);
    }
  }

  /**
   * Ends the change at hand: presence and count lists follow what it did. Gives what changed, in order; undo goes
   * through it backwards.
   */
  endChange(): readonly AppliedPatch[] {
    const { touchedEntries, touchedLists, applied } = this;
    for (const entry of touchedEntries) this.followEntry(entry);
    touchedEntries.length = 0;
    if (touchedLists !== undefined) {
      for (const [list, touched] of touchedLists) {
        const storageId = readStorageId(list.prefix);
        this.moveCount(storageId, touched.countIndex, touched.owner, touched.before, list.count);
      }
      this.touchedLists = undefined;
    }
    this.applied = [];
    return applied;
  }

  /** Writes everything, before it returns. The working set is done with. */
  flush(): void {
    finishPieces(this.flushInPieces());
  }

  /** The same, a piece for some rows. */
  *flushInPieces(): Pieces<void> {
    let rows = 0;
    for (const storage of this.records.values()) {
      const uids = new Float64Array(storage.keys()).sort();
      for (const uid of uids) {
        must(storage.get(uid), "a key of it").flush();
        if (++rows % rowsInPiece === 0) yield;
      }
    }
    for (const key of [...this.lists.keys()].sort()) {
      must(this.lists.get(key), "a key of it").flush();
      if (++rows % rowsInPiece === 0) yield;
    }
  }

  openList(prefix: Uint8Array): WorkingList {
    const named = this.named.get(prefix);
    if (named !== undefined) return named;
    const text = keyText(prefix);
    let list = this.lists.get(text);
    if (list === undefined) {
      list = new WorkingList(this.kv, prefix, this.tuning);
      this.lists.set(text, list);
      this.named.set(prefix, list);
    }
    return list;
  }

  closeList(prefix: Uint8Array): void {
    const text = keyText(prefix);
    const list = this.lists.get(text);
    if (list === undefined) return;
    this.lists.delete(text);
    this.named.delete(list.prefix);
  }

  openRecord(storageId: number, uid: number): WorkingRecord {
    const latest = this.latestRecord;
    if (latest !== undefined && latest.uid === uid && latest.storageId === storageId) return latest;
    let storage = this.records.get(storageId);
    if (storage === undefined) this.records.set(storageId, (storage = new Map()));
    let record = storage.get(uid);
    if (record === undefined) {
      record = new WorkingRecord(this, storageId, uid);
      storage.set(uid, record);
    }
    this.latestRecord = record;
    return record;
  }

  private touch(entry: WorkingEntry, countIndex: number): void {
    if (entry.countBefore < 0) {
      entry.countBefore = countEntry(entry);
      entry.countIndex = countIndex;
      this.touchedEntries.push(entry);
    } else if (countIndex !== 0) entry.countIndex = countIndex;
  }

  private applyCell(patch: CellPatch): void {
    const entry = this.openRecord(patch.storageId, patch.uid).entry(patch.predicate);
    assert(
      entry.list === undefined && (entry.edges?.count ?? 0) === 0,
      "a predicate with edges takes no cells",
    );
    const before = entry.record.readCell(entry, patch.slot);
    const { cell } = patch;
    if (before === undefined && cell === undefined) return;
    if (before !== undefined && cell !== undefined && equalBytes(before, cell)) return;
    this.touch(entry, patch.countIndex);
    if (cell === undefined) entry.cells?.delete(patch.slot);
    else (entry.cells ??= new Slots()).set(patch.slot, cell);
    entry.isDirty = true;
    this.applied.push({ patch, existed: before !== undefined, before });
  }

  private applyEdge(patch: EdgePatch): void {
    const entry = this.openRecord(patch.storageId, patch.uid).entry(patch.predicate);
    assert(
      entry.cells === undefined || entry.cells.size === 0,
      "a predicate with cells takes no edges",
    );
    const { target } = patch;
    const before = (entry.list ?? entry.edges)?.find(target);
    const after = patch.add ? (patch.facets ?? emptyBytes) : undefined;
    if (before === undefined && after === undefined) return;
    if (before !== undefined && after !== undefined && equalBytes(before, after)) return;
    this.touch(entry, patch.countIndex);
    if (entry.list !== undefined) entry.list.edit(target, after);
    else {
      entry.isDirty = true;
      (entry.edges ??= new EditedChunk(undefined)).edit(target, after);
    }
    this.applied.push({ patch, existed: before !== undefined, before });
  }

  private applyMember(patch: MemberPatch): void {
    const list = this.openList(patch.list);
    const countBefore = list.count;
    if (!this.setMember(list, patch)) return;
    if (patch.countIndex === 0 || this.touchedLists?.has(list) === true) return;
    (this.touchedLists ??= new Map()).set(list, {
      before: countBefore,
      countIndex: patch.countIndex,
      owner: patch.owner,
    });
  }

  /** Whether it changed anything. */
  private setMember(list: WorkingList, patch: MemberPatch): boolean {
    const after = patch.add ? (patch.facets ?? emptyBytes) : undefined;
    const before = list.find(patch.member);
    if (before === undefined && after === undefined) return false;
    if (before !== undefined && after !== undefined && equalBytes(before, after)) return false;
    list.edit(patch.member, after);
    this.applied.push({ patch, existed: before !== undefined, before });
    return true;
  }

  private applyMeta(patch: MetaPatch): void {
    const before = this.kv.get(patch.key)?.slice();
    if (patch.value === undefined) {
      if (before !== undefined) this.kv.remove(patch.key);
    } else this.kv.put(patch.key, patch.value);
    this.applied.push({ patch, existed: before !== undefined, before });
  }

  private followEntry(entry: WorkingEntry): void {
    const { storageId, uid } = entry.record;
    const before = entry.countBefore;
    const after = countEntry(entry);
    entry.countBefore = -1;
    if ((before === 0) !== (after === 0)) {
      this.follow(this.openPresence(storageId, entry.predicate), uid, after > 0);
    }
    this.moveCount(storageId, entry.countIndex, uid, before, after);
  }

  private moveCount(
    storageId: number,
    countIndex: number,
    owner: number,
    before: number,
    after: number,
  ): void {
    if (countIndex === 0 || before === after) return;
    if (before > 0) {
      this.follow(this.openList(countList(storageId, countIndex, before)), owner, false);
    }
    if (after > 0) this.follow(this.openList(countList(storageId, countIndex, after)), owner, true);
  }

  private openPresence(storageId: number, predicate: number): WorkingList {
    let storage = this.presence.get(storageId);
    if (storage === undefined) this.presence.set(storageId, (storage = new Map()));
    let list = storage.get(predicate);
    if (list === undefined) {
      list = this.openList(presenceList(storageId, predicate));
      storage.set(predicate, list);
    }
    return list;
  }

  private follow(list: WorkingList, member: number, add: boolean): void {
    const patch: MemberPatch = {
      kind: "member",
      list: list.prefix,
      member,
      add,
      facets: undefined,
      countIndex: 0,
      owner: 0,
    };
    this.setMember(list, patch);
  }
}

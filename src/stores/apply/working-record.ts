/** One node's record inside of a write transaction: parts are read once, edits gather, `flush` writes what changed. */
import { assert, must } from "../../base/assert.ts";
import { emptyBytes } from "../../base/bytes.ts";
import { longList, recordKey, wideKey } from "../../codec/key.ts";
import {
  changeEntries,
  edgesFront,
  encodePart,
  entryKind,
  furtherParts,
  isWideStub,
  kindOfEntry,
  longEntry,
  makeWideStub,
  markEdges,
  readEntries,
  readEntry,
  splitEntries,
  visitCells,
  type EntryChange,
  type RecordEntry,
} from "../../codec/record.ts";
import type { KeyValue } from "../key-value.ts";
import { EditedChunk } from "./edited-chunk.ts";
import { Slots } from "./slots.ts";
import type { Members } from "./members.ts";
import type { Tuning } from "./tuning.ts";
import type { WorkingList } from "./working-list.ts";

/** One predicate of a node. Exactly one of cells, edges and list is there, none when it is empty. */
export interface WorkingEntry {
  readonly record: WorkingRecord;
  readonly predicate: number;
  cells: Slots | undefined;
  /** Short edges. */
  edges: EditedChunk | undefined;
  list: WorkingList | undefined;
  /** Slots that have a row of their own in the store. */
  wideSlots: Set<string> | undefined;
  isDirty: boolean;
  /** How many it had before the change at hand; -1 where that did not touch it. */
  countBefore: number;
  /** The index of counts that follows, 0 for none. */
  countIndex: number;
}

/** What a record needs of the transaction around it. */
export interface RecordHost {
  readonly kv: KeyValue;
  readonly tuning: Tuning;
  openList(prefix: Uint8Array): WorkingList;
  closeList(prefix: Uint8Array): void;
}

export class WorkingRecord {
  readonly storageId: number;
  readonly uid: number;
  private readonly host: RecordHost;
  /** First predicates of the parts besides part 0. */
  private further: readonly number[];
  /** Part 0 as stored; undefined for a new record. */
  private readonly row: Uint8Array | undefined;
  /** Further parts that were read, by their first predicates. */
  private laterRows: Map<number, Uint8Array> | undefined = undefined;
  private readonly entries = new Map<number, WorkingEntry>();

  constructor(host: RecordHost, storageId: number, uid: number) {
    this.host = host;
    this.storageId = storageId;
    this.uid = uid;
    this.row = host.kv.get(recordKey(storageId, uid))?.slice();
    this.further = this.row === undefined ? noParts : furtherParts(this.row);
  }

  entry(predicate: number): WorkingEntry {
    let entry = this.entries.get(predicate);
    if (entry === undefined) {
      entry = this.loadEntry(predicate);
      this.entries.set(predicate, entry);
    }
    return entry;
  }

  private loadEntry(predicate: number): WorkingEntry {
    const entry: WorkingEntry = {
      record: this,
      predicate,
      cells: undefined,
      edges: undefined,
      list: undefined,
      wideSlots: undefined,
      isDirty: false,
      countBefore: -1,
      countIndex: 0,
    };
    if (this.row === undefined) return entry;
    const row = this.part(this.partFirst(predicate));
    const bytes = row === undefined ? undefined : readEntry(row, predicate);
    if (bytes === undefined) return entry;
    switch (kindOfEntry(bytes)) {
      case entryKind.cells:
        this.loadCells(entry, bytes);
        return entry;
      case entryKind.edges:
        entry.edges = new EditedChunk(bytes, edgesFront);
        return entry;
      case entryKind.long:
        entry.list = this.host.openList(longList(this.storageId, predicate, this.uid));
        return entry;
      default:
        assert(false, "a record's entry has a known kind");
    }
  }

  private loadCells(entry: WorkingEntry, bytes: Uint8Array): void {
    const cells = new Slots();
    visitCells(bytes, (slot, cell) => {
      cells.set(slot, cell);
      if (isWideStub(cell)) (entry.wideSlots ??= new Set()).add(slot);
    });
    entry.cells = cells;
  }

  /** The first predicate of the part that holds `predicate`, or would. */
  private partFirst(predicate: number): number {
    let found = 0;
    for (const first of this.further) {
      if (first > predicate) break;
      found = first;
    }
    return found;
  }

  /** As stored; undefined for a new record. */
  private part(first: number): Uint8Array | undefined {
    if (first === 0) return this.row;
    let row = this.laterRows?.get(first);
    if (row === undefined) {
      row = this.host.kv.get(recordKey(this.storageId, this.uid, first))?.slice();
      assert(row !== undefined, "a record's first part names the others");
      (this.laterRows ??= new Map()).set(first, row);
    }
    return row;
  }

  /** The cell of a slot, read from its own row when it is wide. */
  readCell(entry: WorkingEntry, slot: string): Uint8Array | undefined {
    const cell = entry.cells?.get(slot);
    if (cell === undefined || !isWideStub(cell)) return cell;
    const wide = this.host.kv.get(wideKey(this.storageId, entry.predicate, this.uid, slot));
    assert(wide !== undefined, "a wide cell has its row");
    return wide.slice();
  }

  /** Everything of a predicate goes, rows of its own included (a sweep). */
  clear(predicate: number): void {
    const entry = this.entry(predicate);
    entry.list?.drop();
    this.host.closeList(longList(this.storageId, predicate, this.uid));
    entry.cells = undefined;
    entry.edges = undefined;
    entry.list = undefined;
    entry.isDirty = true;
  }

  /** Writes what changed. The record is done with. Long lists are written by the transaction. */
  flush(): void {
    const touched: WorkingEntry[] = [];
    for (const entry of this.entries.values()) {
      if (!entry.isDirty && entry.list === undefined) continue;
      if (this.settle(entry)) touched.push(entry);
    }
    if (touched.length === 0) return;
    if (touched.length > 1) touched.sort((a, b) => a.predicate - b.predicate);
    if (this.further.length === 0) this.flushWhole(touched);
    else this.flushParts(touched);
  }

  /** Moves edges between record and list, and wide cells out and in. Whether the entry's bytes change. */
  private settle(entry: WorkingEntry): boolean {
    if (entry.list !== undefined) return this.settleList(entry, entry.list);
    if (entry.edges !== undefined) this.settleEdges(entry, entry.edges);
    this.settleWide(entry);
    return entry.isDirty;
  }

  private settleList(entry: WorkingEntry, list: WorkingList): boolean {
    const { tuning } = this.host;
    if (list.count >= tuning.shortEdgesBack) return entry.isDirty;
    const { uids, facets } = list.readAll();
    if (edgeBytes({ uids, facets }) > tuning.shortEdgeBytesBack) return entry.isDirty;
    list.drop();
    this.host.closeList(list.prefix);
    entry.list = undefined;
    entry.edges = uids.length === 0 ? undefined : new EditedChunk(undefined);
    for (let i = 0; i < uids.length; i++) {
      must(entry.edges, "an entry of edges was opened").edit(
        must(uids[i], "within bounds"),
        facets.get(i) ?? emptyBytes,
      );
    }
    entry.isDirty = true;
    return true;
  }

  private settleEdges(entry: WorkingEntry, edges: EditedChunk): void {
    const { shortEdgesMax, shortEdgeBytesMax } = this.host.tuning;
    const bytes = edges.isPlain ? 3 * edges.count : edgeBytes(edges.members());
    if (edges.count <= shortEdgesMax && bytes <= shortEdgeBytesMax) return;
    const list = this.host.openList(longList(this.storageId, entry.predicate, this.uid));
    const { uids, facets } = edges.members();
    for (let i = 0; i < uids.length; i++)
      list.edit(must(uids[i], "within bounds"), facets.get(i) ?? emptyBytes);
    entry.edges = undefined;
    entry.list = list;
    entry.isDirty = true;
  }

  private settleWide(entry: WorkingEntry): void {
    const { kv, tuning } = this.host;
    const { cells, wideSlots, predicate } = entry;
    if (wideSlots !== undefined) {
      for (const slot of wideSlots) {
        const cell = cells?.get(slot);
        if (cell !== undefined && (isWideStub(cell) || cell.length > tuning.cellBytesMax)) continue;
        kv.remove(wideKey(this.storageId, predicate, this.uid, slot));
      }
    }
    if (cells === undefined) return;
    const { only } = cells;
    if (only !== undefined && only.length <= tuning.cellBytesMax) return;
    for (const [slot, cell] of cells.all()) {
      if (cell.length <= tuning.cellBytesMax) continue;
      kv.put(wideKey(this.storageId, predicate, this.uid, slot), cell);
      cells.set(slot, makeWideStub());
    }
  }

  private flushWhole(touched: readonly WorkingEntry[]): void {
    const { kv, tuning } = this.host;
    const key = recordKey(this.storageId, this.uid);
    const row = changeEntries(this.row, touched.map(changeOf));
    if (row === undefined) {
      if (this.row !== undefined) kv.remove(key);
      return;
    }
    if (row.length <= tuning.partBytesMax) {
      kv.put(key, row);
      return;
    }
    const groups = splitEntries(readEntries(row), tuning.partBytesMax);
    this.writeGroups(0, groups, groups.slice(1).map(firstOf));
  }

  private flushParts(touched: readonly WorkingEntry[]): void {
    const { kv, tuning } = this.host;
    const byPart = new Map<number, WorkingEntry[]>();
    for (const entry of touched) {
      const first = this.partFirst(entry.predicate);
      const ofPart = byPart.get(first);
      if (ofPart === undefined) byPart.set(first, [entry]);
      else ofPart.push(entry);
    }
    const further: number[] = [];
    let part0: RecordEntry[] = [];
    let isTableChanged = byPart.has(0);
    for (const first of [0, ...this.further]) {
      const ofPart = byPart.get(first);
      if (ofPart === undefined) {
        if (first === 0) part0 = readEntries(must(this.row, "a record that is stored has its row"));
        else further.push(first);
        continue;
      }
      const entries = mergeEntries(
        readEntries(must(this.part(first), "a part that is named is stored")),
        ofPart,
      );
      if (entries.length === 0 && first !== 0) {
        kv.remove(recordKey(this.storageId, this.uid, first));
        isTableChanged = true;
        continue;
      }
      const groups = splitEntries(entries, tuning.partBytesMax);
      if (groups.length > 1) isTableChanged = true;
      const [own, ...split] = groups;
      const entriesHere = must(own, "entries make at least one part");
      if (first === 0) part0 = entriesHere;
      else {
        further.push(first);
        kv.put(recordKey(this.storageId, this.uid, first), encodePart(entriesHere));
      }
      for (const group of split) {
        further.push(firstOf(group));
        kv.put(recordKey(this.storageId, this.uid, firstOf(group)), encodePart(group));
      }
    }
    if (!isTableChanged) return;
    const key = recordKey(this.storageId, this.uid);
    if (part0.length === 0 && further.length === 0) kv.remove(key);
    else kv.put(key, encodePart(part0, further));
  }

  private writeGroups(
    first: number,
    groups: readonly (readonly RecordEntry[])[],
    further: readonly number[],
  ): void {
    const { kv } = this.host;
    kv.put(
      recordKey(this.storageId, this.uid, first),
      encodePart(must(groups[0], "entries make at least one part"), further),
    );
    for (const group of groups.slice(1)) {
      kv.put(recordKey(this.storageId, this.uid, firstOf(group)), encodePart(group));
    }
  }
}

const noParts: readonly number[] = [];

/** The predicate that a part is found by. */
function firstOf(part: readonly RecordEntry[]): number {
  return must(part[0], "a part that was split has entries").predicate;
}

/** Number of cells or edges of an entry, with all edits so far. */
export function countEntry(entry: WorkingEntry): number {
  return entry.list?.count ?? entry.edges?.count ?? entry.cells?.size ?? 0;
}

/** What decides whether edges are few enough for a record. */
function edgeBytes({ uids, facets }: Members): number {
  let bytes = 3 * uids.length;
  for (const held of facets.values()) bytes += held.length;
  return bytes;
}

function changeOf(entry: WorkingEntry): EntryChange {
  const { predicate, list, cells } = entry;
  const cell = list === undefined ? cells?.only : undefined;
  if (cell !== undefined) return { predicate, bytes: cell, isCell: true };
  return { predicate, bytes: encodeEntry(entry), isCell: false };
}

function encodeEntry({ list, cells, edges }: WorkingEntry): Uint8Array | undefined {
  if (list !== undefined) return longEntry;
  if (cells !== undefined && cells.size > 0) return cells.encode();
  const entry = edges?.encode(edgesFront);
  if (entry !== undefined) markEdges(entry);
  return entry;
}

/** `touched` ascends by predicate. */
function mergeEntries(
  stored: readonly RecordEntry[],
  touched: readonly WorkingEntry[],
): RecordEntry[] {
  const merged: RecordEntry[] = [];
  let at = 0;
  for (const entry of touched) {
    const { predicate } = entry;
    while (at < stored.length && must(stored[at], "within bounds").predicate < predicate)
      merged.push(must(stored[at++], "within bounds"));
    if (stored[at]?.predicate === predicate) at++;
    const bytes = encodeEntry(entry);
    if (bytes !== undefined) merged.push({ predicate, bytes });
  }
  while (at < stored.length) merged.push(must(stored[at++], "within bounds"));
  return merged;
}

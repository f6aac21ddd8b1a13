/** One node's record inside of a write transaction: parts are read once, edits gather, `flush` writes what changed. */
import { assert } from "../../base/assert.ts";
import { emptyBytes } from "../../base/bytes.ts";
import { chunkFacets, chunkMembers, encodeChunk } from "../../codec/chunk.ts";
import { longList, recordKey, wideKey } from "../../codec/key.ts";
import {
  encodeCells,
  encodeEdges,
  encodePart,
  entryChunk,
  entryKind,
  furtherParts,
  isWideStub,
  kindOfEntry,
  longEntry,
  makeWideStub,
  readEntries,
  readEntry,
  splitEntries,
  visitCells,
  type RecordEntry,
} from "../../codec/record.ts";
import type { KeyValue } from "../key-value.ts";
import type { Tuning } from "./tuning.ts";
import type { WorkingList } from "./working-list.ts";

/** One predicate of a node. Exactly one of cells, edges and list is there, none when it is empty. */
export interface WorkingEntry {
  readonly record: WorkingRecord;
  readonly predicate: number;
  cells: Map<string, Uint8Array> | undefined;
  /** Short edges: target → facets, empty for none. */
  edges: Map<number, Uint8Array> | undefined;
  list: WorkingList | undefined;
  /** Slots that have a row of their own in the store. */
  wideSlots: Set<string> | undefined;
  isDirty: boolean;
}

/** What a record needs of the transaction around it. */
export interface RecordHost {
  readonly kv: KeyValue;
  readonly tuning: Tuning;
  openList(prefix: Uint8Array): WorkingList;
  closeList(prefix: Uint8Array): void;
}

interface WorkingPart {
  readonly first: number;
  /** As stored; undefined for a new record. */
  readonly row: Uint8Array | undefined;
}

export class WorkingRecord {
  readonly storageId: number;
  readonly uid: number;
  private readonly host: RecordHost;
  /** First predicates of the parts besides part 0. */
  private further: readonly number[];
  private readonly parts = new Map<number, WorkingPart>();
  private readonly entries = new Map<number, WorkingEntry>();

  constructor(host: RecordHost, storageId: number, uid: number) {
    this.host = host;
    this.storageId = storageId;
    this.uid = uid;
    const row = host.kv.get(recordKey(storageId, uid))?.slice();
    this.parts.set(0, { first: 0, row });
    this.further = row === undefined ? [] : furtherParts(row);
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
    };
    const { row } = this.part(this.partFirst(predicate));
    const bytes = row === undefined ? undefined : readEntry(row, predicate);
    if (bytes === undefined) return entry;
    switch (kindOfEntry(bytes)) {
      case entryKind.cells:
        this.loadCells(entry, bytes);
        return entry;
      case entryKind.edges:
        entry.edges = loadEdges(entryChunk(bytes));
        return entry;
      case entryKind.long:
        entry.list = this.host.openList(longList(this.storageId, predicate, this.uid));
        return entry;
      default:
        assert(false, "a record's entry has a known kind");
    }
  }

  private loadCells(entry: WorkingEntry, bytes: Uint8Array): void {
    const cells = new Map<string, Uint8Array>();
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

  private part(first: number): WorkingPart {
    let part = this.parts.get(first);
    if (part === undefined) {
      const row = this.host.kv.get(recordKey(this.storageId, this.uid, first))?.slice();
      assert(row !== undefined, "a record's first part names the others");
      part = { first, row };
      this.parts.set(first, part);
    }
    return part;
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
    const byPart = new Map<number, WorkingEntry[]>();
    for (const entry of this.entries.values()) {
      if (!entry.isDirty && entry.list === undefined) continue;
      if (!this.settle(entry)) continue;
      const first = this.partFirst(entry.predicate);
      const touched = byPart.get(first);
      if (touched === undefined) byPart.set(first, [entry]);
      else touched.push(entry);
    }
    if (byPart.size === 0) return;
    if (this.further.length === 0) this.flushWhole(byPart.get(0)!);
    else this.flushParts(byPart);
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
    const edges = new Map<number, Uint8Array>();
    let bytes = 0;
    for (let i = 0; i < uids.length; i++) {
      const held = facets.get(i) ?? emptyBytes;
      bytes += 3 + held.length;
      edges.set(uids[i]!, held);
    }
    if (bytes > tuning.shortEdgeBytesBack) return entry.isDirty;
    list.drop();
    this.host.closeList(list.prefix);
    entry.list = undefined;
    entry.edges = edges.size === 0 ? undefined : edges;
    entry.isDirty = true;
    return true;
  }

  private settleEdges(entry: WorkingEntry, edges: Map<number, Uint8Array>): void {
    const { tuning } = this.host;
    let isLong = edges.size > tuning.shortEdgesMax;
    if (!isLong) {
      let bytes = 0;
      for (const facets of edges.values()) bytes += 3 + facets.length;
      isLong = bytes > tuning.shortEdgeBytesMax;
    }
    if (!isLong) return;
    const list = this.host.openList(longList(this.storageId, entry.predicate, this.uid));
    for (const [target, facets] of edges) list.edit(target, facets);
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
    for (const [slot, cell] of cells) {
      if (cell.length <= tuning.cellBytesMax) continue;
      kv.put(wideKey(this.storageId, predicate, this.uid, slot), cell);
      cells.set(slot, makeWideStub());
    }
  }

  private flushWhole(touched: readonly WorkingEntry[]): void {
    const { row } = this.parts.get(0)!;
    const entries = mergeEntries(row === undefined ? [] : readEntries(row), touched);
    const key = recordKey(this.storageId, this.uid);
    if (entries.length === 0) {
      if (row !== undefined) this.host.kv.remove(key);
      return;
    }
    const groups = splitEntries(entries, this.host.tuning.partBytesMax);
    this.writeGroups(
      0,
      groups,
      groups.slice(1).map((group) => group[0]!.predicate),
    );
  }

  private flushParts(byPart: ReadonlyMap<number, readonly WorkingEntry[]>): void {
    const { kv, tuning } = this.host;
    const further: number[] = [];
    let part0: RecordEntry[] = [];
    let isTableChanged = byPart.has(0);
    for (const first of [0, ...this.further]) {
      const touched = byPart.get(first);
      if (touched === undefined) {
        if (first === 0) part0 = readEntries(this.parts.get(0)!.row!);
        else further.push(first);
        continue;
      }
      const entries = mergeEntries(readEntries(this.part(first).row!), touched);
      if (entries.length === 0 && first !== 0) {
        kv.remove(recordKey(this.storageId, this.uid, first));
        isTableChanged = true;
        continue;
      }
      const groups = splitEntries(entries, tuning.partBytesMax);
      if (groups.length > 1) isTableChanged = true;
      if (first === 0) part0 = groups[0]!;
      else {
        further.push(first);
        kv.put(recordKey(this.storageId, this.uid, first), encodePart(groups[0]!));
      }
      for (const group of groups.slice(1)) {
        further.push(group[0]!.predicate);
        kv.put(recordKey(this.storageId, this.uid, group[0]!.predicate), encodePart(group));
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
    kv.put(recordKey(this.storageId, this.uid, first), encodePart(groups[0]!, further));
    for (const group of groups.slice(1)) {
      kv.put(recordKey(this.storageId, this.uid, group[0]!.predicate), encodePart(group));
    }
  }
}

/** Number of cells or edges of an entry, with all edits so far. */
export function countEntry(entry: WorkingEntry): number {
  return entry.list?.count ?? entry.edges?.size ?? entry.cells?.size ?? 0;
}

function loadEdges(chunk: Uint8Array): Map<number, Uint8Array> {
  const uids = chunkMembers(chunk);
  const facets = chunkFacets(chunk);
  const edges = new Map<number, Uint8Array>();
  for (let i = 0; i < uids.length; i++) edges.set(uids[i]!, facets.get(i) ?? emptyBytes);
  return edges;
}

function encodeEntry(entry: WorkingEntry): Uint8Array | undefined {
  if (entry.list !== undefined) return longEntry;
  if (entry.cells !== undefined && entry.cells.size > 0) return encodeCells(entry.cells);
  if (entry.edges === undefined || entry.edges.size === 0) return undefined;
  const uids = Float64Array.from(entry.edges.keys()).sort();
  const facets = new Map<number, Uint8Array>();
  for (let i = 0; i < uids.length; i++) {
    const held = entry.edges.get(uids[i]!)!;
    if (held.length > 0) facets.set(i, held);
  }
  return encodeEdges(encodeChunk(uids, facets));
}

function mergeEntries(
  stored: readonly RecordEntry[],
  touched: readonly WorkingEntry[],
): RecordEntry[] {
  const news = touched.toSorted((a, b) => a.predicate - b.predicate);
  const merged: RecordEntry[] = [];
  let at = 0;
  for (const entry of news) {
    const { predicate } = entry;
    while (at < stored.length && stored[at]!.predicate < predicate) merged.push(stored[at++]!);
    if (stored[at]?.predicate === predicate) at++;
    const bytes = encodeEntry(entry);
    if (bytes !== undefined) merged.push({ predicate, bytes });
  }
  while (at < stored.length) merged.push(stored[at++]!);
  return merged;
}

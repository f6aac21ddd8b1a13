/**
 * A node's record (reference/storage 3): one or more **parts**, each a table of predicates and their **entries**.
 *
 * Part:  flags u8 | further parts: count u16, first predicates u32… (part 0 only, when flagged) | predicates u16 |
 *        (predicate id u32, end of its entry u32)… ascending | entries. Ends count from the first entry's begin.
 * Entry: kind u8, then
 *        cells  count varint | (slot latin1 run, cell run)… by slot
 *        edges  chunk (`codec/chunk.ts`): targets with their facets
 *        long   nothing: the edges are rows of their own
 * A cell of one byte (`isWideStub`) stands for one that lies in a row of its own (wideKey).
 * All functions work on the bytes in place: a part may be lent, a cache may keep a copy.
 */
import { StoredCell } from "./cell.ts";
import { assert, must } from "../base/assert.ts";
import {
  ByteReader,
  readUint16,
  readUint32,
  varintSize,
  writeUint16,
  writeUint32,
  writeVarint,
} from "../base/bytes.ts";
import { chunkCount } from "./chunk.ts";

export const entryKind = { cells: 1, edges: 2, long: 3 } as const;
type EntryKind = (typeof entryKind)[keyof typeof entryKind];

/** Parts are split above it, at predicate borders; a single larger predicate has a part of its own. */
export const partBytesMax = 8192;
/** A larger cell is wide. */
export const cellBytesMax = 1024;
/** A larger edge list is long … */
export const shortEdgesMax = 32;
export const shortEdgeBytesMax = 512;
/** … and comes back only below a quarter. */
export const shortEdgesBack = 8;
export const shortEdgeBytesBack = 128;

const flagFurther = 1;
const tableRow = 8;

/** One predicate of a part. `bytes` is the entry, shared with the part. */
export interface RecordEntry {
  readonly predicate: number;
  readonly bytes: Uint8Array;
}

/** Where the table begins (its count). */
function tableAt(part: Uint8Array): number {
  return (must(part[0], "a part has its flags") & flagFurther) === 0
    ? 1
    : 3 + 4 * readUint16(part, 1);
}

/** First predicates of the parts besides part 0, ascending; usually none. Only part 0 knows. */
export function furtherParts(part: Uint8Array): readonly number[] {
  if ((must(part[0], "a part has its flags") & flagFurther) === 0) return [];
  const firsts: number[] = [];
  for (let i = 0, count = readUint16(part, 1); i < count; i++)
    firsts.push(readUint32(part, 3 + 4 * i));
  return firsts;
}

/** Whether part 0 is the whole record. */
export function isWholeRecord(part: Uint8Array): boolean {
  return (must(part[0], "a part has its flags") & flagFurther) === 0;
}

/** The first predicate of the part that would hold `predicate`; 0 for part 0. */
export function partOf(part0: Uint8Array, predicate: number): number {
  if ((must(part0[0], "a part has its flags") & flagFurther) === 0) return 0;
  let found = 0;
  for (let i = 0, count = readUint16(part0, 1); i < count; i++) {
    const first = readUint32(part0, 3 + 4 * i);
    if (first > predicate) break;
    found = first;
  }
  return found;
}

export function predicateCount(part: Uint8Array): number {
  return readUint16(part, tableAt(part));
}

export function predicatesOf(part: Uint8Array): number[] {
  const table = tableAt(part);
  const predicates: number[] = [];
  for (let i = 0, count = readUint16(part, table); i < count; i++) {
    predicates.push(readUint32(part, table + 2 + i * tableRow));
  }
  return predicates;
}

/** The row of a predicate in a part's table, or -1. */
function findRow(part: Uint8Array, table: number, predicate: number): number {
  const count = readUint16(part, table);
  const rows = table + 2;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (readUint32(part, rows + middle * tableRow) < predicate) low = middle + 1;
    else high = middle;
  }
  return low < count && readUint32(part, rows + low * tableRow) === predicate ? low : -1;
}

/** The entry of a predicate, sharing the part's memory. */
export function readEntry(part: Uint8Array, predicate: number): Uint8Array | undefined {
  const table = tableAt(part);
  const row = findRow(part, table, predicate);
  if (row < 0) return undefined;
  const rows = table + 2;
  const entries = rows + readUint16(part, table) * tableRow;
  const begin = row === 0 ? 0 : readUint32(part, rows + row * tableRow - 4);
  return part.subarray(entries + begin, entries + readUint32(part, rows + row * tableRow + 4));
}

/**
 * Hot: the decoded entry of a predicate: its cells, the chunk of its short edges, "long", or "wide" where a cell lies in
 * a row of its own. Cells share the part's memory; no view is made for an entry or a cell.
 */
export function decodeEntry(
  part: Uint8Array,
  predicate: number,
): StoredCell[] | Uint8Array | "long" | "wide" | undefined {
  const table = tableAt(part);
  const row = findRow(part, table, predicate);
  if (row < 0) return undefined;
  const rows = table + 2;
  const entries = rows + readUint16(part, table) * tableRow;
  const begin = entries + (row === 0 ? 0 : readUint32(part, rows + row * tableRow - 4));
  const end = entries + readUint32(part, rows + row * tableRow + 4);
  switch (part[begin]) {
    case entryKind.cells:
      return decodeCellsAt(part, begin + 1, end);
    case entryKind.edges:
      return part.subarray(begin + 1, end);
    default:
      return "long";
  }
}

function decodeCellsAt(part: Uint8Array, begin: number, end: number): StoredCell[] | "wide" {
  const count = readSize(part, begin);
  let at = sizeEnd(part, begin);
  let cells: StoredCell[] | undefined;
  for (let i = 0; i < count; i++) {
    const slotSize = readSize(part, at);
    at = sizeEnd(part, at) + slotSize;
    const size = readSize(part, at);
    at = sizeEnd(part, at);
    if (size === 1) return "wide";
    const cell = new StoredCell(part, at, at + size);
    // A literal holds one, what is pushed to first makes room for seventeen; most entries are one cell.
    if (cells === undefined) cells = [cell];
    else cells.push(cell);
    at += size;
  }
  assert(at === end, "an entry ends with its last cell");
  return cells ?? [];
}

/** A varint's value; nearly all are one byte. */
function readSize(bytes: Uint8Array, at: number): number {
  let byte = must(bytes[at], "an entry is whole");
  let value = byte & 0x7f;
  for (let shift = 7; byte >= 0x80; shift += 7) {
    byte = must(bytes[++at], "an entry is whole");
    value += (byte & 0x7f) * 2 ** shift;
  }
  return value;
}

/** Behind a varint. */
function sizeEnd(bytes: Uint8Array, at: number): number {
  while (must(bytes[at], "an entry is whole") >= 0x80) at++;
  return at + 1;
}

/** All entries of a part in order, sharing its memory. */
export function readEntries(part: Uint8Array): RecordEntry[] {
  const table = tableAt(part);
  const count = readUint16(part, table);
  const rows = table + 2;
  const base = rows + count * tableRow;
  const entries: RecordEntry[] = [];
  let begin = base;
  for (let i = 0; i < count; i++) {
    const end = base + readUint32(part, rows + i * tableRow + 4);
    entries.push({
      predicate: readUint32(part, rows + i * tableRow),
      bytes: part.subarray(begin, end),
    });
    begin = end;
  }
  assert(begin === part.length, "a record's part ends with its last entry");
  return entries;
}

export function kindOfEntry(entry: Uint8Array): EntryKind {
  return entry[0] as EntryKind;
}

/** Number of cells or short edges; -1 for long lists, whose head says it. */
export function entryCount(entry: Uint8Array): number {
  switch (entry[0]) {
    case entryKind.cells:
      return new ByteReader(entry, 1).varint();
    case entryKind.edges:
      return chunkCount(entry.subarray(1));
    default:
      return -1;
  }
}

/** The chunk of short edges (`decodeChunk`, `visitChunkFacets`), sharing the entry's memory. */
export function entryChunk(entry: Uint8Array): Uint8Array {
  return entry.subarray(edgesFront);
}

/** Calls `visit` with each slot and its cell (lent), in the order of slots. */
export function visitCells(
  entry: Uint8Array,
  visit: (slot: string, cell: Uint8Array) => void,
): void {
  walkCells(entry, (slotAt, slotEnd, cellAt, cellEnd) => {
    let slot = "";
    for (let i = slotAt; i < slotEnd; i++)
      slot += String.fromCharCode(must(entry[i], "an entry is whole"));
    visit(slot, entry.subarray(cellAt, cellEnd));
  });
}

/** As visitCells, for readers that do not ask for slots. */
export function visitCellBytes(entry: Uint8Array, visit: (cell: Uint8Array) => void): void {
  walkCells(entry, (_slotAt, _slotEnd, cellAt, cellEnd) => visit(entry.subarray(cellAt, cellEnd)));
}

/** Cells as places in the entry; numbers are read in place, a reader object cost four times as much. */
function walkCells(
  entry: Uint8Array,
  visit: (slotAt: number, slotEnd: number, cellAt: number, cellEnd: number) => void,
): void {
  let at = 1;
  let value = 0;
  const readNumber = (): void => {
    let byte = must(entry[at++], "an entry is whole");
    value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = must(entry[at++], "an entry is whole");
      value += (byte & 0x7f) * 2 ** shift;
    }
  };
  readNumber();
  for (let left = value; left > 0; left--) {
    readNumber();
    const slotAt = at;
    const slotEnd = slotAt + value;
    at = slotEnd;
    readNumber();
    const cellAt = at;
    at += value;
    visit(slotAt, slotEnd, cellAt, at);
  }
  assert(at === entry.length, "an entry ends with its last cell");
}

export function encodeCells(cells: ReadonlyMap<string, Uint8Array>): Uint8Array {
  if (cells.size === 1) {
    for (const [slot, cell] of cells) if (slot === "") return encodeOneCell(cell);
  }
  const slots = [...cells.keys()].sort();
  let size = 1 + varintSize(slots.length);
  for (const [slot, cell] of cells) {
    size += varintSize(slot.length) + slot.length + varintSize(cell.length) + cell.length;
  }
  const entry = new Uint8Array(size);
  entry[0] = entryKind.cells;
  let at = writeVarint(entry, 1, slots.length);
  for (const slot of slots) {
    const cell = must(cells.get(slot), "each slot has its cell");
    at = writeVarint(entry, at, slot.length);
    for (let i = 0; i < slot.length; i++) entry[at++] = slot.charCodeAt(i);
    at = writeVarint(entry, at, cell.length);
    entry.set(cell, at);
    at += cell.length;
  }
  return entry;
}

/** Most entries: one value without a tag. */
function encodeOneCell(cell: Uint8Array): Uint8Array {
  const entry = new Uint8Array(oneCellSize(cell));
  writeOneCell(entry, 0, cell);
  return entry;
}

function oneCellSize(cell: Uint8Array): number {
  return 3 + varintSize(cell.length) + cell.length;
}

function writeOneCell(target: Uint8Array, at: number, cell: Uint8Array): void {
  target[at] = entryKind.cells;
  target[at + 1] = 1;
  target[at + 2] = 0;
  target.set(cell, writeVarint(target, at + 3, cell.length));
}

/** Bytes of an edges entry in front of its chunk. */
export const edgesFront = 1;

/** Makes an entry of a chunk behind `edgesFront` bytes, in place. */
export function markEdges(entry: Uint8Array): void {
  entry[0] = entryKind.edges;
}

export const longEntry: Uint8Array = Uint8Array.of(entryKind.long);

const wideStub: Uint8Array = Uint8Array.of(0);

/** What stands in a record for a wide cell. */
export function makeWideStub(): Uint8Array {
  return wideStub;
}

/** Whether the cell lies in a row of its own. (An encoded cell has at least two bytes.) */
export function isWideStub(cell: Uint8Array): boolean {
  return cell.length === 1;
}

function entriesSize(entries: readonly RecordEntry[]): number {
  let size = 3;
  for (const entry of entries) size += tableRow + entry.bytes.length;
  return size;
}

/** Cuts entries into groups that each fit a part. The first group may be empty, the others never are. */
export function splitEntries(
  entries: readonly RecordEntry[],
  bytesMax = partBytesMax,
): RecordEntry[][] {
  const total = entriesSize(entries);
  if (total <= bytesMax) return [[...entries]];
  const aim = total / Math.ceil(total / bytesMax);
  const groups: RecordEntry[][] = [];
  let group: RecordEntry[] = [];
  let size = 3;
  for (const entry of entries) {
    const added = tableRow + entry.bytes.length;
    if (group.length > 0 && (size + added > bytesMax || size >= aim)) {
      groups.push(group);
      group = [];
      size = 3;
    }
    group.push(entry);
    size += added;
  }
  groups.push(group);
  return groups;
}

/** `further` only for part 0. Entries ascending by predicate. */
export function encodePart(
  entries: readonly RecordEntry[],
  further: readonly number[] = [],
): Uint8Array {
  const front = further.length === 0 ? 1 : 3 + 4 * further.length;
  let size = front + 2 + entries.length * tableRow;
  for (const entry of entries) size += entry.bytes.length;
  const part = new Uint8Array(size);
  if (further.length > 0) {
    part[0] = flagFurther;
    writeUint16(part, 1, further.length);
    for (let i = 0; i < further.length; i++)
      writeUint32(part, 3 + 4 * i, must(further[i], "within bounds"));
  }
  writeUint16(part, front, entries.length);
  const rows = front + 2;
  const base = rows + entries.length * tableRow;
  let at = base;
  let previous = -1;
  for (let i = 0; i < entries.length; i++) {
    const { predicate, bytes } = must(entries[i], "within bounds");
    assert(predicate > previous, "a record's entries ascend");
    previous = predicate;
    part.set(bytes, at);
    at += bytes.length;
    writeUint32(part, rows + i * tableRow, predicate);
    writeUint32(part, rows + i * tableRow + 4, at - base);
  }
  return part;
}

/** What becomes of a predicate: an entry, an untagged cell that is alone there, or nothing any more. */
export interface EntryChange {
  readonly predicate: number;
  /** The entry, or the cell where `isCell` is set; undefined takes the predicate out. */
  readonly bytes: Uint8Array | undefined;
  readonly isCell: boolean;
}

function changeSize({ bytes, isCell }: EntryChange): number {
  if (bytes === undefined) return 0;
  return isCell ? oneCellSize(bytes) : bytes.length;
}

/** A part with no entries, as none is stored. */
const noEntries = encodePart([]);

/**
 * Hot: the one part of a record with changes laid over it, which ascend by predicate; undefined when nothing is left.
 * Entries that stay are copied in runs, without a view of each. The part may be larger than `partBytesMax`.
 */
export function changeEntries(
  record: Uint8Array | undefined,
  changes: readonly EntryChange[],
): Uint8Array | undefined {
  const part = record ?? noEntries;
  const stored = readUint16(part, 1);
  const storedBase = 3 + stored * tableRow;
  let count = stored;
  let size = part.length - storedBase;
  /** The stored entry that each change meets, or the place where it would be. */
  let at = 0;
  for (const change of changes) {
    while (at < stored && readUint32(part, 3 + at * tableRow) < change.predicate) at++;
    if (at < stored && readUint32(part, 3 + at * tableRow) === change.predicate) {
      size -= storedEnd(part, at) - storedEnd(part, at - 1);
      count--;
      at++;
    }
    if (change.bytes === undefined) continue;
    size += changeSize(change);
    count++;
  }
  if (count === 0) return undefined;
  const writer = new PartWriter(count, size);
  at = 0;
  for (const change of changes) {
    const from = at;
    while (at < stored && readUint32(part, 3 + at * tableRow) < change.predicate) at++;
    if (at > from) writer.copy(part, from, at);
    if (at < stored && readUint32(part, 3 + at * tableRow) === change.predicate) at++;
    writer.put(change);
  }
  if (at < stored) writer.copy(part, at, stored);
  return writer.part;
}

/** Where a stored entry of a part without further ones ends, counted from the first one's begin; 0 for -1. */
function storedEnd(part: Uint8Array, entry: number): number {
  return entry < 0 ? 0 : readUint32(part, 3 + entry * tableRow + 4);
}

class PartWriter {
  readonly part: Uint8Array;
  readonly #base: number;
  #row = 3;
  #at: number;

  constructor(count: number, size: number) {
    this.#base = this.#at = 3 + count * tableRow;
    this.part = new Uint8Array(this.#base + size);
    writeUint16(this.part, 1, count);
  }

  put(change: EntryChange): void {
    const { bytes } = change;
    if (bytes === undefined) return;
    if (change.isCell) writeOneCell(this.part, this.#at, bytes);
    else this.part.set(bytes, this.#at);
    this.#at += changeSize(change);
    this.#end(change.predicate);
  }

  /** Entries of another part, from … to (exclusive). */
  copy(part: Uint8Array, from: number, to: number): void {
    const base = 3 + readUint16(part, 1) * tableRow;
    const begin = storedEnd(part, from - 1);
    const moved = this.#at - begin;
    this.part.set(part.subarray(base + begin, base + storedEnd(part, to - 1)), this.#at);
    for (let i = from; i < to; i++) {
      this.#at = storedEnd(part, i) + moved;
      this.#end(readUint32(part, 3 + i * tableRow));
    }
  }

  #end(predicate: number): void {
    writeUint32(this.part, this.#row, predicate);
    writeUint32(this.part, this.#row + 4, this.#at - this.#base);
    this.#row += tableRow;
  }
}

/**
 * What all nodes of a namespace hold, in the order of their uids, read from one snapshot in batches: nothing larger
 * than a batch of rows is in memory, however many edges a node has.
 */
import { assert, must } from "../base/assert.ts";
import type { MaybePromise } from "../base/maybe.ts";
import { StoredCell } from "../codec/cell.ts";
import { chunkCount, decodeChunk, isHead, openChunkOf, visitChunkFacets } from "../codec/chunk.ts";
import {
  chunkKey,
  keyKind,
  kindRange,
  longList,
  prefixRange,
  readChunkNumber,
  readRecordKey,
  recordKey,
  wideKey,
} from "../codec/key.ts";
import {
  entryChunk,
  entryKind,
  isWideStub,
  kindOfEntry,
  readEntries,
  visitCells,
} from "../codec/record.ts";
import { copyBytes } from "../graph/record.ts";
import type { Predicate, Schema } from "../graph/schema.ts";
import type { Snapshot } from "../store/store.ts";

/** Told each fact of a node, predicate by predicate. What is lent dies with the call. */
export interface FactVisitor {
  cell(uid: number, predicate: Predicate, cell: StoredCell): void;
  /** `facets`: encoded (`codec/facets.ts`). */
  edge(uid: number, predicate: Predicate, target: number, facets: Uint8Array | undefined): void;
  /** Whether so much was told that the walk should pause. */
  readonly isFull: boolean;
}

interface Row {
  readonly uid: number;
  readonly part: Uint8Array;
}

const rowsAtOnce = 512;
const bytesAtOnce = 512 * 1024;

/**
 * Tells the facts of the nodes behind `after`. Yields where the sink is full: the uid up to which all is told, or
 * undefined inside of a node.
 */
export function* walkFacts(
  snapshot: Snapshot,
  schema: Schema,
  after: number,
  sink: FactVisitor,
): Generator<number | undefined, void> {
  const { storageId } = schema;
  const { start: first, end } = kindRange(storageId, keyKind.record);
  let start = after > 0 ? recordKey(storageId, after + 1) : first;
  const nodes = new NodeTeller(snapshot, schema, sink);
  for (;;) {
    const rows = readRows(snapshot, { start, end });
    if (rows.length === 0) return;
    for (const { uid, part } of rows) {
      yield* nodes.tell(uid, part);
      if (sink.isFull) yield uid;
    }
    start = recordKey(storageId, must(rows.at(-1), "there are rows").uid + 1);
  }
}

/** All parts of a node, or none. */
function readRows(
  snapshot: Snapshot,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
): readonly Row[] {
  const rows: Row[] = [];
  let bytes = 0;
  now(
    snapshot.scan(range, (key, part) => {
      const { uid } = readRecordKey(key);
      if (rows.length >= rowsAtOnce || bytes > bytesAtOnce) {
        if (rows.at(-1)?.uid !== uid) return false;
      }
      rows.push({ uid, part: copyBytes(part) });
      bytes += part.length;
      return true;
    }),
  );
  return rows;
}

/** Exports read stores of their own machine, which answer at once. */
function now(read: MaybePromise<void>): void {
  assert(!(read instanceof Promise), "a store that is exported answers at once");
}

class NodeTeller {
  readonly #snapshot: Snapshot;
  readonly #schema: Schema;
  readonly #sink: FactVisitor;
  #members = new Float64Array(1024);

  constructor(snapshot: Snapshot, schema: Schema, sink: FactVisitor) {
    this.#snapshot = snapshot;
    this.#schema = schema;
    this.#sink = sink;
  }

  *tell(uid: number, part: Uint8Array): Generator<undefined, void> {
    for (const entry of readEntries(part)) {
      // What was dropped is still there until it is swept.
      const predicate = this.#schema.predicateById(entry.predicate);
      if (predicate === undefined) continue;
      switch (kindOfEntry(entry.bytes)) {
        case entryKind.cells:
          this.#tellCells(uid, predicate, entry.bytes);
          break;
        case entryKind.edges:
          this.#tellChunk(uid, predicate, entryChunk(entry.bytes));
          break;
        default:
          yield* this.#tellLong(uid, predicate);
      }
    }
  }

  #tellCells(uid: number, predicate: Predicate, entry: Uint8Array): void {
    visitCells(entry, (slot, cell) => {
      const bytes = isWideStub(cell) ? this.#readWide(uid, predicate, slot) : cell;
      this.#sink.cell(uid, predicate, new StoredCell(bytes));
    });
  }

  #readWide(uid: number, predicate: Predicate, slot: string): Uint8Array {
    let cell: Uint8Array | undefined;
    const key = wideKey(this.#schema.storageId, predicate.id, uid, slot);
    now(this.#snapshot.readMany([key], (_, bytes) => (cell = bytes && copyBytes(bytes))));
    assert(cell !== undefined, "a wide cell has its row");
    return cell;
  }

  #tellChunk(uid: number, predicate: Predicate, chunk: Uint8Array): void {
    const count = chunkCount(chunk);
    if (count > this.#members.length) this.#members = new Float64Array(0x10000);
    const members = this.#members;
    decodeChunk(chunk, members, 0);
    let at = 0;
    visitChunkFacets(chunk, (place, facets) => {
      while (at < place)
        this.#sink.edge(uid, predicate, must(members[at++], "within bounds"), undefined);
      this.#sink.edge(uid, predicate, must(members[at++], "within bounds"), facets);
    });
    while (at < count)
      this.#sink.edge(uid, predicate, must(members[at++], "within bounds"), undefined);
  }

  /** Some chunks at a time; the newest members stand in the head and come last. */
  *#tellLong(uid: number, predicate: Predicate): Generator<undefined, void> {
    const prefix = longList(this.#schema.storageId, predicate.id, uid);
    const { end } = prefixRange(prefix);
    let start = prefix;
    let open: Uint8Array | undefined;
    for (;;) {
      const chunks: Uint8Array[] = [];
      let next: number | undefined;
      now(
        this.#snapshot.scan({ start, end }, (key, row) => {
          const number = readChunkNumber(key);
          if (chunks.length >= chunksAtOnce) {
            next = number;
            return false;
          }
          if (!isHead(row)) chunks.push(copyBytes(row));
          else open = openChunkOf(copyBytes(row));
          return true;
        }),
      );
      for (const chunk of chunks) this.#tellChunk(uid, predicate, chunk);
      if (this.#sink.isFull) yield undefined;
      if (next === undefined) break;
      start = chunkKey(prefix, next);
    }
    if (open !== undefined) this.#tellChunk(uid, predicate, open);
  }
}

const chunksAtOnce = 64;

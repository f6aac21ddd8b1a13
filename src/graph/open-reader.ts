/**
 * Hot: the Reader over a snapshot. A level's records come from the cache or in one batched read; further parts, wide
 * values and long lists, where there are any, in one more. Columns are filled in plain loops, decoded from the bytes.
 */
import { andThen, drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import { chunkCount, decodeChunk, hasFacets } from "../codec/chunk.ts";
import { decodeFacets } from "../codec/facets.ts";
import {
  countList,
  indexPrefix,
  keyKind,
  longList,
  prefixRange,
  presenceList,
  readCountOf,
  readReverseObject,
  readToken,
  recordKey,
  reverseList,
  tokenList,
  tokenRange,
} from "../codec/key.ts";
import type { KeyRange } from "../codec/key.ts";
import type { Facets } from "../model/facet.ts";
import type { UidSet } from "../model/uid.ts";
import type { Snapshot } from "../store/store.ts";
import type { RecordCache } from "./cache.ts";
import { readCells } from "./cells.ts";
import type { CellRequest } from "./cells.ts";
import type { Delta, RecordDelta } from "./delta.ts";
import {
  ListReader,
  cutRow,
  decodeRow,
  emptyRow,
  joinSets,
  mergeRow,
  widenBounds,
} from "./list.ts";
import type { ListRow } from "./list.ts";
import { scanLists } from "./list-scan.ts";
import type {
  Cell,
  Column,
  EdgeColumn,
  ListBounds,
  ListRef,
  Reader,
  TokenRange,
  Want,
} from "./reader.ts";
import { NodeRecord, copyBytes } from "./record.ts";
import type { Schema } from "./schema.ts";

export interface ReaderSource {
  /** Closed with the reader. */
  readonly snapshot: Snapshot;
  readonly schema: Schema;
  /** Already advanced to the snapshot; undefined reads every record from the store. */
  readonly cache: RecordCache | undefined;
  /** Whether records that are read are kept in the cache; writers only look. */
  readonly fillsCache: boolean;
  /** What the view changes of the snapshot; undefined for none. */
  readonly delta: Delta | undefined;
  /** The commit number that is read at: the snapshot's, or an older one below whose delta stands. */
  readonly ts: number;
  /**
   * For readers that live long: a newer snapshot with what turns it into the state at `ts`, so that no old pages are
   * pinned (architecture 3.2); undefined while there is no need. Asked between reads, never during one.
   */
  readonly renew?: () => Pick<ReaderSource, "snapshot" | "delta"> | undefined;
}

/** A view for one request. Reading after `close` is a mistake of the caller. */
export function openReader(source: ReaderSource): SnapshotReader {
  return new SnapshotReader(source);
}

/** Members of an objects list are visited in runs of so many. */
const objectsRun = 1024;

export class SnapshotReader implements Reader {
  readonly schema: Schema;
  readonly ts: number;
  #source: ReaderSource;
  readonly #storageId: number;
  #lists: ListReader;
  /** Reads under way: a visitor may read while it is visited. */
  #depth = 0;
  #closed = false;

  constructor(source: ReaderSource) {
    this.schema = source.schema;
    this.ts = source.ts;
    this.#source = source;
    this.#storageId = source.schema.storageId;
    this.#lists = new ListReader(source.snapshot, source.delta);
  }

  get snapshot(): Snapshot {
    return this.#source.snapshot;
  }

  /** Every read goes through here, so that the snapshot changes between reads only. */
  #read<T>(work: () => MaybePromise<T>): MaybePromise<T> {
    if (this.#depth === 0 && this.#source.renew !== undefined) this.#refresh();
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  #refresh(): void {
    const fresh = this.#source.renew?.();
    if (fresh === undefined) return;
    this.#source.snapshot.close();
    this.#source = { ...this.#source, ...fresh, cache: undefined };
    this.#lists = new ListReader(fresh.snapshot, fresh.delta);
  }

  get #delta(): Delta | undefined {
    return this.#lists.delta;
  }

  readLevel(uids: Float64Array, wants: readonly Want[]): MaybePromise<readonly Column[]> {
    return this.#read(() => drive(this.#readLevel(uids, wants)));
  }

  *#readLevel(uids: Float64Array, wants: readonly Want[]): Steps<readonly Column[]> {
    const predicates: number[] = [];
    for (const want of wants) {
      if (want.kind === "cells" || want.kind === "edges" || want.kind === "count") {
        predicates.push(want.predicate);
      }
    }
    const records = new Array<NodeRecord>(uids.length);
    if (predicates.length > 0) yield* this.#loadRecords(uids, predicates, records);
    const columns = new Array<Column>(wants.length);
    for (let k = 0; k < wants.length; k++) {
      const want = wants[k]!;
      switch (want.kind) {
        case "cells":
          columns[k] = { kind: "cells", cells: yield* this.#cells(uids, records, want.predicate) };
          break;
        case "edges":
          columns[k] = yield* this.#edges(uids, records, want);
          break;
        case "reverse": {
          const prefixes = this.#reversePrefixes(uids, want.index);
          let column: EdgeColumn | undefined;
          yield andThen(
            this.#lists.readRows(prefixes, want.bounds, want.facets),
            (rows) => void (column = joinColumn(rows)),
          );
          columns[k] = column!;
          break;
        }
        case "count":
          columns[k] = {
            kind: "count",
            counts: yield* this.#counts(uids, records, want.predicate),
          };
          break;
        case "reverseCount": {
          const prefixes = this.#reversePrefixes(uids, want.index);
          let counts: Float64Array | undefined;
          yield this.#lists.countRowsTo(prefixes, (found) => void (counts = found));
          columns[k] = { kind: "count", counts: counts! };
          break;
        }
      }
    }
    return columns;
  }

  #reversePrefixes(uids: Float64Array, index: number): Uint8Array[] {
    const prefixes = new Array<Uint8Array>(uids.length);
    for (let i = 0; i < uids.length; i++) {
      prefixes[i] = reverseList(this.#storageId, index, uids[i]!);
    }
    return prefixes;
  }

  /** Fills `records`; afterwards the parts with `predicates` are there. */
  *#loadRecords(
    uids: Float64Array,
    predicates: readonly number[],
    records: NodeRecord[],
  ): Steps<void> {
    const { cache, fillsCache, snapshot } = this.#source;
    const missing: number[] = [];
    const keys: Uint8Array[] = [];
    let allWhole = true;
    for (let i = 0; i < uids.length; i++) {
      const record = cache?.get(this.#storageId, uids[i]!, snapshot.ts);
      if (record === undefined) {
        missing.push(i);
        keys.push(recordKey(this.#storageId, uids[i]!));
      } else {
        records[i] = record;
        allWhole = allWhole && record.isWhole;
      }
    }
    if (missing.length > 0) {
      yield snapshot.readMany(keys, (k, bytes) => {
        const i = missing[k]!;
        const part = bytes === undefined ? undefined : copyBytes(bytes);
        const record = new NodeRecord(part, snapshot.ts);
        records[i] = record;
        allWhole = allWhole && record.isWhole;
        if (fillsCache) cache?.set(this.#storageId, uids[i]!, record);
      });
    }
    if (!allWhole) yield this.#loadParts(uids, predicates, records);
  }

  #loadParts(
    uids: Float64Array,
    predicates: readonly number[],
    records: readonly NodeRecord[],
  ): MaybePromise<void> {
    const keys: Uint8Array[] = [];
    const targets: { record: NodeRecord; first: number }[] = [];
    for (let i = 0; i < uids.length; i++) {
      const record = records[i]!;
      if (record.isWhole) continue;
      const firsts = new Set<number>();
      for (const predicate of predicates) firsts.add(record.missingPart(predicate));
      for (const first of firsts) {
        if (first === 0) continue;
        keys.push(recordKey(this.#storageId, uids[i]!, first));
        targets.push({ record, first });
      }
    }
    if (keys.length === 0) return undefined;
    return this.snapshot.readMany(keys, (k, bytes) => {
      const { record, first } = targets[k]!;
      if (bytes !== undefined) record.addPart(first, copyBytes(bytes));
    });
  }

  *#cells(
    uids: Float64Array,
    records: readonly NodeRecord[],
    predicate: number,
  ): Steps<readonly (readonly Cell[] | undefined)[]> {
    const cells = new Array<readonly Cell[] | undefined>(uids.length).fill(undefined);
    let special: CellRequest[] | undefined;
    const delta = this.#delta;
    for (let i = 0; i < uids.length; i++) {
      const record = records[i]!;
      const changed = delta?.record(uids[i]!)?.get(predicate)?.slots;
      if (changed === undefined || changed.size === 0) {
        const entry = record.entry(predicate);
        if (entry === undefined) continue;
        if (entry !== "wide") {
          if (Array.isArray(entry)) cells[i] = entry as readonly Cell[];
          continue;
        }
      }
      (special ??= []).push({ row: i, uid: uids[i]!, record, predicate, changed });
    }
    if (special !== undefined) yield readCells(this.snapshot, this.#storageId, special, cells);
    return cells;
  }

  *#edges(
    uids: Float64Array,
    records: readonly NodeRecord[],
    want: Extract<Want, { kind: "edges" }>,
  ): Steps<EdgeColumn> {
    const chunks = new Array<Uint8Array | undefined>(uids.length);
    let total = 0;
    let isPlain = want.bounds === undefined && this.#delta === undefined;
    for (let i = 0; isPlain && i < uids.length; i++) {
      const entry = records[i]!.entry(want.predicate);
      if (entry instanceof Uint8Array) {
        chunks[i] = entry;
        total += chunkCount(entry);
        if (want.facets && hasFacets(entry)) isPlain = false;
      } else if (entry === "long") {
        isPlain = false;
      }
    }
    if (isPlain) return joinChunks(chunks, total);
    return joinColumn(yield* this.#edgeRows(uids, records, want));
  }

  /** Edges with everything that makes them special: bounds, facets, long lists, a delta. */
  *#edgeRows(
    uids: Float64Array,
    records: readonly NodeRecord[],
    want: Extract<Want, { kind: "edges" }>,
  ): Steps<readonly ListRow[]> {
    const bounds = want.bounds ?? {};
    const rows = new Array<ListRow>(uids.length).fill(emptyRow);
    const deltas = new Array<RecordDelta | undefined>(uids.length);
    const long: number[] = [];
    let slack = 0;
    for (let i = 0; i < uids.length; i++) {
      const changed = this.#delta?.record(uids[i]!);
      deltas[i] = changed;
      const size = changed?.get(want.predicate)?.edges.size ?? 0;
      const entry = records[i]!.entry(want.predicate);
      if (entry instanceof Uint8Array) {
        rows[i] = decodeRow(entry, want.facets, size === 0 ? bounds : {});
      } else if (entry === "long") {
        long.push(i);
        slack = Math.max(slack, size);
      }
    }
    if (long.length > 0) {
      const prefixes = long.map((i) => longList(this.#storageId, want.predicate, uids[i]!));
      const wide = slack === 0 ? bounds : widenBounds(bounds, slack);
      yield andThen(this.#lists.readRows(prefixes, wide, want.facets), (found) => {
        for (let k = 0; k < long.length; k++) rows[long[k]!] = found[k]!;
      });
    }
    if (this.#delta === undefined) return rows;
    for (let i = 0; i < uids.length; i++) {
      const edges = deltas[i]?.get(want.predicate)?.edges;
      if (edges !== undefined && edges.size > 0)
        rows[i] = cutRow(mergeRow(rows[i]!, edges), bounds);
      else if (slack > 0) rows[i] = cutRow(rows[i]!, bounds);
    }
    return rows;
  }

  *#counts(
    uids: Float64Array,
    records: readonly NodeRecord[],
    predicate: number,
  ): Steps<Float64Array> {
    const counts = new Float64Array(uids.length);
    const long: number[] = [];
    for (let i = 0; i < uids.length; i++) {
      const count = records[i]!.count(predicate);
      if (count < 0) long.push(i);
      else counts[i] = count;
    }
    if (long.length > 0) {
      const prefixes = long.map((i) => longList(this.#storageId, predicate, uids[i]!));
      yield this.#lists.countRowsTo(prefixes, (found) => {
        for (let k = 0; k < long.length; k++) counts[long[k]!] = found[k]!;
      });
    }
    if (this.#delta !== undefined) yield* this.#countChanged(uids, records, predicate, counts);
    return counts;
  }

  /** Nodes under a delta are counted by their merged members. */
  *#countChanged(
    uids: Float64Array,
    records: readonly NodeRecord[],
    predicate: number,
    counts: Float64Array,
  ): Steps<void> {
    for (let i = 0; i < uids.length; i++) {
      const changed = this.#delta?.record(uids[i]!)?.get(predicate);
      if (changed === undefined) continue;
      const row = uids.subarray(i, i + 1);
      const record = [records[i]!];
      if (changed.slots.size > 0) {
        const cells = yield* this.#cells(row, record, predicate);
        counts[i] = cells[0]?.length ?? 0;
      } else if (changed.edges.size > 0) {
        const rows = yield* this.#edgeRows(row, record, {
          kind: "edges",
          predicate,
          facets: false,
        });
        counts[i] = rows[0]!.uids.length;
      }
    }
  }

  readLists(lists: readonly ListRef[], bounds?: ListBounds): MaybePromise<readonly UidSet[]> {
    return this.#read(() => this.#readLists(lists, bounds));
  }

  #readLists(
    lists: readonly ListRef[],
    bounds: ListBounds | undefined,
  ): MaybePromise<readonly UidSet[]> {
    const prefixes: Uint8Array[] = [];
    for (const list of lists) {
      const prefix = this.#prefixOf(list);
      if (prefix === undefined) return drive(this.#readMixed(lists, bounds));
      prefixes.push(prefix);
    }
    return andThen(this.#lists.readRows(prefixes, bounds), (rows) => rows.map((row) => row.uids));
  }

  /** Lists of which some are edges or objects, which no single prefix names. */
  *#readMixed(lists: readonly ListRef[], bounds: ListBounds | undefined): Steps<readonly UidSet[]> {
    const sets = new Array<UidSet>(lists.length);
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i]!;
      const blocks: UidSet[] = [];
      yield* this.#walkList(list, bounds ?? {}, (uids) => {
        blocks.push(uids.slice());
        return true;
      });
      if (bounds?.reverse === true) blocks.reverse();
      sets[i] = joinSets(blocks);
    }
    return sets;
  }

  countLists(lists: readonly ListRef[]): MaybePromise<Float64Array> {
    return this.#read(() => this.#countLists(lists));
  }

  #countLists(lists: readonly ListRef[]): MaybePromise<Float64Array> {
    const prefixes: Uint8Array[] = [];
    for (const list of lists) {
      const prefix = this.#prefixOf(list);
      if (prefix === undefined) return drive(this.#countMixed(lists));
      prefixes.push(prefix);
    }
    return this.#lists.countRows(prefixes);
  }

  *#countMixed(lists: readonly ListRef[]): Steps<Float64Array> {
    const counts = new Float64Array(lists.length);
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i]!;
      const prefix = this.#prefixOf(list);
      if (prefix !== undefined) {
        yield this.#lists.countRowsTo([prefix], (found) => void (counts[i] = found[0]!));
      } else if (list.kind === "edges") {
        const subject = Float64Array.of(list.subject);
        const records = new Array<NodeRecord>(1);
        yield* this.#loadRecords(subject, [list.predicate], records);
        counts[i] = (yield* this.#counts(subject, records, list.predicate))[0]!;
      } else {
        yield* this.#walkList(list, {}, (uids) => {
          counts[i]! += uids.length;
          return true;
        });
      }
    }
    return counts;
  }

  intersectList(list: ListRef, uids: UidSet): MaybePromise<UidSet> {
    return this.#read(() => {
      const prefix = this.#prefixOf(list);
      if (prefix !== undefined) return this.#lists.intersect(prefix, uids);
      return drive(this.#intersectMixed(list, uids));
    });
  }

  *#intersectMixed(list: ListRef, uids: UidSet): Steps<UidSet> {
    if (list.kind === "objects") {
      let counts: Float64Array | undefined;
      const prefixes = this.#reversePrefixes(uids, list.index);
      yield this.#lists.countRowsTo(prefixes, (found) => void (counts = found));
      return uids.filter((_, i) => counts![i]! > 0);
    }
    const found: UidSet[] = [];
    yield* this.#walkList(list, {}, (members) => {
      const wanted = new Set(members);
      found.push(uids.filter((uid) => wanted.has(uid)));
      return true;
    });
    return joinSets(found);
  }

  scanList(
    list: ListRef,
    bounds: ListBounds,
    visit: (uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return this.#read(() => {
      const prefix = this.#prefixOf(list);
      if (prefix !== undefined) return this.#lists.walk(prefix, bounds, visit);
      return drive(this.#walkList(list, bounds, visit));
    });
  }

  *#walkList(list: ListRef, bounds: ListBounds, visit: (uids: UidSet) => boolean): Steps<void> {
    if (list.kind === "edges") {
      const subject = Float64Array.of(list.subject);
      const records = new Array<NodeRecord>(1);
      yield* this.#loadRecords(subject, [list.predicate], records);
      const want = { kind: "edges", predicate: list.predicate, facets: false, bounds } as const;
      const rows = yield* this.#edgeRows(subject, records, want);
      if (rows[0]!.uids.length > 0) visit(rows[0]!.uids);
      return;
    }
    if (list.kind === "objects") {
      yield* this.#walkObjects(list.index, bounds, visit);
      return;
    }
    yield this.#lists.walk(this.#prefixOf(list)!, bounds, visit);
  }

  /** Objects of a reverse index are the keys of its lists. */
  *#walkObjects(index: number, bounds: ListBounds, visit: (uids: UidSet) => boolean): Steps<void> {
    const reverse = bounds.reverse === true;
    const under = indexPrefix(this.#storageId, keyKind.reverse, index);
    const all = prefixRange(under);
    const start =
      bounds.after === undefined
        ? all.start
        : reverseList(this.#storageId, index, bounds.after + 1);
    let skip = bounds.skip ?? 0;
    let left = bounds.limit ?? Infinity;
    const run = new Float64Array(objectsRun);
    let filled = 0;
    const flush = (): boolean => {
      const block = reverse ? run.slice(0, filled).reverse() : run.slice(0, filled);
      filled = 0;
      return block.length === 0 || visit(block);
    };
    let open = left > 0;
    if (!open) return;
    yield* scanLists(
      this.#lists,
      { range: { start, end: all.end }, reverse, under },
      {
        kind: "counts",
        visit: (prefix) => {
          if (skip > 0) {
            skip--;
            return true;
          }
          run[filled++] = readReverseObject(prefix);
          left--;
          if (filled === objectsRun) open = flush();
          return open && left > 0;
        },
      },
    );
    if (open) flush();
  }

  scanTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return this.#read(() =>
      drive(
        scanLists(this.#lists, this.#tokenScan(index, range), {
          kind: "uids",
          visit: (prefix, uids) => visit(readToken(prefix), uids),
        }),
      ),
    );
  }

  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): MaybePromise<void> {
    return this.#read(() =>
      drive(
        scanLists(this.#lists, this.#tokenScan(index, range), {
          kind: "counts",
          visit: (prefix, count) => visit(readToken(prefix), count),
        }),
      ),
    );
  }

  #tokenScan(
    index: number,
    range: TokenRange,
  ): { range: KeyRange; reverse: boolean; under: Uint8Array } {
    return {
      range: tokenRange(this.#storageId, index, range.from, range.to),
      reverse: range.reverse === true,
      under: indexPrefix(this.#storageId, keyKind.index, index),
    };
  }

  scanCounts(
    index: number,
    range: { readonly from: number; readonly to: number },
    visit: (count: number, uids: UidSet) => boolean,
  ): MaybePromise<void> {
    const under = indexPrefix(this.#storageId, keyKind.count, index);
    const end =
      range.to >= Number.MAX_SAFE_INTEGER
        ? prefixRange(under).end
        : countList(this.#storageId, index, range.to + 1);
    const start = countList(this.#storageId, index, Math.max(0, range.from));
    return this.#read(() =>
      drive(
        scanLists(
          this.#lists,
          { range: { start, end }, reverse: false, under },
          { kind: "uids", visit: (prefix, uids) => visit(readCountOf(prefix), uids) },
        ),
      ),
    );
  }

  /** The key prefix of a list; undefined for those that are not one list of the store. */
  #prefixOf(list: ListRef): Uint8Array | undefined {
    switch (list.kind) {
      case "presence":
        return presenceList(this.#storageId, list.predicate);
      case "token":
        return tokenList(this.#storageId, list.index, list.token);
      case "reverse":
        return reverseList(this.#storageId, list.index, list.object);
      case "count":
        return countList(this.#storageId, list.index, list.count);
      case "edges":
      case "objects":
        return undefined;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#source.snapshot.close();
  }
}

function joinChunks(chunks: readonly (Uint8Array | undefined)[], total: number): EdgeColumn {
  const offsets = new Uint32Array(chunks.length + 1);
  const targets = new Float64Array(total);
  let at = 0;
  for (let i = 0; i < chunks.length; i++) {
    const chunk = chunks[i];
    if (chunk !== undefined) at += decodeChunk(chunk, targets, at);
    offsets[i + 1] = at;
  }
  return { kind: "edges", offsets, targets, facets: undefined };
}

function joinColumn(rows: readonly ListRow[]): EdgeColumn {
  const offsets = new Uint32Array(rows.length + 1);
  let total = 0;
  let anyFacets = false;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    total += row.uids.length;
    offsets[i + 1] = total;
    anyFacets = anyFacets || row.facets !== undefined;
  }
  const targets = new Float64Array(total);
  for (let i = 0; i < rows.length; i++) targets.set(rows[i]!.uids, offsets[i]!);
  if (!anyFacets) return { kind: "edges", offsets, targets, facets: undefined };
  const facets: (Facets | undefined)[] = [];
  for (const row of rows) {
    for (let e = 0; e < row.uids.length; e++) {
      const bytes = row.facets?.[e];
      facets.push(bytes === undefined ? undefined : decodeFacets(bytes));
    }
  }
  return { kind: "edges", offsets, targets, facets };
}

/**
 * Hot: what a level asks of its nodes' records. They come from the cache or in one batched read; further parts, wide
 * values and long lists, where there are any, in one more. Columns are filled in plain loops, decoded from the bytes.
 */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import { andThen } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import { chunkCount, decodeChunk, hasFacets } from "../codec/chunk.ts";
import { decodeFacets } from "../codec/facets.ts";
import { longList, recordKey } from "../codec/key.ts";
import type { Facets } from "../model/facet.ts";
import type { Snapshot } from "../store/store.ts";
import { cacheReads } from "./cache-metrics.ts";
import type { RecordCache } from "./cache.ts";
import { readCells } from "./cells.ts";
import type { CellRequest } from "./cells.ts";
import type { Delta, RecordDelta } from "./delta.ts";
import { cutRow, decodeRow, emptyRow, mergeRow, widenBounds } from "./list-rows.ts";
import type { ListRow } from "./list-rows.ts";
import type { ListReader } from "./list.ts";
import type { Cell, EdgeColumn, ColumnRequest } from "./reader.ts";
import { NodeRecord, copyBytes } from "./record.ts";

interface RecordSource {
  readonly snapshot: Snapshot;
  readonly storageId: number;
  readonly cache: RecordCache | undefined;
  readonly fillsCache: boolean;
}

export class RecordReader {
  readonly #source: RecordSource;
  readonly #storageId: number;
  readonly #lists: ListReader;

  constructor(source: RecordSource, lists: ListReader) {
    this.#source = source;
    this.#storageId = source.storageId;
    this.#lists = lists;
  }

  get #delta(): Delta | undefined {
    return this.#lists.delta;
  }

  /** Fills `records`; afterwards the parts with `predicates` are there. */
  *loadRecords(
    uids: Float64Array,
    predicates: readonly number[],
    records: NodeRecord[],
  ): Steps<void> {
    const { cache, fillsCache, snapshot } = this.#source;
    const at = { storageId: this.#storageId, ts: snapshot.ts };
    const missing = cache?.find(at, uids, records) ?? placesOf(uids);
    cacheReads.records += uids.length;
    cacheReads.recordMisses += missing.length;
    if (missing.length > 0) {
      // What is older than the cache is not kept.
      const account = fillsCache && cache?.number === snapshot.ts ? cache.account : undefined;
      const keys = missing.map((i) =>
        recordKey(this.#storageId, must(uids[i], "each row has its uid")),
      );
      yield snapshot.readMany(keys, (k, bytes) => {
        const i = must(missing[k], "each key is of a row");
        const part = bytes === undefined ? undefined : copyBytes(bytes);
        const record = new NodeRecord(part, snapshot.ts, account);
        records[i] = record;
        if (fillsCache) cache?.set(this.#storageId, must(uids[i], "each row has its uid"), record);
      });
    }
    for (let i = 0; i < uids.length; i++) {
      if (!must(records[i], "each row has its record").isWhole)
        return yield this.#loadParts(uids, predicates, records);
    }
  }

  #loadParts(
    uids: Float64Array,
    predicates: readonly number[],
    records: readonly NodeRecord[],
  ): MaybePromise<void> {
    const keys: Uint8Array[] = [];
    const targets: { record: NodeRecord; first: number }[] = [];
    for (let i = 0; i < uids.length; i++) {
      const record = must(records[i], "each row has its record");
      if (record.isWhole) continue;
      const firsts = new Set<number>();
      for (const predicate of predicates) firsts.add(record.missingPart(predicate));
      for (const first of firsts) {
        if (first === 0) continue;
        keys.push(recordKey(this.#storageId, must(uids[i], "each row has its uid"), first));
        targets.push({ record, first });
      }
    }
    if (keys.length === 0) return undefined;
    return this.#source.snapshot.readMany(keys, (k, bytes) => {
      const { record, first } = must(targets[k], "each row has its list");
      if (bytes !== undefined) record.addPart(first, copyBytes(bytes));
    });
  }

  *cells(
    uids: Float64Array,
    records: readonly NodeRecord[],
    predicate: number,
  ): Steps<readonly (readonly Cell[] | undefined)[]> {
    const cells = makeArray<readonly Cell[] | undefined>(uids.length);
    let special: CellRequest[] | undefined;
    const delta = this.#delta;
    for (let i = 0; i < uids.length; i++) {
      const record = must(records[i], "each row has its record");
      const changed = delta?.record(must(uids[i], "each row has its uid"))?.get(predicate)?.slots;
      if (changed === undefined || changed.size === 0) {
        const entry = record.entry(predicate);
        if (entry === undefined) continue;
        if (entry !== "wide") {
          if (Array.isArray(entry)) cells[i] = entry as readonly Cell[];
          continue;
        }
      }
      (special ??= []).push({
        row: i,
        uid: must(uids[i], "each row has its uid"),
        record,
        predicate,
        changed,
      });
    }
    if (special !== undefined)
      yield readCells(this.#source.snapshot, this.#storageId, special, cells);
    return cells;
  }

  *edges(
    uids: Float64Array,
    records: readonly NodeRecord[],
    request: Extract<ColumnRequest, { kind: "edges" }>,
  ): Steps<EdgeColumn> {
    const chunks = makeArray<Uint8Array | undefined>(uids.length);
    let total = 0;
    let isPlain = request.bounds === undefined && this.#delta === undefined;
    for (let i = 0; isPlain && i < uids.length; i++) {
      const entry = must(records[i], "each row has its record").entry(request.predicate);
      if (entry instanceof Uint8Array) {
        chunks[i] = entry;
        total += chunkCount(entry);
        if (request.facets && hasFacets(entry)) isPlain = false;
      } else if (entry === "long") {
        isPlain = false;
      }
    }
    if (isPlain) return joinChunks(chunks, total);
    return joinColumn(yield* this.edgeRows(uids, records, request));
  }

  /** Edges with everything that makes them special: bounds, facets, long lists, a delta. */
  *edgeRows(
    uids: Float64Array,
    records: readonly NodeRecord[],
    request: Extract<ColumnRequest, { kind: "edges" }>,
  ): Steps<readonly ListRow[]> {
    const bounds = request.bounds ?? {};
    const rows = makeArray<ListRow>(uids.length).fill(emptyRow);
    const deltas = makeArray<RecordDelta | undefined>(uids.length);
    const long: number[] = [];
    let slack = 0;
    for (let i = 0; i < uids.length; i++) {
      const changed = this.#delta?.record(must(uids[i], "each row has its uid"));
      deltas[i] = changed;
      const size = changed?.get(request.predicate)?.edges.size ?? 0;
      const entry = must(records[i], "each row has its record").entry(request.predicate);
      if (entry instanceof Uint8Array) {
        rows[i] = decodeRow(entry, request.facets, size === 0 ? bounds : {});
      } else if (entry === "long") {
        long.push(i);
        slack = Math.max(slack, size);
      }
    }
    if (long.length > 0) {
      const prefixes = long.map((i) =>
        longList(this.#storageId, request.predicate, must(uids[i], "each row has its uid")),
      );
      const wide = slack === 0 ? bounds : widenBounds(bounds, slack);
      yield andThen(this.#lists.readRows(prefixes, wide, request.facets), (found) => {
        for (let k = 0; k < long.length; k++)
          rows[must(long[k], "each key is of a row")] = must(found[k], "each row has its list");
      });
    }
    if (this.#delta === undefined) return rows;
    for (let i = 0; i < uids.length; i++) {
      const edges = deltas[i]?.get(request.predicate)?.edges;
      if (edges !== undefined && edges.size > 0)
        rows[i] = cutRow(mergeRow(must(rows[i], "each row has its list"), edges), bounds);
      else if (slack > 0) rows[i] = cutRow(must(rows[i], "each row has its list"), bounds);
    }
    return rows;
  }

  *counts(
    uids: Float64Array,
    records: readonly NodeRecord[],
    predicate: number,
  ): Steps<Float64Array> {
    const counts = new Float64Array(uids.length);
    const long: number[] = [];
    for (let i = 0; i < uids.length; i++) {
      const count = must(records[i], "each row has its record").count(predicate);
      if (count < 0) long.push(i);
      else counts[i] = count;
    }
    if (long.length > 0) {
      const prefixes = long.map((i) =>
        longList(this.#storageId, predicate, must(uids[i], "each row has its uid")),
      );
      yield this.#lists.countRowsTo(prefixes, (found) => {
        for (let k = 0; k < long.length; k++)
          counts[must(long[k], "each key is of a row")] = must(found[k], "each row has its list");
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
      const changed = this.#delta?.record(must(uids[i], "each row has its uid"))?.get(predicate);
      if (changed === undefined) continue;
      const row = uids.subarray(i, i + 1);
      const record = [must(records[i], "each row has its record")];
      if (changed.slots.size > 0) {
        const cells = yield* this.cells(row, record, predicate);
        counts[i] = cells[0]?.length ?? 0;
      } else if (changed.edges.size > 0) {
        const rows = yield* this.edgeRows(row, record, {
          kind: "edges",
          predicate,
          facets: false,
        });
        counts[i] = must(rows[0], "each row has its list").uids.length;
      }
    }
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

/** Rows with their members one after the other. */
export function joinColumn(rows: readonly ListRow[]): EdgeColumn {
  const offsets = new Uint32Array(rows.length + 1);
  let total = 0;
  let anyFacets = false;
  for (let i = 0; i < rows.length; i++) {
    const row = must(rows[i], "each row has its list");
    total += row.uids.length;
    offsets[i + 1] = total;
    anyFacets = anyFacets || row.facets !== undefined;
  }
  const targets = new Float64Array(total);
  for (let i = 0; i < rows.length; i++)
    targets.set(must(rows[i], "each row has its list").uids, offsets[i]);
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

function placesOf(uids: Float64Array): readonly number[] {
  const places: number[] = [];
  for (let i = 0; i < uids.length; i++) places.push(i);
  return places;
}

/** The Reader over a snapshot: records (`records.ts`) and lists (`list.ts`, `list-scan.ts`) under one roof. */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import { emptyBytes } from "../base/bytes.ts";
import { andThen, drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import {
  countList,
  indexPrefix,
  keyKind,
  prefixRange,
  presenceList,
  readCountOf,
  readReverseObject,
  readToken,
  reverseList,
  tokenList,
} from "../codec/key.ts";
import type { UidSet } from "../model/uid.ts";
import type { Snapshot } from "../store/store.ts";
import type { RecordCache } from "./cache.ts";
import type { Delta } from "./delta.ts";
import { joinSets } from "./list-rows.ts";
import { ListReader } from "./list.ts";
import { scanLists } from "./list-scan.ts";
import type {
  Column,
  ColumnsOf,
  UidSetsOf,
  EdgeColumn,
  ListBounds,
  ListRef,
  Reader,
  VectorAnswer,
  VectorQuestion,
  TokenRange,
  ColumnRequest,
} from "./reader.ts";
import type { NodeRecord } from "./record.ts";
import type { Overlay } from "./overlay.ts";
import { RecordReader, joinColumn } from "./records.ts";
import type { Schema } from "./schema.ts";
import type { VectorIndexes } from "./vector-indexes.ts";
import { scanWindows, stretchRange, tokenBehind } from "./token-scan.ts";
import type { TokenStretch, TokenVisitor } from "./token-scan.ts";

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
  /** The process's vector indexes, with what the view itself wrote; undefined compares vectors one by one. */
  readonly vectors?: { readonly indexes: VectorIndexes; readonly own: Overlay | undefined };
  /**
   * For readers that live long: a newer snapshot with what turns it into the state at `ts`, so that no old pages are
   * pinned (reference/transactions 6.1); undefined while there is no need. Asked between reads, never during one.
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
  #records: RecordReader;
  /** Reads under way: a visitor may read while it is visited. */
  #depth = 0;
  #closed = false;

  constructor(source: ReaderSource) {
    this.schema = source.schema;
    this.ts = source.ts;
    this.#source = source;
    this.#storageId = source.schema.storageId;
    this.#lists = new ListReader(source.snapshot, source.delta, source);
    this.#records = this.#makeRecords();
  }

  #makeRecords(): RecordReader {
    const { snapshot, cache, fillsCache } = this.#source;
    const storageId = this.#storageId;
    return new RecordReader({ snapshot, storageId, cache, fillsCache }, this.#lists);
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
    this.#lists = new ListReader(fresh.snapshot, fresh.delta, this.#source);
    this.#records = this.#makeRecords();
  }

  readLevel<const Requests extends readonly ColumnRequest[]>(
    uids: Float64Array,
    requests: Requests,
  ): MaybePromise<ColumnsOf<Requests>> {
    // One column for each request, of its kind.
    const columns = this.#read(() => drive(this.#readLevel(uids, requests)));
    return columns as MaybePromise<ColumnsOf<Requests>>;
  }

  *#readLevel(uids: Float64Array, requests: readonly ColumnRequest[]): Steps<readonly Column[]> {
    const predicates: number[] = [];
    for (const request of requests) {
      if (request.kind === "cells" || request.kind === "edges" || request.kind === "count") {
        predicates.push(request.predicate);
      }
    }
    const records = makeArray<NodeRecord>(uids.length);
    if (predicates.length > 0) yield* this.#records.loadRecords(uids, predicates, records);
    const columns = makeArray<Column>(requests.length);
    for (let k = 0; k < requests.length; k++) {
      const request = must(requests[k], "each column has its request");
      switch (request.kind) {
        case "cells":
          columns[k] = {
            kind: "cells",
            cells: yield* this.#records.cells(uids, records, request.predicate),
          };
          break;
        case "edges":
          columns[k] = yield* this.#records.edges(uids, records, request);
          break;
        case "reverse": {
          const prefixes = this.#reversePrefixes(uids, request.index);
          let column: EdgeColumn | undefined;
          yield andThen(
            this.#lists.readRows(prefixes, request.bounds, request.facets),
            (rows) => void (column = joinColumn(rows)),
          );
          columns[k] = must(column, "the step above reads it");
          break;
        }
        case "count":
          columns[k] = {
            kind: "count",
            counts: yield* this.#records.counts(uids, records, request.predicate),
          };
          break;
        case "reverseCount": {
          const prefixes = this.#reversePrefixes(uids, request.index);
          let counts: Float64Array | undefined;
          yield this.#lists.countRowsTo(prefixes, (found) => void (counts = found));
          columns[k] = { kind: "count", counts: must(counts, "the step above counts") };
          break;
        }
      }
    }
    return columns;
  }

  #reversePrefixes(uids: Float64Array, index: number): Uint8Array[] {
    const prefixes = makeArray<Uint8Array>(uids.length);
    for (let i = 0; i < uids.length; i++) {
      prefixes[i] = reverseList(this.#storageId, index, must(uids[i], "each row has its uid"));
    }
    return prefixes;
  }

  readLists<const Lists extends readonly ListRef[]>(
    lists: Lists,
    bounds?: ListBounds,
  ): MaybePromise<UidSetsOf<Lists>> {
    return this.#read(() => this.#readLists(lists, bounds)) as MaybePromise<UidSetsOf<Lists>>;
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
    const sets = makeArray<UidSet>(lists.length);
    for (let i = 0; i < lists.length; i++) {
      const list = must(lists[i], "each place has its list");
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
      const list = must(lists[i], "each place has its list");
      const prefix = this.#prefixOf(list);
      if (prefix !== undefined) {
        yield this.#lists.countRowsTo(
          [prefix],
          (found) => void (counts[i] = must(found[0], "one row was asked for")),
        );
      } else if (list.kind === "edges") {
        const subject = Float64Array.of(list.subject);
        const records = makeArray<NodeRecord>(1);
        yield* this.#records.loadRecords(subject, [list.predicate], records);
        counts[i] = must(
          (yield* this.#records.counts(subject, records, list.predicate))[0],
          "one row was asked for",
        );
      } else {
        yield* this.#walkList(list, {}, (uids) => {
          counts[i] = must(counts[i], "a count of each list") + uids.length;
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
      const numbers = must(counts, "the step above counts");
      return uids.filter((_, i) => must(numbers[i], "each uid has its count") > 0);
    }
    const found: UidSet[] = [];
    yield* this.#walkList(list, {}, (members) => {
      const wanted = new Set(members);
      found.push(uids.filter((uid) => wanted.has(uid)));
      return true;
    });
    return joinSets(found);
  }

  isCached(list: ListRef): MaybePromise<boolean> {
    return this.#read(() => {
      const prefix = this.#prefixOf(list);
      return prefix !== undefined && this.#lists.isCached(prefix);
    });
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
      const records = makeArray<NodeRecord>(1);
      yield* this.#records.loadRecords(subject, [list.predicate], records);
      const request = { kind: "edges", predicate: list.predicate, facets: false, bounds } as const;
      const rows = yield* this.#records.edgeRows(subject, records, request);
      if (must(rows[0], "one row was asked for").uids.length > 0)
        visit(must(rows[0], "one row was asked for").uids);
      return;
    }
    if (list.kind === "objects") {
      yield* this.#walkObjects(list.index, bounds, visit);
      return;
    }
    yield this.#lists.walk(
      must(this.#prefixOf(list), "the list is stored under a prefix"),
      bounds,
      visit,
    );
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
    return this.#read(() => drive(this.#scanIndex(index, range, { kind: "uids", visit })));
  }

  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): MaybePromise<void> {
    return this.#read(() => drive(this.#scanIndex(index, range, { kind: "counts", visit })));
  }

  /** Through the windows that the process keeps, as far as they may serve, and the rest from the store. */
  *#scanIndex(index: number, range: TokenRange, visitor: TokenVisitor): Steps<void> {
    const { cache } = this.#lists;
    const stretch: TokenStretch = {
      storageId: this.#storageId,
      index,
      from: range.from ?? emptyBytes,
      to: range.to === undefined ? undefined : tokenBehind(range.to),
      reverse: range.reverse === true,
    };
    const left =
      cache === undefined ? stretch : yield* scanWindows(this.#lists, cache, stretch, visitor);
    if (left === undefined) return;
    const { reverse } = left;
    const under = indexPrefix(this.#storageId, keyKind.index, index);
    const scan = { range: stretchRange(left), reverse, under };
    yield* scanLists(
      this.#lists,
      scan,
      visitor.kind === "uids"
        ? { kind: "uids", visit: (prefix, uids) => visitor.visit(readToken(prefix), uids) }
        : { kind: "counts", visit: (prefix, count) => visitor.visit(readToken(prefix), count) },
    );
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

  async nearest(question: VectorQuestion): Promise<VectorAnswer | undefined> {
    const { vectors, snapshot } = this.#source;
    if (vectors === undefined) return undefined;
    const { predicate } = question;
    const view = {
      schema: this.schema,
      snapshot,
      ts: this.ts,
      changed: vectors.own?.nodesWith(predicate) ?? new Float64Array(0),
      countNodes: async () => (await this.countLists([{ kind: "presence", predicate }]))[0] ?? 0,
    };
    return await vectors.indexes.nearest(view, question);
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

  /** Closes the reader, but not its snapshot, which the caller closes; undefined where that is not the state it shows. */
  handOver(): Snapshot | undefined {
    const { snapshot, delta } = this.#source;
    if (this.#closed || snapshot.ts !== this.ts || delta !== undefined) {
      this.close();
      return undefined;
    }
    this.#closed = true;
    return snapshot;
  }
}

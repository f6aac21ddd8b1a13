/**
 * Hot: posting lists of a snapshot with a delta merged in. Short lists are one row; of long ones only the chunks that
 * can matter are read (`after` seeks, `skip` goes by counts, an intersection touches the chunks of its uids).
 */
import { must } from "../base/assert.ts";
import { makeArray } from "../base/array.ts";
import { andThen, drive } from "../base/maybe.ts";
import type { MaybePromise, Steps } from "../base/maybe.ts";
import { intersect, lowerBound, subtract, union } from "../base/sorted.ts";
import {
  chunkCount,
  chunkFirst,
  chunkLast,
  chunkMembers,
  decodeHead,
  isHead,
  listCount,
  openChunkOf,
} from "../codec/chunk.ts";
import type { ListHead } from "../codec/chunk.ts";
import { chunkKey, prefixRange, readChunkNumber } from "../codec/key.ts";
import { emptyUidSet } from "../model/uid.ts";
import type { UidSet } from "../model/uid.ts";
import type { Snapshot } from "../store/store.ts";
import { cacheReads } from "./cache-metrics.ts";
import type { RecordCache } from "./cache.ts";
import type { Delta, ListDelta } from "./delta.ts";
import { prefixText } from "./delta.ts";
import { ListCache, keptFrom } from "./list-cache.ts";
import {
  cutRow,
  cutSet,
  decodeRow,
  emptyRow,
  isWhole,
  joinRows,
  joinSets,
  mergeRow,
  mergeSet,
  widenBounds,
} from "./list-rows.ts";
import type { ListRow } from "./list-rows.ts";
import type { ListBounds } from "./reader.ts";

const noBounds: ListBounds = {};

/** No list of the view is changed. */
const noDeltas: readonly (ListDelta | undefined)[] = [];

/** Chunks are looked up one by one for so few uids; above, the list's rows are walked. */
const seeksPerChunk = 4;

/** Reading a whole list to keep it is worth it for the uids of one part in so many of its members. */
const wholeShare = 64;

/** Lists read together that are kept however short they are. */
const keptTogether = 4;

/** A list of several chunks, by the head that stands for it. */
interface LongList {
  readonly prefix: Uint8Array;
  readonly head: ListHead;
  /** Its newest members, in memory of their own (`codec/chunk.ts`). */
  readonly open: Uint8Array | undefined;
}

function readLong(prefix: Uint8Array, row: Uint8Array): LongList {
  return { prefix, head: decodeHead(row), open: openChunkOf(row)?.slice() };
}

/** Where decoded lists are kept; `fillsCache` as of readers. */
interface ListSource {
  readonly cache: RecordCache | undefined;
  readonly fillsCache: boolean;
}

export class ListReader {
  readonly snapshot: Snapshot;
  readonly #delta: Delta | undefined;
  readonly #cache: RecordCache | undefined;
  readonly #fillsCache: boolean;

  constructor(snapshot: Snapshot, delta: Delta | undefined, source?: ListSource) {
    this.snapshot = snapshot;
    this.#delta = delta;
    this.#cache = source?.cache;
    this.#fillsCache = source?.fillsCache === true;
  }

  /** Stored members that are kept, without the delta. */
  #kept(prefix: Uint8Array): UidSet | undefined {
    const cache = this.#cache;
    cacheReads.lists++;
    cacheReads.listMisses++;
    if (cache === undefined || cache.lists.holdsNoList) return undefined;
    const name = ListCache.nameOf(prefix);
    const kept = name === undefined ? undefined : cache.lists.get(name, this.snapshot.ts);
    if (kept !== undefined) cacheReads.listMisses--;
    return kept;
  }

  #intersectKept(prefix: Uint8Array, uids: UidSet): UidSet | undefined {
    const lists = this.#cache?.lists;
    const name = lists === undefined || lists.holdsNoList ? undefined : ListCache.nameOf(prefix);
    return name === undefined ? undefined : lists?.intersect(name, uids, this.snapshot.ts);
  }

  /** Keeps a whole list's stored members. */
  #keep(prefix: Uint8Array, uids: UidSet): void {
    const name = this.#fillsCache ? ListCache.nameOf(prefix) : undefined;
    if (name !== undefined) this.#cache?.setList(name, uids, this.snapshot.ts);
  }

  /** Whether a list of so many members would be kept. */
  #canKeep(count: number): boolean {
    const cache = this.#cache;
    return this.#fillsCache && cache !== undefined && count <= cache.lists.membersMax;
  }

  /** The process's cache, where it may serve this view's indexes as they are. */
  get cache(): RecordCache | undefined {
    return this.delta === undefined ? this.#cache : undefined;
  }

  /** Whether what is read may be kept for others. */
  get canFill(): boolean {
    return this.#fillsCache && this.#cache?.number === this.snapshot.ts;
  }

  /** undefined while it changes nothing. */
  get delta(): Delta | undefined {
    return this.#delta === undefined || this.#delta.isEmpty ? undefined : this.#delta;
  }

  deltaOf(prefix: Uint8Array): ListDelta | undefined {
    const found = this.delta?.list(prefixText(prefix));
    return found === undefined || found.size === 0 ? undefined : found;
  }

  /** Whole lists (within `bounds`), one batched read and further ones only for lists of several chunks. */
  readRows(
    prefixes: readonly Uint8Array[],
    bounds: ListBounds = noBounds,
    wantFacets = false,
  ): MaybePromise<readonly ListRow[]> {
    return drive(this.#readRows(prefixes, bounds, wantFacets));
  }

  *#readRows(
    prefixes: readonly Uint8Array[],
    bounds: ListBounds,
    wantFacets: boolean,
  ): Steps<readonly ListRow[]> {
    const rows = makeArray<ListRow>(prefixes.length);
    const deltas = this.delta === undefined ? noDeltas : prefixes.map((p) => this.deltaOf(p));
    const asked = this.#readKept(prefixes, deltas, rows, wantFacets ? undefined : bounds);
    if (asked.length === 0 && deltas === noDeltas) return rows;
    const longs = new Map<number, LongList>();
    const keys = asked.map((i) => chunkKey(must(prefixes[i], "each list has its prefix"), 0));
    const fills = !wantFacets && this.#canKeep(0);
    const keptMin = prefixes.length >= keptTogether ? 0 : keptFrom;
    yield this.snapshot.readMany(keys, (k, bytes) => {
      const i = must(asked[k], "each key is of a list");
      if (bytes !== undefined && isHead(bytes)) {
        longs.set(i, readLong(must(prefixes[i], "each list has its prefix"), bytes));
        return;
      }
      const cut = deltas[i] === undefined ? bounds : noBounds;
      if (fills) {
        const { uids } = bytes === undefined ? emptyRow : decodeRow(bytes, false, noBounds);
        if (uids.length >= keptMin) this.#keep(must(prefixes[i], "each list has its prefix"), uids);
        rows[i] = { uids: cutSet(uids, cut), facets: undefined };
      } else if (bytes !== undefined) rows[i] = decodeRow(bytes, wantFacets, cut);
    });
    for (const [i, long] of longs) {
      const delta = deltas[i];
      if (fills && isWhole(bounds)) {
        yield this.#readWhole(long, (uids) => void (rows[i] = { uids, facets: undefined }));
        continue;
      }
      const wide = delta === undefined ? bounds : widenBounds(bounds, delta.size);
      yield* this.#readChunks(long, wide, wantFacets, (row) => {
        rows[i] = row;
      });
    }
    for (let i = 0; i < deltas.length; i++) {
      const delta = deltas[i];
      if (delta !== undefined)
        rows[i] = cutRow(mergeRow(must(rows[i], "each list was read"), delta), bounds);
    }
    return rows;
  }

  /**
   * Fills the rows of the lists that are kept, gives the places of the others, which stay empty. `bounds`: undefined asks
   * for all.
   */
  #readKept(
    prefixes: readonly Uint8Array[],
    deltas: readonly (ListDelta | undefined)[],
    rows: ListRow[],
    bounds: ListBounds | undefined,
  ): number[] {
    const asked: number[] = [];
    for (let i = 0; i < prefixes.length; i++) {
      const uids =
        bounds === undefined
          ? undefined
          : this.#kept(must(prefixes[i], "each list has its prefix"));
      if (uids === undefined || bounds === undefined) {
        asked.push(i);
        rows[i] = emptyRow;
      } else {
        const cut = deltas[i] === undefined ? cutSet(uids, bounds) : uids;
        rows[i] = { uids: cut, facets: undefined };
      }
    }
    return asked;
  }

  /** All stored members of a list of several chunks, to be kept where they are not too many. */
  #readWhole(long: LongList, done: (uids: UidSet) => void): MaybePromise<void> {
    return drive(
      this.#readChunks(long, noBounds, false, ({ uids }) => {
        this.#keep(long.prefix, uids);
        done(uids);
      }),
    );
  }

  /** Whether the list is kept; one that is asked for often without having changed is read to be kept. */
  isCached(prefix: Uint8Array): MaybePromise<boolean> {
    const lists = this.#cache?.lists;
    const name = lists === undefined ? undefined : ListCache.nameOf(prefix);
    if (lists === undefined || name === undefined) return false;
    const { ts } = this.snapshot;
    if (lists.get(name, ts) !== undefined) return true;
    if (!this.#fillsCache || !lists.isWanted(name)) return false;
    return andThen(this.countRows([prefix]), (counts) => {
      if (!this.#canKeep(must(counts[0], "one count was asked for"))) return false;
      return andThen(this.readRows([prefix]), () => lists.get(name, ts) !== undefined);
    });
  }

  /** Members of a list of several chunks. */
  *#readChunks(
    long: LongList,
    bounds: ListBounds,
    wantFacets: boolean,
    done: (row: ListRow) => void,
  ): Steps<void> {
    const blocks: ListRow[] = [];
    yield* this.#walkChunks(long, bounds, wantFacets, (block) => {
      blocks.push(block);
      return true;
    });
    if (bounds.reverse === true) blocks.reverse();
    done(joinRows(blocks));
  }

  /** Blocks of a list of several chunks in the order of the walk, cut by the bounds. */
  *#walkChunks(
    { prefix, open }: LongList,
    bounds: ListBounds,
    wantFacets: boolean,
    visit: (block: ListRow) => boolean,
  ): Steps<void> {
    const after = bounds.after ?? 0;
    const reverse = bounds.reverse === true;
    let skip = bounds.skip ?? 0;
    let limit = bounds.limit ?? Infinity;
    if (limit <= 0) return;
    const take = (bytes: Uint8Array): boolean => {
      const count = chunkCount(bytes);
      if (chunkLast(bytes) <= after) return !reverse;
      if (skip >= count && (after === 0 || chunkFirst(bytes) > after)) {
        skip -= count;
        return true;
      }
      const whole = decodeRow(bytes, wantFacets, { after });
      const block = cutRow(whole, reverse ? { reverse, skip, limit } : { skip, limit });
      skip = Math.max(0, skip - whole.uids.length);
      limit -= block.uids.length;
      if (block.uids.length > 0 && !visit(block)) return false;
      return limit > 0;
    };
    let goesOn = !reverse || open === undefined || take(open);
    if (goesOn && (open === undefined || after + 1 < chunkFirst(open))) {
      const end = prefixRange(prefix).end;
      let start = chunkKey(prefix, 1);
      if (after > 0)
        yield this.#seek(prefix, after + 1, (number) => (start = chunkKey(prefix, number)));
      yield this.snapshot.scan({ start, end, reverse }, (_, bytes) => (goesOn = take(bytes)));
    }
    if (goesOn && !reverse && open !== undefined) take(open);
  }

  /** The number of the last chunk that may hold `uid` (1 at least). */
  #seek(prefix: Uint8Array, uid: number, found: (number: number) => void): MaybePromise<void> {
    let number = 1;
    const range = { start: chunkKey(prefix, 1), end: chunkKey(prefix, uid + 1), reverse: true };
    const scanned = this.snapshot.scan(range, (key) => {
      number = Math.max(1, readChunkNumber(key));
      return false;
    });
    return scanned instanceof Promise ? scanned.then(() => found(number)) : found(number);
  }

  /** How many members each list has, from its first row alone (and from the members that a delta changes). */
  countRows(prefixes: readonly Uint8Array[]): MaybePromise<Float64Array> {
    return drive(this.#countRows(prefixes));
  }

  /** The same, handed to a callback: for sequential work (`Steps`). */
  countRowsTo(
    prefixes: readonly Uint8Array[],
    done: (counts: Float64Array) => void,
  ): MaybePromise<void> {
    return andThen(this.countRows(prefixes), done);
  }

  *#countRows(prefixes: readonly Uint8Array[]): Steps<Float64Array> {
    const counts = new Float64Array(prefixes.length);
    const asked: number[] = [];
    const keys: Uint8Array[] = [];
    for (let i = 0; i < prefixes.length; i++) {
      const kept = this.#kept(must(prefixes[i], "each list has its prefix"));
      if (kept !== undefined) counts[i] = kept.length;
      else {
        asked.push(i);
        keys.push(chunkKey(must(prefixes[i], "each list has its prefix"), 0));
      }
    }
    if (keys.length > 0) {
      yield this.snapshot.readMany(keys, (k, bytes) => {
        if (bytes !== undefined) counts[must(asked[k], "each key is of a list")] = listCount(bytes);
      });
    }
    if (this.delta === undefined) return counts;
    for (let i = 0; i < prefixes.length; i++) {
      const delta = this.deltaOf(must(prefixes[i], "each list has its prefix"));
      if (delta === undefined) continue;
      let adds = 0;
      let removes = 0;
      yield this.#intersectStored(
        must(prefixes[i], "each list has its prefix"),
        delta.adds(),
        (found) => (adds = found.length),
      );
      yield this.#intersectStored(
        must(prefixes[i], "each list has its prefix"),
        delta.removes(),
        (found) => (removes = found.length),
      );
      counts[i] = must(counts[i], "each list was read") + delta.adds().length - adds - removes;
    }
    return counts;
  }

  /** Which of `uids` (ascending) are in the list. */
  intersect(prefix: Uint8Array, uids: UidSet): MaybePromise<UidSet> {
    return drive(this.#intersect(prefix, uids));
  }

  *#intersect(prefix: Uint8Array, uids: UidSet): Steps<UidSet> {
    let found: UidSet = emptyUidSet;
    yield this.#intersectStored(prefix, uids, (stored) => (found = stored));
    const delta = this.deltaOf(prefix);
    if (delta === undefined) return found;
    return union(subtract(found, delta.removes()), intersect(delta.adds(), uids));
  }

  #intersectStored(
    prefix: Uint8Array,
    uids: UidSet,
    done: (found: UidSet) => void,
  ): MaybePromise<void> {
    if (uids.length === 0) return done(emptyUidSet);
    const kept = this.#intersectKept(prefix, uids);
    if (kept !== undefined) return done(kept);
    return drive(this.#intersectSteps(prefix, uids, done));
  }

  *#intersectSteps(prefix: Uint8Array, uids: UidSet, done: (found: UidSet) => void): Steps<void> {
    let long: LongList | undefined;
    let short: UidSet | undefined;
    yield this.snapshot.readMany([chunkKey(prefix, 0)], (_, bytes) => {
      if (bytes === undefined) short = emptyUidSet;
      else if (isHead(bytes)) long = readLong(prefix, bytes);
      else short = intersect(uids, decodeRow(bytes, false, noBounds).uids);
    });
    if (short !== undefined || long === undefined) return done(short ?? emptyUidSet);
    const { head, open } = long;
    if (uids.length * wholeShare >= head.count && this.#canKeep(head.count)) {
      yield this.#readWhole(long, (whole) => done(intersect(uids, whole)));
      return;
    }
    const found: UidSet[] = [];
    const border = open === undefined ? uids.length : lowerBound(uids, chunkFirst(open));
    const closed = border === uids.length ? uids : uids.subarray(0, border);
    if (closed.length * seeksPerChunk < head.chunks) yield* this.#seekEach(prefix, closed, found);
    else yield* this.#walkBetween(prefix, closed, found);
    if (open !== undefined && border < uids.length) {
      found.push(intersect(uids.subarray(border), chunkMembers(open)));
    }
    done(joinSets(found));
  }

  /** Few uids in a long list: one seek for each chunk that is hit. */
  *#seekEach(prefix: Uint8Array, uids: UidSet, found: UidSet[]): Steps<void> {
    let at = 0;
    while (at < uids.length) {
      const range = {
        start: chunkKey(prefix, 1),
        end: chunkKey(prefix, must(uids[at], "within bounds") + 1),
        reverse: true,
      };
      const from = at;
      at = from + 1;
      yield this.snapshot.scan(range, (_, bytes) => {
        const members = chunkMembers(bytes);
        const last = must(members.at(-1), "a chunk has members");
        at = Math.max(at, lowerBound(uids, last + 1, from));
        found.push(intersect(uids.subarray(from, at), members));
        return false;
      });
    }
  }

  /** Many uids: the rows from the first to the last one's chunk, decoded only where uids fall. */
  *#walkBetween(prefix: Uint8Array, uids: UidSet, found: UidSet[]): Steps<void> {
    if (uids.length === 0) return;
    let start = chunkKey(prefix, 1);
    yield this.#seek(
      prefix,
      must(uids[0], "there are members"),
      (number) => (start = chunkKey(prefix, number)),
    );
    const end = chunkKey(prefix, must(uids.at(-1), "there are members") + 1);
    let at = 0;
    yield this.snapshot.scan({ start, end }, (_, bytes) => {
      const last = chunkLast(bytes);
      const next = uids[at];
      if (next === undefined) return false;
      if (next > last) return true;
      const to = lowerBound(uids, last + 1, at);
      if (must(uids[to - 1], "within bounds") >= chunkFirst(bytes)) {
        found.push(intersect(uids.subarray(at, to), chunkMembers(bytes)));
      }
      at = to;
      return at < uids.length;
    });
  }

  /** Chunks of a list in the order of the walk; the arrays are lent. */
  walk(
    prefix: Uint8Array,
    bounds: ListBounds,
    visit: (uids: UidSet) => boolean,
  ): MaybePromise<void> {
    return drive(this.#walk(prefix, bounds, visit));
  }

  *#walk(prefix: Uint8Array, bounds: ListBounds, visit: (uids: UidSet) => boolean): Steps<void> {
    const delta = this.deltaOf(prefix);
    let long: LongList | undefined;
    const kept = this.#kept(prefix);
    let short = kept ?? emptyUidSet;
    if (kept === undefined) {
      yield this.snapshot.readMany([chunkKey(prefix, 0)], (_, bytes) => {
        if (bytes === undefined) return;
        if (isHead(bytes)) long = readLong(prefix, bytes);
        else short = decodeRow(bytes, false, noBounds).uids;
      });
    }
    if (long === undefined) {
      const merged = delta === undefined ? short : mergeSet(short, delta);
      const cut = cutSet(merged, bounds);
      if (cut.length > 0) visit(cut);
      return;
    }
    if (delta === undefined) {
      yield* this.#walkChunks(long, bounds, false, (block) => visit(block.uids));
      return;
    }
    yield* this.#walkMerged(long, bounds, delta, visit);
  }

  /** A long list under a delta: its members are merged in between the chunks. */
  *#walkMerged(
    long: LongList,
    bounds: ListBounds,
    delta: ListDelta,
    visit: (uids: UidSet) => boolean,
  ): Steps<void> {
    const reverse = bounds.reverse === true;
    const after = bounds.after ?? 0;
    let skip = bounds.skip ?? 0;
    let limit = bounds.limit ?? Infinity;
    let adds = cutSet(delta.adds(), { after });
    let open = limit > 0;
    const give = (uids: UidSet): boolean => {
      const cut = cutSet(uids, reverse ? { reverse, skip, limit } : { skip, limit });
      skip = Math.max(0, skip - uids.length);
      limit -= cut.length;
      open = (cut.length === 0 || visit(cut)) && limit > 0;
      return open;
    };
    const base = reverse ? { after, reverse } : { after };
    if (open) {
      yield* this.#walkChunks(long, base, false, ({ uids }) => {
        const border = reverse
          ? lowerBound(adds, must(uids[0], "there are members"))
          : lowerBound(adds, must(uids.at(-1), "there are members") + 1);
        const near = reverse ? adds.subarray(border) : adds.subarray(0, border);
        adds = reverse ? adds.subarray(0, border) : adds.subarray(border);
        return give(union(subtract(uids, delta.removes()), near));
      });
    }
    if (open && adds.length > 0) give(adds);
  }
}

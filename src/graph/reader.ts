/**
 * Records, posting lists and schema through a snapshot. In: uids and column requests. Out: columns. Never here: a
 * decision about a query. Reads are batched: one call per level (reference/storage 1), which answers at once on an
 * embedded store. What a transaction wrote but has not committed, and what others committed since its start, is
 * merged here (reference/transactions 6), so that nobody above knows about it.
 */
import type { MaybePromise } from "../base/maybe.ts";
import type { Facets } from "../model/facet.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value, ValueKind } from "../model/value.ts";
import type { PredicateIndex, Schema } from "./schema.ts";

/** A consistent view for the length of one request. Close it. */
export interface Reader {
  readonly schema: Schema;
  /** The commit number that is read at. */
  readonly ts: number;
  /** All that a level of a plan needs of its nodes: one awaited call. `uids` need not be sorted or existing. */
  readLevel<const Requests extends readonly ColumnRequest[]>(
    uids: Float64Array,
    requests: Requests,
  ): MaybePromise<ColumnsOf<Requests>>;
  /** Members of many lists, each ascending. `bounds` cut each of them alike. */
  readLists<const Lists extends readonly ListRef[]>(
    lists: Lists,
    bounds?: ListBounds,
  ): MaybePromise<UidSetsOf<Lists>>;
  /** How many members each list has; reads heads only. */
  countLists(lists: readonly ListRef[]): MaybePromise<Float64Array>;
  /** Which of `uids` (ascending) are in the list; reads only the chunks that can hold them. */
  intersectList(list: ListRef, uids: UidSet): MaybePromise<UidSet>;
  /** Whether the list is kept decoded, so that looking a few uids up in it costs less than reading their records. */
  isCached(list: ListRef): MaybePromise<boolean>;
  /** Chunks of a list in order; `visit` returns false to stop. The array is lent. */
  scanList(list: ListRef, bounds: ListBounds, visit: (uids: UidSet) => boolean): MaybePromise<void>;
  /** Tokens of an index in order, each with its members. Both ends inclusive unless said; both lent. */
  scanTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, uids: UidSet) => boolean,
  ): MaybePromise<void>;
  /** Tokens in a range with the count of their members, from heads alone where there is one (no uids are read). */
  countTokens(
    index: number,
    range: TokenRange,
    visit: (token: Uint8Array, count: number) => boolean,
  ): MaybePromise<void>;
  /**
   * Lists of a count index (`countIndex.id`) in order of their counts, both ends inclusive: the nodes that have so
   * many. The array is lent; `visit` returns false to stop.
   */
  scanCounts(
    index: number,
    range: { readonly from: number; readonly to: number },
    visit: (count: number, uids: UidSet) => boolean,
  ): MaybePromise<void>;
  /** The nearest vectors without comparing all; not there, or undefined: compare them. */
  nearest?(question: VectorQuestion): MaybePromise<VectorAnswer | undefined>;
  close(): void;
}

/** A search for the vectors that are nearest to one. */
export interface VectorQuestion {
  readonly predicate: number;
  readonly index: PredicateIndex;
  readonly target: Float32Array;
  /** How many are wanted. */
  readonly count: number;
  /** Candidates that the search keeps; undefined for the index's own number. */
  readonly ef: number | undefined;
  /** Called every few hundred vectors; a promise means a break. */
  readonly pause: () => Promise<void> | undefined;
}

export interface VectorAnswer {
  /** Nearest first. */
  readonly uids: Float64Array;
  readonly distances: Float64Array;
  /** Nodes that the view itself changed, ascending: they are not among the found ones. */
  readonly changed: Float64Array;
}

/** Lists of uids that the store keeps. */
export type ListRef =
  /** Nodes that have any value or edge of the predicate. */
  | { readonly kind: "presence"; readonly predicate: number }
  /** Nodes with an index token. */
  | { readonly kind: "token"; readonly index: number; readonly token: Uint8Array }
  /** Objects that some node points at, for has(~p); `index` is the predicate's reverse index id. */
  | { readonly kind: "objects"; readonly index: number }
  /** Nodes that point at an object; `index` is the predicate's reverse index id. */
  | { readonly kind: "reverse"; readonly index: number; readonly object: number }
  /** Nodes with exactly so many values or edges; `index` is the predicate's count index id. */
  | { readonly kind: "count"; readonly index: number; readonly count: number }
  /** Targets of a node's edges. */
  | { readonly kind: "edges"; readonly predicate: number; readonly subject: number };

export interface ListBounds {
  /** Only members greater than it. */
  readonly after?: number | undefined;
  /** Leaves out so many first (from the end, when `reverse`); whole chunks by their counts. */
  readonly skip?: number | undefined;
  /** At most so many (of the last ones, when `reverse`). */
  readonly limit?: number | undefined;
  /** Walk from the end; members of one visit are still ascending. */
  readonly reverse?: boolean;
}

export interface TokenRange {
  /** undefined: from the beginning (to the end). */
  readonly from: Uint8Array | undefined;
  readonly to: Uint8Array | undefined;
  readonly reverse?: boolean;
}

/** What is wanted of each node of a level. Predicates by id (`schema.predicate(name)?.id`). */
export type ColumnRequest =
  /** Scalar cells: all languages or list elements of the predicate. */
  | { readonly kind: "cells"; readonly predicate: number }
  /** Edges, cut per node by the bounds. `facets`: whether they are needed. */
  | {
      readonly kind: "edges";
      readonly predicate: number;
      readonly facets: boolean;
      readonly bounds?: ListBounds | undefined;
    }
  /** Edges backwards, `index` the reverse index id. */
  | {
      readonly kind: "reverse";
      readonly index: number;
      readonly facets: boolean;
      readonly bounds?: ListBounds | undefined;
    }
  /** Number of values or edges of the predicate. */
  | { readonly kind: "count"; readonly predicate: number }
  | { readonly kind: "reverseCount"; readonly index: number };

/** Of a request for cells. Row i belongs to uids[i], as of every column. */
interface CellColumn {
  readonly kind: "cells";
  readonly cells: readonly (readonly Cell[] | undefined)[];
}

interface CountColumn {
  readonly kind: "count";
  readonly counts: Float64Array;
}

export type Column = CellColumn | EdgeColumn | CountColumn;

/** What a request is answered with. */
type ColumnOf<Request extends ColumnRequest> = Request extends { readonly kind: "cells" }
  ? CellColumn
  : Request extends { readonly kind: "edges" | "reverse" }
    ? EdgeColumn
    : CountColumn;

/** One column for each request, in their order. */
export type ColumnsOf<Requests extends readonly ColumnRequest[]> = {
  readonly [At in keyof Requests]: ColumnOf<Requests[At]>;
};

/** One set for each list, in their order. */
export type UidSetsOf<Lists extends readonly ListRef[]> = {
  readonly [At in keyof Lists]: UidSet;
};

/** Row i's targets are `targets[offsets[i]] … targets[offsets[i + 1] - 1]`, ascending. */
export interface EdgeColumn {
  readonly kind: "edges";
  readonly offsets: Uint32Array;
  readonly targets: Float64Array;
  /** Beside targets; undefined when not asked for or when no edge has any. */
  readonly facets: readonly (Facets | undefined)[] | undefined;
}

/**
 * One stored scalar value, decoded lazily and shared through the record cache: never changed, may be kept.
 * The stored kind stays with the value: a type change converts on reading (`tokens/convert.ts`), see `kind`.
 * Order within a predicate: languages by their tag, untagged first; list elements by the 64-bit FarmHash of their
 * stored bytes, which is the order of printing (reference/dql 4.20).
 */
export interface Cell {
  readonly kind: ValueKind;
  readonly language: string;
  /** int (nearest double), float, bool (0 or 1), datetime (milliseconds with fraction); NaN for the others. */
  readonly number: number;
  /**
   * Bytes of its text as DQL JSON prints it: quoted, escaped, Go's %g … (reference/dql 4.20). 0: nothing is printed.
   */
  readonly jsonLength: number;
  /** Puts that text to target[at], where there must be room for it. */
  copyJson(target: Uint8Array, at: number): void;
  /** For default and string the text itself, for others the text of the value (RFC 3339, decimal digits …). */
  readonly text: string;
  readonly facets: Facets | undefined;
  readonly value: Value;
}

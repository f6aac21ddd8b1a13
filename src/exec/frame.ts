/**
 * ACT, reading: columns, level by level; no decisions. What execution hands to `render`: one Frame per level, whose
 * rows are the level's distinct nodes, and for each field of the plan's level one column. Text appears in `render`.
 */
import type { Cell } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import type { Value } from "../model/value.ts";

/** One level: rows are distinct nodes. `fields[k]` belongs to the plan level's field k. */
export interface Frame {
  /** Root: result order. Below: ascending, each once; edges point at rows. */
  readonly uids: Float64Array;
  readonly fields: readonly FieldColumn[];
  /** 0 where @cascade took the node out; undefined where nothing was. */
  readonly alive: Uint8Array | undefined;
}

export type FieldColumn =
  | { readonly kind: "uid" }
  /** At most one cell a row (the language chosen). */
  | { readonly kind: "cell"; readonly cells: readonly (Cell | undefined)[] }
  /** Lists, and `name@*`. */
  | { readonly kind: "cells"; readonly cells: readonly (readonly Cell[] | undefined)[] }
  /** val(), math(), aggregates, checkpwd: computed values. */
  | { readonly kind: "computed"; readonly values: readonly (Value | undefined)[] }
  | { readonly kind: "count"; readonly counts: Float64Array }
  | EdgeFrame
  /** count(uid): one number beside the list, not per row. */
  | { readonly kind: "listCount"; readonly count: number }
  | { readonly kind: "groups"; readonly byRow: readonly (readonly Group[] | undefined)[] }
  /** expand(): the fields it became, each with a column of its own. */
  | { readonly kind: "expanded"; readonly columns: readonly FieldColumn[] }
  | { readonly kind: "nothing" };

/**
 * Edges of a level's rows after filter, order and page: row i owns targets[offsets[i]] … ; `rows[e]` is the row of
 * target e in `child` (undefined where no field below is asked for). `ends` overrides the end of a row where the
 * page was cut in place; undefined otherwise.
 */
export interface EdgeFrame {
  readonly kind: "edges";
  readonly offsets: Uint32Array;
  readonly targets: Float64Array;
  readonly rows: Uint32Array;
  readonly facets: readonly (Facets | undefined)[] | undefined;
  readonly child: Frame | undefined;
}

/** One group of @groupby: its keys and its aggregates, in the plan's order. */
export interface Group {
  readonly keys: readonly (Cell | number)[];
  readonly members: number;
  readonly aggregates: readonly (Value | undefined)[];
}

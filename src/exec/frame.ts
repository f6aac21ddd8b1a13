/**
 * ACT, reading: columns, level by level; no decisions. What execution hands to `render`: one Frame per level, whose
 * rows are the level's distinct nodes, and for each field of the plan's level one column. Text appears in `render`.
 */
import type { Cell } from "../graph/reader.ts";
import type { Facets } from "../model/facet.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { FieldPlan, GroupPlan, Level } from "../plan/plan.ts";

/** What a run of a plan gives. `blocks[i]` belongs to `plan.blocks[i]`, `variables[i]` to `plan.variables[i]`. */
export interface ExecutionResult {
  readonly blocks: readonly BlockResult[];
  readonly variables: readonly VariableResult[];
  /** Uids beyond 2^53 that the query names, as they are printed; undefined where there are none. */
  readonly hugeUids: ReadonlyMap<number, string> | undefined;
  /** `metrics.num_uids` without `_total`: predicate → source uids it was evaluated for (reference/dql 5.1). */
  readonly numUids: ReadonlyMap<string, number>;
}

export interface BlockResult {
  readonly frame: Frame;
  /** Rows of the frame in the order of the answer; a row stands twice only for repeated literals of a bare uid(). */
  readonly rows: Uint32Array;
  /** The number of nodes where only that was asked for, and no row was made; undefined otherwise. */
  readonly count: number | undefined;
  /** @groupby at the root: its groups instead of nodes. */
  readonly groups: readonly Group[] | undefined;
  /** shortest: the paths, best first. */
  readonly paths: readonly Path[] | undefined;
}

/** A variable after its block ran. Both are present: a value variable's uids are its keys. */
export interface VariableResult {
  /** Ascending. */
  readonly uids: UidSet;
  /** The order of a path variable, where that differs; undefined otherwise. */
  readonly path: Float64Array | undefined;
  /** undefined for uid variables. */
  readonly values: ValueColumn | undefined;
  /** `x as count(uid)` and aggregates of empty blocks: one value for every node. */
  readonly constant: Value | undefined;
}

/** Values by node: `values[i]` belongs to `uids[i]`; ascending, each once. */
export interface ValueColumn {
  readonly uids: UidSet;
  readonly values: readonly Value[];
}

/** One level: rows are distinct nodes, ascending. `fields[k]` belongs to `level.fields[k]`. */
export interface Frame {
  readonly level: Level;
  readonly uids: UidSet;
  readonly fields: readonly FieldColumn[];
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
  /** count(uid): the number of members of the list around it; the renderer knows it. */
  | { readonly kind: "listCount" }
  | GroupsColumn
  /** expand(): the fields it became, each with a column of its own. */
  | {
      readonly kind: "expanded";
      readonly fields: readonly FieldPlan[];
      readonly columns: readonly FieldColumn[];
    }
  | { readonly kind: "nothing" };

/** @groupby on an edge: groups of each row's targets. */
export interface GroupsColumn {
  readonly kind: "groups";
  readonly byRow: readonly (readonly Group[] | undefined)[];
  /** Printed in the list of a sibling instead. */
  readonly areBeside?: boolean;
}

/**
 * Edges of a level's rows after filter, order, page and cascade: row i owns targets[offsets[i]] … up to
 * targets[offsets[i + 1] - 1]; `rows[e]` is the row of target e in `child`.
 */
export interface EdgeFrame {
  readonly kind: "edges";
  readonly offsets: Uint32Array;
  readonly targets: Float64Array;
  readonly rows: Uint32Array;
  /** Beside targets; undefined when no edge has any or none were asked for. */
  readonly facets: readonly (Facets | undefined)[] | undefined;
  /** undefined where the field has no braces. */
  readonly child: Frame | undefined;
  /** Of a sibling that shares the key (`EdgeField.groupsOf`): printed before the edges, or behind them. */
  readonly groups?: GroupsColumn & { readonly plan: GroupPlan; readonly areFirst: boolean };
}

/**
 * One group of @groupby: its keys and its aggregates, in the plan's order. A number is the uid of a group by edge;
 * undefined a key that none of the grouped nodes has.
 */
export interface Group {
  readonly keys: readonly (Cell | number | undefined)[];
  readonly members: number;
  readonly aggregates: readonly (Value | undefined)[];
}

/** A path: uids[i] leads to uids[i + 1] along hop i. `field`: index into the block level's fields. */
export interface Path {
  readonly uids: Float64Array;
  readonly weight: number;
  readonly hops: readonly {
    readonly field: number;
    /** The weight facet as stored; undefined without @facets. */
    readonly facets: Facets | undefined;
  }[];
}

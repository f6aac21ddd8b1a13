/**
 * Tree + schema → plan; every decision that does not need data is taken here. In: a QueryDocument and a
 * Schema. Out: an immutable Plan that can be run many times. Never here: a read of the store, a literal's value.
 *
 * A plan depends only on the SHAPE of a query: every literal is a slot. Running a plan begins with binding: slot
 * texts become tokens, numbers and dates (`exec/bind.ts`), with the exact texts of refusals.
 *
 * Fields keep the order of the tree: `level.fields[k]` belongs to child k of the block or field (fragments are
 * already inlined by the parser), so that renderers of other shapes (GraphQL) can walk tree and plan together.
 */
import type { AggregateFunction, Literal, RuleMark } from "../dql/ast.ts";
import type { Predicate, PredicateIndex } from "../graph/schema.ts";

export interface Plan {
  /** `schema.version` it was built for. */
  readonly schemaVersion: number;
  readonly slots: readonly Slot[];
  readonly variables: readonly VariablePlan[];
  /** In textual order, which is the order of the answer. */
  readonly blocks: readonly BlockPlan[];
  /** Indexes into `blocks` in the order of their dependencies. */
  readonly schedule: readonly number[];
}

/** A place for a literal. `literal` is what the first request of this shape had; its `token` finds the next one's. */
export interface Slot {
  readonly kind: SlotKind;
  readonly literal: Literal;
  /** Where it stands: arguments of a root are refused with other words than those of an edge. */
  readonly where: "root" | "edge";
}

/**
 * A refusal that depends on the schema and the shape alone, raised when its part of the plan is reached: a level
 * without nodes raises nothing, as in the reference. `%s` in the text stands for the list `[a b]` of the parts.
 */
export interface PlanRefusal {
  readonly text: string;
  /** Slots whose texts are listed, and fixed words between them. */
  readonly parts: readonly (SlotIndex | string)[];
}

export type SlotKind =
  | "value"
  | "first"
  | "offset"
  | "after"
  | "uid"
  | "count"
  | "text"
  | "regex"
  | "number"
  | "geo"
  | "option"
  | "depth"
  | "loop"
  | "password";

/** An index into `plan.slots`, and into the texts that a run is given. */
export type SlotIndex = number;

/** A query variable of DQL (`x as …`). Its index in `plan.variables` is its name everywhere else. */
export interface VariablePlan {
  readonly name: string;
  /** What its definition makes. A value variable also serves as the set of its keys. */
  readonly kind: "uid" | "value";
  readonly block: number;
  /**
   * The level (`level.id`) whose rows are its keys: a facet variable's is the level its edge leads to, a uid
   * variable's likewise. −1 for a whole block and for groups.
   */
  readonly level: number;
}

/** A predicate as it is used: resolved against the schema. */
export interface PredicateUse {
  /** Without `~`. */
  readonly name: string;
  readonly reverse: boolean;
  /** As written: tags, "." and "*". */
  readonly languages: readonly string[];
  /** undefined: the schema does not know it; it has no data. */
  readonly predicate: Predicate | undefined;
}

export interface BlockPlan {
  readonly kind: "query" | "var" | "shortest" | "empty";
  /** The key of the answer; empty for var blocks. */
  readonly name: string;
  readonly root: RootPlan | undefined;
  readonly filter: FilterPlan | undefined;
  readonly order: OrderPlan | undefined;
  readonly page: PagePlan;
  readonly level: Level;
  readonly variable: number | undefined;
  readonly normalize: boolean;
  readonly ignoreReflex: boolean;
  readonly groupBy: GroupPlan | undefined;
  readonly recurse: RecursePlan | undefined;
  readonly shortest: ShortestPlan | undefined;
}

/** How the first uids of a block are found. */
export interface RootPlan {
  /** As written. */
  readonly call: CallPlan;
  /** What a node must pass to be one of the nearest that a vector search takes; undefined: any may be. */
  readonly among: FilterPlan | undefined;
  /**
   * `walk`: the order's own index gives nodes in the order that is asked for, so it is walked only as far as the page
   * needs, with the filter applied to each batch. `seek`: ascending uids, paged in the list itself. `set`: all.
   */
  readonly accessPath: "walk" | "seek" | "set";
  /** The root as written with the filter, then conditions of the filter that an index answers; the cheapest is taken. */
  readonly choices: readonly RootChoice[];
}

export interface RootChoice {
  readonly call: CallPlan;
  /** What its nodes are still tested for. */
  readonly rest: FilterPlan | undefined;
}

/** A set of distinct nodes and what is asked of each. Number 0 is the block's root. */
export interface Level {
  /** Unique within the plan. */
  readonly id: number;
  readonly block: number;
  /** Ids of the levels above, from the root down; empty for the root. */
  readonly path: readonly number[];
  readonly fields: readonly FieldPlan[];
  readonly cascade: CascadePlan | undefined;
}

/**
 * Fields (by index) that a node must have to stay. Computed from @cascade, exemptions left out (reference/dql 4.14).
 */
export interface CascadePlan {
  readonly required: readonly number[];
  /** The names given, `~` included, for what expand() becomes; undefined: all. */
  readonly names: readonly string[] | undefined;
}

interface FieldBase {
  /** The key under which it is printed. */
  readonly key: string;
  /** Whether the query gave it an alias (@normalize keeps only those). */
  readonly aliased: boolean;
  /** The variable that it defines. */
  readonly variable: number | undefined;
}

export type FieldPlan =
  | UidField
  | ValueField
  | EdgeField
  | CountField
  | CountUidField
  | ValField
  | AggregateField
  | MathField
  | ExpandFieldPlan
  | CheckPasswordField
  | AbsentField
  | RefusedField;

interface UidField extends FieldBase {
  readonly kind: "uid";
}

/** A scalar predicate. */
export interface ValueField extends FieldBase {
  readonly kind: "value";
  readonly use: PredicateUse;
  readonly predicate: Predicate;
  /** `one`: at most one cell a row. `list`: an array. `all`: `name@*`, a key for each tag. */
  readonly form: "one" | "list" | "all";
  readonly facets: FacetsPlan | undefined;
  readonly facetFilter: FacetFilterPlan | undefined;
}

export interface EdgeField extends FieldBase {
  readonly kind: "edge";
  readonly use: PredicateUse;
  readonly predicate: Predicate;
  /** Printed as an object instead of an array. */
  readonly single: boolean;
  readonly filter: FilterPlan | undefined;
  readonly order: OrderPlan | undefined;
  readonly page: PagePlan;
  readonly facets: FacetsPlan | undefined;
  readonly facetFilter: FacetFilterPlan | undefined;
  /** undefined: no braces, nothing is printed (variables, order and cascade still see the edges). */
  readonly level: Level | undefined;
  readonly groupBy: GroupPlan | undefined;
  /**
   * `p @groupby(…) {…}` and `p {…}` on one level share their key: the list of the second holds the groups of the
   * first, whose number in the level this is. undefined in all other cases.
   */
  readonly groupsOf: number | undefined;
  readonly normalize: boolean;
}

export interface CountField extends FieldBase {
  readonly kind: "count";
  readonly use: PredicateUse;
  readonly predicate: Predicate;
  readonly filter: FilterPlan | undefined;
  readonly facetFilter: FacetFilterPlan | undefined;
  /** Cut from what passes the filter; without a filter a page has no effect, and is undefined. */
  readonly page: PagePlan | undefined;
}

/** `count(uid)`: the number of nodes of the list around it. */
interface CountUidField extends FieldBase {
  readonly kind: "countUid";
}

interface ValField extends FieldBase {
  readonly kind: "val";
  readonly of: number;
}

export interface AggregateField extends FieldBase {
  readonly kind: "aggregate";
  readonly function: AggregateFunction;
  readonly of: number;
  /** Index of the sibling edge field below which `of` is defined; undefined in empty blocks. */
  readonly through: number | undefined;
}

export interface MathField extends FieldBase {
  readonly kind: "math";
  readonly expression: MathPlan;
  /** Each variable of the expression once. */
  readonly variables: readonly number[];
}

export type MathPlan =
  | { readonly kind: "constant"; readonly slot: SlotIndex }
  | { readonly kind: "variable"; readonly variable: number }
  | { readonly kind: "apply"; readonly operator: string; readonly operands: readonly MathPlan[] };

/** expand(): the fields it becomes are known when the level's nodes are (`plan/expand.ts`). */
export interface ExpandFieldPlan extends FieldBase {
  readonly kind: "expand";
  readonly of:
    | { readonly kind: "all" }
    | { readonly kind: "types"; readonly names: readonly string[] }
    | { readonly kind: "val"; readonly variable: number };
  /** Only uid predicates are expanded, whose targets carry one of these types. */
  readonly filter: FilterPlan | undefined;
  /** The level below each edge that it becomes; undefined without braces. */
  readonly level: Level | undefined;
  readonly page: PagePlan;
  /** Predicates requested beside it (by name, `~` included), which it may not repeat. */
  readonly beside: readonly string[];
}

export interface CheckPasswordField extends FieldBase {
  readonly kind: "checkpwd";
  readonly predicate: Predicate;
  readonly password: SlotIndex;
}

/** A field that cannot be answered once there is a node to answer it for. */
interface RefusedField extends FieldBase {
  readonly kind: "refused";
  readonly use: PredicateUse | undefined;
  readonly refusal: PlanRefusal;
}

/** A predicate that the schema does not know, a password: no key, ever. */
interface AbsentField extends FieldBase {
  readonly kind: "absent";
  readonly use: PredicateUse;
}

/** first, offset, after; each a slot. */
export interface PagePlan {
  readonly first: SlotIndex | undefined;
  readonly offset: SlotIndex | undefined;
  readonly after: SlotIndex | undefined;
}

export type OrderPlan =
  | { readonly kind: "refused"; readonly refusal: PlanRefusal }
  | {
      readonly kind: "values";
      readonly keys: readonly OrderKeyPlan[];
      /** Whether the first key's index may be walked instead of sorting (single key, ready, not a list). */
      readonly walk: PredicateIndex | undefined;
    }
  | { readonly kind: "variable"; readonly variable: number; readonly descending: boolean };

export interface OrderKeyPlan {
  readonly use: PredicateUse;
  readonly predicate: Predicate;
  readonly descending: boolean;
  /** Tag whose collation orders strings; undefined: by bytes. */
  readonly collation: string | undefined;
  /** Nodes without a value, if nothing else tells them apart, in descending order of their uids. */
  readonly turnsMissing: boolean;
}

export interface FacetsPlan {
  readonly all: boolean;
  readonly fields: readonly {
    readonly key: string;
    readonly alias: string | undefined;
    readonly variable: number | undefined;
  }[];
  readonly order: readonly { readonly key: string; readonly descending: boolean }[];
}

/** AND/OR/NOT over tests of one facet each; a missing facet is false. */
export type FacetFilterPlan =
  | { readonly kind: "and" | "or"; readonly filters: readonly FacetFilterPlan[] }
  | { readonly kind: "not"; readonly filter: FacetFilterPlan }
  | {
      readonly kind: "test";
      readonly key: string;
      readonly operator: "eq" | "le" | "lt" | "ge" | "gt" | "allofterms" | "anyofterms";
      readonly value: SlotIndex;
    };

/** Cheapest first within an AND or OR; the order never changes the outcome. */
export type FilterPlan = RuleMark &
  (
    | { readonly kind: "and" | "or"; readonly filters: readonly FilterPlan[] }
    | { readonly kind: "not"; readonly filter: FilterPlan }
    | { readonly kind: "call"; readonly call: CallPlan }
    | { readonly kind: "constant"; readonly value: boolean }
    | { readonly kind: "edge"; readonly use: PredicateUse; readonly filter: FilterPlan | undefined }
  );

export type CompareOperator = "eq" | "le" | "lt" | "ge" | "gt" | "between";

/**
 * Plans of calls by kind. Each function adds its own (`declare module`) beside what it does with it, in
 * `exec/functions`; these two are of none.
 */
export interface CallPlans {
  /** Matches nothing: unknown predicates and the like. */
  nothing: { readonly kind: "nothing"; readonly use: PredicateUse | undefined };
  refused: {
    readonly kind: "refused";
    readonly use: PredicateUse | undefined;
    readonly refusal: PlanRefusal;
  };
}

export type CallKind = keyof CallPlans;

/** One function at a root or in a filter, resolved: which index serves it, where its arguments come from. */
export type CallPlan = CallPlans[CallKind];

/** Arguments of a comparison: literals, or the values of a variable. */
export interface ValuesPlan {
  readonly slots: readonly SlotIndex[];
  readonly variable: number | undefined;
}

export interface GroupPlan {
  readonly keys: readonly { readonly key: string; readonly use: PredicateUse }[];
  readonly aggregates: readonly GroupAggregatePlan[];
  /** What is wrong with it, told as soon as there is a group. */
  readonly refusal?: string | undefined;
}

export type GroupAggregatePlan =
  | { readonly kind: "count"; readonly key: string; readonly variable: number | undefined }
  | {
      readonly kind: "aggregate";
      readonly key: string;
      readonly function: AggregateFunction;
      readonly use: PredicateUse;
      readonly variable: number | undefined;
    };

/** @recurse: the block's level is followed again and again; each edge field's `level` is that same level. */
export interface RecursePlan {
  readonly depth: SlotIndex | undefined;
  readonly loop: SlotIndex | undefined;
}

/** Edges are the fields of the block's level (all of kind "edge" or "absent"). */
export interface ShortestPlan {
  readonly from: PathEndPlan;
  readonly to: PathEndPlan;
  readonly numPaths: SlotIndex | undefined;
  readonly depth: SlotIndex | undefined;
  readonly minWeight: SlotIndex | undefined;
  readonly maxWeight: SlotIndex | undefined;
  readonly maxFrontierSize: SlotIndex | undefined;
}

export type PathEndPlan =
  | { readonly kind: "uid"; readonly slot: SlotIndex }
  | { readonly kind: "variable"; readonly variable: number };

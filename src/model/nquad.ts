import type { Facets } from "./facet.ts";
import type { Value } from "./value.ts";

/** One fact as a client states it, before names are resolved (reference/dql 3.1, 3.4, 3.5). */
export interface NQuad {
  readonly subject: NodeRef;
  /** Without language; `*` only in deletes of everything (`kind: "star"` object too). */
  readonly predicate: string;
  /** Language tag; "" for untagged. */
  readonly language: string;
  readonly object: ObjectRef;
  readonly facets: Facets | undefined;
}

export type NodeRef =
  | { readonly kind: "uid"; readonly uid: number }
  /** `_:label`; the label without `_:`. */
  | { readonly kind: "blank"; readonly label: string }
  /** `uid(v)` of an upsert. */
  | { readonly kind: "variable"; readonly name: string };

export type ObjectRef =
  | { readonly kind: "node"; readonly node: NodeRef }
  | { readonly kind: "value"; readonly value: Value }
  /** `val(v)` of an upsert: the value at the subject. */
  | { readonly kind: "val"; readonly name: string }
  | { readonly kind: "star" };

/** One `{set, delete, @if}` group of a request. Deletes apply before sets (reference/dql 3.3). */
export interface Mutation {
  readonly set: readonly NQuad[];
  readonly delete: readonly NQuad[];
  /**
   * What the input says about predicates that the schema may not know yet (reference/dql 2.9): predicate → hint.
   * `list` when the request shows several values, `single` when a nested object stands alone.
   */
  readonly hints: ReadonlyMap<string, "list" | "single">;
}

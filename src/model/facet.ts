import type { Value } from "./value.ts";

/** A key and a value on an edge or on a scalar value. Kinds: string, int, float, bool, datetime (reference/dql 3.1). */
export interface Facet {
  readonly key: string;
  readonly value: Value;
}

/** Sorted by key, keys unique. Absent (undefined) rather than empty. */
export type Facets = readonly Facet[];

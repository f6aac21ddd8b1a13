import type { ValueKind } from "./value.ts";

/** What a predicate holds: scalars of a kind, or edges. */
export type PredicateKind = ValueKind | "uid";

/** `@index(hnsw(metric: "euclidean"))`: options in the order given, values as text. */
export interface IndexSpec {
  /** A tokenizer's name: int, float, bool, bigfloat, year, month, day, hour, geo, exact, hash, term, fulltext, trigram, ngram, sha256, hnsw. */
  readonly tokenizer: string;
  readonly options?: readonly { readonly key: string; readonly value: string }[];
}

/** An index of vectors has no tokens: vectors are compared, never looked up. */
export function isVectorIndex({ tokenizer }: Pick<IndexSpec, "tokenizer">): boolean {
  return tokenizer === "hnsw";
}

/** A predicate as the user defines it (reference/dql 2.2, 2.3). An alter replaces it whole. */
export interface PredicateDefinition {
  readonly name: string;
  readonly kind: PredicateKind;
  readonly list: boolean;
  readonly indexes: readonly IndexSpec[];
  readonly reverse: boolean;
  readonly count: boolean;
  readonly upsert: boolean;
  readonly unique: boolean;
  readonly lang: boolean;
  readonly noconflict: boolean;
}

/** `type T { … }`: a named list of predicates, `~p` for reverse ones, in the order given. */
export interface TypeDefinition {
  readonly name: string;
  readonly fields: readonly string[];
}

/** What one schema text says. */
export interface SchemaText {
  readonly predicates: readonly PredicateDefinition[];
  readonly types: readonly TypeDefinition[];
}

/** A definition without any directive. */
export function plainDefinition(
  name: string,
  kind: PredicateKind = "default",
  list = false,
): PredicateDefinition {
  return {
    name,
    kind,
    list,
    indexes: [],
    reverse: false,
    count: false,
    upsert: false,
    unique: false,
    lang: false,
    noconflict: false,
  };
}

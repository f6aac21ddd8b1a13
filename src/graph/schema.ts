import type { PredicateDefinition, TypeDefinition } from "../model/definition.ts";
import type { PredicateAccess } from "../model/principal.ts";

/**
 * The schema of one namespace at one version, compact and immutable; cached per process by its version. Predicates
 * and indexes have ids that are never used twice (reference/storage 2).
 */
export interface Schema {
  /** Rises with every change; part of every plan's key. */
  readonly version: number;
  /** Rises only with changes that are not pure additions; commits are judged by it. */
  readonly fence: number;
  readonly namespace: number;
  readonly storageId: number;
  predicate(name: string): Predicate | undefined;
  predicateById(id: number): Predicate | undefined;
  type(name: string): TypeDefinition | undefined;
  /** Sorted by name; reserved ones included. */
  readonly predicates: readonly Predicate[];
  readonly types: readonly TypeDefinition[];
  /** Whose eyes it is for: `predicates` and `types` show what those may read. undefined: everything is readable. */
  readonly access?: PredicateAccess | undefined;
}

/** A definition with its ids. An index that is `building` is kept up by every commit and used by no reader. */
export interface Predicate {
  readonly id: number;
  readonly definition: PredicateDefinition;
  readonly indexes: readonly PredicateIndex[];
  /** undefined where there is none. */
  readonly reverseIndex: { readonly id: number; readonly state: IndexState } | undefined;
  readonly countIndex: { readonly id: number; readonly state: IndexState } | undefined;
  /** With @count and @reverse both: the count list of `~p`. */
  readonly reverseCountIndex: { readonly id: number; readonly state: IndexState } | undefined;
  /**
   * Was a single value before it became a list: a node may still hold its value in the untagged slot. Readers show
   * that as a list of one; the first write to such a node moves it to the slot of a list element.
   */
  readonly formerScalar: boolean;
}

export interface PredicateIndex {
  readonly id: number;
  readonly tokenizer: string;
  readonly options: readonly { readonly key: string; readonly value: string }[];
  /** Of the tokenizer whose tokens are in it. */
  readonly version: number;
  readonly state: IndexState;
}

/** stale: of another version of its tokenizer. It is kept up, used by no reader, and soon replaced by a new one. */
export type IndexState = "building" | "ready" | "stale";

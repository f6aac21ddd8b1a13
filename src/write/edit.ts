/**
 * ACT, changing: facts in, patches out. In: N-Quads of a request. Out: what a store commits, with the keys that decide
 * conflicts. Never here: a read that is not asked of a Reader, a commit.
 *
 * An Edit is a fact whose names are resolved: node numbers, predicate ids, values of the predicate's kind.
 */
import type { Facets } from "../model/facet.ts";
import type { Value } from "../model/value.ts";

export type Edit =
  | {
      readonly kind: "setValue";
      readonly uid: number;
      readonly predicate: number;
      readonly language: string;
      /** Of the predicate's kind. */
      readonly value: Value;
      readonly facets: Facets | undefined;
    }
  /** Removes the value only if it is the one that is stored (of a list: that element). */
  | {
      readonly kind: "deleteValue";
      readonly uid: number;
      readonly predicate: number;
      readonly language: string;
      readonly value: Value;
    }
  | {
      readonly kind: "setEdge";
      readonly uid: number;
      readonly predicate: number;
      readonly target: number;
      readonly facets: Facets | undefined;
    }
  | {
      readonly kind: "deleteEdge";
      readonly uid: number;
      readonly predicate: number;
      readonly target: number;
    }
  /** `S P *`; with a language only that value. */
  | {
      readonly kind: "clear";
      readonly uid: number;
      readonly predicate: number;
      readonly language: string | undefined;
    }
  /** `S * *`: everything that the node's types name; becomes clears before patches are derived. */
  | { readonly kind: "clearNode"; readonly uid: number };

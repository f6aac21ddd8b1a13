/** What the parser knows about a block or field while it reads it. */
import type {
  AggregateFunction,
  ExpandField,
  FacetSelection,
  Filter,
  GroupKey,
  Literal,
  MathExpression,
  OrderKey,
  Position,
  PredicateName,
} from "./ast.ts";

export type DraftForm =
  | "block"
  | "predicate"
  | "count"
  | "countUid"
  | "val"
  | "aggregate"
  | "math"
  | "expand"
  | "checkpwd"
  | "fragment";

/** Blocks and fields alike, since arguments and directives of both are read by the same functions. */
export interface Draft {
  readonly form: DraftForm;
  /** As written, `~` included; the fragment's name. */
  readonly name: string;
  readonly alias: string | undefined;
  readonly variable: string | undefined;
  readonly at: Position | undefined;
  languages: readonly string[];
  first: Literal | undefined;
  offset: Literal | undefined;
  after: Literal | undefined;
  order: OrderKey[];
  filter: Filter | undefined;
  facets: FacetSelection | undefined;
  facetFilter: Filter | undefined;
  normalize: boolean;
  ignoreReflex: boolean;
  cascade: string[] | undefined;
  groupBy: GroupKey[] | undefined;
  /** A block that may hold nothing but aggregates and math. */
  isEmptyBlock: boolean;
  children: Draft[] | undefined;
  /** What the forms `val`, `aggregate`, `math`, `expand` and `checkpwd` have of their own. */
  extra: DraftExtra | undefined;
}

export type DraftExtra =
  | { readonly kind: "val"; readonly variable: string }
  | {
      readonly kind: "aggregate";
      readonly function: AggregateFunction;
      readonly of: { readonly kind: "val"; readonly variable: string } | PredicateName;
    }
  | { readonly kind: "math"; readonly expression: MathExpression }
  | { readonly kind: "expand"; readonly of: ExpandField["of"] }
  | {
      readonly kind: "checkpwd";
      readonly predicate: PredicateName;
      readonly password: Literal;
      readonly surplus: readonly Literal[] | undefined;
    };

interface DraftNames {
  readonly name: string;
  readonly alias: string | undefined;
  readonly variable: string | undefined;
}

export function makeDraft(
  form: DraftForm,
  names: DraftNames,
  at: Position | undefined,
  extra?: DraftExtra,
): Draft {
  return {
    form,
    name: names.name,
    alias: names.alias,
    variable: names.variable,
    at,
    languages: [],
    first: undefined,
    offset: undefined,
    after: undefined,
    order: [],
    filter: undefined,
    facets: undefined,
    facetFilter: undefined,
    normalize: false,
    ignoreReflex: false,
    cascade: undefined,
    groupBy: undefined,
    isEmptyBlock: false,
    children: undefined,
    extra,
  };
}

/** `~friend` is the predicate `friend` backwards. */
export function toPredicateName(written: string, languages: readonly string[]): PredicateName {
  const reverse = written.startsWith("~");
  return { kind: "predicate", name: reverse ? written.slice(1) : written, reverse, languages };
}

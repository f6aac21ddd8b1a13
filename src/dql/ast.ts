/**
 * DQL text → tree. Also the tree that GraphQL is lowered to, and rules after it: one tree, one plan, one
 * executor. The tree holds names and literals as written; nothing here knows a schema or a store.
 * Sources: reference/dql 4.1 – 4.19.
 */

/** Where a thing stands in the text: lines from 1, columns from 0; absent in lowered trees. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * A literal argument. The plan never bakes its text in: it becomes a slot, so that requests of one shape share a
 * plan. `token` is its index in `lexShape(text).literals`; −1 where the text cannot be lifted out of the shape (and
 * so is the same for all requests of this shape), and in lowered trees.
 */
export interface Literal {
  readonly text: string;
  readonly quoted: boolean;
  readonly token: number;
  /** The query variable (`$name`) whose value this is; see `QueryParameters.isRebindable`. */
  readonly parameter?: string;
}

export interface QueryDocument {
  readonly blocks: readonly Block[];
  readonly schema: SchemaRequest | undefined;
  /** Absent where the text declares and uses no query variables, and in lowered trees. */
  readonly parameters?: QueryParameters;
}

/** `query q($a: int = 3, $b: string!)` (reference/dql 4.2). */
export interface QueryParameters {
  /** Type as written, `!` included, and default ("" for none) by name, `$` included. */
  readonly declared: ReadonlyMap<string, { readonly type: string; readonly default: string }>;
  /**
   * Whether other values would give the same tree: each value stands alone in literals that carry its name, so that
   * a plan made for one request can be bound to the next one's values (`readParameters`).
   */
  readonly isRebindable: boolean;
  /** Variables that stand in `uid($x)`, where a value may also be a list. */
  readonly uids: ReadonlySet<string>;
  /** Variables that stand in `math(…)`, where they must have a value. */
  readonly numbers: ReadonlySet<string>;
}

/** `schema(pred: [a, b]) { type index }`; undefined lists mean all. */
export interface SchemaRequest {
  readonly predicates: readonly string[] | undefined;
  readonly types: readonly string[] | undefined;
  readonly fields: readonly string[];
}

/**
 * A top-level block. `name` is the key of the answer; "var" blocks have none, "shortest" answers under `_path_`.
 * "empty": without function, arguments or variables, only for aggregates and math; named `var` it has no key either.
 */
export interface Block {
  readonly kind: "query" | "var" | "shortest" | "empty";
  readonly name: string;
  /** `x as name(func: …)`: the uid variable of the block's result. */
  readonly variable: string | undefined;
  readonly root: FunctionCall | undefined;
  /**
   * Of a root that takes the nearest: the nodes that it takes them from, so that others take no place among them. Made by
   * lowering (rules), never by text.
   */
  readonly among?: Filter | undefined;
  readonly filter: Filter | undefined;
  readonly page: Page;
  readonly order: readonly OrderKey[];
  readonly directives: Directives;
  readonly recurse: Recurse | undefined;
  readonly shortest: Shortest | undefined;
  readonly children: readonly Field[];
  readonly at: Position | undefined;
}

export interface Page {
  readonly first: Literal | undefined;
  readonly offset: Literal | undefined;
  readonly after: Literal | undefined;
}

export const noPage: Page = { first: undefined, offset: undefined, after: undefined };

export interface OrderKey {
  readonly by: PredicateName | { readonly kind: "val"; readonly variable: string };
  readonly descending: boolean;
}

/** `name`, `~friend`, `name@en`, `name@en:fr:.`, `name@*`: languages as written, "." and "*" included. */
export interface PredicateName {
  readonly kind: "predicate";
  readonly name: string;
  readonly reverse: boolean;
  readonly languages: readonly string[];
}

export interface Directives {
  readonly normalize: boolean;
  readonly ignoreReflex: boolean;
  /** undefined: no @cascade; empty list: all fields. */
  readonly cascade: readonly string[] | undefined;
  readonly groupBy: readonly GroupKey[] | undefined;
}

export const noDirectives: Directives = {
  normalize: false,
  ignoreReflex: false,
  cascade: undefined,
  groupBy: undefined,
};

export interface GroupKey {
  readonly alias: string | undefined;
  readonly predicate: PredicateName;
}

export interface Recurse {
  readonly depth: Literal | undefined;
  readonly loop: Literal | undefined;
}

export interface Shortest {
  /** undefined where the text does not say: refused when the query is planned. */
  readonly from: ShortestEnd | undefined;
  readonly to: ShortestEnd | undefined;
  readonly numPaths: Literal | undefined;
  readonly depth: Literal | undefined;
  readonly minWeight: Literal | undefined;
  readonly maxWeight: Literal | undefined;
  readonly maxFrontierSize: Literal | undefined;
}

export type ShortestEnd =
  | { readonly kind: "uid"; readonly uid: Literal }
  | { readonly kind: "variable"; readonly name: string };

/** A function at a root or in a filter. Names are lower case: eq le lt ge gt between has uid uid_in type allofterms … */
export interface FunctionCall {
  readonly name: string;
  readonly subject: FunctionSubject;
  readonly args: readonly Argument[];
  readonly at: Position | undefined;
}

export type FunctionSubject =
  | PredicateName
  /** `count(p)`, `count(~p)`. */
  | { readonly kind: "count"; readonly predicate: PredicateName }
  | { readonly kind: "val"; readonly variable: string }
  | { readonly kind: "len"; readonly variable: string }
  /** uid(…), type(…): everything is in the arguments. */
  | { readonly kind: "none" };

export type Argument =
  | { readonly kind: "literal"; readonly literal: Literal }
  /** A list written in brackets, each a literal. `f(p, [a, b])` means `f(p, a, b)`. */
  | { readonly kind: "list"; readonly items: readonly Literal[] }
  | { readonly kind: "val"; readonly variable: string }
  /** `uid(v)` in uid_in, and each variable of uid(…). */
  | { readonly kind: "uid"; readonly variable: string }
  | { readonly kind: "regex"; readonly source: Literal; readonly flags: string }
  /** `key: value` options of similar_to. */
  | { readonly kind: "option"; readonly key: string; readonly value: Literal }
  /** Coordinates of geo functions, as JSON text. */
  | { readonly kind: "geo"; readonly json: Literal };

export type Filter = RuleMark &
  (
    | { readonly kind: "and" | "or"; readonly filters: readonly Filter[] }
    | { readonly kind: "not"; readonly filter: Filter }
    | { readonly kind: "call"; readonly call: FunctionCall }
    /** Always false or always true; made by lowering (closed rules, impossible conditions). */
    | { readonly kind: "constant"; readonly value: boolean }
    /** At least one edge of the predicate leads to a node that passes; made by lowering (rules), never by text. */
    | {
        readonly kind: "edge";
        readonly predicate: PredicateName;
        readonly filter: Filter | undefined;
      }
  );

/** The type whose rule a condition is, where it is one: for printed plans, without effect otherwise. */
export interface RuleMark {
  readonly rule?: string;
}

export type Field =
  | PredicateField
  | {
      readonly kind: "uid";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
    }
  /** `count(uid)`: alias or variable allowed. */
  | {
      readonly kind: "countUid";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
    }
  /** `count(p @filter(…))`. */
  | {
      readonly kind: "count";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
      readonly predicate: PredicateName;
      readonly page: Page;
      readonly filter: Filter | undefined;
      readonly facetFilter: Filter | undefined;
    }
  | { readonly kind: "val"; readonly alias: string | undefined; readonly variable: string }
  /** `min(val(x))`, or `min(p)` inside @groupby. */
  | {
      readonly kind: "aggregate";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
      readonly function: AggregateFunction;
      readonly of: { readonly kind: "val"; readonly variable: string } | PredicateName;
    }
  | {
      readonly kind: "math";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
      readonly expression: MathExpression;
    }
  | ExpandField
  | {
      readonly kind: "checkpwd";
      readonly alias: string | undefined;
      readonly variable: string | undefined;
      readonly predicate: PredicateName;
      readonly password: Literal;
      /** Arguments after the password, of which there should be none. */
      readonly surplus?: readonly Literal[] | undefined;
    };

export type AggregateFunction = "min" | "max" | "sum" | "avg";

export interface PredicateField {
  readonly kind: "predicate";
  /** @cascade does not ask for it, whatever its name; made by lowering (aggregates of edges), never by text. */
  readonly isExempt?: boolean;
  readonly alias: string | undefined;
  readonly variable: string | undefined;
  readonly predicate: PredicateName;
  readonly page: Page;
  readonly order: readonly OrderKey[];
  readonly filter: Filter | undefined;
  readonly facets: FacetSelection | undefined;
  readonly facetFilter: Filter | undefined;
  readonly directives: Directives;
  /** undefined: no braces; empty: `{}`. */
  readonly children: readonly Field[] | undefined;
  readonly at: Position | undefined;
}

export interface ExpandField {
  readonly kind: "expand";
  /** `_all_`, type names, or `val(x)`. */
  readonly of:
    | { readonly kind: "all" }
    | { readonly kind: "types"; readonly names: readonly string[] }
    | { readonly kind: "val"; readonly variable: string };
  readonly filter: Filter | undefined;
  /** Applies to each edge that it becomes. */
  readonly page?: Page;
  readonly directives: Directives;
  readonly children: readonly Field[] | undefined;
}

/** `@facets`, `@facets(a, alias: b, v as c)`, `@facets(orderasc: a)`. `all`: no list was given. */
export interface FacetSelection {
  readonly all: boolean;
  readonly fields: readonly {
    readonly key: string;
    readonly alias: string | undefined;
    readonly variable: string | undefined;
  }[];
  readonly order: readonly { readonly key: string; readonly descending: boolean }[];
}

export type MathExpression =
  | { readonly kind: "constant"; readonly literal: Literal }
  | { readonly kind: "variable"; readonly name: string }
  /** Operators and functions by their DQL name: + - * / % dot < > <= >= == != u- floor ceil since exp ln sqrt cond pow logbase max min. */
  | {
      readonly kind: "apply";
      readonly operator: string;
      readonly operands: readonly MathExpression[];
    };

/** The body of an RDF mutation: a plain query, a mutation block, or an upsert block. */
export interface UpsertDocument {
  /** For `parseQuery` (no mutations) or `parseUpsertQuery`; undefined where the body has none. */
  readonly query: string | undefined;
  readonly mutations: readonly MutationText[];
}

/** One `mutation @if(…) { set {…} delete {…} }`; the texts are N-Quads for `intake`, "" where a section is absent. */
export interface MutationText {
  /** `@if(…)`, or "". */
  readonly condition: string;
  readonly set: string;
  readonly delete: string;
}

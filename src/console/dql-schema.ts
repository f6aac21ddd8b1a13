/** The predicates and types of the server, as `schema {}` tells them. */

export interface PredicateInfo {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
  /** Empty: it has none. */
  readonly tokenizers: readonly string[];
  /** What else is said of it: `reverse`, `count`, `lang`, … */
  readonly traits: readonly string[];
}

export interface StoredType {
  readonly name: string;
  readonly fields: readonly string[];
}

export interface DqlSchema {
  readonly predicates: readonly PredicateInfo[];
  readonly types: readonly StoredType[];
}

/** As the server answers. */
export interface SchemaData {
  readonly schema?: readonly StoredPredicate[];
  readonly types?: readonly {
    readonly name: string;
    readonly fields?: readonly { readonly name: string }[];
  }[];
}

interface StoredPredicate {
  readonly predicate: string;
  readonly type: string;
  readonly list?: boolean;
  readonly tokenizer?: readonly string[];
  readonly index_specs?: readonly { readonly name: string }[];
  readonly [trait: string]: unknown;
}

export const schemaQuery = "schema {}";

const traitNames = ["reverse", "count", "lang", "upsert", "unique", "noconflict"];

export function readDqlSchema({ schema = [], types = [] }: SchemaData): DqlSchema {
  return {
    predicates: schema.map((one) => ({
      name: one.predicate,
      type: one.type,
      isList: one.list === true,
      tokenizers: [...(one.tokenizer ?? []), ...(one.index_specs ?? []).map(({ name }) => name)],
      traits: traitNames.filter((name) => one[name] === true),
    })),
    types: types.map(({ name, fields = [] }) => ({
      name,
      fields: fields.map((field) => field.name),
    })),
  };
}

/** What the server keeps for itself. */
export function isReserved(name: string): boolean {
  return name.startsWith("dgraph.");
}

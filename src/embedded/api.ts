/** A database in this process: what the package shows. These types are published as they stand here. */

export interface OpenOptions {
  /** Directory of the store; made when it is missing. Without one everything is in memory, and ends with the process. */
  readonly data?: string | undefined;
  /** GraphQL schema to set, unless the store has the same. */
  readonly schema?: string | undefined;
  /** Schema of predicates to set, as `/alter` takes it. */
  readonly dqlSchema?: string | undefined;
  /** Where `@lambda` is resolved, as `http://host:8686/graphql-worker`. */
  readonly lambdaUrl?: string | undefined;
  /** Milliseconds since 1970, for `$now` of defaults and the expiry of tokens; the system's clock unless given. */
  readonly now?: (() => number) | undefined;
}

/** A document that knows its types: of codegen's client preset (nodes or strings), gql.tada, and their like. */
export interface TypedDocument<Data, Variables> {
  /** Never there: it carries the types. */
  readonly __apiType?: ((variables: Variables) => Data) | undefined;
}

export interface GraphqlOptions {
  /** Such as the token that the schema's `Dgraph.Authorization` names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly operationName?: string | undefined;
}

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface GraphqlResult<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly GraphqlError[];
}

/** DqlFacts as JSON (an object or a list), or as N-Quads (a text). */
export type DqlFacts = string | object;

export interface DqlMutation {
  readonly set?: DqlFacts | undefined;
  readonly delete?: DqlFacts | undefined;
  /** DQL, whose variables the facts may name: `uid(v)`. */
  readonly query?: string | undefined;
  /** `@if(eq(len(v), 0))` */
  readonly condition?: string | undefined;
}

export interface DqlMutationResult {
  /** Label of a blank node → its uid. */
  readonly uids: Readonly<Record<string, string>>;
  /** Of the mutation's query. */
  readonly queries: unknown;
}

/** Values of a query's variables: `$name`, or `name`. */
export type DqlVariables = Readonly<Record<string, string | number | boolean>>;

export interface DqlTransaction {
  dql<Rows = Record<string, unknown[]>>(query: string, variables?: DqlVariables): Promise<Rows>;
  /** Seen by what the transaction reads later, and by others when it has ended. */
  mutate(mutation: DqlMutation): Promise<DqlMutationResult>;
}

export interface EmbeddedDatabase {
  /** Never rejects for what the request says: `errors` tell. */
  graphql<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    options?: GraphqlOptions,
  ): Promise<GraphqlResult<Data>>;
  /** Answers now, and after each change. Ends with the loop; rejects where the schema or the rights have changed. */
  subscribe<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    options?: GraphqlOptions,
  ): AsyncIterableIterator<GraphqlResult<Data>>;
  /** Rows by the names of blocks. Rejects with a DatabaseError. */
  dql<Rows = Record<string, unknown[]>>(query: string, variables?: DqlVariables): Promise<Rows>;
  /** One transaction. Rejects with a DatabaseError. */
  mutate(mutation: DqlMutation): Promise<DqlMutationResult>;
  /**
   * Runs `work` and commits; runs it again after a conflict, ten times at most. What it throws ends the transaction, and is
   * thrown.
   */
  transaction<T>(work: (transaction: DqlTransaction) => Promise<T>): Promise<T>;
  /** Sets the GraphQL schema. Rejects with a DatabaseError that lists what is wrong. */
  setSchema(schema: string): Promise<void>;
  /** Sets predicates and types, as `/alter` does; resolves when indexes are built. */
  alter(schema: string): Promise<void>;
  /** Removes all data; schemas stay. */
  dropData(): Promise<void>;
  close(): Promise<void>;
}

/** What a database refuses. `code` is one of docs/errors.md. */
export interface DatabaseError extends Error {
  readonly name: "DatabaseError";
  readonly code: string;
}

export type Open = (options?: OpenOptions) => Promise<EmbeddedDatabase>;

/** A database in this process: what the package shows. These types are published as they stand here. */
import type {
  DqlCall,
  DqlMutation,
  DqlMutationResult,
  DqlTransaction,
  GraphqlCall,
  GraphqlError,
  GraphqlHeaders,
  RequestCall,
  SubscribeCall,
} from "../client/api.ts";

export type {
  DqlCall,
  DqlFacts,
  DqlMutation,
  DqlMutationResult,
  DqlText,
  DqlTransaction,
  DqlValue,
  DqlVariables,
  GraphqlError,
  GraphqlHeaders,
  GraphqlResult,
  TypedDocument,
} from "../client/api.ts";

export interface OpenOptions {
  /** Directory of the store; made when it is missing. Without one everything is in memory, and ends with the process. */
  readonly data?: string | undefined;
  /** File with the key of an encrypted store, or of one to be made: 16, 24 or 32 bytes. */
  readonly keyFile?: string | undefined;
  /** GraphQL schema to set, unless the store has the same. */
  readonly schema?: string | undefined;
  /** Schema of predicates to set, as `/alter` takes it. */
  readonly dqlSchema?: string | undefined;
  /** Script of resolvers for `@lambda`, JavaScript or TypeScript; it runs in processes of its own. */
  readonly lambda?: string | undefined;
  /** Another lambda server, as `http://host:8686/graphql-worker`. */
  readonly lambdaUrl?: string | undefined;
  /** Services that `@custom(http:)` of the schema may ask; unless given, public hosts alone. */
  readonly outgoing?: OutgoingOptions | undefined;
  /** Milliseconds since 1970, for `$now` of defaults and the expiry of tokens; the system's clock unless given. */
  readonly now?: (() => number) | undefined;
}

interface OutgoingOptions {
  /** Names of hosts, `api.example.com` or `*.example.com`; all unless given. */
  readonly hosts?: readonly string[] | undefined;
  /** Addresses and CIDR blocks that may be asked although they are not public, as `127.0.0.0/8`. */
  readonly private?: readonly string[] | undefined;
}

/** `Schema`: what `weft types` writes, by which texts of documents have types; without one they are said, or unknown. */
export interface EmbeddedDatabase<Schema = unknown> {
  /** Never rejects for what the request says: `errors` tell. */
  readonly graphql: GraphqlCall<Schema, GraphqlHeaders>;
  /** The data alone. Rejects with a DatabaseError where there are `errors`. */
  readonly request: RequestCall<Schema, GraphqlHeaders>;
  /** Answers now, and after each change. Ends with the loop; rejects where the schema or the rights have changed. */
  readonly subscribe: SubscribeCall<Schema, GraphqlHeaders>;
  /** Rows by the names of blocks. Rejects with a DatabaseError. */
  readonly dql: DqlCall;
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
  /** Of a GraphQL answer; `code` is the `extensions.code` of the first then, or "Error". */
  readonly errors?: readonly GraphqlError[] | undefined;
}

export type Open = <Schema = unknown>(options?: OpenOptions) => Promise<EmbeddedDatabase<Schema>>;

/**
 * GUEST: SDL → API; operation → DQL tree. The surface for the doors: one service per process, one compiled schema
 * per namespace and version. Never here: query text glued together, or a resolver per field.
 */
import type { Cancellation } from "../base/cancellation.ts";
import type { MaybePromise } from "../base/maybe.ts";

export interface GraphqlService {
  /** One request → the whole JSON answer (`errors`, `data`, `extensions` as graphql.md 4.1, 4.2). Never rejects for what the sender did. */
  handle(request: GraphqlRequest): MaybePromise<GraphqlAnswer>;
  /** POST /admin/schema and updateGQLSchema: validates, alters the storage schema, stores the SDL. Fault E_GRAPHQL_SCHEMA lists what is wrong. */
  updateSchema(namespace: number, sdl: string): Promise<SchemaRow>;
  /** getGQLSchema; undefined where none was ever set. */
  schemaRow(namespace: number): Promise<SchemaRow | undefined>;
  /** The messages of what is wrong with it; empty when it is valid. */
  validateSchema(sdl: string): Promise<readonly string[]>;
  /**
   * Origins of web pages that may read answers (`# Dgraph.Allow-Origin`); empty: every one. As this process last saw
   * the schema, which is right after each `handle`.
   */
  allowedOrigins(namespace: number): MaybePromise<readonly string[]>;
  /** The header that carries the caller's token, for pages that want to send it; undefined for none. As above. */
  authorizationHeader(namespace: number): MaybePromise<string | undefined>;
  /** `schemaUpdateCounter` of /probe/graphql. */
  readonly schemaUpdateCounter: number;
}

/** The stored SDL, its node, and the API generated from it. */
export interface SchemaRow {
  readonly uid: number;
  readonly schema: string;
  readonly generatedSchema: string;
}

export interface GraphqlRequest {
  readonly namespace: number;
  /** `json`: body is the JSON object of seed 2.1. `graphql`: the document itself. `get`: fields from the URL, as JSON text. */
  readonly kind: "json" | "graphql";
  readonly body: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly remoteAddress: string;
  readonly timeoutMs: number;
  readonly signal?: Cancellation;
}

export interface GraphqlAnswer {
  readonly body: Uint8Array;
  /** Extra response headers (Cache-Control …); undefined for none. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

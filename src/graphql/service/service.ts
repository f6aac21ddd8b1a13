/**
 * SDL → API; operation → DQL tree. The interface for the modules above: one service per process, one compiled schema
 * per namespace and version. Never here: query text glued together, or a resolver per field.
 */
import type { GraphqlRequest } from "../operation/request.ts";
import type { DocumentLimits } from "../operation/document-meter.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import type { SchemaPlan } from "./schema-plan.ts";
import type { SchemaVerdict } from "./schema-verdict.ts";
import type { MaybePromise } from "../../base/maybe.ts";

export interface GraphqlService {
  /** Of documents. */
  readonly limits: DocumentLimits;
  /**
   * One request → the whole JSON answer (`errors`, `data`, `extensions` as reference/messages 2,
   * reference/graphql 4.2). Never rejects for what the sender did.
   */
  handle(request: GraphqlRequest): MaybePromise<GraphqlAnswer>;
  /**
   * Opens a subscription: runs it once, and again whenever a commit may have changed its answer. Equal subscriptions
   * of callers with equal rights are run as one. A query or a mutation is answered if `answersAll`. Never rejects for
   * what the sender did.
   */
  subscribe(
    request: GraphqlRequest,
    subscriber: Subscriber,
    answersAll?: boolean,
  ): Promise<SubscribeOutcome>;
  /** What the subscriptions of this process cost. */
  readonly subscriptionCounters: SubscriptionCounters;
  /** POST /admin/schema and updateGQLSchema: validates, alters the storage schema, stores the SDL. Fault E_GRAPHQL_SCHEMA lists what is wrong. */
  updateSchema(namespace: number, sdl: string): Promise<SchemaRow>;
  /** What `updateSchema` would change, with the stored nodes that each change touches. Faults as it. */
  planSchema(namespace: number, sdl: string): Promise<SchemaPlan>;
  /** As `updateSchema`; refuses changes by which stored nodes lose, but for those that `force` names. */
  applySchema(namespace: number, sdl: string, options: ApplyOptions): Promise<SchemaRow>;
  /** getGQLSchema; undefined where none was ever set. */
  schemaRow(namespace: number): Promise<SchemaRow | undefined>;
  /**
   * Without storing it. `asksOthers`: the GraphQL services that it names are asked whether they fit, which is for
   * administrators. Throws Fault E_DEADLINE, and E_LIMIT where it takes too much memory.
   */
  validateSchema(sdl: string, asksOthers: boolean): Promise<SchemaVerdict>;
  /** All that is wrong with one, with places. Throws as `validateSchema`. */
  findSchemaProblems(sdl: string): Promise<readonly SchemaProblem[]>;
  /**
   * Origins of web pages that may read answers (`# Dgraph.Allow-Origin`); empty: every one. As this process last saw
   * the schema, which is right after each `handle`.
   */
  allowedOrigins(namespace: number): MaybePromise<readonly string[]>;
  /** What a page is told before it sends, by the newest schema: no `handle` came before. */
  preflight(namespace: number): Promise<Preflight>;
  /** `schemaUpdateCounter` of /probe/graphql: from what is stored, the same in every process. */
  schemaUpdateCount(namespace: number): Promise<number>;
}

export interface ApplyOptions {
  /** `Type.field` or `Type`. */
  readonly force: readonly string[];
  /** Of the plan that it follows: it is refused where the schema was set since; undefined: it may have been. */
  readonly updates: number | undefined;
}

export interface Preflight {
  /** As `allowedOrigins`. */
  readonly origins: readonly string[];
  /** The header that carries the caller's token; undefined for none. */
  readonly tokenHeader: string | undefined;
}

/** The stored SDL, its node, and the API generated from it. */
export interface SchemaRow {
  readonly uid: number;
  readonly schema: string;
  readonly generatedSchema: string;
  /** What is doubtful about it. */
  readonly warnings: readonly string[];
}

export interface GraphqlAnswer {
  readonly body: Uint8Array;
  /** Of HTTP; undefined: 200, as for every outcome but a mutation that its request may not hold, and 503. */
  readonly status?: number | undefined;
  /** Extra response headers (Cache-Control …); undefined for none. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/**
 * expired: the token has; rights: the caller's access has changed; schema: its fields are not what they were, or the rules
 * about them; failed: the service did.
 */
export type SubscriptionEnd = "expired" | "rights" | "schema" | "failed";

/** Who takes the answers of a subscription. Its methods must not throw. */
export interface Subscriber {
  /**
   * A whole answer: the first before `subscribe` resolves, then one after each change of it. The bytes are shared by
   * all equal subscriptions: they may be kept, never changed.
   */
  next(answer: Uint8Array): void;
  /** Nothing follows. */
  end(reason: SubscriptionEnd): void;
}

export type SubscribeOutcome =
  | {
      readonly kind: "open";
      /** Ends it from the subscriber's side: nothing follows, not even `end`. */
      readonly close: () => void;
    }
  /** `message`: as the reference's WebSocket tells the errors, in one text. */
  | { readonly kind: "refused"; readonly message: string; readonly errors: readonly object[] }
  /** A query or a mutation, which was answered. */
  | { readonly kind: "answered"; readonly answer: GraphqlAnswer }
  /** A query or a mutation, and only a subscription was wanted: it was not run. */
  | { readonly kind: "other" };

export interface SubscriptionCounters {
  /** Open ones. */
  readonly subscriptions: number;
  /** Distinct ones: these are what is run. */
  readonly queries: number;
  /** How often one was run since the start. */
  readonly evaluations: number;
  /** How often one was not run because a commit could not concern it. */
  readonly skips: number;
}

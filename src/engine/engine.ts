/**
 * The operations of one database: query, mutate, alter, commit. The whole interface for the modules above; opens one
 * snapshot per request, lends it downward and closes it. Implementations stand beside it.
 */
import type { MaybePromise } from "../base/maybe.ts";
import type { Cancellation } from "../base/cancellation.ts";
import type { Reader } from "../graph/reader.ts";
import type { Schema } from "../graph/schema.ts";
import type { NQuad } from "../model/nquad.ts";
import type { ChangedState } from "./changes.ts";
import type { LeaseKind } from "./leases.ts";
import type { ExplainOptions } from "./explain-options.ts";
import type { RequestBudget } from "../model/request-budget.ts";
import type { Principal } from "../model/principal.ts";

export interface Engine {
  /** POST /query: text → answer bytes (the value of `data`) with the numbers of `extensions`. */
  query(request: QueryRequest): Promise<QueryAnswer>;
  /** POST /mutate in all its forms. */
  mutate(request: MutateRequest): Promise<MutateAnswer>;
  /** POST /commit and its abort. */
  commit(request: CommitRequest): Promise<CommitAnswer>;
  /** POST /alter. Resolves when the change, and unless `runInBackground` its indexes, are ready. */
  alter(operation: AlterOperation, namespace: number, principal?: Principal): Promise<void>;
  /** POST /assign: the first of `count` numbers in a row. Throws Fault E_LEASE. */
  lease(kind: LeaseKind, count: number): Promise<number>;
  /** The newest schema of a namespace. */
  schema(namespace: number): Promise<Schema>;
  /**
   * For modules above: a view of the newest state, as `principal` may see it; without one as the server may. Close it.
   * Throws E_PERMISSION for a principal that is refused. `use` "request": what it is for is found out with it; where
   * that is a query, `noteQuery` is told.
   */
  openReader(
    namespace: number,
    principal?: Principal,
    use?: "query" | "request",
  ): MaybePromise<Reader>;
  /** A query is answered by a reader that was opened for a request. */
  noteQuery(reader: Reader): void;
  /**
   * For modules above (GraphQL mutations): runs `work` in a transaction that the server composes itself, commits what it
   * wrote, and runs it again on conflict, with jitter, up to a limit. `work` may run several times. Its reader shows
   * and it may write what `principal` may; without one everything. `given`: a reader of the namespace that `openReader`
   * gave and nobody else uses; it is closed, and its snapshot serves the first attempt where that can be. `budget`: of
   * the request that writes; undefined: the server writes for itself.
   */
  transact<T>(
    namespace: number,
    work: (txn: ManagedTransaction) => Promise<T>,
    principal?: Principal,
    given?: Reader,
    budget?: RequestBudget,
  ): Promise<TransactResult<T>>;
  onSchemaChange(listener: (namespace: number) => void): () => void;
  /** Called after each commit of any process that this one can now see; only wakes. Returns what ends it. */
  onCommit(listener: (commitTs: number) => void): () => void;
  /** For those who keep answers: the newest state with what has changed in it since commit `from`. */
  openChanged(namespace: number, from: number): Promise<ChangedState>;
  close(): Promise<void>;
}

export interface ManagedTransaction {
  /** Sees what was applied so far. Valid until the work ends; do not close. */
  readonly reader: Reader;
  /**
   * Adds facts: converts to the schema's types, gives blank nodes their uids (one scope for the transaction), checks
   * @unique. Deletes apply before sets of the same call. Returns label → uid of the new nodes.
   */
  apply(facts: {
    readonly set: readonly NQuad[];
    readonly delete: readonly NQuad[];
  }): Promise<ReadonlyMap<string, number>>;
  /** Leaves without committing; `transact` still resolves with the work's value. */
  discard(): void;
}

export interface TransactResult<T> {
  readonly value: T;
  readonly commitTs: number;
}

export interface QueryRequest {
  readonly namespace: number;
  /** Who asks; undefined: the server itself, or a server without ACL. */
  readonly principal?: Principal | undefined;
  readonly text: string;
  readonly variables: ReadonlyMap<string, string>;
  readonly startTs: number;
  readonly readOnly: boolean;
  readonly bestEffort: boolean;
  readonly debug: boolean;
  readonly format: "json" | "rdf";
  /** 0 for none. */
  readonly timeoutMs: number;
  readonly signal?: Cancellation;
  /** Made where the request entered; undefined: one is made of the two above and the server's limits. */
  readonly budget?: RequestBudget | undefined;
  /** Asks how the query is run; absent: only for its answer. */
  readonly plan?: ExplainOptions | undefined;
}

/** A query by itself that reads what is newest, without a limit of time. */
export const queryDefaults = {
  variables: new Map<string, string>(),
  startTs: 0,
  readOnly: true,
  bestEffort: false,
  debug: false,
  format: "json",
  timeoutMs: 0,
} as const satisfies Partial<QueryRequest>;

/** Durations in nanoseconds, as the reference reports them. */
export interface Latency {
  readonly parsingNs: number;
  readonly processingNs: number;
  readonly encodingNs: number;
  readonly assignTimestampNs: number;
  readonly totalNs: number;
}

export interface QueryAnswer {
  /** The JSON of `data` (for rdf: the JSON string). */
  readonly data: Uint8Array;
  readonly startTs: number;
  readonly latency: Latency;
  /** `metrics.num_uids`: predicate → uids touched, without `_total`. */
  readonly numUids: ReadonlyMap<string, number>;
  /** JSON of what was asked about the plan: an object, or a string for people. */
  readonly report?: string | undefined;
}

export interface MutateRequest {
  readonly namespace: number;
  /** Who writes; undefined: the server itself, or a server without ACL. */
  readonly principal?: Principal | undefined;
  /** What the body says: either RDF or JSON, still as text. The content types are told apart by `http`. */
  readonly body:
    | {
        readonly kind: "rdf";
        readonly text: string;
        /** Of its query. */
        readonly variables?: ReadonlyMap<string, string>;
      }
    | { readonly kind: "json"; readonly text: string }
    | MutationParts;
  readonly startTs: number;
  readonly commitNow: boolean;
  readonly timeoutMs: number;
  /** As that of a query. */
  readonly budget?: RequestBudget | undefined;
}

/** A request whose parts came apart already. */
export interface MutationParts {
  readonly kind: "parts";
  /** "" for none. */
  readonly query: string;
  /** Of the query, as those of a query by itself. */
  readonly variables: ReadonlyMap<string, string>;
  readonly mutations: readonly MutationPart[];
}

/** What one mutation sets and deletes: JSON, N-Quads, or both; "" for none. */
export interface MutationPart {
  /** `@if(…)`, or "". */
  readonly condition: string;
  readonly setJson: string;
  readonly deleteJson: string;
  readonly set: string;
  readonly delete: string;
}

export interface MutateAnswer {
  /** JSON of `data.queries`; undefined for null. */
  readonly queries: Uint8Array | undefined;
  /** label → uid; undefined for null (a plain query). */
  readonly uids: ReadonlyMap<string, number> | undefined;
  readonly startTs: number;
  /** 0 without commitNow. */
  readonly commitTs: number;
  readonly keys: readonly string[] | undefined;
  readonly preds: readonly string[];
  readonly latency: Latency;
  readonly numUids: ReadonlyMap<string, number>;
}

export interface CommitRequest {
  readonly namespace: number;
  readonly startTs: number;
  readonly abort: boolean;
  /** What the client sends back; undefined for an abort. */
  readonly keys: readonly string[] | undefined;
  /** `<group>-<namespace>-<predicate>`, as given with the keys: one that is not served here aborts. */
  readonly preds?: readonly string[];
}

export interface CommitAnswer {
  readonly startTs: number;
  readonly commitTs: number;
}

export type AlterOperation =
  | { readonly kind: "dropAll" }
  | { readonly kind: "dropData" }
  | { readonly kind: "dropPredicate"; readonly predicate: string }
  | { readonly kind: "dropType"; readonly type: string }
  | { readonly kind: "schema"; readonly text: string; readonly runInBackground: boolean };

/** The client of a Weft server: what `weft-graph/client` shows. These types are published as they stand here. */
import type { Checked, DataOf, DocumentText, TypedDocument, VariablesOf } from "./document-types.ts"; // prettier-ignore
import type { ParsedDocument, Parsed } from "./document-syntax.ts";

export type { Checked, DataOf, DocumentText, SchemaTypes, TypedDocument, VariablesOf } from "./document-types.ts"; // prettier-ignore

// ---------------------------------------------------------------------------------------------------------------
// GraphQL

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

export interface GraphqlHeaders {
  /** Such as the token that the schema's `Dgraph.Authorization` names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly operationName?: string | undefined;
}

export interface GraphqlOptions extends GraphqlHeaders {
  /** Ends the request, or the subscription. */
  readonly signal?: Signal | undefined;
}

/** An `AbortSignal`, of which this is used. */
export interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Variables may be left out where each of them may. */
type Asked<Variables, Options> =
  Partial<Variables> extends Variables
    ? [variables?: Variables | undefined, options?: Options | undefined]
    : [variables: Variables, options?: Options | undefined];

/** Any document that knows its types. */
interface AnyDocument {
  readonly __apiType?: ((variables: never) => unknown) | undefined;
}

/** A call with a document: `Schema` (of `weft types`) gives a text its types; without one they are said, or unknown. */
interface TypedCall<Schema, Options> {
  <const Document extends string | AnyDocument>(
    document: Document & Checked<Document, Schema>,
    ...asked: Asked<VariablesOf<Document, Schema>, Options>
  ): Promise<GraphqlResult<DataOf<Document, Schema>>>;
}

interface UntypedCall<Options> {
  <Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    options?: Options,
  ): Promise<GraphqlResult<Data>>;
}

export type GraphqlCall<Schema, Options = GraphqlOptions> = unknown extends Schema
  ? UntypedCall<Options>
  : TypedCall<Schema, Options>;

interface TypedRequest<Schema, Options> {
  <const Document extends string | AnyDocument>(
    document: Document & Checked<Document, Schema>,
    ...asked: Asked<VariablesOf<Document, Schema>, Options>
  ): Promise<DataOf<Document, Schema>>;
}

interface UntypedRequest<Options> {
  <Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    options?: Options,
  ): Promise<Data>;
}

export type RequestCall<Schema, Options = GraphqlOptions> = unknown extends Schema
  ? UntypedRequest<Options>
  : TypedRequest<Schema, Options>;

interface TypedSubscribe<Schema, Options> {
  <const Document extends string | AnyDocument>(
    document: Document & Checked<Document, Schema>,
    ...asked: Asked<VariablesOf<Document, Schema>, Options>
  ): AsyncIterableIterator<GraphqlResult<DataOf<Document, Schema>>>;
}

interface UntypedSubscribe<Options> {
  <Data = Record<string, unknown>, Variables = Record<string, unknown>>(
    document: string | TypedDocument<Data, Variables>,
    variables?: Variables,
    options?: Options,
  ): AsyncIterableIterator<GraphqlResult<Data>>;
}

export type SubscribeCall<Schema, Options = GraphqlOptions> = unknown extends Schema
  ? UntypedSubscribe<Options>
  : TypedSubscribe<Schema, Options>;

/** Makes documents that know their types; `fragments` are those that it spreads and does not hold. */
export interface MakeDocument<Schema> {
  <const Text extends string, const Given extends readonly AnyFragment[] = []>(
    text: Text & Checked<Text, Schema, FragmentsOf<Given>>,
    fragments?: Given,
  ): DocumentText<
    DataOf<Text, Schema, FragmentsOf<Given>>,
    VariablesOf<Text, Schema>,
    OwnFragments<Text> | FragmentsOf<Given>
  >;
}

export interface AnyFragment extends AnyDocument {
  readonly __fragments?: (() => unknown) | undefined;
}

type FragmentsOf<Given extends readonly AnyFragment[]> = FragmentsIn<Given[number]>;

type FragmentsIn<One> = One extends {
  readonly __fragments?: (() => infer Fragments) | undefined;
}
  ? unknown extends Fragments
    ? never
    : Fragments
  : never;

type OwnFragments<Text extends string> =
  Parsed<Text> extends infer Document extends ParsedDocument ? Document["fragments"] : never;

// ---------------------------------------------------------------------------------------------------------------
// DQL

/** A value in a DQL text: it becomes a variable of the query, never a part of its text. A list is a list of variables. */
export type DqlValue = string | number | bigint | boolean | Date | readonly DqlValue[] | DqlText;

/** A DQL text with its variables, as `dql` makes it; may stand in another one. */
export interface DqlText {
  /** With the declarations of its variables. */
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface MakeDqlText {
  (strings: TemplateStringsArray, ...values: readonly DqlValue[]): DqlText;
}

/** Values of a query's variables: `$name`, or `name`. */
export type DqlVariables = Readonly<Record<string, string | number | boolean>>;

/** Rows by the names of blocks: of a template (`` dql`{ q(func: eq(name, ${name})) { name } }` ``), or of a text. */
export interface DqlCall {
  <Rows = Record<string, unknown[]>>(
    strings: TemplateStringsArray,
    ...values: readonly DqlValue[]
  ): Promise<Rows>;
  <Rows = Record<string, unknown[]>>(
    query: string | DqlText,
    variables?: DqlVariables,
  ): Promise<Rows>;
}

/** Facts as JSON (an object or a list), or as N-Quads (a text). */
export type DqlFacts = string | object;

export interface DqlMutation {
  readonly set?: DqlFacts | undefined;
  readonly delete?: DqlFacts | undefined;
  /** DQL, whose variables the facts may name: `uid(v)`. */
  readonly query?: string | DqlText | undefined;
  /** `@if(eq(len(v), 0))` */
  readonly condition?: string | undefined;
}

export interface DqlMutationResult {
  /** Label of a blank node → its uid. */
  readonly uids: Readonly<Record<string, string>>;
  /** Of the mutation's query. */
  readonly queries: unknown;
}

export interface DqlTransaction {
  readonly dql: DqlCall;
  /** Seen by what the transaction reads later, and by others when it has ended. */
  mutate(mutation: DqlMutation): Promise<DqlMutationResult>;
}

// ---------------------------------------------------------------------------------------------------------------
// The client

export interface ClientOptions {
  /** Of the server: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Sent with each request, and when a subscription connects; asked for each time where it is a function. */
  readonly headers?: GivenHeaders | undefined;
  /** A key of the server's (`X-Auth-Token`). */
  readonly key?: string | undefined;
  /** Tries again after a refusal that says so (429, 503), and reads after a lost connection; 5 unless given, 0 for none. */
  readonly retries?: number | undefined;
  /** Milliseconds for a request with its retries; without bound unless given. */
  readonly timeoutMs?: number | undefined;
  /** How subscriptions are heard: by WebSocket where the platform has one, else by an event stream. */
  readonly subscriptions?: "websocket" | "event-stream" | undefined;
  /** In place of the platform's. */
  readonly fetch?: FetchLike | undefined;
  /** In place of the platform's. */
  readonly WebSocket?: WebSocketMaker | undefined;
  /** Told when a subscription has lost its connection, and connects again after `delayMs`. */
  readonly onReconnect?: ((event: { readonly error: Error; readonly delayMs: number }) => void) | undefined; // prettier-ignore
}

type GivenHeaders =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

export interface DatabaseClient<Schema = unknown> {
  /** Rejects with a DatabaseError where no answer comes; what the answer says is in `data` and `errors`. */
  readonly graphql: GraphqlCall<Schema>;
  /** The data alone. Rejects with a DatabaseError where there are `errors`. */
  readonly request: RequestCall<Schema>;
  /** Answers now, and after each change, over lost connections too. Ends with the loop. */
  readonly subscribe: SubscribeCall<Schema>;
  readonly dql: DqlCall;
  /** One transaction. Rejects with a DatabaseError. */
  mutate(mutation: DqlMutation): Promise<DqlMutationResult>;
  /**
   * Runs `work` and commits; runs it again after a conflict, ten times at most. What it throws ends the transaction, and is
   * thrown.
   */
  transaction<T>(work: (transaction: DqlTransaction) => Promise<T>): Promise<T>;
  /** Ends subscriptions. */
  close(): void;
}

/** What a server refuses, or that none answers. */
export interface RemoteError extends Error {
  readonly name: "DatabaseError";
  /** `extensions.code` of the answer; `Unreachable`, `Timeout`, `HTTP` where there is none. */
  readonly code: string;
  /** 0 where no answer came. */
  readonly status: number;
  /** Of a GraphQL answer. */
  readonly errors: readonly GraphqlError[];
}

/** As `fetch`, of which this is used. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly signal?: Signal;
  },
) => Promise<ResponseLike>;

export interface ResponseLike {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: unknown;
  text(): Promise<string>;
}

/** A class as the platform's WebSocket is; those of platforms differ in their types. */
export type WebSocketMaker = new (...asked: never[]) => object;

export type Connect = <Schema = unknown>(options: ClientOptions) => DatabaseClient<Schema>;
export type Documents = <Schema>() => MakeDocument<Schema>;

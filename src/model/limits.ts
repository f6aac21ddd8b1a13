import { Fault } from "./fault.ts";

/** Every bound on what a client can make large, in one table. Settings (`--limit`) may move those marked so. */
export interface Limits {
  /** Bytes of a request body, packed and unpacked. Setting `body-bytes`. */
  readonly bodyBytesMax: number;
  /** Bytes of a body that is a text: a DQL query, a schema, administration. Setting `text-bytes`. */
  readonly textBytesMax: number;
  /** Bytes a second that a body has to bring at least; 0 for none. Setting `body-rate`. */
  readonly bodyRateMin: number;
  /** Milliseconds over which that is measured. Setting `body-window`. */
  readonly bodyWindowMs: number;
  /** Milliseconds after which an answer is cut of which its reader takes nothing. Setting `answer-wait`. */
  readonly answerWaitMs: number;
  /** Levels of braces in a query, of objects in a JSON mutation, of selection sets in GraphQL. Setting `depth`. */
  readonly depthMax: number;
  /** Fields of a GraphQL or DQL document with its fragments in their places. Setting `document-fields`. */
  readonly documentFieldsMax: number;
  /** Words, values and punctuators of a DQL document, half as many of a GraphQL document. Setting `document-tokens`. */
  readonly documentTokensMax: number;
  /** Root fields of a GraphQL operation, blocks of a DQL request. Setting `document-roots`. */
  readonly documentRootsMax: number;
  /** Conditions in the filters of one request. Setting `filter-conditions`. */
  readonly filterConditionsMax: number;
  /** Edges that @recurse or shortest may visit. Setting `query-edge`. */
  readonly queryEdgeMax: number;
  /** Ways that a search for several paths, or by weight, may look at. Setting `query-path`. */
  readonly queryPathMax: number;
  /** Characters of texts that the regexp() of one query may look through. Setting `regexp-characters`. */
  readonly regexpCharactersMax: number;
  /** Passwords that checkpwd() may have compared for one request. Setting `password-checks`. */
  readonly passwordChecksMax: number;
  /** Facts of one mutation request after expansion of variables. Setting `mutations-nquad`. */
  readonly mutationNquadMax: number;
  /** Rows that @normalize may make. Setting `normalize-node`. */
  readonly normalizeNodeMax: number;
  /** Bytes of one answer. Setting `result-bytes`. */
  readonly resultBytesMax: number;
  /** Milliseconds of one request; 0 for no limit. Clients may ask for less. Setting `query-timeout`. */
  readonly queryTimeoutMs: number;
  /** Nodes, edges, values and members that one request may look at; 0 for no limit. Setting `query-work`. */
  readonly queryWorkMax: number;
  /** What a query may be expected to cost before it runs, in records; 0 for no limit. Setting `query-cost`. */
  readonly queryCostMax: number;
  /** Bytes that one request may hold beside its body; 0 for no limit. Setting `query-memory`. */
  readonly queryMemoryMax: number;
  /** Milliseconds after which an idle transaction is aborted. Setting `txn-abort-after`. */
  readonly txnAbortAfterMs: number;
  /** Open transactions in a process. Setting `txn-open`. */
  readonly txnOpenMax: number;
  /** Requests under way in a process. Setting `max-pending-queries`. */
  readonly pendingMax: number;
  /** WebSockets and event streams of a process. Setting `sockets`. */
  readonly socketsMax: number;
  /** Event streams of a process that are reserved and not opened yet. Setting `reserved-streams`. */
  readonly reservedStreamsMax: number;
  /** Connections to the port for gRPC of a process. Setting `grpc-connections`. */
  readonly grpcConnectionsMax: number;
  /** Operations under way on one WebSocket. Setting `socket-subscriptions`. */
  readonly socketSubscriptionsMax: number;
  /** Bytes that wait for one reader before it is told only the newest of what follows. Setting `socket-buffer`. */
  readonly socketBufferBytesMax: number;
  /** Bytes of one message of a WebSocket. Setting `socket-message`. */
  readonly socketMessageBytesMax: number;
  /** Milliseconds in which a WebSocket must say its first word. Setting `socket-init`. */
  readonly socketInitMs: number;
  /** Milliseconds between signs of life; two without an answer end a WebSocket. Setting `keep-alive`. */
  readonly keepAliveMs: number;
  /** Change feeds that are open in a process. Setting `feeds`. */
  readonly feedsMax: number;
  /** Predicates, types and namespaces that one change feed names. Setting `feed-names`. */
  readonly feedNamesMax: number;
  /** Memory of a process's vector indexes in bytes, 0 for none. Setting `vector-bytes`. */
  readonly vectorBytesMax: number;
  /** Rows of a query ordered by a predicate without `first` (reference/dql 4.6). */
  readonly orderRowsMax: number;
}

/** Keys of `--limit` whose bounds name themselves when they are met. */
type LimitSetting =
  | "body-bytes"
  | "text-bytes"
  | "body-rate"
  | "depth"
  | "document-fields"
  | "document-roots"
  | "document-tokens"
  | "filter-conditions"
  | "sockets"
  | "reserved-streams"
  | "socket-subscriptions"
  | "query-edge"
  | "query-path"
  | "regexp-characters"
  | "password-checks"
  | "normalize-node"
  | "query-timeout"
  | "query-work"
  | "query-cost"
  | "query-memory"
  | "mutations-nquad"
  | "feeds"
  | "feed-names"
  | "result-bytes";

/** Told to whoever meets a bound; operators find the setting by its name. */
export function nameLimit(setting: LimitSetting, text: string): string {
  return `${text} (--limit ${setting})`;
}

export function makeLimitFault(setting: LimitSetting, text: string): Fault {
  return new Fault("E_LIMIT", nameLimit(setting, text));
}

/** Of an answer. */
export function makeSizeFault(bytes: number, bytesMax: number): Fault {
  const text = `estimated response size: ${bytes} is bigger than threshold: ${bytesMax}`;
  return makeLimitFault("result-bytes", text);
}

export const defaultLimits: Limits = {
  bodyBytesMax: 64 * 1024 * 1024,
  textBytesMax: 4 * 1024 * 1024,
  bodyRateMin: 1024,
  bodyWindowMs: 10_000,
  answerWaitMs: 30_000,
  depthMax: 200,
  documentFieldsMax: 6_000,
  documentTokensMax: 100_000,
  documentRootsMax: 2_000,
  filterConditionsMax: 12_000,
  queryEdgeMax: 1_000_000,
  queryPathMax: 4_000_000,
  regexpCharactersMax: 1_000_000_000,
  passwordChecksMax: 50,
  mutationNquadMax: 1_000_000,
  normalizeNodeMax: 10_000,
  resultBytesMax: 256 * 1024 * 1024,
  queryTimeoutMs: 30_000,
  queryWorkMax: 2_000_000_000,
  queryCostMax: 0,
  queryMemoryMax: 1024 * 1024 * 1024,
  txnAbortAfterMs: 5 * 60_000,
  txnOpenMax: 10_000,
  pendingMax: 10_000,
  socketsMax: 10_000,
  reservedStreamsMax: 1000,
  grpcConnectionsMax: 2_000,
  socketSubscriptionsMax: 100,
  socketBufferBytesMax: 1024 * 1024,
  socketMessageBytesMax: 64 * 1024,
  socketInitMs: 10_000,
  keepAliveMs: 30_000,
  feedsMax: 1000,
  feedNamesMax: 1000,
  vectorBytesMax: 512 * 1024 * 1024,
  orderRowsMax: 1000,
};

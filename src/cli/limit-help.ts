/** What `weft serve --help` says of `--limit`: each key, its default, and what meets it. */
import { defaultLimits, type Limits } from "../model/limits.ts";

interface LimitLine {
  readonly key: string;
  readonly of: keyof Limits | undefined;
  readonly about: string;
}

const lines: readonly LimitLine[] = [
  { key: "body-bytes", of: "bodyBytesMax", about: "bytes of a request's body, unpacked or not" },
  {
    key: "text-bytes",
    of: "textBytesMax",
    about: "bytes of a body that is a DQL query, a schema or administration",
  },
  { key: "body-rate", of: "bodyRateMin", about: "bytes a second that a body brings at least" },
  { key: "body-window", of: "bodyWindowMs", about: "time over which that is measured" },
  {
    key: "answer-wait",
    of: "answerWaitMs",
    about: "time after which an answer is cut of which nothing is read",
  },
  { key: "depth", of: "depthMax", about: "levels of braces in a query, of objects in JSON" },
  {
    key: "document-fields",
    of: "documentFieldsMax",
    about: "fields of a document, its fragments in their places",
  },
  {
    key: "document-roots",
    of: "documentRootsMax",
    about: "root fields of a GraphQL operation, blocks of a DQL request",
  },
  {
    key: "document-tokens",
    of: "documentTokensMax",
    about: "words, values and punctuators of a DQL document, half as many of GraphQL",
  },
  {
    key: "filter-conditions",
    of: "filterConditionsMax",
    about: "conditions in the filters of a request",
  },
  { key: "query-timeout", of: "queryTimeoutMs", about: "time of a request (20s, 5m; 0: none)" },
  {
    key: "query-work",
    of: "queryWorkMax",
    about: "nodes, edges and values that a request may look at; 0: no limit",
  },
  {
    key: "query-cost",
    of: "queryCostMax",
    about: "records that a query may be expected to read before it runs; 0: no limit",
  },
  {
    key: "query-memory",
    of: "queryMemoryMax",
    about: "bytes that a request may hold while it runs; 0: no limit",
  },
  {
    key: "query-edge",
    of: "queryEdgeMax",
    about: "edges that @recurse or shortest may visit, facts of variables that an upsert sets",
  },
  { key: "query-path", of: "queryPathMax", about: "ways that a search for several paths may try" },
  {
    key: "regexp-characters",
    of: "regexpCharactersMax",
    about: "characters that the regexp() of a query may look through",
  },
  {
    key: "password-checks",
    of: "passwordChecksMax",
    about: "passwords that checkpwd() may have compared for one request",
  },
  { key: "normalize-node", of: "normalizeNodeMax", about: "rows that @normalize may make" },
  { key: "result-bytes", of: "resultBytesMax", about: "bytes of an answer" },
  { key: "mutations-nquad", of: "mutationNquadMax", about: "facts of one mutation" },
  { key: "max-pending-queries", of: "pendingMax", about: "requests under way in a process" },
  {
    key: "txn-open",
    of: "txnOpenMax",
    about: "open transactions in a process; the one idle longest makes room for the next",
  },
  {
    key: "txn-abort-after",
    of: "txnAbortAfterMs",
    about: "time after which an idle transaction is aborted",
  },
  { key: "sockets", of: "socketsMax", about: "open WebSockets and event streams of a process" },
  {
    key: "reserved-streams",
    of: "reservedStreamsMax",
    about: "event streams of a process that are reserved and not opened yet",
  },
  {
    key: "grpc-connections",
    of: "grpcConnectionsMax",
    about: "connections to the port for gRPC of a process",
  },
  {
    key: "socket-subscriptions",
    of: "socketSubscriptionsMax",
    about: "operations under way on one WebSocket or shared event stream",
  },
  {
    key: "socket-buffer",
    of: "socketBufferBytesMax",
    about: "bytes that may wait for one reader",
  },
  {
    key: "socket-message",
    of: "socketMessageBytesMax",
    about: "bytes of a message to a WebSocket",
  },
  {
    key: "socket-init",
    of: "socketInitMs",
    about: "time for a new WebSocket to introduce itself, for a reserved stream to be opened",
  },
  { key: "keep-alive", of: "keepAliveMs", about: "time between signs of life on a quiet socket" },
  { key: "feeds", of: "feedsMax", about: "open change feeds of a process" },
  {
    key: "feed-names",
    of: "feedNamesMax",
    about: "predicates, types and namespaces that a change feed names",
  },
  {
    key: "vector-bytes",
    of: "vectorBytesMax",
    about: "memory of a process for vector indexes; 0: none",
  },
  { key: "mutations", of: undefined, about: "allow, strict (known predicates alone) or disallow" },
  { key: "disallow-drop", of: undefined, about: "true refuses to drop everything" },
];

/** Keys of `--limit`, in the order of the help. */
export const limitKeys: readonly string[] = lines.map(({ key }) => key);

export const limitHelp = [
  "Keys of --limit with their defaults. An error that a limit raises names its key.",
  ...lines.map(
    ({ key, of, about }) => `  ${key.padEnd(22)}${printDefault(key, of).padEnd(12)}${about}`,
  ),
].join("\n");

function printDefault(key: string, of: keyof Limits | undefined): string {
  if (of === undefined) return key === "mutations" ? "allow" : "false";
  const value = defaultLimits[of];
  if (of.endsWith("Ms")) return value === 0 ? "none" : `${value / 1000}s`;
  return key.endsWith("-bytes") || key === "query-memory"
    ? `${value / 1024 ** 2}MB`
    : String(value);
}

/**
 * Every way in which a request can end because of its sender: one table, translated to an answer in exactly two
 * places (`http/reply.ts`, `graphql/operation/errors.ts`). Codes are never reused. Messages are the reference's where it has
 * one (reference/dql 6, reference/messages 3), so most codes carry their sentence from the place that throws.
 * `docs/errors.md` is drawn from the table (`tools/errors-page.ts`).
 */
const table = {
  E_PARAMETER: {
    area: "HTTP requests",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "while parsing ",
    cause:
      "A parameter of the request is missing, or its value is not of its kind: `startTs`, `commitNow`, `timeout`, `respFormat`, `explain`, `profile`, `enable` and the like.",
    remedy:
      "Send the value that the message asks for. Numbers are decimal or begin with 0x, times have a unit (`500ms`), booleans are true or false.",
  },
  E_CHARSET: {
    area: "HTTP requests",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Unsupported charset",
    cause: "The content type names a charset other than UTF-8.",
    remedy: "Send UTF-8, or leave the charset away.",
  },
  E_CONTENT_ENCODING: {
    area: "HTTP requests",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Unsupported content encoding",
    cause: "The body is packed in a way that is not known.",
    remedy: "Send the body as it is or with `content-encoding: gzip`.",
  },
  E_JSON_SYNTAX: {
    area: "HTTP requests",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Error parsing JSON at line ",
    cause:
      "The body says that it is JSON, and is not; line and character of the first fault are in the message. `query` and `cond` of a mutation are also read as texts, which know fewer escapes than JSON does.",
    remedy: "Have a library write the JSON. In `query` and `cond` write `/` plainly, not as `\\/`.",
  },
  E_JSON_TYPE: {
    area: "HTTP requests",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "json: cannot unmarshal ",
    cause: "The body is JSON, and one of its members has another type than it must have.",
    remedy:
      "Send the type that the message names: `variables` is an object of texts, a commit's `keys` and `preds` are lists of texts.",
  },
  E_HTTP_ERROR: {
    area: "HTTP requests",
    phase: "parser",
    extension: "Error",
    says: "Unable to create decompressor",
    cause:
      "The request was refused before its body could be read: it does not unpack, the JSON of a login does not parse, or the token or the address does not open the route.",
    remedy:
      "See that a body with `content-encoding: gzip` is whole, that a login is an object with `userid` and `password`, and that `X-Dgraph-AuthToken` is what the server was started with.",
  },
  /** Text that does not parse: no ": " before the message. */
  E_DQL_SYNTAX: {
    area: "Queries",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    cause:
      "The text of a query does not parse, or uses variables, functions or directives where they may not stand.",
    remedy: "Look at the line and column of the message; docs/dql.md has the forms.",
  },
  /** Raised while planning or executing a query: ": " before the message on the native endpoints. */
  E_QUERY: {
    area: "Queries",
    phase: "engine",
    extension: "ErrorInvalidRequest",
    cause:
      "The query parses and cannot be run: a function without the index that it needs, an argument that does not convert, a path or group that does not fit the schema.",
    remedy:
      "Add the index that the message names to the predicate's schema, or correct the argument. `weft explain` shows what a query would do.",
  },
  E_MUTATION_FRAME: {
    area: "Mutations",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    cause: "The blocks around the facts (`{ set { … } }`, `upsert { … }`) do not parse.",
    remedy: "Look at the line and column of the message; docs/dql.md has the forms.",
  },
  E_RDF_SYNTAX: {
    area: "Mutations",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    cause: "A fact in RDF does not parse. All facts of the request are refused.",
    remedy:
      "Look at the line of the message: subject, predicate, object, then a full stop; quotes and backslashes in texts are escaped.",
  },
  E_JSON_FACTS: {
    area: "Mutations",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    cause:
      "A fact in JSON has a form that has no meaning as a fact: a list in a list, a facet without its value.",
    remedy: "Write each node as an object, values and edges as its members.",
  },
  E_MUTATION: {
    area: "Mutations",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    says: "unique constraint violated",
    cause:
      "The facts parse and may not be written: reserved names, a variable that is not defined, a value that is there already where it must be unique, or nothing at all.",
    remedy:
      "Correct what the message names. For `unique constraint violated` look for the node that has the value.",
  },
  /** Facts that the schema refuses, told only when they are applied. */
  E_MUTATION_FACTS: {
    area: "Mutations",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    cause:
      "A fact does not fit the schema, which is found when it is applied: a text where a number is wanted, an edge where a value is stored.",
    remedy: "Send a value that converts to the predicate's type, or change the schema first.",
  },
  E_MUTATION_ENGINE: {
    area: "Mutations",
    phase: "engine",
    extension: "ErrorInvalidRequest",
    says: "UID not found/generated for xid ",
    cause:
      "A subject or an object stands for no node: a blank node or a name that nothing in the request defines, a uid out of range.",
    remedy: "Define blank nodes in the same request; write uids as `<0x1>`.",
  },
  E_TXN_ABORTED: {
    area: "Transactions",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    says: "Transaction has been aborted",
    cause:
      "The transaction has lost: another one wrote the same since it began, it was idle for too long, its process has ended, or it is older than what the server still knows.",
    remedy:
      "Begin the transaction again, from its reads on. Clients do this in a loop. A mutation that commits at once is run again by the server itself.",
  },
  E_TXN: {
    area: "Transactions",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    says: "hash mismatch the claimed startTs|namespace",
    cause:
      "The transaction cannot be used as it was asked to: nothing in the request, no time left, a `hash` that is not of this start time, a namespace that is gone, mutations turned off.",
    remedy:
      "Send `startTs` and `hash` as the transaction's first answer gave them, and start without `--limit mutations=disallow` where mutations are wanted.",
  },
  E_OUTCOME_UNKNOWN: {
    area: "Transactions",
    phase: "parser",
    extension: "Error",
    says: "the outcome of the transaction is unknown",
    cause:
      "The writer ended after it was given the transaction and before it answered. It may have been committed.",
    remedy:
      "Read whether the change is there before it is sent again, or write it so that a second time changes nothing (an upsert).",
  },
  E_SCHEMA_SYNTAX: {
    area: "Schemas",
    phase: "parser",
    extension: "Error",
    cause: "The text of a schema does not parse.",
    remedy: "Look at the line and column of the message; docs/schema.md has the forms.",
  },
  E_ALTER: {
    area: "Schemas",
    phase: "parser",
    extension: "Error",
    cause:
      "The schema parses and may not be set: names that belong to the server, an index that a type cannot have, data that does not convert, or a sender who may not.",
    remedy:
      "Correct what the message names. Data that stands against a type has to be dropped or rewritten first.",
  },
  E_GRAPHQL_SCHEMA: {
    area: "Schemas",
    phase: "parser",
    extension: "Error",
    cause:
      "The GraphQL schema is refused. All that is wrong with it is in the message, a line for each.",
    remedy: "Correct each line. docs/schema.md lists types and directives.",
  },
  E_GRAPHQL_REQUEST: {
    area: "GraphQL",
    phase: "parser",
    extension: "Error",
    says: "Not a valid GraphQL request body: ",
    cause:
      "What came to /graphql is no GraphQL request: method, content type, body, or an operation of the wrong kind.",
    remedy:
      "POST with `content-type: application/json` and `query`, or `application/graphql` and the document itself.",
  },
  E_UNAUTHORIZED: {
    area: "Access",
    phase: "parser",
    extension: "ErrorUnauthorized",
    cause:
      "The sender may not do this: no key or a wrong one, a scope that does not reach so far, a page of another origin, an address that may not administer, a user who is no guardian. Where keys and pages are refused the status is 401 (no key, or a wrong one) or 403, but 200 for keys at `/graphql`.",
    remedy: "Send what the message asks for. docs/access.md has the table of who may do what.",
  },
  /** Who sends is not known, or may not do it (access control by users, groups and rules). */
  E_PERMISSION: {
    area: "Access",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    cause: "The user may not read or write one of the predicates.",
    remedy:
      "Have a guardian give the user's group the right (docs/access.md), or leave the predicate away.",
  },
  E_TOKEN: {
    area: "Access",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "extracting namespace from JWT",
    cause:
      "A commit came with an access token that is missing, has expired, or is not of this server.",
    remedy: "Log in again and send the new token in `X-Dgraph-AccessToken`.",
  },
  E_LOGIN: {
    area: "Access",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    cause:
      "The login is refused. Whether it was user, password, namespace or refresh token is told to nobody; a server without ACL refuses each.",
    remedy:
      "Check the three, and that the server was started with `--acl`. A refresh token ends with its time, with a new password and when it is revoked.",
  },
  /** Logins have failed too often: the message says how long to wait. */
  E_LOGIN_WAIT: {
    area: "Access",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    status: 429,
    says: "too many logins have failed",
    cause:
      "Logins have failed too often for this user or from this address, or wrong passwords were given too often for one node; this one was not looked at.",
    remedy: "Wait for as many seconds as the message and `Retry-After` say.",
  },
  E_PASSWORD: {
    area: "Access",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "this password cannot be used: ",
    cause: "A new password is too short, too simple, or holds the user's name.",
    remedy: "Choose another. `--acl password-min` sets the length that is asked for.",
  },
  E_ACL_OFF: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Enable ACL to use this mutation",
    cause: "The operation is about users, groups or tokens, and the server has none.",
    remedy: "Start the server with `--acl`.",
  },
  E_USER_UNKNOWN: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "there is no user ",
    cause: "There is no such user in the namespace, or no such namespace.",
    remedy: "Check the name and the number of the namespace.",
  },
  E_NAMESPACE: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Cannot delete default namespace",
    cause:
      "The namespace cannot be reached or deleted: it is namespace 0, does not exist, or is not the guardian's own.",
    remedy: "Name one that exists; a guardian of namespace 0 reaches all of them.",
  },
  E_KEY: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "a key needs a name",
    cause: "A key cannot be made as asked: its name, expiry, scopes or namespace do not fit.",
    remedy: "Correct what the message names: docs/access.md tells what a key has.",
  },
  E_MIGRATION: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "migration",
    cause: "The migration does not follow what was applied, or another runner has it.",
    remedy:
      "Ask weft schema status; a runner that is gone lets go of its migration after a minute.",
  },
  E_KEY_UNKNOWN: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "there is no key ",
    cause: "No key has this id; it may have been revoked already.",
    remedy: "`weft key list` shows the ids.",
  },
  E_REQUEST_UNKNOWN: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "no request with ",
    cause: "No request with this id or tag is running; it may have been answered meanwhile.",
    remedy: "`weft top` shows what runs, with ids and tags.",
  },
  E_KEYS_FULL: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "revoke some first",
    cause: "The server has as many keys as it keeps.",
    remedy: "Revoke keys that nobody uses.",
  },
  E_CACHE_SIZE: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "cache_mb must be non-negative",
    cause: "The size of the cache is negative.",
    remedy: "Send mebibytes from 0 on.",
  },
  E_CLUSTER: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "can be removed: there is one node",
    cause: "The operation is about nodes, groups or tablets of a cluster, and there is one node.",
    remedy: "Leave it out: there is nothing to move or to remove.",
  },
  E_LEASE: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "Nothing to be leased",
    cause:
      "The number of uids, timestamps or namespaces to be leased is 0, negative, no whole number, or above what is leased at a time.",
    remedy: "Ask for as many as will be used soon.",
  },
  E_TASK: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "task ID is missing",
    cause:
      "The id of a task is missing, is no number, or is of a task that this server does not have.",
    remedy: "Send the id that the operation answered with.",
  },
  E_BACKUP: {
    area: "Administration",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    isBeforeEngine: true,
    says: "you must specify a 'destination' value",
    cause:
      "The place of a backup is left out, or there is nothing at it; or a backup is damaged, or of another key.",
    remedy:
      "Name a directory that can be reached. weft backup verify tells what is damaged: docs/backup.md.",
  },
  E_NOT_YET: {
    area: "Administration",
    phase: "parser",
    extension: "Error",
    says: "is not available yet",
    cause: "The reference has this, and Weft does not have it yet.",
    remedy: "docs/compatibility.md lists what is missing, and what to use instead.",
  },
  /** A bound of `model/limits.ts` was passed; the message names it. */
  E_LIMIT: {
    area: "Limits and load",
    phase: "engine",
    extension: "ErrorInvalidRequest",
    cause:
      "A bound was passed. The message ends in its setting where it has one, as `(--limit query-edge)`.",
    remedy:
      "Ask for less: a filter, `first`, several requests. Or raise the setting (docs/limits.md).",
  },
  /** A bound that the guardian of the galaxy has set for a namespace. */
  E_QUOTA: {
    area: "Limits and load",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    says: " has a quota of ",
    cause:
      "The namespace holds, or asks for, as much as it may. The message names the quota: facts, bytes, or requests a second (status 429).",
    remedy:
      "Delete what is not needed (deletions are never refused), or have a guardian of namespace 0 raise it with `setNamespaceQuota` (docs/namespaces.md).",
  },
  E_DEADLINE: {
    area: "Limits and load",
    phase: "engine",
    extension: "ErrorInvalidRequest",
    says: "context deadline exceeded",
    cause:
      "The time of the request is over: the client's own `timeout`, or the server's where the message ends in `(--limit query-timeout)`.",
    remedy: "Ask for less, or for more time. `weft explain --profile` shows where time goes.",
  },
  E_CANCELLED: {
    area: "Limits and load",
    phase: "engine",
    extension: "ErrorInvalidRequest",
    says: "context canceled",
    cause:
      "The client has closed its connection, the server ends, or an administrator has ended the request (`weft kill`).",
    remedy: "Nothing, where it was meant. Proxies in between may have timeouts of their own.",
  },
  E_OVERLOADED: {
    area: "Limits and load",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    status: 503,
    says: "the server is overloaded, please try again",
    cause:
      "The server has too much under way: requests, open transactions, memory, a sender above its rate (status 429), or records that cannot be written.",
    remedy:
      "Send it again after `Retry-After`, with a delay that grows. Where it lasts, raise the bound that the message names or the memory (docs/limits.md).",
  },
  E_LOG_GONE: {
    area: "Store",
    phase: "parser",
    extension: "ErrorInvalidRequest",
    status: 410,
    says: "the log no longer reaches back to",
    cause:
      "A change feed was asked to go on from a position that the commit log has left behind, or that is of another store (one that was restored from a backup has positions of its own).",
    remedy:
      "Read the data anew (`weft export`, or queries), then follow from the position that was the newest before. Raise `--store log-minutes` and `log-bytes` so that the log reaches back for longer than readers are away (docs/changes.md).",
  },
  E_STORE_FULL: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    says: "the store is full",
    cause:
      "The disk, or the bound on the store's size, is reached. Reads go on, and so do deletions where there is room for them.",
    remedy: "Make room, or raise the bound; writes go on by themselves (docs/store.md).",
  },
  E_STORE_CORRUPT: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    says: "is damaged",
    cause:
      "Stored bytes are not what was written: their checksum does not fit. The log says which row.",
    remedy:
      "Stop the server and run `weft check`, then `weft check --repair` on a copy (docs/store.md). Look at the disk.",
  },
  E_STORE_UNAVAILABLE: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    status: 503,
    says: "the store is not available",
    cause:
      "The process cannot reach the store at the moment: the writer is starting again, or the directory has been moved or removed.",
    remedy: "Send it again in a second. Where it lasts, `/health` and the log say why.",
  },
  E_OUT_OF_SERVICE: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    status: 503,
    isLasting: true,
    says: "this machine is out of service",
    cause:
      "One of several machines (`--cluster`) cannot go on: its rows are not those of the others, the log has not what it needs, or it has what the log lost. The message says which.",
    remedy:
      "Send it to another machine: without `Retry-After`, this one does not come back by itself. `weft cluster status` says what is wrong, docs/cluster.md what to do.",
  },
  E_NOT_CURRENT: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    status: 503,
    says: "the newest state of the machines cannot be known",
    cause:
      "Of several machines (`--cluster`), this one could not learn in time what the others have acknowledged: none leads that can be reached, or the log's engine is down; or it has not got the commit that the request names (`X-Weft-Seen`).",
    remedy:
      "Send it again, or to another machine. `weft cluster status` says who leads and why the log cannot be reached. Best effort (`be=true`) and `--cluster reads=local` read what this machine has.",
  },
  E_LOG: {
    area: "Store",
    phase: "parser",
    extension: "Error",
    cause:
      "The replicated log holds what this node cannot go on with: a damaged record, one of a newer format, or the log of another store.",
    remedy:
      "Nothing is skipped, and nothing was changed. Look at the engine of the log: its disk is damaged, or something else has written there.",
  },
  /** The start-up of a process: one clear line, exit code 1. */
  E_STARTUP: {
    area: "Start",
    phase: "parser",
    extension: "Error",
    cause:
      "A command cannot begin or go on: a file, a port, a directory or a server that it needs. Printed as one line; the exit status is 1.",
    remedy: "Correct what the line names.",
  },
  /** A command that was called wrongly: one clear line, exit code 2. */
  E_USAGE: {
    area: "Start",
    phase: "parser",
    extension: "Error",
    says: "cannot be read",
    cause:
      "A command was called with a flag, a value or a setting that it does not take. Printed as one line that names it; the exit status is 2.",
    remedy: "Correct what the line names. `weft help COMMAND` prints the flags.",
  },
} as const satisfies Record<string, FaultSpec>;

export type FaultCode = keyof typeof table;

export interface FaultSpec {
  /** The section of docs/errors.md. */
  readonly area: string;
  /** "engine": the native endpoints print ": " before the message and `data: null` behind the errors. */
  readonly phase: "parser" | "engine";
  /** The reference's `extensions.code`. */
  readonly extension:
    "Error" | "ErrorInvalidRequest" | "ErrorInvalidMethod" | "ErrorUnauthorized" | "ErrorNoData";
  /** Of HTTP, where it is not 200. GraphQL over /graphql and /admin keeps 200, but for 503. */
  readonly status?: number;
  /** With a status: without Retry-After, since it does not pass by itself. */
  readonly isLasting?: boolean;
  /** What was wrong before the engine could look at the request: a native answer then has no `data` member. */
  readonly isBeforeEngine?: boolean;
  /** A piece of the message by which it is found; most messages have several forms. */
  readonly says?: string;
  readonly cause: string;
  readonly remedy: string;
}

export const faultTable: Readonly<Record<FaultCode, FaultSpec>> = table;

/** What HTTP says of a fault beside its body, and whether to try again. `headers` is flat. */
export function replyOf(code: FaultCode): {
  readonly status: number;
  readonly headers: readonly string[];
} {
  const { status = 200, isLasting = false }: FaultSpec = faultTable[code];
  return { status, headers: status === 200 || isLasting ? [] : ["Retry-After", "1"] };
}

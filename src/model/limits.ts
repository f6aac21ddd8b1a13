/** Every bound on what a client can make large, in one table. Settings (`--limit`) may move those marked so. */
export interface Limits {
  /** Bytes of a request body after decompression. Setting `body-bytes`. */
  readonly bodyBytesMax: number;
  /** Levels of braces in a query, of objects in a JSON mutation, of selection sets in GraphQL. Setting `depth`. */
  readonly depthMax: number;
  /** Edges that @recurse or shortest may visit. Setting `query-edge`. */
  readonly queryEdgeMax: number;
  /** Facts of one mutation request after expansion of variables. Setting `mutations-nquad`. */
  readonly mutationNquadMax: number;
  /** Rows that @normalize may make. Setting `normalize-node`. */
  readonly normalizeNodeMax: number;
  /** Bytes of one answer. Setting `result-bytes`. */
  readonly resultBytesMax: number;
  /** Milliseconds of one query; 0 for no limit. Setting `query-timeout`. */
  readonly queryTimeoutMs: number;
  /** Milliseconds after which an idle transaction is aborted. Setting `txn-abort-after`. */
  readonly txnAbortAfterMs: number;
  /** Open transactions in a process. Setting `txn-open`. */
  readonly txnOpenMax: number;
  /** Requests under way in a process. Setting `max-pending-queries`. */
  readonly pendingMax: number;
  /** Rows of a query ordered by a predicate without `first` (dql.md 4.6). */
  readonly orderRowsMax: number;
}

export const defaultLimits: Limits = {
  bodyBytesMax: 256 * 1024 * 1024,
  depthMax: 200,
  queryEdgeMax: 1_000_000,
  mutationNquadMax: 1_000_000,
  normalizeNodeMax: 10_000,
  resultBytesMax: 1024 * 1024 * 1024,
  queryTimeoutMs: 0,
  txnAbortAfterMs: 5 * 60_000,
  txnOpenMax: 10_000,
  pendingMax: 10_000,
  orderRowsMax: 1000,
};

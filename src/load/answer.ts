/** What a server has said. */
export interface Answer {
  readonly status: number;
  /** Messages of `errors`; empty when all went well. */
  readonly messages: readonly string[];
  /** The whole answer; undefined when it is not JSON. */
  readonly json: unknown;
  /** Of the transaction that the answer opened. */
  readonly startTs: number | undefined;
}

/** Bounds of what `@custom(http:)` may ask of others. Settings (`--outgoing`) move them. */

export interface OutgoingLimits {
  /** Milliseconds of one request, never more than is left of its client's. Setting `time`. */
  readonly timeoutMs: number;
  /** Bytes of one answer. Setting `answer-bytes`. */
  readonly answerBytesMax: number;
  /** Requests under way for one GraphQL request. Setting `running`. */
  readonly runningMax: number;
  /** Requests for one field of one level, where each parent has one of its own. Setting `level`. */
  readonly levelMax: number;
  /** Requests for one GraphQL request. Setting `requests`. */
  readonly requestsMax: number;
}

export const defaultOutgoingLimits: OutgoingLimits = {
  timeoutMs: 60_000,
  answerBytesMax: 16 * 1024 * 1024,
  runningMax: 16,
  levelMax: 1000,
  requestsMax: 5000,
};

/** A setting as errors name it. */
export function outgoingSetting(name: "time" | "answer-bytes" | "level" | "requests"): string {
  return `--outgoing ${name}`;
}

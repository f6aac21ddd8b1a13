/** What processes of the server are asked, and what they say. */
import type { MetricReading } from "../base/metrics.ts";
import type { ArchiveFacts } from "../http/node-facts.ts";
import type { ClusterFacts } from "../model/cluster-facts.ts";
import type { RunningRequest } from "../http/running-request.ts";

export type Question =
  | { readonly kind: "metrics" }
  | { readonly kind: "running" }
  /** What is known of the archive (`--backup`). */
  | { readonly kind: "archive" }
  /** How this machine stands among the others (`--cluster`). */
  | { readonly kind: "cluster" }
  /** Gives the lead up; answered with whether it had it. */
  | { readonly kind: "resign" }
  /** Rows get the newest form that all machines read. */
  | { readonly kind: "finalize" }
  /** A machine is none of them any more. */
  | { readonly kind: "evict"; readonly node: string; readonly isForced: boolean }
  | { readonly kind: "cancel"; readonly id: string | undefined; readonly tag: string | undefined };

/** What one process says. Members that were not asked for are missing. */
export interface SurveyAnswer {
  readonly readings?: readonly MetricReading[];
  readonly running?: readonly RunningRequest[];
  readonly cancelled?: number;
  readonly archive?: ArchiveFacts;
  readonly cluster?: ClusterFacts;
  /** Of the supervisor: why the machine's node does not start. */
  readonly nodeFailure?: string | undefined;
  readonly hasResigned?: boolean;
  /** What came of `finalize` or `evict`. */
  readonly act?: { readonly isDone: boolean; readonly words: string };
}

export interface SurveyReport {
  /** As `worker 1`. */
  readonly process: string;
  readonly answer: SurveyAnswer;
}

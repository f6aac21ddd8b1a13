/** What processes of the server are asked, and what they say. */
import type { MetricReading } from "../base/metrics.ts";
import type { ArchiveFacts } from "../http/node-facts.ts";
import type { RunningRequest } from "../http/running-request.ts";

export type Question =
  | { readonly kind: "metrics" }
  | { readonly kind: "running" }
  /** What is known of the archive (`--backup`). */
  | { readonly kind: "archive" }
  | { readonly kind: "cancel"; readonly id: string | undefined; readonly tag: string | undefined };

/** What one process says. Members that were not asked for are missing. */
export interface SurveyAnswer {
  readonly readings?: readonly MetricReading[];
  readonly running?: readonly RunningRequest[];
  readonly cancelled?: number;
  readonly archive?: ArchiveFacts;
}

export interface SurveyReport {
  /** As `worker 1`. */
  readonly process: string;
  readonly answer: SurveyAnswer;
}

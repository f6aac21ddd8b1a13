/** What processes of the server are asked, and what they say. */
import type { MetricReading } from "../base/metrics.ts";
import type { RunningRequest } from "../http/running-request.ts";

export type Question =
  | { readonly kind: "metrics" }
  | { readonly kind: "running" }
  | { readonly kind: "cancel"; readonly id: string | undefined; readonly tag: string | undefined };

/** What one process says. Members that were not asked for are missing. */
export interface SurveyAnswer {
  readonly readings?: readonly MetricReading[];
  readonly running?: readonly RunningRequest[];
  readonly cancelled?: number;
}

export interface SurveyReport {
  /** As `worker 1`. */
  readonly process: string;
  readonly answer: SurveyAnswer;
}

/** What is asked of all processes of the server at once, whichever of them a request came to. */
import type { MetricReading } from "../base/metrics.ts";
import type { RunningRequest } from "./running-request.ts";

/** What one process counts. */
interface ProcessReadings {
  /** As `worker 1`. */
  readonly process: string;
  readonly readings: readonly MetricReading[];
}

export interface Processes {
  /** Readings of the processes that answer in time, those that have ended included where they count on. */
  readings(): Promise<readonly ProcessReadings[]>;
  /** What runs now. */
  running(): Promise<readonly (RunningRequest & { readonly process: string })[]>;
  /** Ends the requests with this id, or this tag, and gives their number. */
  cancel(id: string | undefined, tag: string | undefined): Promise<number>;
}

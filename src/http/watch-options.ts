/** How requests are watched. */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { WatchedRequest } from "./watched-request.ts";

export interface WatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether each request gets a line in the log. */
  readonly logsAccess: boolean;
  /** Requests that take as long are told to the log with their plans; undefined: none. */
  readonly slowMs: number | undefined;
  /** Whether requests are counted. */
  readonly counts: boolean;
  /** Undefined: nothing is traced. */
  readonly tracer?: RequestTracer | undefined;
}

/** Where traces go. */
export interface RequestTracer {
  /** Begins the trace of a request, or goes on with the one that its headers name. */
  begin(watched: WatchedRequest): RequestTrace | undefined;
}

export interface RequestTrace {
  /** Of the request itself: what is asked of others on its behalf names it. */
  readonly traceparent: string;
  end(watched: WatchedRequest): void;
}

/**
 * Where the time of one request goes: made only where somebody wants to know (slow queries in the log, traces), and
 * carried by the request's budget.
 */
import type { Clock } from "../base/clock.ts";

/** A stretch of a request's time, on the clock's tick scale. */
export interface RequestSpan {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes?: Readonly<Record<string, string | number>> | undefined;
  /** Stretches inside it. */
  readonly spans?: readonly RequestSpan[] | undefined;
}

/** A plan that ran. What is told of it is made only when somebody asks. */
export interface ObservedPlan {
  readonly startMs: number;
  readonly endMs: number;
  /** The plan as a table, with numbers and times for each step. */
  print(): string;
  /** Its steps as they lie inside each other. */
  spans(): readonly RequestSpan[];
}

/** Plans and stretches that are kept: a request with thousands of them is told by its first. */
const keptMax = 100;

export class RequestObserver {
  readonly #clock: Clock;
  readonly spans: RequestSpan[] = [];
  readonly plans: ObservedPlan[] = [];
  /** What a request that is made on behalf of this one carries (W3C traceparent); undefined: it is not traced. */
  readonly traceparent: string | undefined;

  constructor(clock: Clock, traceparent?: string) {
    this.#clock = clock;
    this.traceparent = traceparent;
  }

  /** Begins a stretch; what it gives ends it. */
  begin(name: string, attributes?: RequestSpan["attributes"]): () => void {
    const startMs = this.#clock.tickMs();
    return () => this.add(name, startMs, this.#clock.tickMs(), attributes);
  }

  add(name: string, startMs: number, endMs: number, attributes?: RequestSpan["attributes"]): void {
    if (this.spans.length < keptMax) this.spans.push({ name, startMs, endMs, attributes });
  }

  addPlan(plan: ObservedPlan): void {
    if (this.plans.length < keptMax) this.plans.push(plan);
  }
}

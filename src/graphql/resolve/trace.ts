/** `extensions` of an answer (reference/graphql 4.2): when, how long, what was touched. */
import type { Clock } from "../../base/clock.ts";
import { metrics, type Histogram } from "../../base/metrics.ts";
import type { ExplainOptions } from "../../engine/explain-options.ts";
import type { PlanReport } from "../../exec/explain.ts";
import { encodeReports } from "./plan-reports.ts";
import type { SelectedField } from "../operation/prepare.ts";

interface ResolverTrace {
  readonly field: SelectedField;
  readonly parentType: string;
  readonly startMs: number;
  durationMs: number;
  readonly steps: { readonly label: string; readonly startMs: number; durationMs: number }[];
}

/** The trace of one request. */
export class Trace {
  touchedUids = 0;
  /** Where rules hide nodes their numbers would tell of them: with an index of values, of the values too. */
  hidesTouched = false;
  /** With `--graphql debug`: the queries that were run. */
  readonly dqlQueries: string[] = [];
  /** Where the request asked for a profile: how its root fields were run, by their keys. */
  readonly reports = new Map<string, PlanReport>();
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #resolvers: ResolverTrace[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.tickMs();
  }

  /** undefined where it is not told. */
  get shownTouched(): number | undefined {
    return this.hidesTouched ? undefined : this.touchedUids;
  }

  /** Root fields run beside each other: their reports come in the order in which they end. */
  orderReports(keys: readonly string[]): void {
    for (const key of keys) {
      const report = this.reports.get(key);
      this.reports.delete(key);
      if (report !== undefined) this.reports.set(key, report);
    }
  }

  resolver(field: SelectedField, parentType: string): ResolverClock {
    const startMs = this.#clock.tickMs();
    const trace: ResolverTrace = { field, parentType, startMs, durationMs: 0, steps: [] };
    this.#resolvers.push(trace);
    return new ResolverClock(this.#clock, trace);
  }

  /** The JSON of `extensions`. `form`: of the reports. */
  print(form: ExplainOptions["form"] = "json"): string {
    const now = this.#clock.tickMs();
    const endMs = this.#clock.nowMs();
    const duration = now - this.#startMs;
    const start = isoTime(endMs - duration);
    const end = isoTime(endMs);
    const count = this.shownTouched ?? 0;
    const touched = count > 0 ? `"touched_uids":${count},` : "";
    let text = `{${touched}"tracing":{"version":1,"startTime":"${start}","endTime":"${end}","duration":${nanos(duration)}`;
    if (this.#resolvers.length > 0) {
      text += `,"execution":{"resolvers":[${this.#resolvers.map((r) => this.#printResolver(r)).join()}]}`;
    }
    text += "}";
    if (this.dqlQueries.length > 0)
      text += `,"dql_query":${JSON.stringify(this.dqlQueries.join("\n"))}`;
    if (this.reports.size > 0) text += `,"profile":${encodeReports(this.reports, form)}`;
    return `${text}}`;
  }

  #printResolver(trace: ResolverTrace): string {
    let steps = "";
    for (const step of trace.steps) {
      if (steps !== "") steps += ",";
      steps += `{"label":"${step.label}","startOffset":${this.#offset(step.startMs)},"duration":${nanos(step.durationMs)}}`;
    }
    return `${headOf(trace)}${this.#offset(trace.startMs)},"duration":${nanos(trace.durationMs)},"dgraph":[${steps}]}`;
  }

  #offset(ms: number): number {
    return nanos(ms - this.#startMs);
  }
}

/** What a root field's trace says in every request. */
const heads = new WeakMap<SelectedField, string>();

function headOf(trace: ResolverTrace): string {
  const { field, parentType } = trace;
  let head = heads.get(field);
  if (head === undefined) {
    head = `{"path":[${JSON.stringify(field.key)}],"parentType":"${parentType}","fieldName":"${field.key}","returnType":"${field.definition.type.text}","startOffset":`;
    heads.set(field, head);
  }
  return head;
}

const fieldSeconds = metrics.histograms(
  "weft_graphql_field_seconds",
  "Time of root fields of GraphQL, by their names",
  "field",
  { valuesMax: 500 },
);
const histograms = new WeakMap<SelectedField, Histogram>();

function secondsOf(field: SelectedField, parentType: string): Histogram {
  let histogram = histograms.get(field);
  if (histogram === undefined) {
    histogram = fieldSeconds.of(`${parentType}.${field.definition.name}`);
    histograms.set(field, histogram);
  }
  return histogram;
}

/** Measures one root field. */
export class ResolverClock {
  readonly #clock: Clock;
  readonly #trace: ResolverTrace;

  constructor(clock: Clock, trace: ResolverTrace) {
    this.#clock = clock;
    this.#trace = trace;
  }

  /** Begins a step; the returned function ends it. */
  step(label: "query" | "preMutationQuery" | "mutation"): () => void {
    const step = { label, startMs: this.#clock.tickMs(), durationMs: 0 };
    this.#trace.steps.push(step);
    return () => {
      step.durationMs = this.#clock.tickMs() - step.startMs;
    };
  }

  end(): void {
    const { field, parentType, startMs } = this.#trace;
    this.#trace.durationMs = this.#clock.tickMs() - startMs;
    secondsOf(field, parentType).observe(this.#trace.durationMs / 1000);
  }
}

/** Times printed last, by their millisecond; begin and end of a request are seldom the same one. */
const printed = [
  { ms: Number.NaN, iso: "" },
  { ms: Number.NaN, iso: "" },
];

/** Printing a time costs as much as a small answer's JSON; most come in the same milliseconds as the ones before. */
function isoTime(ms: number): string {
  const whole = Math.floor(ms);
  const held = printed[whole & 1];
  if (held === undefined) return "";
  if (held.ms !== whole) {
    held.ms = whole;
    held.iso = new Date(whole).toISOString();
  }
  return held.iso;
}

function nanos(ms: number): number {
  return Math.max(0, Math.round(ms * 1e6));
}

/** Traces and metrics by OTLP over HTTP: loaded where `--otel` names a collector, and nowhere else. */
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import type { Span, SpanContext, Tracer } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { MetricReading } from "../base/metrics.ts";
import type { RequestObserver, RequestSpan } from "../model/request-observer.ts";
import { toResourceMetrics } from "./metric-data.ts";

export interface TelemetryOptions {
  /** Of the collector, as `http://127.0.0.1:4318`. */
  readonly url: string;
  /** Share of the requests that begin a trace; those that come with one follow it. */
  readonly sample: number;
  /** From one sending of metrics to the next. */
  readonly everyMs: number;
  /** As `worker 1`. */
  readonly process: string;
  readonly version: string;
  /** What the tick scale of the process's clock counts from, in milliseconds since 1970. */
  readonly originMs: number;
}

/** A trace of one request. */
export interface OpenTrace {
  readonly traceparent: string;
  end(about: {
    readonly attributes: Readonly<Record<string, string | number>>;
    readonly hasFailed: boolean;
    readonly endMs: number;
    readonly observer: RequestObserver | undefined;
  }): void;
}

export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #metrics: OTLPMetricExporter;
  readonly #attributes: Readonly<Record<string, string>>;
  readonly #startMs: number;
  #timer: NodeJS.Timeout | undefined = undefined;

  /** `nowMs`: since 1970. */
  constructor(options: TelemetryOptions, nowMs: number) {
    this.#options = options;
    this.#startMs = nowMs;
    const { url, sample, process, version } = options;
    this.#attributes = {
      "service.name": "weft",
      "service.version": version,
      "service.instance.id": process,
    };
    const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes(this.#attributes),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) }),
      spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000 })],
    });
    this.#tracer = this.#provider.getTracer("weft");
    this.#metrics = new OTLPMetricExporter({ url: `${url}/v1/metrics` });
  }

  /** Undefined where the request is not one of those that are traced. `traceparent`: as it came. */
  begin(name: string, traceparent: string | undefined, startMs: number): OpenTrace | undefined {
    const given = readTraceparent(traceparent);
    const parent = given === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, given);
    const startTime = this.#timeOf(startMs);
    const span = this.#tracer.startSpan(name, { kind: SpanKind.SERVER, startTime }, parent);
    if (!span.isRecording()) return undefined;
    return {
      traceparent: printTraceparent(span.spanContext()),
      end: ({ attributes, hasFailed, endMs, observer }) => {
        span.setAttributes(attributes);
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        for (const one of observer?.spans ?? []) this.#addSpan(span, one);
        for (const plan of observer?.plans ?? []) {
          const { startMs, endMs } = plan;
          this.#addSpan(span, { name: "levels", startMs, endMs, spans: plan.spans() });
        }
        span.end(this.#timeOf(endMs));
      },
    };
  }

  #addSpan(parent: Span, { name, startMs, endMs, attributes, spans = [] }: RequestSpan): void {
    const around = trace.setSpan(context.active(), parent);
    const options = { startTime: this.#timeOf(startMs), ...(attributes && { attributes }) };
    const span = this.#tracer.startSpan(name, options, around);
    for (const inner of spans) this.#addSpan(span, inner);
    span.end(this.#timeOf(endMs));
  }

  #timeOf(tickMs: number): number {
    return this.#options.originMs + tickMs;
  }

  /** Sends what `read` gives, again and again. */
  sendMetrics(read: () => Promise<readonly MetricReading[]>, nowMs: () => number): void {
    const send = async (): Promise<void> => {
      const readings = await read();
      const times = { startMs: this.#startMs, nowMs: nowMs() };
      const attributes = { ...this.#attributes, "service.instance.id": "weft" };
      const data = toResourceMetrics(readings, attributes, times);
      // A collector that is not there is tried again with the next.
      await new Promise<void>((resolve) => this.#metrics.export(data, () => resolve()));
    };
    this.#timer = setInterval(() => void send().catch(() => undefined), this.#options.everyMs);
    this.#timer.unref();
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.allSettled([this.#provider.shutdown(), this.#metrics.shutdown()]);
  }
}

const pattern = /^00-(?<trace>[\da-f]{32})-(?<span>[\da-f]{16})-(?<flags>[\da-f]{2})$/;

/** W3C Trace Context; what is not of its form begins a new trace. */
function readTraceparent(text: string | undefined): SpanContext | undefined {
  const parts = pattern.exec(text ?? "")?.groups;
  if (parts === undefined) return undefined;
  const traceFlags = Number.parseInt(parts["flags"] ?? "0", 16) & TraceFlags.SAMPLED;
  const spanContext = { traceId: parts["trace"] ?? "", spanId: parts["span"] ?? "", traceFlags };
  return trace.isSpanContextValid(spanContext) ? { ...spanContext, isRemote: true } : undefined;
}

function printTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

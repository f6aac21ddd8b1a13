/** Readings in the text format of Prometheus. */
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { MetricReading } from "../base/metrics.ts";
import { toResourceMetrics } from "./metric-data.ts";

/** Without times, and without labels that nobody asked for. */
const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);

export function printPrometheus(readings: readonly MetricReading[]): string {
  return serializer.serialize(toResourceMetrics(readings, {}, { startMs: 0, nowMs: 0 }));
}

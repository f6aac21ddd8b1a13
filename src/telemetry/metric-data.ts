/** Readings in the form that OpenTelemetry's own packages print and send. */
import { ValueType } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import type { MetricReading } from "../base/metrics.ts";

/** `attributes`: of the whole server. Times are milliseconds since 1970. */
export function toResourceMetrics(
  readings: readonly MetricReading[],
  attributes: Readonly<Record<string, string>>,
  times: { readonly startMs: number; readonly nowMs: number },
): ResourceMetrics {
  const metrics = readings.map((reading) => toMetricData(reading, times));
  return {
    resource: resourceFromAttributes(attributes),
    scopeMetrics: [{ scope: { name: "weft" }, metrics }],
  };
}

function toMetricData(
  { name, help, kind, bounds = [], points }: MetricReading,
  { startMs, nowMs }: { readonly startMs: number; readonly nowMs: number },
): MetricData {
  const descriptor = { name, description: help, unit: "", valueType: ValueType.DOUBLE };
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  const startTime = toHrTime(startMs);
  const endTime = toHrTime(nowMs);
  if (kind === "histogram") {
    const dataPoints = points.map(({ labels, value, counts = [] }) => ({
      attributes: labels,
      startTime,
      endTime,
      value: {
        buckets: { boundaries: [...bounds], counts: [...counts] },
        sum: value,
        count: counts.reduce((sum, count) => sum + count, 0),
      },
    }));
    const dataPointType = DataPointType.HISTOGRAM;
    return { descriptor, aggregationTemporality, dataPointType, dataPoints };
  }
  const dataPoints = points.map(({ labels, value }) => ({
    attributes: labels,
    startTime,
    endTime,
    value,
  }));
  if (kind === "counter") {
    const dataPointType = DataPointType.SUM;
    return { descriptor, aggregationTemporality, dataPointType, dataPoints, isMonotonic: true };
  }
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints };
}

function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

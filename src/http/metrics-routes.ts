/** Metrics in the text format of Prometheus: by this server's names, and by those that the reference has. */
import type { FastifyInstance } from "fastify";
import { labelReadings, mergeReadings, type MetricReading } from "../base/metrics.ts";
import type { ServerContext } from "./server-context.ts";
import { toReferenceNames } from "./reference-metrics.ts";

export const metricsPaths: readonly string[] = ["/metrics", "/debug/prometheus_metrics"];

const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** Loaded at the first scrape: most processes never see one. */
async function print(readings: readonly MetricReading[]): Promise<string> {
  const { printPrometheus } = await import("../telemetry/prometheus.ts");
  return printPrometheus(readings);
}

/** `?by=process`: a series for each process in place of their sum. */
export function addMetricsRoutes(app: FastifyInstance, { processes }: ServerContext): void {
  app.all("/metrics", async (request, reply) => {
    const all = await processes.readings();
    const isByProcess = /[?&]by=process(?:&|$)/.test(request.url);
    const readings = isByProcess
      ? mergeReadings(all.map(({ process, readings }) => labelReadings(readings, { process })))
      : mergeReadings(all.map(({ readings }) => readings));
    return reply.type(contentType).send(await print(readings));
  });
  app.all("/debug/prometheus_metrics", async (_request, reply) => {
    const all = await processes.readings();
    const merged = mergeReadings(all.map(({ readings }) => readings));
    return reply.type(contentType).send(await print(toReferenceNames(merged)));
  });
}

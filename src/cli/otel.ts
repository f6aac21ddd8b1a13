/** `--otel`: a collector's URL, or `"url=…; sample=1; every=30s"`; and the requests of a worker as its traces. */
import { systemClock } from "../base/clock.ts";
import { mergeReadings } from "../base/metrics.ts";
import type { Processes } from "../http/processes.ts";
import type { RequestTracer } from "../http/watch-options.ts";
import { Fault } from "../model/fault.ts";
import type { Telemetry } from "../telemetry/tracer.ts";
import { parseDurationMs } from "./duration.ts";
import { parseSuperflag } from "./superflag.ts";
import { readVersion } from "./version.ts";

/** Plain data: it travels to the children as a message. */
export interface OtelConfig {
  readonly url: string;
  readonly sample: number;
  readonly everyMs: number;
}

const keys = ["url", "sample", "every"] as const;

/** Undefined: nothing is sent. */
export function parseOtel(text: string): OtelConfig | undefined {
  const word = text.trim();
  if (word === "") return undefined;
  const values: ReadonlyMap<string, string> = /^https?:/i.test(word)
    ? new Map([["url", word]])
    : parseSuperflag("otel", word, keys);
  const url = (values.get("url") ?? "").replace(/\/+$/, "");
  if (!/^https?:\/\/[^/]+/i.test(url) || !URL.canParse(url)) {
    throw new Fault("E_USAGE", `--otel: "${url}" is no URL (as http://127.0.0.1:4318)`);
  }
  const sample = Number(values.get("sample") ?? "1");
  if (!(sample >= 0 && sample <= 1)) {
    throw new Fault("E_USAGE", "--otel sample: from 0 to 1, as 0.1 for a tenth of the requests");
  }
  return { url, sample, everyMs: parseDurationMs("--otel every", values.get("every") ?? "30s") };
}

/** OpenTelemetry's packages are loaded here. */
export async function openTelemetry(config: OtelConfig, process: string): Promise<Telemetry> {
  const { Telemetry } = await import("../telemetry/tracer.ts");
  const originMs = performance.timeOrigin;
  const options = { ...config, process, version: readVersion(), originMs };
  return new Telemetry(options, systemClock.nowMs());
}

/** One process sends the metrics of all. */
export function sendMetrics(telemetry: Telemetry, processes: Processes): void {
  telemetry.sendMetrics(
    async () => mergeReadings((await processes.readings()).map(({ readings }) => readings)),
    () => systemClock.nowMs(),
  );
}

export function makeTracer(telemetry: Telemetry): RequestTracer {
  return {
    begin(watched) {
      const { headers } = watched.req;
      const given = typeof headers["traceparent"] === "string" ? headers["traceparent"] : undefined;
      const trace = telemetry.begin(watched.operation, given, watched.startMs);
      if (trace === undefined) return undefined;
      return {
        traceparent: trace.traceparent,
        end: ({ id, tag, status, outcome, answerBytes, budget, observer, req }) => {
          const attributes = {
            "http.request.method": req.method ?? "",
            "http.response.status_code": status,
            "weft.request.id": id,
            "weft.outcome": outcome,
            "weft.rows": budget?.work ?? 0,
            "weft.answer.bytes": answerBytes,
            ...(tag === undefined ? {} : { "weft.tag": tag }),
          };
          const endMs = systemClock.tickMs();
          trace.end({ attributes, hasFailed: outcome !== "ok", endMs, observer });
        },
      };
    },
  };
}

/** Requests that have ended, counted by operation and outcome. */
import { Histogram, metrics, secondsBounds, type MetricPoint } from "../base/metrics.ts";
import { countNamespaceRequest } from "./namespace-metrics.ts";
import { limitOf } from "./request-log.ts";
import type { WatchedRequest } from "./watched-request.ts";

type Outcome = WatchedRequest["outcome"];

class OperationCounts {
  readonly byOutcome: Readonly<Record<Outcome, Histogram>> = {
    ok: new Histogram(secondsBounds),
    error: new Histogram(secondsBounds),
    refused: new Histogram(secondsBounds),
  };
  answerBytes = 0;
  bodyBytes = 0;
  work = 0;
}

/** Operations are routes: there are few. */
const operations = new Map<string, OperationCounts>();

const refused = metrics.counters(
  "weft_requests_refused_total",
  "Requests that a limit or a right refused, by what refused them",
  "limit",
);

export function countRequest(watched: WatchedRequest, ms: number): void {
  let counts = operations.get(watched.operation);
  if (counts === undefined) operations.set(watched.operation, (counts = new OperationCounts()));
  counts.byOutcome[watched.outcome].observe(ms / 1000);
  counts.answerBytes += watched.answerBytes;
  counts.bodyBytes += Number(watched.req.headers["content-length"] ?? watched.bodyBytes);
  const work = watched.budget?.work ?? 0;
  counts.work += work;
  const { namespace } = watched;
  if (namespace !== undefined) countNamespaceRequest(namespace, work, watched.answerBytes);
  if (watched.errors === undefined && watched.refusal === undefined) return;
  const limit = limitOf(watched);
  if (limit !== undefined) refused.of(limit).count++;
}

function pointsOf(read: (counts: OperationCounts) => number): MetricPoint[] {
  return [...operations].map(([operation, counts]) => ({
    labels: { operation },
    value: read(counts),
  }));
}

metrics.histogramPoints(
  "weft_request_seconds",
  "Time from a request's head to its answer",
  secondsBounds,
  () =>
    [...operations].flatMap(([operation, { byOutcome }]) =>
      Object.entries(byOutcome)
        .filter(([, { counts }]) => counts.some((count) => count > 0))
        .map(([outcome, { counts, sum }]) => ({
          labels: { operation, outcome },
          value: sum,
          counts: [...counts],
        })),
    ),
);
metrics.points(
  "weft_requests_total",
  "Requests that were answered",
  () =>
    [...operations].flatMap(([operation, { byOutcome }]) =>
      Object.entries(byOutcome).map(([outcome, { counts }]) => ({
        labels: { operation, outcome },
        value: counts.reduce((sum, count) => sum + count, 0),
      })),
    ),
  "counter",
);
metrics.points(
  "weft_answer_bytes_total",
  "Bytes of answers, before they are packed",
  () => pointsOf(({ answerBytes }) => answerBytes),
  "counter",
);
metrics.points(
  "weft_body_bytes_total",
  "Bytes of the bodies of requests, as they came",
  () => pointsOf(({ bodyBytes }) => bodyBytes),
  "counter",
);
metrics.points(
  "weft_rows_read_total",
  "Nodes, edges, values and members that requests looked at",
  () => pointsOf(({ work }) => work),
  "counter",
);

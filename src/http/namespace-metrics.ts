/** Requests by the namespace of who sent them: of users alone, and of so many namespaces at most. */
import { metrics, type MetricPoint } from "../base/metrics.ts";

interface NamespaceCounts {
  requests: number;
  work: number;
  answerBytes: number;
}

/** Further namespaces share one series. */
const namespacesMax = 200;
const others = -1;

const counts = new Map<number, NamespaceCounts>();

export function countNamespaceRequest(namespace: number, work: number, answerBytes: number): void {
  let one = counts.get(namespace);
  if (one === undefined) {
    const key = counts.size < namespacesMax ? namespace : others;
    one = counts.get(key);
    if (one === undefined) counts.set(key, (one = { requests: 0, work: 0, answerBytes: 0 }));
  }
  one.requests++;
  one.work += work;
  one.answerBytes += answerBytes;
}

function pointsOf(read: (one: NamespaceCounts) => number): MetricPoint[] {
  return [...counts].map(([namespace, one]) => ({
    labels: { namespace: namespace === others ? "other" : String(namespace) },
    value: read(one),
  }));
}

metrics.points(
  "weft_namespace_requests_total",
  "Requests of users, by their namespace",
  () => pointsOf(({ requests }) => requests),
  "counter",
);
metrics.points(
  "weft_namespace_rows_read_total",
  "Nodes, edges, values and members that requests of a namespace looked at",
  () => pointsOf(({ work }) => work),
  "counter",
);
metrics.points(
  "weft_namespace_answer_bytes_total",
  "Bytes of answers to a namespace, before they are packed",
  () => pointsOf(({ answerBytes }) => answerBytes),
  "counter",
);

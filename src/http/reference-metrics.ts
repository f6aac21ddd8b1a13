/** What this server counts, under the names that dashboards of the reference ask for. */
import type { MetricPoint, MetricReading } from "../base/metrics.ts";

/** The reference's names for what its routes do. */
const methods: Readonly<Record<string, string>> = {
  query: "Server.Query",
  mutate: "Server.Mutate",
  commit: "Server.CommitOrAbort",
  alter: "Server.Alter",
  graphql: "Server.GraphQL",
  "grpc/Query": "Server.Query",
  "grpc/RunDQL": "Server.Query",
  "grpc/Mutate": "Server.Mutate",
  "grpc/CommitOrAbort": "Server.CommitOrAbort",
  "grpc/Alter": "Server.Alter",
};

/** Where a number is the same under another name, and without labels. */
const renamed: readonly (readonly [string, string, string, MetricReading["kind"]])[] = [
  [
    "weft_transaction_commits_total",
    "dgraph_txn_commits_total",
    "Transactions that were committed",
    "counter",
  ],
  [
    "weft_transaction_aborts_total",
    "dgraph_txn_aborts_total",
    "Transactions that the server aborted",
    "counter",
  ],
  [
    "weft_transaction_discards_total",
    "dgraph_txn_discards_total",
    "Transactions that their client discarded",
    "counter",
  ],
  ["weft_facts_written_total", "dgraph_num_edges_total", "Facts that were written", "counter"],
  ["weft_requests_running", "dgraph_pending_queries_total", "Requests under way", "gauge"],
  [
    "weft_commits_waiting",
    "dgraph_pending_proposals_total",
    "Changes that wait for the writer",
    "gauge",
  ],
  ["weft_memory_heap_bytes", "dgraph_memory_inuse_bytes", "Memory in use", "gauge"],
  ["weft_memory_resident_bytes", "dgraph_memory_proc_bytes", "Memory of the processes", "gauge"],
  [
    "weft_memory_heap_idle_bytes",
    "dgraph_memory_idle_bytes",
    "Memory that is held and not used",
    "gauge",
  ],
  ["weft_store_commit", "dgraph_max_assigned_ts", "The newest commit", "max"],
  ["weft_disk_free_bytes", "dgraph_disk_free_bytes", "Free on the disk of the store", "max"],
  ["weft_disk_bytes", "dgraph_disk_total_bytes", "Size of the disk of the store", "max"],
  ["weft_store_file_bytes", "dgraph_disk_used_bytes", "Bytes of the store's files", "max"],
];

export function toReferenceNames(readings: readonly MetricReading[]): readonly MetricReading[] {
  const byName = new Map(readings.map((reading) => [reading.name, reading]));
  const all: MetricReading[] = [];
  for (const [own, name, help, kind] of renamed) {
    const points = byName.get(own)?.points ?? [];
    const value = points.reduce((sum, point) => sum + point.value, 0);
    all.push({ name, help, kind, points: [{ labels: {}, value }] });
  }
  const healthy = { labels: {}, value: 1 };
  all.push({
    name: "dgraph_alpha_health_status",
    help: "1: it answers",
    kind: "max",
    points: [healthy],
  });
  all.push(hitRatio(byName));
  const requests = byName.get("weft_request_seconds");
  if (requests === undefined) return all;
  const points = joinPoints(requests.points.flatMap(toMethod));
  const bounds = requests.bounds?.map((seconds) => seconds * 1000);
  all.push({ name: "dgraph_latency", help: "Milliseconds", kind: "histogram", bounds, points });
  const counts = points.map(({ labels, counts = [] }) => ({
    labels,
    value: counts.reduce((sum, count) => sum + count, 0),
  }));
  const isMutation = ({ labels }: MetricPoint): boolean => labels["method"] === "Server.Mutate";
  all.push({
    name: "dgraph_num_queries_total",
    help: "Requests by method",
    kind: "counter",
    points: counts,
  });
  all.push({
    name: "dgraph_num_mutations_total",
    help: "Mutations",
    kind: "counter",
    points: counts.filter(isMutation),
  });
  return all;
}

function toMethod({ labels, value, counts }: MetricPoint): MetricPoint[] {
  const method = methods[labels["operation"] ?? ""];
  if (method === undefined) return [];
  const status = labels["outcome"] === "ok" ? "ok" : "error";
  const told = { labels: { method, status }, value: value * 1000, counts };
  // The reference knows no third outcome: what was refused would be a second series of the same labels.
  return labels["outcome"] === "refused" ? [] : [told];
}

/** What came over HTTP and over gRPC is one series. */
function joinPoints(points: readonly MetricPoint[]): MetricPoint[] {
  const joined = new Map<string, MetricPoint>();
  for (const point of points) {
    const key = JSON.stringify(point.labels);
    const before = joined.get(key);
    const counts = point.counts?.map((count, i) => count + (before?.counts?.[i] ?? 0));
    joined.set(key, { ...point, value: point.value + (before?.value ?? 0), counts });
  }
  return [...joined.values()];
}

function hitRatio(byName: ReadonlyMap<string, MetricReading>): MetricReading {
  const valueOf = (name: string): number =>
    (byName.get(name)?.points ?? []).reduce((sum, { value }) => sum + value, 0);
  const lookups = valueOf("weft_cache_lookups_total");
  const hits = lookups - valueOf("weft_cache_misses_total");
  return {
    name: "dgraph_hit_ratio_posting_cache",
    help: "Of the caches of records and lists",
    kind: "max",
    points: [{ labels: {}, value: lookups === 0 ? 0 : hits / lookups }],
  };
}

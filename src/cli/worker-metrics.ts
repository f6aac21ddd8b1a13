/** What a worker tells of what it keeps: memory, caches, transactions, the store. */
import { statfs } from "node:fs/promises";
import { metrics, type MetricPoint } from "../base/metrics.ts";
import { type KnownNamespace, quotaNames } from "../engine/namespace-quotas.ts";
import type { OpenEngine } from "../engine/open.ts";
import type { RequestWatch } from "../http/request-watch.ts";
import type { ProcessMemory } from "../model/process-memory.ts";
import type { Store } from "../store/store.ts";

interface Parts {
  readonly engine: OpenEngine;
  readonly store: Store;
  readonly memory: ProcessMemory;
  readonly watch: RequestWatch;
  readonly dataDir: string;
}

export function showMetrics({ engine, store, memory, watch, dataDir }: Parts): void {
  metrics.gauge("weft_requests_running", "Requests under way", () => watch.runningCount);
  metrics.gauge(
    "weft_request_memory_bytes",
    "Memory that requests hold of their processes' budgets",
    () => memory.bytesHeld,
  );
  metrics.gauge(
    "weft_request_memory_limit_bytes",
    "Memory that requests may hold together (--memory)",
    () => memory.bytesMax,
  );
  metrics.gauge(
    "weft_transactions_open",
    "Transactions that have written and not ended",
    () => engine.openTransactions,
  );
  metrics.gauge(
    "weft_cache_bytes",
    "Memory of the caches of records and lists",
    () => engine.cacheBytes,
  );
  showStore({ engine, store, dataDir });
  showNamespaces(engine);
}

/** Series of so many namespaces are shown. */
const namespacesMax = 200;

/** The table is the same in every process: the largest of equal numbers is each. */
function showNamespaces({ quotas }: OpenEngine): void {
  const known = (): (readonly [number, KnownNamespace])[] =>
    [...quotas.table].toSorted(([a], [b]) => a - b).slice(0, namespacesMax);
  const pointsOf = (read: (one: KnownNamespace) => number | undefined): MetricPoint[] =>
    known().flatMap(([namespace, one]) => {
      const value = read(one);
      return value === undefined ? [] : [{ labels: { namespace: String(namespace) }, value }];
    });
  metrics.points(
    "weft_namespace_facts",
    "Facts of namespaces that have a quota, when they were counted last",
    () => pointsOf(({ usage }) => usage?.facts),
    "max",
  );
  metrics.points(
    "weft_namespace_bytes",
    "Bytes of namespaces that have a quota, when they were counted last",
    () => pointsOf(({ usage }) => usage?.bytes),
    "max",
  );
  metrics.points(
    "weft_namespace_quota",
    "Quotas of namespaces, by what they bound",
    () =>
      known().flatMap(([namespace, { quota }]) =>
        quotaNames.flatMap((name) => {
          const value = quota[name];
          const labels = { namespace: String(namespace), quota: name };
          return value === undefined ? [] : [{ labels, value }];
        }),
      ),
    "max",
  );
}

function showStore({ engine, store, dataDir }: Pick<Parts, "engine" | "store" | "dataDir">): void {
  metrics.points(
    "weft_index_builds",
    "Indexes that are being built",
    async () => {
      const builds = await engine.indexProgress();
      return [{ labels: {}, value: builds.length }];
    },
    "max",
  );
  metrics.points(
    "weft_index_build_nodes_left",
    "Nodes that index builds have still to look at",
    async () => {
      const builds = await engine.indexProgress();
      const left = builds.reduce((sum, { done, total }) => sum + Math.max(0, total - done), 0);
      return [{ labels: {}, value: left }];
    },
    "max",
  );
  metrics.points(
    "weft_store_commit",
    "Number of the newest commit",
    async () => [{ labels: {}, value: (await store.describe()).commitTs }],
    "max",
  );
  metrics.points(
    "weft_store_file_bytes",
    "Bytes of the store's file that are in use",
    async () => [{ labels: {}, value: (await store.describe()).bytesUsed }],
    "max",
  );
  metrics.points(
    "weft_disk_free_bytes",
    "Free on the disk of the store",
    async () => {
      const { bavail, bsize } = await statfs(dataDir);
      return [{ labels: {}, value: bavail * bsize }];
    },
    "max",
  );
  metrics.points(
    "weft_disk_bytes",
    "Size of the disk of the store",
    async () => {
      const { blocks, bsize } = await statfs(dataDir);
      return [{ labels: {}, value: blocks * bsize }];
    },
    "max",
  );
}

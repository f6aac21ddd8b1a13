/** How often a process's caches had what was asked for. Plain numbers: a look-up adds to two of them. */
import { metrics } from "../base/metrics.ts";

export const cacheReads = { records: 0, recordMisses: 0, lists: 0, listMisses: 0 };

metrics.points(
  "weft_cache_lookups_total",
  "What was asked of the caches: records of nodes, lists of indexes",
  () => [
    { labels: { cache: "records" }, value: cacheReads.records },
    { labels: { cache: "lists" }, value: cacheReads.lists },
  ],
  "counter",
);
metrics.points(
  "weft_cache_misses_total",
  "What of it had to be read from the store",
  () => [
    { labels: { cache: "records" }, value: cacheReads.recordMisses },
    { labels: { cache: "lists" }, value: cacheReads.listMisses },
  ],
  "counter",
);

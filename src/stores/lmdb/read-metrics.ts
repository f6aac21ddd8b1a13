/** What a process has read of the store's file. Plain numbers: a row adds to two of them. */
import { metrics } from "../../base/metrics.ts";

export const storeReads = { rows: 0, bytes: 0 };

metrics.gauge(
  "weft_store_rows_read_total",
  "Rows that were read from the store",
  () => storeReads.rows,
  "counter",
);
metrics.gauge(
  "weft_store_bytes_read_total",
  "Bytes of the rows that were read from the store",
  () => storeReads.bytes,
  "counter",
);

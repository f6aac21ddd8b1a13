/** Clears what drops of predicates, indexes and storages left behind, in slices between other work. */
import type { Logger } from "../base/log.ts";
import { readRetired, retiredPatch } from "../graph/schema-rows.ts";
import type { ChangeSender } from "./commits.ts";
import type { ReaderFactory } from "./reader-factory.ts";

interface RetiredSweepsOptions {
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly logger: Logger;
}

/** Rows in one slice of a sweep. */
const sweepRows = 512;

export class RetiredSweeps {
  readonly #options: RetiredSweepsOptions;
  #sweeping: Promise<void> | undefined = undefined;
  #isClosed = false;

  constructor(options: RetiredSweepsOptions) {
    this.#options = options;
  }

  /** One at a time. */
  soon(): void {
    if (this.#sweeping !== undefined || this.#isClosed) return;
    this.#sweeping = this.#sweep()
      .catch((error: unknown) => {
        this.#options.logger.warn("a sweep ended early", { error: String(error) });
      })
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  async #sweep(): Promise<void> {
    const { readers, committer } = this.#options;
    for (;;) {
      const snapshot = await readers.store.snapshot();
      const rows = await readRetired(snapshot);
      snapshot.close();
      const row = rows[0];
      if (row === undefined || this.#isClosed) return;
      const request =
        row.kind === "storage"
          ? { kind: "storage" as const, storageId: row.storageId, limit: sweepRows }
          : row.kind === "index"
            ? {
                kind: "index" as const,
                storageId: row.storageId,
                index: row.id,
                limit: sweepRows,
              }
            : {
                kind: "predicate" as const,
                storageId: row.storageId,
                predicate: row.id,
                limit: sweepRows,
              };
      let done = false;
      while (!done) {
        if (this.#isClosed) return;
        done = (await readers.store.sweep(request)).done;
        // Where the writer is this process, nothing else would come in between.
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await committer.retry(async () => {
        const after = await readers.store.snapshot();
        try {
          await committer.commitRows(after, undefined, [retiredPatch(row, true)]);
        } finally {
          after.close();
        }
      });
    }
  }

  /** Waits for the slice under way; what is left goes on at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sweeping;
  }
}

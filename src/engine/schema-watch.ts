/** Notices of schema changes, of this process's own and of others': a commit wakes, the schema's version decides. */
import type { Logger } from "../base/log.ts";
import type { ReaderFactory } from "./reader-factory.ts";
import { readNamespaces } from "../graph/schema-rows.ts";

/** Commits that come in between are looked at together. */
const gatherMs = 10;

export class SchemaWatch {
  readonly #readers: ReaderFactory;
  readonly #logger: Logger;
  readonly #listeners = new Set<(namespace: number) => void>();
  /** Namespace → version, of the last look. */
  #versions: Map<number, number> | undefined = undefined;
  #stop: (() => void) | undefined = undefined;
  #isLooking = false;
  #isStale = false;

  constructor(readers: ReaderFactory, logger: Logger) {
    this.#readers = readers;
    this.#logger = logger;
  }

  /** Costs nothing until the first listener comes. */
  listen(listener: (namespace: number) => void): () => void {
    this.#listeners.add(listener);
    if (this.#stop === undefined) {
      this.#stop = this.#readers.store.onCommit(() => this.#wake());
      this.#wake();
    }
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#listeners.clear();
  }

  #wake(): void {
    this.#isStale = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    new Promise((resolve) => setTimeout(resolve, gatherMs).unref())
      .then(() => this.#look())
      .catch((error: unknown) => {
        this.#logger.warn("schema changes could not be looked for", { error: String(error) });
      })
      .finally(() => {
        this.#isLooking = false;
        if (this.#isStale && this.#stop !== undefined) this.#wake();
      });
  }

  async #look(): Promise<void> {
    this.#isStale = false;
    const snapshot = await this.#readers.store.snapshot();
    const namespaces = await readNamespaces(snapshot);
    snapshot.close();
    const versions = new Map<number, number>();
    for (const namespace of namespaces) {
      versions.set(namespace, (await this.#readers.schema(namespace)).schema.version);
    }
    // The first look tells of everything: a change may have come before it.
    const before = this.#versions ?? new Map<number, number>();
    this.#versions = versions;
    for (const namespace of new Set([...before.keys(), ...versions.keys()])) {
      if (before.get(namespace) === versions.get(namespace)) continue;
      for (const listener of this.#listeners) listener(namespace);
    }
  }
}

/**
 * Counts what namespaces with a quota of facts or bytes hold. One process of a store does. Nothing of a write waits for
 * it: it looks four times a second whether something was committed, and rests fifty times as long as it took.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Store } from "../store/store.ts";
import type { Duty } from "./duty.ts";
import type { NamespaceQuotas } from "./namespace-quotas.ts";
import { countNamespace } from "./namespace-count.ts";

interface CensusOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly quotas: NamespaceQuotas;
  readonly duty: Duty;
  /** Of a namespace; undefined: it is gone. */
  readonly storageIdOf: (namespace: number) => Promise<number | undefined>;
}

const restMs = 250;
const restFactor = 50;

export class UsageCensus {
  readonly #options: CensusOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  #running: Promise<void> | undefined;
  /** What this look has taken. */
  #busyMs = 0;
  /** The newest commit when the last count began, and the quotas that it was made for. */
  #seen = { commitTs: -1, quotas: "" };

  constructor(options: CensusOptions) {
    this.#options = options;
    this.#restFor(restMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #restFor(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look();
    }, ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { logger } = this.#options;
    this.#busyMs = 0;
    try {
      if (this.#options.duty.isOn) await this.#countAll();
    } catch (error) {
      logger.warn("namespaces could not be counted", { error: String(error) });
    }
    this.#restFor(Math.max(restMs, this.#busyMs * restFactor));
  }

  async #countAll(): Promise<void> {
    const { store, quotas } = this.#options;
    const counted = [...quotas.table].filter(
      ([, { quota }]) => quota.facts !== undefined || quota.bytes !== undefined,
    );
    if (counted.length === 0) return;
    const snapshot = await store.snapshot();
    const commitTs = snapshot.ts;
    snapshot.close();
    const names = counted.map(([namespace]) => namespace).join();
    if (commitTs === this.#seen.commitTs && names === this.#seen.quotas) return;
    let isNoted = false;
    for (const [namespace] of counted) isNoted = (await this.#count(namespace)) || isNoted;
    // What it has noted is a commit, too: then it looks once more.
    this.#seen = { commitTs: isNoted ? -1 : commitTs, quotas: names };
  }

  /** Whether it is another count than before. */
  async #count(namespace: number): Promise<boolean> {
    const { store, clock, quotas, storageIdOf } = this.#options;
    const storageId = await storageIdOf(namespace);
    if (storageId === undefined || this.#isClosed) return false;
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
    const { facts, bytes, busyMs } = await countNamespace(store, clock, storageId, pause);
    this.#busyMs += busyMs;
    const before = quotas.table.get(namespace)?.usage;
    if (before?.facts === facts && before.bytes === bytes) return false;
    await quotas.noteUsage(namespace, { facts, bytes, countedMs: clock.nowMs() });
    return true;
  }
}

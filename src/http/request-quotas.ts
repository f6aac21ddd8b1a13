/** The requests that a namespace may send in a second: a bucket of tokens for each that has such a quota. */
import type { Clock } from "../base/clock.ts";
import type { NamespaceQuotas } from "../engine/namespace-quotas.ts";

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Seconds of a quota that may come at once. */
const burstSeconds = 2;

export class RequestQuotas {
  readonly #quotas: Pick<NamespaceQuotas, "table">;
  readonly #clock: Clock;
  readonly #processes: number;
  readonly #buckets = new Map<number, Bucket>();

  /** `processes`: over which connections are spread; each counts for its part. */
  constructor(quotas: Pick<NamespaceQuotas, "table">, clock: Clock, processes: number) {
    this.#quotas = quotas;
    this.#clock = clock;
    this.#processes = processes;
  }

  /** Whether any namespace has such a quota, or may have: who asks is found out for nothing else. */
  get isEmpty(): boolean {
    return this.#quotas.table.size === 0;
  }

  /** undefined: it may go on, and counts. Else the quota, and after how many seconds it may come again, at least 1. */
  take(namespace: number): { readonly quota: number; readonly waitSeconds: number } | undefined {
    const quota = this.#quotas.table.get(namespace)?.quota.requests;
    if (quota === undefined) return undefined;
    const perSecond = quota / this.#processes;
    const burst = Math.max(1, perSecond * burstSeconds);
    const nowMs = this.#clock.tickMs();
    let bucket = this.#buckets.get(namespace);
    if (bucket === undefined) {
      this.#buckets.set(namespace, (bucket = { tokens: burst, atMs: nowMs }));
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return undefined;
    }
    const seconds = perSecond > 0 ? (1 - bucket.tokens) / perSecond : Infinity;
    return { quota, waitSeconds: Math.min(3600, Math.max(1, Math.ceil(seconds))) };
  }
}

/**
 * How many requests a second an address, a key and a user may send: buckets of tokens, which fill at the rate and hold
 * a burst of it. A request takes one token of each bucket that is about its sender, so none of them is asked for what
 * the others refuse. Buckets that were not used for long are full and forgotten; of more senders than there is room for
 * the one that was quiet longest is forgotten, and begins anew with a full bucket.
 */
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";

/** Tokens a second, and how many are kept. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateConfig {
  readonly address: Rate | undefined;
  readonly key: Rate | undefined;
  readonly user: Rate | undefined;
  /** Senders of each kind that are remembered. */
  readonly senders: number;
}

/** Whom a request comes from, as far as it is known. */
interface RatedSender {
  readonly address: string;
  readonly key: string | undefined;
  readonly user: string | undefined;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export class RateLimits {
  readonly #clock: Clock;
  readonly #tables: Readonly<Record<keyof RatedSender, RateTable | undefined>>;

  /** The rates are those of this process: of a server's, each has its part. */
  constructor({ address, key, user, senders }: RateConfig, clock: Clock) {
    this.#clock = clock;
    const open = (rate: Rate | undefined): RateTable | undefined =>
      rate === undefined ? undefined : new RateTable(rate, senders);
    this.#tables = { address: open(address), key: open(key), user: open(user) };
  }

  /** Whether users have a rate: who they are is found out for nothing else. */
  get countsUsers(): boolean {
    return this.#tables.user !== undefined;
  }

  /** 0: it may go on, and counts. Else after how many seconds it may come again, at least 1; then nothing is counted. */
  take(sender: RatedSender): number {
    const nowMs = this.#clock.tickMs();
    const { address, key, user } = sender;
    const buckets = [
      this.#tables.address?.find(networkOf(address), nowMs),
      key === undefined ? undefined : this.#tables.key?.find(key, nowMs),
      user === undefined ? undefined : this.#tables.user?.find(user, nowMs),
    ];
    let waitSeconds = 0;
    for (const found of buckets) {
      if (found === undefined || found.bucket.tokens >= 1) continue;
      const seconds = (1 - found.bucket.tokens) / found.rate.perSecond;
      waitSeconds = Math.max(waitSeconds, Math.ceil(seconds), 1);
    }
    if (waitSeconds > 0) return waitSeconds;
    for (const found of buckets) if (found !== undefined) found.bucket.tokens--;
    return 0;
  }
}

class RateTable {
  readonly #rate: Rate;
  readonly #buckets: Lru<string, Bucket>;

  constructor(rate: Rate, senders: number) {
    this.#rate = rate;
    this.#buckets = new Lru(senders);
  }

  find(name: string, nowMs: number): { readonly bucket: Bucket; readonly rate: Rate } {
    const rate = this.#rate;
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = { tokens: rate.burst, atMs: nowMs };
      this.#buckets.set(name, bucket);
    } else {
      const gained = ((nowMs - bucket.atMs) / 1000) * rate.perSecond;
      bucket.tokens = Math.min(rate.burst, bucket.tokens + gained);
      bucket.atMs = nowMs;
    }
    return { bucket, rate };
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 one: whoever has one of those has them all. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill("0");
  const parts = [...first, ...zeros, ...last].slice(0, 4);
  return parts.map((part) => part.replace(/^0+(?=.)/, "")).join(":");
}

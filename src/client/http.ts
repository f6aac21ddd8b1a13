/** Requests of a server: credentials, retries with back-off, time. */
import { systemClock, type Clock } from "../base/clock.ts";
import { systemRandom, type Random } from "../base/random.ts";
import type { ClientOptions, FetchLike, ResponseLike, Signal } from "./api.ts";
import { delayOf, readRetryAfter, wait } from "./backoff.ts";
import { makeError } from "./database-error.ts";

interface Ask {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** May be asked again after a connection was lost: nothing is changed by it, or not twice. */
  readonly isRepeatable: boolean;
  readonly signal?: Signal | undefined;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const retriesDefault = 5;

export class Http {
  readonly #options: ClientOptions;
  readonly #fetch: FetchLike;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: ClientOptions, clock = systemClock, random = systemRandom) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init as RequestInit));
    this.#clock = clock;
    this.#random = random;
  }

  urlOf(path: string): string {
    return this.#options.url.replace(/\/+$/, "") + path;
  }

  /** What each request carries. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    const { headers = {}, key } = this.#options;
    const given = typeof headers === "function" ? await headers() : headers;
    return key === undefined ? given : { "X-Auth-Token": key, ...given };
  }

  /** Rejects with a DatabaseError where no answer comes in time. */
  async ask(ask: Ask): Promise<Answer> {
    const time = this.#time(ask.signal);
    try {
      return await this.#tries({ ...ask, signal: time.signal });
    } catch (error) {
      if (time.isOver()) throw makeError("Timeout", `no answer within ${this.#options.timeoutMs ?? 0} ms`, { cause: error }); // prettier-ignore
      throw error;
    } finally {
      time.end();
    }
  }

  async #tries(ask: Ask): Promise<Answer> {
    const { retries = retriesDefault } = this.#options;
    for (let attempt = 1; ; attempt++) {
      let askedMs: number | undefined;
      try {
        const response = await this.send(ask, "application/json");
        askedMs = this.#retryAfter(response);
        if (askedMs === undefined || attempt > retries) {
          return { status: response.status, text: await response.text() };
        }
        await response.text();
      } catch (error) {
        if (ask.signal?.aborted === true || !ask.isRepeatable || attempt > retries) throw error;
      }
      await wait(delayOf(attempt, this.#random, askedMs), ask.signal);
    }
  }

  /** One try. Rejects with a DatabaseError `Unreachable`. */
  async send(ask: Ask, accept: string): Promise<ResponseLike> {
    const headers = { accept, "content-type": ask.type, ...(await this.headers()), ...ask.headers };
    const { body, signal } = ask;
    try {
      return await this.#fetch(this.urlOf(ask.path), {
        method: "POST",
        headers,
        body,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw makeError("Unreachable", `${this.#options.url} cannot be reached`, { cause: error });
    }
  }

  /** Milliseconds that a refusal asks for; undefined where nothing is to be asked again. */
  #retryAfter({ status, headers }: ResponseLike): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    return readRetryAfter(headers.get("retry-after"), this.#clock.nowMs()) ?? 0;
  }

  /** The signal of the caller and of the time together. */
  #time(given: Signal | undefined): {
    readonly signal: Signal | undefined;
    isOver(): boolean;
    end(): void;
  } {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return { signal: given, isOver: () => false, end: () => {} };
    const control = new AbortController();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      control.abort();
    }, timeoutMs);
    const pass = (): void => control.abort(given?.reason);
    given?.addEventListener("abort", pass, { once: true });
    if (given?.aborted === true) pass();
    return {
      signal: control.signal,
      isOver: () => isOver,
      end: () => {
        clearTimeout(timer);
        given?.removeEventListener("abort", pass);
      },
    };
  }
}

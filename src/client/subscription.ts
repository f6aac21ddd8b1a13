/** A subscription as an iterator: the newest answer that nobody has taken, over as many connections as it takes. */
import { systemRandom } from "../base/random.ts";
import type { ClientOptions, GraphqlResult, Signal } from "./api.ts";
import { delayOf, wait } from "./backoff.ts";
import type { Listen } from "./listening.ts";

interface SubscriptionOptions {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly listen: Listen;
  readonly client: ClientOptions;
  readonly signal: Signal | undefined;
}

type Step<Data> = IteratorResult<GraphqlResult<Data>, undefined>;

export class Subscription<Data> implements AsyncIterableIterator<GraphqlResult<Data>> {
  readonly #options: SubscriptionOptions;
  readonly #control = new AbortController();
  #newest: GraphqlResult<Data> | undefined;
  #failure: Error | undefined;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal?.aborted === true) this.#control.abort();
    else signal?.addEventListener("abort", () => this.#control.abort(), { once: true });
    this.#run().then(
      () => this.#end(undefined),
      (error: Error) => this.#end(error),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step<Data>> {
    for (;;) {
      const value = this.#newest;
      if (value !== undefined) {
        this.#newest = undefined;
        return { done: false, value };
      }
      const failure = this.#failure;
      if (failure !== undefined) {
        this.#failure = undefined;
        throw failure;
      }
      if (this.#isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  return(): Promise<Step<Data>> {
    this.#newest = undefined;
    this.#control.abort();
    this.#end(undefined);
    return Promise.resolve({ done: true, value: undefined });
  }

  async #run(): Promise<void> {
    const { listen, body, headers, client } = this.#options;
    const { signal } = this.#control;
    let failures = 0;
    while (!signal.aborted) {
      let heard = 0;
      const answer = (result: GraphqlResult<unknown>): void => {
        heard++;
        failures = 0;
        this.#newest = result as GraphqlResult<Data>;
        this.#wake();
      };
      const ending = await listen(body, headers, { answer }, signal);
      if (signal.aborted) return;
      if (ending.kind === "done") {
        // The end of a token is not the end of the subscription of somebody who has new ones.
        if (typeof client.headers !== "function" || heard === 0) return;
        continue;
      }
      failures++;
      const delayMs = delayOf(failures, systemRandom, ending.askedMs);
      client.onReconnect?.({ error: ending.error, delayMs });
      await wait(delayMs, signal).catch(() => {});
    }
  }

  #end(failure: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#wake();
  }
}

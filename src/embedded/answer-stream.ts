/** The answers of a subscription as an iterator: the newest of those that nobody has taken. */
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { GraphqlService, SubscriptionEnd } from "../graphql/service/service.ts";
import type { GraphqlResult } from "./api.ts";
import { toDatabaseError } from "./database-error.ts";

type Step<Data> = IteratorResult<GraphqlResult<Data>, undefined>;

const endings: Readonly<Record<SubscriptionEnd, string>> = {
  expired: "the token of the subscription has expired",
  rights: "the rights of the subscriber have changed",
  schema: "the fields of the subscription have changed: subscribe again",
  failed: "the subscription has failed",
};

export class AnswerStream<Data> implements AsyncIterableIterator<GraphqlResult<Data>> {
  #newest: Uint8Array | undefined;
  #failure: Error | undefined;
  #isOver = false;
  #wake: () => void = () => {};
  #close: (() => void) | undefined;

  constructor(service: GraphqlService, request: GraphqlRequest) {
    void this.#open(service, request);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step<Data>> {
    for (;;) {
      const bytes = this.#newest;
      if (bytes !== undefined) {
        this.#newest = undefined;
        const value = JSON.parse(new TextDecoder().decode(bytes)) as GraphqlResult<Data>;
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
    this.#end(undefined);
    this.#newest = undefined;
    this.#close?.();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #open(service: GraphqlService, request: GraphqlRequest): Promise<void> {
    const outcome = await service.subscribe(request, {
      next: (answer) => {
        this.#newest = answer;
        this.#wake();
      },
      end: (reason) =>
        this.#end(toDatabaseError({ code: "E_GRAPHQL_REQUEST", message: endings[reason] })),
    });
    if (outcome.kind === "open") {
      this.#close = outcome.close;
      if (this.#isOver) outcome.close();
      return;
    }
    const message =
      outcome.kind === "refused" ? outcome.message : "the operation is not a subscription";
    this.#end(toDatabaseError({ code: "E_GRAPHQL_REQUEST", message }));
  }

  #end(failure: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#wake();
  }
}

/**
 * GraphQL over server-sent events, each operation on a connection of its own: `event: next` for each answer, `event:
 * complete` behind the last one. What is refused is told as an answer, since pages cannot read a refusal's body.
 */
import type { ServerResponse } from "node:http";
import type { GraphqlRequest } from "../graphql/operation/request.ts";
import type { GraphqlAnswer, SubscribeOutcome, Subscriber } from "../graphql/service/service.ts";
import type { Exchange } from "./exchange.ts";
import { judge } from "./gate.ts";
import type { ServerContext } from "./server-context.ts";
import { mayListen } from "./origins.ts";
import { Outbox, viewOf } from "./outbox.ts";
import type { Lane } from "./outbox.ts";
import { makeErrorBody, sendError } from "./reply.ts";
import { rightOf } from "./rights.ts";
import { eventStreamHead, eventStreamType, signOfLife } from "./event-format.ts";
import type { Stream, Streams } from "./streams.ts";

/** Whether events are asked for; `only`: and nothing else that an answer could be. */
export function wantsEvents({ req }: Exchange): "no" | "too" | "only" {
  const accept = req.headers.accept;
  if (accept === undefined || !accept.includes(eventStreamType)) return "no";
  const others = accept.split(",").filter((one) => !one.trim().startsWith(eventStreamType));
  return others.length === 0 ? "only" : "too";
}

/**
 * Streams the answers to `request`. Gives the answer to a query or a mutation, and to what is wrong, of somebody who takes
 * an ordinary one, too: nothing of it was sent.
 */
export async function streamEvents(
  exchange: Exchange,
  request: GraphqlRequest,
  origins: readonly string[],
): Promise<GraphqlAnswer | undefined> {
  const { res, context, streams } = exchange;
  if (streams.isFull) {
    const body = makeErrorBody("too many streams are open", "ErrorInvalidRequest", false);
    sendError(res, { status: 503, body, headers: ["Retry-After", "1"] });
    return undefined;
  }
  if (!(await mayListen(context, exchange.req.headers, exchange.req.headers))) {
    if (await refuseToListen(exchange, request)) return undefined;
  }
  const stream = new EventStream(res, streams, {
    origins,
    bytesMax: context.limits.socketBufferBytesMax,
    memory: context.memory,
    isWelcome: async () => (await judge(rightOf("/graphql"), exchange.req, context)) === undefined,
  });
  const subscriber: Subscriber = {
    next: (answer) => stream.next(answer),
    end: (reason) => (reason === "schema" ? stream.leave() : stream.complete()),
  };
  const outcome = await context.graphql.subscribe(request, subscriber, true);
  if (outcome.kind === "open") {
    stream.onGone(outcome.close);
    return undefined;
  }
  const answer = answerTo(outcome);
  if (answer !== undefined) {
    if (wantsEvents(exchange) === "too") return answer;
    stream.next(answer.body);
  }
  stream.complete();
  return undefined;
}

/** What there is to say where no subscription began. */
function answerTo(outcome: SubscribeOutcome): GraphqlAnswer | undefined {
  if (outcome.kind === "answered") return outcome.answer;
  if (outcome.kind !== "refused") return undefined;
  const body = new TextEncoder().encode(JSON.stringify({ errors: outcome.errors }));
  return { body, headers: undefined };
}

/** Nothing is subscribed to by a page that may not read; false for what is no subscription. */
async function refuseToListen(
  { res, context }: Exchange,
  request: GraphqlRequest,
): Promise<boolean> {
  const outcome = await context.graphql.subscribe(request, { next: () => {}, end: () => {} });
  if (outcome.kind !== "open") return false;
  outcome.close();
  const message = "Subscriptions of a foreign page are refused";
  const body = makeErrorBody(message, "ErrorUnauthorized", false);
  sendError(res, { status: 403, body, headers: [] });
  return true;
}

const nextHead = "event: next\ndata: ";
const eventEnd = "\n\n";
const completion = "event: complete\ndata:\n\n";

interface EventStreamOptions {
  /** Headers about origins, flat. */
  readonly origins: readonly string[];
  readonly bytesMax: number;
  readonly memory: ServerContext["memory"];
  /** Whether the reader's key still holds. */
  readonly isWelcome: () => Promise<boolean>;
}

class EventStream implements Stream, Lane {
  readonly #res: ServerResponse;
  readonly #streams: Streams;
  readonly #outbox: Outbox;
  readonly #options: EventStreamOptions;
  #isBegun = false;
  #isBehind = false;
  #onGone: (() => void) | undefined = undefined;

  constructor(res: ServerResponse, streams: Streams, options: EventStreamOptions) {
    this.#res = res;
    this.#streams = streams;
    this.#options = options;
    const { bytesMax, memory } = options;
    this.#outbox = new Outbox(res, { bytesMax, memory, overflow: () => this.cut() });
  }

  /** Called once when the reader has gone; at once when he is gone already. */
  onGone(listener: () => void): void {
    if (this.#res.destroyed || this.#res.writableEnded) listener();
    else this.#onGone = listener;
  }

  next(answer: Uint8Array): void {
    this.#begin();
    this.#outbox.push(this, answer);
  }

  complete(): void {
    this.#begin();
    this.#outbox.close(this);
  }

  write(answer: Uint8Array): void {
    const res = this.#res;
    if (res.destroyed || res.writableEnded) return;
    res.cork();
    res.write(nextHead);
    res.write(viewOf(answer));
    res.write(eventEnd);
    res.uncork();
  }

  close(): void {
    if (!this.#res.writableEnded) this.#res.end(completion);
  }

  /** A reader who takes nothing from one sign to the next but one is gone. */
  beat(): void {
    if (this.#isBehind && this.#outbox.isFull) this.cut();
    this.#isBehind = this.#outbox.isFull;
    if (!this.#isBehind && !this.#res.writableEnded) this.#res.write(signOfLife);
    this.#recheck().catch(() => this.cut());
  }

  /** A key that is revoked, or has expired, does not go on listening. */
  async #recheck(): Promise<void> {
    if (await this.#options.isWelcome()) return;
    this.#onGone?.();
    this.#onGone = undefined;
    this.complete();
  }

  /** Without a last word: the reader's library then asks again, and another process answers. */
  leave(): void {
    this.#onGone?.();
    this.#onGone = undefined;
    if (!this.#res.writableEnded) this.#res.end();
  }

  cut(): void {
    this.#res.destroy();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const res = this.#res;
    res.once("close", () => {
      this.#streams.remove(this);
      this.#onGone?.();
    });
    this.#streams.add(this);
    res.writeHead(200, [...eventStreamHead, ...this.#options.origins]);
  }
}

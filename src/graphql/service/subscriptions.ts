/**
 * Subscriptions of one process (reference/graphql 9), driven by commits: nothing is asked at intervals. Equal
 * subscriptions of callers with equal rights are one query, which runs once for any number of subscribers; commits that
 * come while it runs are looked at together; a commit that changed nothing of what its plan reads is passed over.
 */
import { metrics } from "../../base/metrics.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { strangerFault } from "../../engine/authorize.ts";
import type { Engine } from "../../engine/engine.ts";
import type { FairScheduler } from "../../exec/fair-scheduler.ts";
import type { Reader } from "../../graph/reader.ts";
import { Fault } from "../../model/fault.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { executionFailed, RequestRefused, withCode } from "../operation/errors.ts";
import type { RequestHandler } from "./handle.ts";
import type { LiveRequest } from "./handle-prepare.ts";
import { footprintOf } from "./live-footprint.ts";
import { errorsOf, LiveQuery } from "./live-query.ts";
import type { SubscriberHandle } from "./live-query.ts";
import { NumberText } from "../operation/json.ts";
import { hasSameRights, identifyRequest } from "./sender.ts";
import type { Identify } from "./sender.ts";
import type { SchemaStore } from "./schema-store.ts";
import type { GraphqlRequest } from "../operation/request.ts";
import type { Subscriber, SubscribeOutcome, SubscriptionCounters } from "./service.ts";
import { refusedAnswer, refusedRequest } from "./subscription-refusal.ts";

interface SubscriptionsOptions {
  readonly engine: Engine;
  readonly handler: RequestHandler;
  readonly schemas: SchemaStore;
  /** undefined: ACL is off. */
  readonly identify: Identify | undefined;
  readonly clock: Clock;
  /** Whose turns the queries take; undefined: each round of the event loop is one. */
  readonly scheduler?: FairScheduler | undefined;
  readonly logger: Logger;
  /** `--graphql error-details`. */
  readonly errorDetails: boolean;
}

/** Queries that run beside each other: one that waits for its turn does not hold up the small ones. */
const runningMax = 4;
/** After so long others get their turn before the next query. */
const sliceMs = 4;
/** The longest time that a timer holds. */
const timerMsMax = 2 ** 31 - 1;

/** The subscriptions of a namespace. */
interface Feed {
  readonly namespace: number;
  readonly queries: Map<string, LiveQuery>;
  /** Commits up to here have been looked at: every idle query's answer is right up to here. */
  seenTs: number;
  isLooking: boolean;
  isStale: boolean;
}

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #feeds = new Map<number, Feed>();
  readonly #counts = { subscriptions: 0, queries: 0, evaluations: 0, skips: 0 };
  readonly #queue: { readonly feed: Feed; readonly query: LiveQuery }[] = [];
  #stopListening: (() => void) | undefined = undefined;
  #runningCount = 0;
  #sliceEndMs = 0;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#showCounts();
  }

  #showCounts(): void {
    const counts = this.#counts;
    metrics.gauge("weft_subscriptions", "Subscriptions that are open", () => counts.subscriptions);
    metrics.gauge("weft_live_queries", "Queries that subscriptions share", () => counts.queries);
    metrics.gauge(
      "weft_subscription_evaluations_total",
      "Times that a subscription's query was run",
      () => counts.evaluations,
      "counter",
    );
    metrics.gauge(
      "weft_subscription_skips_total",
      "Times that a commit did not concern a subscription's query",
      () => counts.skips,
      "counter",
    );
  }

  get counters(): SubscriptionCounters {
    return { ...this.#counts };
  }

  /** As `GraphqlService.subscribe`. */
  async subscribe(
    sent: GraphqlRequest,
    subscriber: Subscriber,
    answersAll = false,
  ): Promise<SubscribeOutcome> {
    const { identify, engine, handler } = this.#options;
    const request = await identifyRequest(identify, sent);
    try {
      const { namespace, principal } = request;
      if (principal?.refusal !== undefined) throw strangerFault(principal);
      const reader = await engine.openReader(namespace, undefined, "request");
      const fromTs = reader.ts;
      let live: LiveRequest;
      try {
        const opened = await handler.open(request, reader);
        if (opened.kind === "other") {
          return answersAll
            ? { kind: "answered", answer: await opened.answer() }
            : { kind: "other" };
        }
        ({ live } = opened);
      } finally {
        reader.close();
      }
      return await this.#join(live, subscriber, fromTs);
    } catch (error) {
      if (error instanceof RequestRefused) {
        const errors = this.#options.errorDetails ? error.errors.map(withCode) : error.errors;
        return refusedRequest(errors, request);
      }
      if (error instanceof Fault) return refusedAnswer([{ message: explain(error) }]);
      throw error;
    }
  }

  #join(work: LiveRequest, subscriber: Subscriber, fromTs: number): Promise<SubscribeOutcome> {
    const feed = this.#feedOf(work.request.namespace, fromTs);
    const query = this.#queryOf(feed, work);
    return new Promise((resolve) => {
      const handle: SubscriberHandle = {
        subscriber,
        headers: work.request.headers,
        fromTs,
        expiryMs: Math.min(work.expiryMs, work.request.principal?.expiryMs ?? Infinity),
        sent: undefined,
        timer: undefined,
        settle: (outcome) => {
          if (outcome !== "open") resolve(refusedAnswer(outcome));
          else resolve({ kind: "open", close: () => this.#leave(feed, query, handle) });
        },
      };
      query.handles.add(handle);
      this.#counts.subscriptions++;
      this.#awaitExpiry(feed, query, handle);
      if (query.rightTs < 0) this.#enqueue(feed, query);
      else if (query.state === "idle" && query.rightTs >= fromTs) this.#deliver(feed, query);
      else if (feed.seenTs < fromTs) this.#wake(feed);
    });
  }

  /** A new one begins to look behind `seenTs`: what was committed before is seen by the first runs. */
  #feedOf(namespace: number, seenTs: number): Feed {
    const known = this.#feeds.get(namespace);
    if (known !== undefined) return known;
    return { namespace, queries: new Map(), seenTs, isLooking: false, isStale: false };
  }

  #queryOf(feed: Feed, work: LiveRequest): LiveQuery {
    const key = keyOf(work);
    const known = feed.queries.get(key);
    if (known !== undefined) {
      const isSame = known.schema === work.schema || footprintOf(known.work) === footprintOf(work);
      if (isSame) return known;
      // The schema was replaced, and the commit's notice has not come yet.
      this.#end(feed, known, "schema");
    }
    // Not only the first sender waits for the run: it goes on for as long as anybody does.
    const signal = {
      get aborted() {
        return query.handles.size === 0;
      },
    };
    const query: LiveQuery = new LiveQuery(key, { ...work, request: { ...work.request, signal } });
    feed.queries.set(key, query);
    this.#feeds.set(feed.namespace, feed);
    this.#stopListening ??= this.#options.engine.onCommit((commitTs) => {
      for (const one of this.#feeds.values()) if (commitTs > one.seenTs) this.#wake(one);
    });
    this.#counts.queries++;
    return query;
  }

  /** Looks at what was committed, once for all commits that come before it does. */
  #wake(feed: Feed): void {
    feed.isStale = true;
    if (feed.isLooking) return;
    feed.isLooking = true;
    this.#look(feed)
      .catch((error: unknown) => {
        this.#report(error);
        for (const query of feed.queries.values()) this.#end(feed, query, "failed");
      })
      .finally(() => (feed.isLooking = false));
  }

  async #look(feed: Feed): Promise<void> {
    while (feed.isStale && feed.queries.size > 0) {
      feed.isStale = false;
      const { reader, changed } = await this.#options.engine.openChanged(
        feed.namespace,
        feed.seenTs,
      );
      try {
        feed.seenTs = Math.max(feed.seenTs, reader.ts);
        const stored = reader.schema.predicate("dgraph.graphql.schema");
        const isReplaced = stored !== undefined && changed?.has(stored.id) === true;
        for (const query of feed.queries.values()) {
          if (query.rightTs >= reader.ts) continue;
          if (query.state === "running" && query.runTs >= reader.ts) continue;
          if (isReplaced || query.isConcerned(reader, changed)) this.#enqueue(feed, query);
          else this.#pass(feed, query, reader.ts);
        }
      } finally {
        reader.close();
      }
    }
  }

  /** Nothing that was committed up to `ts` concerns the query. */
  #pass(feed: Feed, query: LiveQuery, ts: number): void {
    this.#counts.skips++;
    if (query.state !== "idle") return;
    query.rightTs = ts;
    this.#deliver(feed, query);
  }

  #enqueue(feed: Feed, query: LiveQuery): void {
    if (query.state === "running") query.isStale = true;
    if (query.state !== "idle") return;
    query.state = "waiting";
    this.#queue.push({ feed, query });
    this.#pump();
  }

  #pump(): void {
    while (this.#runningCount < runningMax) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      const { feed, query } = next;
      if (query.handles.size === 0) continue;
      this.#runningCount++;
      query.state = "running";
      this.#run(feed, query)
        .catch((error: unknown) => {
          this.#report(error);
          this.#end(feed, query, "failed");
        })
        .finally(() => {
          this.#runningCount--;
          this.#pump();
        });
    }
  }

  async #run(feed: Feed, query: LiveQuery): Promise<void> {
    const { engine, handler, schemas } = this.#options;
    await this.#yielder();
    query.isStale = false;
    const reader = await engine.openReader(feed.namespace, query.work.request.principal);
    try {
      query.runTs = reader.ts;
      const served = await schemas.at(reader);
      if (served === undefined) this.#end(feed, query, "schema");
      else if (served.schema !== query.schema)
        await this.#adopt(feed, query, served.schema, reader);
      if (query.handles.size > 0 && !(await this.#isEntitled(query)))
        this.#end(feed, query, "rights");
      if (query.handles.size === 0) return;
      this.#counts.evaluations++;
      query.take(reader, await handler.runLive(query.work, reader));
    } finally {
      reader.close();
    }
    query.state = "idle";
    if (query.isStale) this.#enqueue(feed, query);
    else query.rightTs = Math.max(query.rightTs, feed.seenTs);
    this.#deliver(feed, query);
  }

  /**
   * Keeps those for whom the query is the same by another schema, and ends it for the others. Each is asked for: rules
   * that are new may tell apart who were equal. What goes on is run as it was prepared.
   */
  async #adopt(
    feed: Feed,
    query: LiveQuery,
    schema: CompiledSchema,
    reader: Reader,
  ): Promise<void> {
    const footprint = footprintOf(query.work);
    for (const handle of query.handles) {
      await this.#yielder();
      if (await this.#isSame(query, footprint, handle, reader)) continue;
      this.#endHandle(feed, query, handle, "schema");
    }
    query.schema = schema;
  }

  async #isSame(
    { work }: LiveQuery,
    footprint: string,
    { headers, expiryMs }: SubscriberHandle,
    reader: Reader,
  ): Promise<boolean> {
    try {
      const request = { ...work.request, headers, principal: undefined };
      const again = await this.#options.handler.open(request, reader);
      if (again.kind !== "live") return false;
      return again.live.expiryMs >= expiryMs && footprintOf(again.live) === footprint;
    } catch (error) {
      if (error instanceof RequestRefused || error instanceof Fault) return false;
      throw error;
    }
  }

  /**
   * Whether those who wait still have the rights that the query was prepared for. They came with equal ones, which
   * change together: with the rules of their groups. So it is enough to ask for one whose token has not ended.
   */
  async #isEntitled({ handles, work }: LiveQuery): Promise<boolean> {
    const { identify, clock } = this.#options;
    if (identify === undefined) return true;
    const nowMs = clock.nowMs();
    for (const { headers, expiryMs } of handles) {
      if (nowMs < expiryMs) return await hasSameRights(identify, headers, work);
    }
    return true;
  }

  /**
   * Many small queries in a row do not keep requests waiting: all that run share one slice, which takes its turn among
   * those of requests.
   */
  async #yielder(): Promise<void> {
    const { clock, scheduler } = this.#options;
    if (clock.tickMs() < this.#sliceEndMs) return;
    await (scheduler?.turn() ?? new Promise<void>((resolve) => void setImmediate(resolve)));
    this.#sliceEndMs = clock.tickMs() + sliceMs;
  }

  /** Hands the answer to those who do not have it. */
  #deliver(feed: Feed, query: LiveQuery): void {
    const { answer } = query;
    if (answer === undefined) return;
    const nowMs = this.#options.clock.nowMs();
    for (const handle of query.handles) {
      if (handle.sent === answer || query.rightTs < handle.fromTs) continue;
      if (nowMs >= handle.expiryMs) {
        this.#expire(feed, query, handle);
        continue;
      }
      const isFirst = handle.sent === undefined;
      const errors = isFirst ? errorsOf(answer) : undefined;
      handle.sent = answer;
      if (errors !== undefined) {
        this.#leave(feed, query, handle);
        handle.settle(errors);
        continue;
      }
      handle.subscriber.next(answer.bytes);
      if (isFirst) handle.settle("open");
    }
  }

  #awaitExpiry(feed: Feed, query: LiveQuery, handle: SubscriberHandle): void {
    if (handle.expiryMs === Infinity) return;
    const leftMs = Math.max(0, handle.expiryMs - this.#options.clock.nowMs());
    handle.timer = setTimeout(
      () => {
        if (this.#options.clock.nowMs() >= handle.expiryMs) this.#expire(feed, query, handle);
        else this.#awaitExpiry(feed, query, handle);
      },
      Math.min(leftMs, timerMsMax),
    ).unref();
  }

  #expire(feed: Feed, query: LiveQuery, handle: SubscriberHandle): void {
    const hasBegun = handle.sent !== undefined;
    this.#leave(feed, query, handle);
    if (hasBegun) handle.subscriber.end("expired");
    else handle.settle([{ message: "the token has expired" }]);
  }

  #end(feed: Feed, query: LiveQuery, reason: keyof typeof beginFailures): void {
    for (const handle of query.handles) this.#endHandle(feed, query, handle, reason);
  }

  #endHandle(
    feed: Feed,
    query: LiveQuery,
    handle: SubscriberHandle,
    reason: keyof typeof beginFailures,
  ): void {
    const hasBegun = handle.sent !== undefined;
    this.#leave(feed, query, handle);
    if (hasBegun) handle.subscriber.end(reason);
    else handle.settle([{ message: beginFailures[reason] }]);
  }

  /** The last one to leave a query ends it. */
  #leave(feed: Feed, query: LiveQuery, handle: SubscriberHandle): void {
    if (!query.handles.delete(handle)) return;
    clearTimeout(handle.timer);
    this.#counts.subscriptions--;
    if (query.handles.size > 0 || feed.queries.get(query.key) !== query) return;
    feed.queries.delete(query.key);
    this.#counts.queries--;
    if (feed.queries.size > 0) return;
    this.#feeds.delete(feed.namespace);
    if (this.#feeds.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #report(error: unknown): void {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.logger.error("a subscription failed inside", { stack });
  }
}

const beginFailures = {
  rights: "the sender's rights have changed while the subscription began",
  schema: "the schema was replaced while the subscription began",
  failed: "the subscription failed; the server's log has the details",
} as const;

/** Who is not believed is told so as of a query that fails. */
function explain(fault: Fault): string {
  return fault.code === "E_PERMISSION" ? executionFailed(fault.message) : fault.message;
}

/** What makes subscriptions one: text, operation, values, and the rights by rules and by access. */
function keyOf({ fields, rights, request }: LiveRequest): string {
  const { query, operationName, variables } = fields;
  const access = request.principal?.access?.key ?? null;
  return JSON.stringify([rights, access, query, operationName, variables], (_, value: unknown) =>
    // A number in a form that a double would lose is no object with a text.
    value instanceof NumberText ? ["\u0000number", value.text] : value,
  );
}

/**
 * One GraphQL request: text → operation → root fields → answer (reference/graphql 4.1). Root queries run beside each
 * other, each over a snapshot of its own; root mutations one after another, each in its own transaction.
 */
import type { ExplainOptions } from "../../engine/explain-options.ts";
import type { Reader } from "../../graph/reader.ts";
import { Fault } from "../../model/fault.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import type { ReadyDql } from "../resolve/dql-root.ts";
import {
  refuseRequest,
  RequestRefused,
  hintOf,
  unavailability,
  withCode,
} from "../operation/errors.ts";
import { writeAnswer, writeRefusal } from "../resolve/answer.ts";
import type { RootOutcome } from "../resolve/answer.ts";
import { findEqualRoots } from "./equal-roots.ts";
import { headersOf } from "./handle-headers.ts";
import { runMutations } from "./handle-mutation.ts";
import { budgetOf, RequestBudget } from "../../model/request-budget.ts";
import type { HandlerOptions } from "./handle-options.ts";
import { Preparer } from "./handle-prepare.ts";
import type { LiveRequest, MutationWork, ReadyRequest, Work } from "./handle-prepare.ts";
import { RootQueries } from "./handle-query.ts";
import { openLane, type RootLane } from "./root-lane.ts";
import { readsOf } from "./handle-roots.ts";
import type { ReadyRoot } from "./handle-roots.ts";
import { errorsWithoutSchema, withoutSchema } from "./handle-schemaless.ts";
import { Trace } from "../resolve/trace.ts";
import { callerOf } from "../resolve/lambda-call.ts";
import type { LambdaCalls } from "../resolve/lambda-call.ts";
import { Requests } from "../resolve/request-call.ts";
import { writeExplanation } from "../resolve/plan-reports.ts";
import type { OperationRun } from "../operation/cache.ts";
import { identifyRequest, readerOf } from "./sender.ts";
import type { GraphqlRequest, IdentifiedRequest } from "../operation/request.ts";
import type { GraphqlAnswer } from "./service.ts";

export interface LiveAnswer {
  readonly body: Uint8Array;
  readonly extensions: string | undefined;
  /** Ids of the predicates that decided it; undefined: anything may have. */
  readonly reads: ReadonlySet<number> | undefined;
}

const parentType = "Subscription";

interface AnswerPlace {
  readonly request: IdentifiedRequest;
  readonly schema: CompiledSchema;
  /** The one that the schema was found with. */
  readonly reader: Reader;
  readonly trace: Trace;
}

/** A request of one who may listen. */
type OpenedRequest =
  | { readonly kind: "live"; readonly live: LiveRequest }
  | { readonly kind: "other"; readonly answer: () => Promise<GraphqlAnswer> };

export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #preparer: Preparer;
  readonly #queries: RootQueries;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#preparer = new Preparer(options);
    this.#queries = new RootQueries(options);
  }

  async handle(sent: GraphqlRequest): Promise<GraphqlAnswer> {
    const { clock, engine, schemas, identify } = this.#options;
    const trace = new Trace(clock);
    try {
      const identified = identifyRequest(identify, sent);
      const request = identified instanceof Promise ? await identified : identified;
      const observer = request.budget?.observer;
      const endOpen = observer?.begin("open");
      const opened = engine.openReader(request.namespace, undefined, "request");
      const reader = opened instanceof Promise ? await opened : opened;
      try {
        const found = schemas.at(reader);
        const served = found instanceof Promise ? await found : found;
        if (served === undefined) {
          return answerOf(withoutSchema(request, this.#options.limits, this.#printOf(trace)));
        }
        const { schema } = served;
        endOpen?.();
        const endPlan = observer?.begin("plan");
        const prepared = this.#preparer.prepare(request, schema, reader);
        const work = prepared instanceof Promise ? await prepared : prepared;
        endPlan?.();
        return await this.#answer({ request, schema, reader, trace }, work);
      } finally {
        reader.close();
      }
    } catch (error) {
      return this.#refusalOf(error, trace);
    }
  }

  /** What is wrong with a request is its answer. Throws what is no fault of the request. */
  #refusalOf(error: unknown, trace: Trace): GraphqlAnswer {
    const print = this.#printOf(trace);
    if (error instanceof RequestRefused) {
      this.#tellHints(error);
      const errors = this.#options.errorDetails ? error.errors.map(withCode) : error.errors;
      return answerOf(writeRefusal(errors, print));
    }
    if (!(error instanceof Fault)) throw error;
    const answer = answerOf(writeRefusal([{ message: error.message }], print));
    return { ...answer, ...unavailability(error) };
  }

  #tellHints({ errors }: RequestRefused): void {
    const { tellHint } = this.#options;
    if (tellHint === undefined) return;
    for (const hint of errors.map(hintOf)) if (hint !== undefined) tellHint(hint);
  }

  #printOf(trace: Trace): (() => string) | undefined {
    return this.#options.extensions ? () => trace.print() : undefined;
  }

  /** Throws RequestRefused; what is wrong with a part of it stands in the answer. */
  #answer(place: AnswerPlace, work: Work): Promise<GraphqlAnswer> {
    const { request, schema, reader, trace } = place;
    trace.hidesTouched = schema.rules !== undefined;
    if (work.kind === "query") {
      this.#options.engine.noteQuery(reader);
      return request.plan?.kind === "explain"
        ? this.#explain(request, work.ready.roots, reader, request.plan.form)
        : this.#query(request, work.ready, reader, trace);
    }
    const { refusesMutations } = request;
    if (refusesMutations !== undefined) {
      const { message, status } = refusesMutations;
      const body = writeRefusal([{ message }], undefined);
      return Promise.resolve({ body, headers: undefined, status });
    }
    if (request.plan !== undefined) throw refuseRequest(noPlanOfMutations);
    return this.#mutate(request, work, trace, reader);
  }

  /**
   * What a request is for one who may listen, by the schema at `reader`: a subscription, prepared, or anything else,
   * whose answer `answer` gives while the reader is open. Throws RequestRefused, and Fault for a body that is none.
   */
  async open(request: IdentifiedRequest, reader: Reader): Promise<OpenedRequest> {
    const served = await this.#options.schemas.at(reader);
    if (served === undefined) {
      throw new RequestRefused(errorsWithoutSchema(request, this.#options.limits));
    }
    const { schema } = served;
    const read = await this.#preparer.read(request, schema, reader);
    if (read.run.node.operation === "subscription") {
      return { kind: "live", live: await this.#preparer.prepareLive(request, schema, read) };
    }
    const answer = async (): Promise<GraphqlAnswer> => {
      const trace = new Trace(this.#options.clock);
      try {
        const work = await this.#preparer.prepare(request, schema, reader, read);
        return await this.#answer({ request, schema, reader, trace }, work);
      } catch (error) {
        return this.#refusalOf(error, trace);
      }
    };
    return { kind: "other", answer };
  }

  /** Runs a subscription once: its answer without extensions, and what they would be. */
  async runLive(live: LiveRequest, reader: Reader): Promise<LiveAnswer> {
    const { request, run, schema, roots } = live;
    const trace = new Trace(this.#options.clock);
    trace.hidesTouched = schema.rules !== undefined;
    // Each run has a budget of its own, and others may wait for it than the one who asked first.
    const budget = new RequestBudget(this.#options);
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run, budget);
    const outcomes: RootOutcome[] = [];
    const given = readerOf(reader, request);
    const lane = this.#laneOf(roots, budget);
    const equals = findEqualRoots(roots, this.#options.limits);
    for (const root of roots) {
      const place = { run, request, given, budget, trace, parentType, lambda, lane, equals };
      outcomes.push(await this.#queries.resolve(root, place));
    }
    const body = writeAnswer(outcomes, run.locate, undefined, this.#options.limits.resultBytesMax);
    const extensions = this.#options.extensions ? trace.print() : undefined;
    const readsOfDql = (ready: ReadyDql): ReadonlySet<number> | undefined =>
      this.#queries.readsOfDql(ready, request.namespace, reader.schema);
    const reads = readsOf(roots, reader.schema, readsOfDql);
    return { body, extensions, reads };
  }

  async #query(
    request: IdentifiedRequest,
    ready: ReadyRequest,
    reader: Reader,
    trace: Trace,
  ): Promise<GraphqlAnswer> {
    const { schema, run, roots } = ready;
    const budget = budgetOf(this.#options, request);
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run, budget);
    const parentType = run.node.operation === "query" ? "Query" : "Subscription";
    // The first query uses the snapshot that the schema was found in; every other one has its own.
    let own = readerOf(reader, request);
    const lane = this.#laneOf(roots, budget);
    const equals = findEqualRoots(roots, this.#options.limits);
    const pending = roots.map((root) => {
      const isRead = root.kind === "query" || root.kind === "dql";
      const given = isRead ? own : undefined;
      if (isRead) own = undefined;
      return this.#queries.resolve(root, {
        run,
        request,
        given,
        budget,
        trace,
        parentType,
        lambda,
        lane,
        equals,
      });
    });
    const outcomes =
      pending.length === 1
        ? [await (pending[0] as Promise<RootOutcome>)]
        : await Promise.all(pending);
    if (request.plan !== undefined) trace.orderReports(roots.map((root) => root.field.key));
    const body = this.#write(outcomes, run, trace, request.plan);
    return { body, headers: headersOf(run, trace.shownTouched) };
  }

  #laneOf(roots: readonly ReadyRoot[], budget: RequestBudget): RootLane | undefined {
    const { clock, scheduler } = this.#options;
    return openLane(roots, { clock, scheduler, budget });
  }

  /** What would be done for each root field; nothing is. */
  async #explain(
    request: IdentifiedRequest,
    roots: readonly ReadyRoot[],
    reader: Reader,
    form: ExplainOptions["form"],
  ): Promise<GraphqlAnswer> {
    return answerOf(writeExplanation(await this.#queries.explain(request, roots, reader), form));
  }

  async #mutate(
    request: IdentifiedRequest,
    work: MutationWork,
    trace: Trace,
    reader: Reader,
  ): Promise<GraphqlAnswer> {
    const { run, schema } = work;
    const budget = budgetOf(this.#options, request);
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run, budget);
    const place = { options: this.#options, request, budget, trace, reader, lambda };
    const outcomes = await runMutations(work, place);
    return { body: this.#write(outcomes, run, trace), headers: headersOf(run, trace.shownTouched) };
  }

  #write(
    outcomes: readonly RootOutcome[],
    run: OperationRun,
    trace: Trace,
    question?: ExplainOptions,
  ): Uint8Array {
    const isShown = this.#options.extensions || question !== undefined;
    const extensions = isShown ? () => trace.print(question?.form) : undefined;
    return writeAnswer(outcomes, run.locate, extensions, this.#options.limits.resultBytesMax);
  }

  #lambdaCalls(
    schema: CompiledSchema,
    request: IdentifiedRequest,
    { locate, values }: OperationRun,
    budget: RequestBudget,
  ): LambdaCalls {
    let requests: Requests | undefined;
    const { outgoing } = this.#options;
    const { headers } = request;
    const { secrets } = schema.meta;
    return {
      requests: () => (requests ??= new Requests({ ...outgoing, budget, headers, secrets })),
      values,
      client: this.#options.lambda,
      namespace: request.namespace,
      caller: callerOf(schema, request),
      bytesMax: this.#options.limits.resultBytesMax,
      locate,
      budget,
    };
  }
}

const noPlanOfMutations = "explain and profile are for queries: the mutation was not run";

function answerOf(body: Uint8Array): GraphqlAnswer {
  return { body, headers: undefined };
}

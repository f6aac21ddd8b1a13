/** POST /query: text → plan (cached) → one snapshot → columns → bytes. */
import { buildPlan, parseQuery } from "../exec/dql.ts";
import type { Clock } from "../base/clock.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { andThen, type MaybePromise } from "../base/maybe.ts";
import { encodeReport, type PlanReport } from "../exec/explain.ts";
import { restrictReader } from "../graph/restrict.ts";
import type { Reader } from "../graph/reader.ts";
import { withYielder } from "../exec/yielder.ts";
import { largeDocument } from "../exec/fair-scheduler.ts";
import { printSchemaAnswer } from "../graph/schema-print.ts";
import type { Schema } from "../graph/schema.ts";
import type { Limits } from "../model/limits.ts";
import { budgetOf, type RequestBudget } from "../model/request-budget.ts";
import type { Principal } from "../model/principal.ts";
import { renderDqlYielding } from "../render/dql-json.ts";
import { renderRdfYielding } from "../render/rdf.ts";
import { strangerFault } from "./authorize.ts";
import type { ChangeSender } from "./commits.ts";
import type { QueryAnswer, QueryRequest } from "./engine.ts";
import type { HeldSlot } from "./held-slot.ts";
import { Stopwatch } from "./latency.ts";
import type { PlanCache, PlannedText } from "./plan-cache.ts";
import type { Ran, Runner } from "./run.ts";
import { packReadTime, unpackStartTime } from "./start-time.ts";
import type { Transactions } from "./transactions.ts";
import type { View, ReaderFactory } from "./reader-factory.ts";

interface QueriesOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly readers: ReaderFactory;
  readonly committer: ChangeSender;
  readonly transactions: Transactions;
  readonly held: HeldSlot;
  readonly plans: PlanCache;
  readonly runner: Runner;
}

const noUids: ReadonlyMap<string, number> = new Map();

export class Queries {
  readonly #options: QueriesOptions;

  constructor(options: QueriesOptions) {
    this.#options = options;
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    const budget = budgetOf(this.#options, request);
    const watch = new Stopwatch(this.#options.clock, budget.observer);
    budget.check();
    const { principal } = request;
    if (principal?.refusal !== undefined) this.#refuse(request, principal);
    const opening =
      request.startTs === 0 ? this.#openFresh(request) : this.#openOld(request, budget);
    const { view, startTs } = opening instanceof Promise ? await opening : opening;
    watch.mark("assignTimestamp");
    try {
      const reader = restrictReader(view.reader, principal?.access);
      const planning = this.#plan(request, reader.schema, budget);
      const planned = planning instanceof Promise ? await planning : planning;
      watch.mark("parsing");
      const { data, numUids, report } = await this.#answer(request, planned, reader, {
        budget,
        watch,
      });
      const latency = watch.finish();
      return report === undefined
        ? { data, numUids, startTs, latency }
        : { data, numUids, report, startTs, latency };
    } finally {
      view.reader.close();
    }
  }

  /** A text that does not parse is told to strangers too. */
  #refuse({ text, variables }: QueryRequest, principal: Principal): never {
    parseQuery(text, variables, this.#options.limits);
    throw strangerFault(principal);
  }

  /** The newest state, with a start time that the client may go on with. */
  #openFresh(request: QueryRequest): MaybePromise<{ view: View; startTs: number }> {
    const { readers } = this.#options;
    // Best effort: what this machine has, without a question to others.
    const opening = request.bestEffort
      ? readers.openOwn(request.namespace)
      : readers.openNewest(request.namespace);
    return andThen(opening, (view) => this.#begin(request, view));
  }

  #begin(request: QueryRequest, view: View): MaybePromise<{ view: View; startTs: number }> {
    if (request.readOnly || request.bestEffort) {
      return { view, startTs: packReadTime(view.snapshot.ts) };
    }
    const fail = (error: unknown): never => {
      view.reader.close();
      throw error;
    };
    let checked: MaybePromise<void>;
    try {
      checked = this.#options.held.check(view.snapshot);
    } catch (error) {
      return fail(error);
    }
    if (checked instanceof Promise) {
      return checked.catch(fail).then(() => this.#giveStart(request, view));
    }
    return this.#giveStart(request, view);
  }

  #giveStart(request: QueryRequest, view: View): MaybePromise<{ view: View; startTs: number }> {
    const startTs = this.giveStartTime(view.snapshot.ts, view.sameSince);
    if (startTs !== undefined) return { view, startTs };
    view.reader.close();
    const waited = this.#options.committer.commitEmpty(view.snapshot.ts);
    return waited.then(() => this.#openFresh(request));
  }

  /** A start time at a commit number; makes empty commits in time, so that serials begin anew. */
  giveStartTime(commit: number, sameSince: number): number | undefined {
    const { transactions, committer } = this.#options;
    const startTs = transactions.giver.give(commit, sameSince);
    for (let left = transactions.giver.emptiesDue(commit); left > 0; left--) {
      committer.commitEmpty(commit).catch(() => undefined);
    }
    return startTs;
  }

  async #openOld(
    request: QueryRequest,
    { deadlineMs }: RequestBudget,
  ): Promise<{ view: View; startTs: number }> {
    const { readers, transactions } = this.#options;
    const { startTs, namespace } = request;
    const transaction = transactions.find(startTs, namespace);
    if (transaction !== undefined) transactions.touch(transaction);
    const view = await readers.openAt(namespace, unpackStartTime(startTs).commit, {
      overlay: transaction?.overlay,
      deadlineMs,
    });
    return { view, startTs };
  }

  /** Texts that are large, perhaps with their fragments in their places, are planned one at a time. */
  #plan(request: QueryRequest, schema: Schema, budget: RequestBudget): MaybePromise<PlannedText> {
    const { plans, limits, runner } = this.#options;
    const plan = (): PlannedText =>
      plans.plan(request, schema, () => {
        const document = parseQuery(request.text, request.variables, limits);
        return { document, plan: buildPlan(document, schema) };
      });
    const { text } = request;
    const isSmall = text.length < largeDocument && !text.includes("...");
    return isSmall ? plan() : runner.scheduler.alone(budget, plan);
  }

  async #answer(
    request: QueryRequest,
    planned: PlannedText,
    reader: Reader,
    context: { readonly budget: RequestBudget; readonly watch: Stopwatch },
  ): Promise<Pick<QueryAnswer, "data" | "numUids" | "report">> {
    const { watch } = context;
    if (planned.document.schema !== undefined) {
      const text = printSchemaAnswer(reader.schema, planned.document.schema);
      watch.mark("encoding");
      const data = request.format === "rdf" ? '""' : text;
      return { data: encodeUtf8(data), numUids: noUids };
    }
    const { limits, runner } = this.#options;
    const options = {
      budget: context.budget,
      texts: planned.texts,
    };
    const question = request.plan;
    if (question?.kind === "explain") {
      const report = await runner.explainPlan(reader, planned.plan, options);
      return {
        data: encodeUtf8("{}"),
        numUids: noUids,
        report: encodeReport(report, question.form),
      };
    }
    const ran: Ran & { readonly report?: PlanReport } =
      question === undefined
        ? await runner.runPlan(reader, planned.plan, options)
        : await runner.profilePlan(reader, planned.plan, options);
    const { plan, result } = ran;
    watch.mark("processing");
    const { clock } = this.#options;
    const rendering = { clock, budget: context.budget, scheduler: runner.scheduler };
    const rendered =
      request.format === "rdf"
        ? withYielder(rendering, (yielder) => renderRdfYielding(plan, result, { limits }, yielder))
        : withYielder(rendering, (yielder) =>
            renderDqlYielding(plan, result, { limits, debug: request.debug }, yielder),
          );
    const data = rendered instanceof Promise ? await rendered : rendered;
    watch.mark("encoding");
    const { report } = ran;
    if (question === undefined || report === undefined) return { data, numUids: result.numUids };
    return { data, numUids: result.numUids, report: encodeReport(report, question.form) };
  }
}

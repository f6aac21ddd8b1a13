/** Root fields of queries: each is run over a snapshot, or asked of the lambda server or of a service outside, and makes its part of the answer. */
import type { PlanReport } from "../../exec/explain.ts";
import type { ExecutionResult } from "../../exec/frame.ts";
import { withYielder } from "../../exec/yielder.ts";
import type { Reader } from "../../graph/reader.ts";
import type { Schema } from "../../graph/schema.ts";
import { DqlRoots } from "../resolve/dql-root.ts";
import type { ReadyDql } from "../resolve/dql-root.ts";
import { queryFailed } from "../operation/errors.ts";
import type { ResponseError } from "../operation/errors.ts";
import { skippedRoot, type RootOutcome } from "../resolve/answer.ts";
import { budgetOf } from "../../model/request-budget.ts";
import type { EqualRoots } from "./equal-roots.ts";
import type { HandlerOptions } from "./handle-options.ts";
import { closedQuery, unresolved } from "./handle-refused.ts";
import { noteOfRoot, refusedEntities, refusedOutcome, untrusted } from "./handle-roots.ts";
import type { ReadyRoot } from "./handle-roots.ts";
import type { Trace } from "../resolve/trace.ts";
import type { LambdaCalls } from "../resolve/lambda-call.ts";
import { runLambdaRoot } from "../resolve/lambda-root.ts";
import { runRequestRoot } from "../resolve/request-root.ts";
import { runContextOf, touchedUids } from "../resolve/lower-run.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import { makeNote } from "../resolve/plan-reports.ts";
import {
  explainQuery,
  isLargeAnswer,
  profileQuery,
  resolveQueryLambda,
  runQuery,
  writeLargeAnswer,
  writeQuery,
  writeSmallAnswer,
} from "../resolve/query-root.ts";
import type { QueryResult } from "../resolve/query-root.ts";
import type { RootLane } from "./root-lane.ts";
import type { OperationRun } from "../operation/cache.ts";
import type { IdentifiedRequest } from "../operation/request.ts";

/** What a root query needs beside itself. */
interface QueryPlace {
  readonly run: OperationRun;
  readonly request: IdentifiedRequest;
  /** A reader that is lent; undefined: open one. */
  readonly given: Reader | undefined;
  readonly budget: RequestBudget;
  readonly trace: Trace;
  readonly parentType: string;
  readonly lambda: () => LambdaCalls;
  /** Of a document of many roots. */
  readonly lane: RootLane | undefined;
  /** Where some of its roots may ask the same. */
  readonly equals: EqualRoots | undefined;
}

type QueryRoot = Extract<ReadyRoot, { kind: "query" }>;
type ReadRoot = Extract<ReadyRoot, { kind: "query" | "dql" | "refused" }>;

/** A root's outcome, and what it holds of its request's memory from now on. */
interface WrittenRoot {
  readonly outcome: RootOutcome;
  readonly bytes: number;
}

export class RootQueries {
  readonly #options: HandlerOptions;
  readonly #dqlRoots: DqlRoots;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#dqlRoots = new DqlRoots(options);
  }

  /** Ids of the predicates that decide a field written in DQL; undefined: anything may. */
  readsOfDql(ready: ReadyDql, namespace: number, schema: Schema): ReadonlySet<number> | undefined {
    return this.#dqlRoots.readsOf(ready, namespace, schema);
  }

  /** What would be done for each root field; nothing is. */
  async explain(
    request: IdentifiedRequest,
    roots: readonly ReadyRoot[],
    reader: Reader,
  ): Promise<ReadonlyMap<string, PlanReport>> {
    const reports = new Map<string, PlanReport>();
    const budget = budgetOf(this.#options, request);
    for (const root of roots) {
      if (root.kind === "dql") {
        const place = { reader, namespace: request.namespace, budget };
        reports.set(root.field.key, await this.#dqlRoots.explain(root.ready, place));
        continue;
      }
      const report =
        root.kind === "query"
          ? await explainQuery(root.ready, reader, this.#options, budget)
          : makeNote("explain", noteOfRoot(root));
      reports.set(root.field.key, report);
    }
    return reports;
  }

  /** Runs one root field. A run that fails is told in the outcome. */
  async resolve(root: ReadyRoot, place: QueryPlace): Promise<RootOutcome> {
    const { field } = root;
    if (!isRun(root)) return resolveKnown(root, place);
    if (root.kind !== "query" && root.kind !== "dql") notePlanless(root, place);
    const { closed } = place.request;
    if (closed !== undefined) return closedQuery(field, closed);
    const resolver = place.trace.resolver(field, place.parentType);
    if (root.kind === "lambda") {
      const done = runLambdaRoot(field, root.args, place.lambda());
      return (await done.finally(() => resolver.end())).outcome;
    }
    if (root.kind === "request") {
      const done = runRequestRoot(field, root.ready, place.lambda());
      return (await done.finally(() => resolver.end())).outcome;
    }
    const endStep = resolver.step("query");
    return this.#resolveRead(root, place).finally(() => {
      endStep();
      resolver.end();
    });
  }

  /** A root that is read from the store. */
  async #resolveRead(root: ReadRoot, place: QueryPlace): Promise<RootOutcome> {
    const { field } = root;
    if (root.kind === "refused") return refusedOutcome(root, place.run.locate);
    const isSlow = root.kind === "query" && root.ready.planned.hasLambda;
    try {
      if (isSlow) return (await this.#resolveWithLambda(root, place)) ?? skippedRoot(field);
      const work = (): Promise<WrittenRoot> =>
        root.kind === "dql" ? this.#resolveDql(root, place) : this.#resolveQuery(root, place);
      if (place.lane === undefined) return (await work()).outcome;
      const { equals } = place;
      const ran = await place.lane.run(work, ({ bytes }) => bytes + (equals?.takeGrowth() ?? 0));
      return ran?.done.outcome ?? skippedRoot(field);
    } catch (error) {
      const errors = [{ message: queryFailed(error), path: [field.key] }];
      return { field, errors, write: undefined };
    }
  }

  async #resolveQuery(root: QueryRoot, place: QueryPlace): Promise<WrittenRoot> {
    const result = await this.#read(root, place);
    return this.#write(root, place, { result, lambda: undefined }, []);
  }

  /** User code may take its time: neither a snapshot nor the lane is held meanwhile. */
  async #resolveWithLambda(root: QueryRoot, place: QueryPlace): Promise<RootOutcome | undefined> {
    const { lane, lambda } = place;
    const read = (): Promise<ExecutionResult> => this.#read(root, place);
    const ran = lane === undefined ? { done: await read() } : await lane.run(read);
    if (ran === undefined) return undefined;
    const result = ran.done;
    const computed = await resolveQueryLambda(root.ready, root.field, result, lambda);
    const done = { result, lambda: computed?.values };
    const write = (): Promise<WrittenRoot> =>
      this.#write(root, place, done, computed?.errors ?? []);
    return lane === undefined ? (await write()).outcome : (await lane.run(write))?.done.outcome;
  }

  async #read(root: QueryRoot, place: QueryPlace): Promise<ExecutionResult> {
    const { namespace, principal, plan } = place.request;
    const reader = place.given ?? (await this.#options.engine.openReader(namespace, principal));
    try {
      const { tree } = root.ready.planned;
      if (this.#options.debug) place.trace.dqlQueries.push(tree.print());
      const { equals, budget } = place;
      const run = (): Promise<ExecutionResult> =>
        runQuery(root.ready, reader, this.#options, budget);
      const result = await (plan !== undefined
        ? this.#runProfiled(root, reader, place)
        : equals === undefined
          ? run()
          : equals.read(root.ready, reader, budget, run));
      place.trace.touchedUids += touchedUids(result);
      return result;
    } finally {
      if (place.given === undefined || root.ready.planned.hasLambda) reader.close();
    }
  }

  /** In steps where it is large, at once where many are in a lane, or else with the whole answer. */
  async #write(
    { field, ready }: QueryRoot,
    { budget, lane }: QueryPlace,
    done: QueryResult,
    errors: readonly ResponseError[],
  ): Promise<WrittenRoot> {
    const { resultBytesMax } = this.#options.limits;
    if (isLargeAnswer(ready, done.result)) {
      const large = await withYielder(runContextOf(this.#options, budget), (yielder) =>
        writeLargeAnswer(ready, field, done, { yielder, bytesMax: resultBytesMax }),
      );
      return { outcome: { field, errors, ...large }, bytes: large.bytes };
    }
    if (lane === undefined) {
      const write: RootOutcome["write"] = (out, found) =>
        writeQuery(out, ready, field, done, found);
      return { outcome: { field, errors, write }, bytes: 0 };
    }
    const { write, bytes } = writeSmallAnswer(ready, field, done, resultBytesMax);
    return { outcome: { field, errors, write }, bytes };
  }

  async #runProfiled(
    root: QueryRoot,
    reader: Reader,
    { trace, budget }: QueryPlace,
  ): Promise<ExecutionResult> {
    const profiled = await profileQuery(root.ready, reader, this.#options, budget);
    trace.reports.set(root.field.key, profiled.report);
    return profiled.result;
  }

  async #resolveDql(
    { field, ready }: Extract<ReadyRoot, { kind: "dql" }>,
    { request, given, budget, trace, run }: QueryPlace,
  ): Promise<WrittenRoot> {
    const { namespace, principal, plan } = request;
    let reader = given;
    try {
      reader ??= await this.#options.engine.openReader(namespace, principal);
      if (this.#options.debug) trace.dqlQueries.push(ready.text);
      const place = { reader, namespace, budget, isProfiled: plan !== undefined };
      const done = await this.#dqlRoots.run(field, ready, { ...place, locate: run.locate });
      trace.touchedUids += done.touchedUids;
      if (done.report !== undefined) trace.reports.set(field.key, done.report);
      return done;
    } finally {
      if (given === undefined) reader?.close();
    }
  }
}

type KnownRoot = Extract<ReadyRoot, { kind: "json" | "untrusted" | "entities" | "unresolved" }>;

function isRun(root: ReadyRoot): root is Exclude<ReadyRoot, KnownRoot> {
  const { kind } = root;
  return kind !== "json" && kind !== "untrusted" && kind !== "entities" && kind !== "unresolved";
}

/** The outcome of a root that nothing is run for. */
function resolveKnown(root: KnownRoot, place: QueryPlace): RootOutcome {
  notePlanless(root, place);
  const { field } = root;
  switch (root.kind) {
    case "json":
      return { field, errors: [], write: (out) => out.text(root.json) };
    case "untrusted":
      return untrusted(root);
    case "entities":
      return refusedEntities(root);
    case "unresolved":
      return unresolved(field, place.run.locate);
  }
}

/** Where a profile is asked for, of a root without a plan. */
function notePlanless(
  root: Exclude<ReadyRoot, { kind: "query" | "dql" }>,
  { request, trace }: QueryPlace,
): void {
  if (request.plan === undefined) return;
  trace.reports.set(root.field.key, makeNote("profile", noteOfRoot(root)));
}

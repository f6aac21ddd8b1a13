/** Root fields of queries: each is run over a snapshot, or asked of the lambda server or of a service outside, and makes its part of the answer. */
import type { PlanReport } from "../../exec/explain.ts";
import type { ExecutionResult } from "../../exec/frame.ts";
import { withYielder } from "../../exec/yielder.ts";
import type { Reader } from "../../graph/reader.ts";
import type { Schema } from "../../graph/schema.ts";
import { DqlRoots } from "../resolve/dql-root.ts";
import type { ReadyDql } from "../resolve/dql-root.ts";
import { queryFailed } from "../operation/errors.ts";
import type { RootOutcome } from "../resolve/answer.ts";
import { budgetOf } from "../../model/request-budget.ts";
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
} from "../resolve/query-root.ts";
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
    if (root.kind === "dql") {
      return this.#resolveDql(root, place).finally(() => {
        endStep();
        resolver.end();
      });
    }
    try {
      if (root.kind === "refused") return refusedOutcome(root, place.run.locate);
      let reader = place.given;
      try {
        const { namespace, principal } = place.request;
        if (reader === undefined) {
          reader = await this.#options.engine.openReader(namespace, principal);
        }
        if (this.#options.debug) place.trace.dqlQueries.push(root.ready.planned.tree.print());
        const result = await (place.request.plan === undefined
          ? runQuery(root.ready, reader, this.#options, place.budget)
          : this.#runProfiled(root, reader, place));
        place.trace.touchedUids += touchedUids(result);
        // User code may take its time: no snapshot is held meanwhile.
        const { hasLambda } = root.ready.planned;
        if (hasLambda) reader.close();
        const outcome = hasLambda
          ? await resolveQueryLambda(root.ready, field, result, place.lambda)
          : undefined;
        const done = { result, lambda: outcome?.values };
        const errors = outcome?.errors ?? [];
        if (isLargeAnswer(root.ready, result)) {
          const { resultBytesMax } = this.#options.limits;
          const large = await withYielder(runContextOf(this.#options, place.budget), (yielder) =>
            writeLargeAnswer(root.ready, field, done, { yielder, bytesMax: resultBytesMax }),
          );
          return { field, errors, ...large };
        }
        return {
          field,
          errors,
          write: (out, errors) => writeQuery(out, root.ready, field, done, errors),
        };
      } catch (error) {
        return {
          field,
          errors: [{ message: queryFailed(error), path: [field.key] }],
          write: undefined,
        };
      } finally {
        if (place.given === undefined) reader?.close();
      }
    } finally {
      endStep();
      resolver.end();
    }
  }

  async #runProfiled(
    root: Extract<ReadyRoot, { kind: "query" }>,
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
  ): Promise<RootOutcome> {
    const { namespace, principal, plan } = request;
    let reader = given;
    try {
      reader ??= await this.#options.engine.openReader(namespace, principal);
      if (this.#options.debug) trace.dqlQueries.push(ready.text);
      const place = { reader, namespace, budget, isProfiled: plan !== undefined };
      const done = await this.#dqlRoots.run(field, ready, { ...place, locate: run.locate });
      trace.touchedUids += done.touchedUids;
      if (done.report !== undefined) trace.reports.set(field.key, done.report);
      return done.outcome;
    } catch (error) {
      const errors = [{ message: queryFailed(error), path: [field.key] }];
      return { field, errors, write: undefined };
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

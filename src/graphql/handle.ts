/**
 * One GraphQL request: text → operation → root fields → answer (graphql.md 4, seed 4.1). Root queries run beside each
 * other, each over a snapshot of its own; root mutations one after another, each in its own transaction.
 */
import { Lru } from "../base/lru.ts";
import type { Engine } from "../engine/engine.ts";
import type { PlanQuestion } from "../engine/plan-question.ts";
import type { PlanReport } from "../exec/explain.ts";
import type { ExecutionResult } from "../exec/frame.ts";
import { makePace } from "../exec/pace.ts";
import type { Reader } from "../graph/reader.ts";
import type { LambdaClient } from "../lambda/client.ts";
import { Fault } from "../model/fault.ts";
import { CallerReader } from "./caller.ts";
import type { Caller } from "./caller.ts";
import type { CompiledSchema, RootField } from "./compiled-schema.ts";
import { DqlRoots, readyDql } from "./dql-root.ts";
import type { ReadyDql } from "./dql-root.ts";
import { FieldRefused, queryFailed, refuse, RequestRefused } from "./errors.ts";
import type { ResponseError } from "./errors.ts";
import { writeAnswer, writeRefusal } from "./handle-answer.ts";
import type { RootOutcome } from "./handle-answer.ts";
import { closedMutation, closedQuery, skipped, unresolved } from "./handle-refused.ts";
import {
  closedTo,
  metaJson,
  noteOfRoot,
  nothing,
  readsOf,
  refusedOutcome,
  refuseResolvers,
  untrusted,
} from "./handle-roots.ts";
import type { ReadyRoot } from "./handle-roots.ts";
import { Trace } from "./handle-trace.ts";
import { callerOf } from "./lambda-call.ts";
import type { LambdaCalls } from "./lambda-call.ts";
import { printArguments, runLambdaRoot } from "./lambda-root.ts";
import type { LambdaRootDone } from "./lambda-root.ts";
import type { RunBounds, RunSettings } from "./lower-run.ts";
import { touchedUids } from "./lower-run.ts";
import { runMutation } from "./mutation-root.ts";
import { makeNote, writeExplanation } from "./plan-reports.ts";
import {
  explainQuery,
  profileQuery,
  readyQuery,
  resolveQueryLambda,
  rootFieldOf,
  runQuery,
  isLargeAnswer,
  writeLargeAnswer,
  writeQuery,
} from "./query-root.ts";
import type { LargeAnswer } from "./query-root.ts";
import type { RequestValues } from "./request-arguments.ts";
import { readGraphqlBody, readJsonBody } from "./request-body.ts";
import type { RequestFields } from "./request-body.ts";
import { checkQuery, chooseOperation, RequestCache } from "./request-cache.ts";
import type { OperationRun } from "./request-cache.ts";
import { selectKeys } from "./request-prepare.ts";
import { parseDocument } from "./request-parse.ts";
import type { SelectedField } from "./request-prepare.ts";
import { resolvePersisted } from "./request-persisted.ts";
import { scalarText } from "./request-variables.ts";
import { readerOf, rightsKey, withSender } from "./sender.ts";
import type { Identify } from "./sender.ts";
import type { SchemaStore } from "./schema-store.ts";
import type { GraphqlAnswer, GraphqlRequest } from "./service.ts";

export interface HandlerOptions extends RunSettings {
  readonly engine: Engine;
  readonly schemas: SchemaStore;
  /** undefined: ACL is off. */
  readonly identify: Identify | undefined;
  /** undefined: started without one. */
  readonly lambda: LambdaClient | undefined;
  /** `--graphql introspection`. */
  readonly introspection: boolean;
  /** `--graphql extensions`. */
  readonly extensions: boolean;
  /** `--graphql debug`: extensions show what was run. */
  readonly debug: boolean;
}

/** Characters of the bodies that are kept whole, and of one of them. */
const bodyCharactersMax = 8 * 1024 * 1024;
const cachedBodyMax = 8 * 1024;

/**
 * Short bodies mostly share the plan of their shape; a long one, whose variables shape its plan, may be the only one to
 * keep it, at some thirty bytes for each character.
 */
function weighBody({ roots }: ReadyRequest, { length }: string): number {
  return (length > shortBodyMax ? length * 4 : length) + 512 * roots.length;
}

const shortBodyMax = 512;

/** What mutations begin with; anything else that does is a query all the same. */
const mutationForm = /^(?:\{"query":")?mutation\b/;

/** What a schema's requests share. */
interface SchemaCaches {
  readonly requests: RequestCache;
  /** By body; where rights decide, by rights and body. */
  readonly bodies: Lru<string, ReadyRequest>;
  readonly callers: CallerReader;
}

/** A request of queries alone whose values are all lowered. */
interface ReadyRequest {
  readonly schema: CompiledSchema;
  readonly run: OperationRun;
  readonly roots: readonly ReadyRoot[];
}

/** What a request asks for, prepared. */
type Work =
  | { readonly kind: "query"; readonly ready: ReadyRequest }
  | {
      readonly kind: "mutation";
      readonly schema: CompiledSchema;
      readonly run: OperationRun;
      readonly caller: Caller;
    };

/** A subscription, prepared for a schema and a caller. */
export interface LiveRequest {
  readonly request: GraphqlRequest;
  readonly schema: CompiledSchema;
  readonly fields: RequestFields;
  readonly run: OperationRun;
  readonly roots: readonly ReadyRoot[];
  readonly caller: Caller;
  /** Equal for callers whose rights are equal, and stay so: by the schema's rules, and by the groups of ACL. */
  readonly rights: string;
  /** When the caller's token ends, in milliseconds since 1970; Infinity for never. */
  readonly expiryMs: number;
}

export interface LiveAnswer {
  readonly body: Uint8Array;
  readonly extensions: string | undefined;
  /** Ids of the predicates that decided it; undefined: anything may have. */
  readonly reads: ReadonlySet<number> | undefined;
}

const parentType = "Subscription";

export class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #caches = new WeakMap<CompiledSchema, SchemaCaches>();
  readonly #dqlRoots: DqlRoots;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#dqlRoots = new DqlRoots(options);
  }

  async handle(request: GraphqlRequest): Promise<GraphqlAnswer> {
    const { clock, extensions } = this.#options;
    const trace = new Trace(clock);
    try {
      const { identify } = this.#options;
      const known = identify === undefined ? request : await withSender(identify, request);
      return await this.#answer(known, trace);
    } catch (error) {
      const print = extensions ? () => trace.print() : undefined;
      if (error instanceof RequestRefused) return answerOf(writeRefusal(error.errors, print));
      if (error instanceof Fault) {
        return answerOf(writeRefusal([{ message: error.message }], print));
      }
      throw error;
    }
  }

  async #answer(
    request: GraphqlRequest,
    trace: Trace,
    use: "query" | "mutation" = mutationForm.test(request.body) ? "mutation" : "query",
  ): Promise<GraphqlAnswer> {
    const reader = await this.#options.engine.openReader(request.namespace, undefined, use);
    try {
      const served = await this.#options.schemas.at(reader);
      if (served === undefined) {
        const print = this.#options.extensions ? () => trace.print() : undefined;
        return answerOf(withoutSchema(request, this.#options.limits.depthMax, print));
      }
      const work = await this.#prepare(request, served.schema, reader);
      if (work.kind === "query") {
        if (use === "mutation") return await this.#answer(request, trace, "query");
        return request.plan?.kind === "explain"
          ? await this.#explain(request, work.ready, reader, request.plan.form)
          : await this.#query(request, work.ready, reader, trace);
      }
      if (request.plan !== undefined) throw refuse(noPlanOfMutations);
      return await this.#mutate(request, work, trace, reader);
    } finally {
      reader.close();
    }
  }

  async #prepare(request: GraphqlRequest, schema: CompiledSchema, reader: Reader): Promise<Work> {
    const caches = this.#cachesOf(schema);
    const pending = caches.callers.read(request.headers);
    const caller = pending instanceof Promise ? await pending : pending;
    const isShort = request.kind === "json" && request.body.length <= cachedBodyMax;
    const isCached = isShort && caller.refusal === undefined;
    const key = caller.guard === undefined ? request.body : `${caller.guard.key}\n${request.body}`;
    const known = isCached ? caches.bodies.get(key) : undefined;
    if (known !== undefined) return { kind: "query", ready: known };
    const fields = await this.#fieldsOf(request, reader);
    const run = caches.requests.prepare(fields);
    if (run.node.operation === "mutation") return { kind: "mutation", schema, run, caller };
    const ready = { schema, run, roots: this.#readyRoots(schema, run, caller) };
    const isKept = isCached && fields.extensions === undefined;
    if (isKept && ready.roots.every((root) => root.kind !== "refused")) {
      caches.bodies.set(key, ready);
    }
    return { kind: "query", ready };
  }

  /**
   * The subscription that a request asks for, by the schema at `reader`; undefined for queries and mutations. Throws
   * RequestRefused, and Fault for a body that is none.
   */
  async prepareLive(request: GraphqlRequest, reader: Reader): Promise<LiveRequest | undefined> {
    const served = await this.#options.schemas.at(reader);
    if (served === undefined) {
      throw new RequestRefused(errorsWithoutSchema(request, this.#options.limits.depthMax));
    }
    const { schema } = served;
    const caches = this.#cachesOf(schema);
    const fields = await this.#fieldsOf(request, reader);
    const run = caches.requests.prepare(fields);
    if (run.node.operation !== "subscription") return undefined;
    refuseResolvers(run.roots);
    const caller = await caches.callers.read(request.headers);
    if (caller.refusal !== undefined) throw refuse(caller.refusal);
    const { visitor } = request;
    const tokenMs = caches.callers.expiryMs(request.headers);
    const expiryMs = Math.min(tokenMs, visitor?.expiryMs ?? Infinity);
    const roots = this.#readyRoots(schema, run, caller);
    const rights = rightsKey(caller, visitor);
    return { request, schema, fields, run, roots, caller, rights, expiryMs };
  }

  /** Runs a subscription once: its answer without extensions, and what they would be. */
  async runLive(live: LiveRequest, reader: Reader): Promise<LiveAnswer> {
    const { request, run, schema, roots } = live;
    const trace = new Trace(this.#options.clock);
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run);
    const bounds = this.#bounds(request);
    const outcomes: RootOutcome[] = [];
    const given = readerOf(reader, request);
    for (const root of roots) {
      const place = { run, request, given, bounds, trace, parentType, lambda };
      outcomes.push(await this.#resolve(root, place));
    }
    const body = writeAnswer(outcomes, run.locate, undefined, this.#options.limits.resultBytesMax);
    const extensions = this.#options.extensions ? trace.print() : undefined;
    const readsOfDql = (ready: ReadyDql): ReadonlySet<number> | undefined =>
      this.#dqlRoots.readsOf(ready, request.namespace, reader.schema);
    const reads = readsOf(roots, reader.schema, readsOfDql);
    return { body, extensions, reads };
  }

  async #fieldsOf(request: GraphqlRequest, reader: Reader): Promise<RequestFields> {
    const fields =
      request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
    if (fields.extensions === undefined) return fields;
    return resolvePersisted(fields, request.namespace, reader, this.#options.engine);
  }

  #cachesOf(schema: CompiledSchema): SchemaCaches {
    let caches = this.#caches.get(schema);
    if (caches === undefined) {
      caches = {
        requests: new RequestCache(schema, this.#options.limits.depthMax),
        bodies: new Lru(bodyCharactersMax, weighBody),
        callers: new CallerReader(schema, this.#options.clock),
      };
      this.#caches.set(schema, caches);
    }
    return caches;
  }

  #readyRoots(schema: CompiledSchema, run: OperationRun, caller: Caller): ReadyRoot[] {
    return run.roots.map((field) => {
      try {
        return this.#readyRoot(schema, run, field, caller);
      } catch (error) {
        if (error instanceof FieldRefused)
          return { kind: "refused", field, messages: error.messages };
        throw error;
      }
    });
  }

  #readyRoot(
    schema: CompiledSchema,
    run: OperationRun,
    field: SelectedField,
    caller: Caller,
  ): ReadyRoot {
    const operation = run.node.operation;
    const root = rootFieldOf(schema, operation, field.definition);
    if (root?.of !== undefined) {
      const { guard, refusal } = caller;
      if (refusal !== undefined) return { kind: "untrusted", field, reason: refusal };
      const rule = root.kind === "checkPassword" ? "password" : "query";
      if (guard?.denies(root.of, rule) === true)
        return { kind: "json", field, json: nothing(field) };
      return { kind: "query", field, ready: readyQuery(root, field, run.values, guard) };
    }
    if (root?.kind === "lambda") {
      const reason = closedTo(schema, caller);
      if (reason !== undefined) return { kind: "untrusted", field, reason };
      return { kind: "lambda", field, args: printArguments(root, field, run.values) };
    }
    if (root?.kind === "custom") {
      const reason = closedTo(schema, caller);
      if (reason !== undefined) return { kind: "untrusted", field, reason };
      const ready = readyDql(root, field, run.values);
      if (ready !== undefined) return { kind: "dql", field, ready };
    }
    if (!this.#options.introspection || root !== undefined) return { kind: "unresolved", field };
    return { kind: "json", field, json: metaJson(schema, operation, field, run.values) };
  }

  async #query(
    request: GraphqlRequest,
    ready: ReadyRequest,
    reader: Reader,
    trace: Trace,
  ): Promise<GraphqlAnswer> {
    const { schema, run, roots } = ready;
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run);
    const bounds = this.#bounds(request);
    const parentType = run.node.operation === "query" ? "Query" : "Subscription";
    // The first query uses the snapshot that the schema was found in; every other one has its own.
    let own = readerOf(reader, request);
    const pending = roots.map((root) => {
      const isRead = root.kind === "query" || root.kind === "dql";
      const given = isRead ? own : undefined;
      if (isRead) own = undefined;
      return this.#resolve(root, { run, request, given, bounds, trace, parentType, lambda });
    });
    const outcomes =
      pending.length === 1
        ? [await (pending[0] as Promise<RootOutcome>)]
        : await Promise.all(pending);
    if (request.plan !== undefined) trace.orderReports(roots.map((root) => root.field.key));
    const body = this.#write(outcomes, run, trace, request.plan);
    return { body, headers: headersOf(run, trace.touchedUids) };
  }

  /** What would be done for each root field; nothing is. */
  async #explain(
    request: GraphqlRequest,
    { roots }: ReadyRequest,
    reader: Reader,
    form: PlanQuestion["form"],
  ): Promise<GraphqlAnswer> {
    const reports = new Map<string, PlanReport>();
    const bounds = this.#bounds(request);
    for (const root of roots) {
      if (root.kind === "dql") {
        const place = { reader, namespace: request.namespace, bounds };
        reports.set(root.field.key, await this.#dqlRoots.explain(root.ready, place));
        continue;
      }
      const report =
        root.kind === "query"
          ? await explainQuery(root.ready, reader, this.#options, bounds)
          : makeNote("explain", noteOfRoot(root));
      reports.set(root.field.key, report);
    }
    return answerOf(writeExplanation(reports, form));
  }

  async #runRoot(
    root: Extract<ReadyRoot, { kind: "query" }>,
    reader: Reader,
    { request, trace, bounds }: QueryPlace,
  ): Promise<ExecutionResult> {
    if (request.plan === undefined) return runQuery(root.ready, reader, this.#options, bounds);
    const profiled = await profileQuery(root.ready, reader, this.#options, bounds);
    trace.reports.set(root.field.key, profiled.report);
    return profiled.result;
  }

  async #resolve(root: ReadyRoot, place: QueryPlace): Promise<RootOutcome> {
    const { field } = root;
    if (place.request.plan !== undefined && root.kind !== "query" && root.kind !== "dql") {
      place.trace.reports.set(field.key, makeNote("profile", noteOfRoot(root)));
    }
    if (root.kind === "json") {
      return { field, errors: [], write: (out) => out.text(root.json) };
    }
    if (root.kind === "untrusted") return untrusted(root);
    if (root.kind === "unresolved") return unresolved(field, place.run.locate);
    const { closed } = place.request;
    if (closed !== undefined) return closedQuery(field, closed);
    const resolver = place.trace.resolver(field, place.parentType);
    if (root.kind === "lambda") {
      const done = runLambdaRoot(field, root.args, place.lambda());
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
        const { namespace, visitor } = place.request;
        reader ??= await this.#options.engine.openReader(namespace, visitor);
        if (this.#options.debug) place.trace.dqlQueries.push(root.ready.planned.tree.print());
        const result = await this.#runRoot(root, reader, place);
        place.trace.touchedUids += touchedUids(result);
        // User code may take its time: no snapshot is held meanwhile.
        if (root.ready.planned.hasLambda) reader.close();
        const outcome = await resolveQueryLambda(root.ready, field, result, place.lambda);
        const done = { result, lambda: outcome?.values };
        const errors = outcome?.errors ?? [];
        if (isLargeAnswer(root.ready, result)) {
          const large = await writeLargeAnswer(root.ready, field, done, this.#largeAnswer(place));
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

  async #resolveDql(
    { field, ready }: Extract<ReadyRoot, { kind: "dql" }>,
    { request, given, bounds, trace, run }: QueryPlace,
  ): Promise<RootOutcome> {
    const { namespace, visitor, plan } = request;
    let reader = given;
    try {
      reader ??= await this.#options.engine.openReader(namespace, visitor);
      if (this.#options.debug) trace.dqlQueries.push(ready.text);
      const place = { reader, namespace, bounds, isProfiled: plan !== undefined };
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

  async #mutate(
    request: GraphqlRequest,
    work: Extract<Work, { kind: "mutation" }>,
    trace: Trace,
    reader: Reader,
  ): Promise<GraphqlAnswer> {
    // The first transaction takes over the snapshot that the schema was found in: none is held beside the others.
    let given: Reader | undefined = reader;
    const { schema, run, caller } = work;
    const lambda = (): LambdaCalls => this.#lambdaCalls(schema, request, run);
    const { namespace, visitor } = request;
    const outcomes: RootOutcome[] = [];
    let hasFailed = false;
    for (const field of run.roots) {
      const root = rootFieldOf(schema, "mutation", field.definition);
      if (root === undefined) {
        const json = JSON.stringify("Mutation");
        outcomes.push({ field, errors: [], write: (out) => out.text(json) });
      } else if (hasFailed) {
        outcomes.push(skipped(field, run.locate));
      } else if (request.closed !== undefined) {
        outcomes.push(closedMutation(field, request.closed, run.locate));
        hasFailed = true;
      } else if (root.kind === "lambda") {
        reader.close();
        const resolver = trace.resolver(field, "Mutation");
        const done = await this.#mutateByLambda(root, field, work, lambda());
        resolver.end();
        outcomes.push(done.outcome);
        hasFailed = done.hasFailed;
      } else {
        const resolver = trace.resolver(field, "Mutation");
        try {
          const done = await runMutation({
            options: this.#options,
            bounds: this.#bounds(request),
            namespace,
            visitor,
            root,
            field,
            run,
            caller,
            trace,
            resolver,
            lambda,
            given,
          });
          outcomes.push(done.outcome);
          hasFailed = done.hasFailed;
        } finally {
          resolver.end();
          given = undefined;
        }
      }
    }
    const body = this.#write(outcomes, run, trace);
    return { body, headers: headersOf(run, trace.touchedUids) };
  }

  #write(
    outcomes: readonly RootOutcome[],
    run: OperationRun,
    trace: Trace,
    question?: PlanQuestion,
  ): Uint8Array {
    const isShown = this.#options.extensions || question !== undefined;
    const extensions = isShown ? () => trace.print(question?.form) : undefined;
    return writeAnswer(outcomes, run.locate, extensions, this.#options.limits.resultBytesMax);
  }

  async #mutateByLambda(
    root: RootField,
    field: SelectedField,
    { schema, run, caller }: Extract<Work, { kind: "mutation" }>,
    calls: LambdaCalls,
  ): Promise<LambdaRootDone> {
    const reason = closedTo(schema, caller);
    if (reason !== undefined) {
      return { outcome: untrusted({ kind: "untrusted", field, reason }), hasFailed: true };
    }
    return runLambdaRoot(field, printArguments(root, field, run.values), calls);
  }

  #largeAnswer({ request, bounds }: QueryPlace): LargeAnswer {
    const { clock, limits } = this.#options;
    const pace = makePace({ clock, deadlineMs: bounds.deadlineMs, signal: request.signal });
    return { pace, bytesMax: limits.resultBytesMax };
  }

  #lambdaCalls(
    schema: CompiledSchema,
    request: GraphqlRequest,
    { locate }: OperationRun,
  ): LambdaCalls {
    return {
      client: this.#options.lambda,
      namespace: request.namespace,
      caller: callerOf(schema, request),
      bytesMax: this.#options.limits.resultBytesMax,
      locate,
    };
  }

  #bounds(request: GraphqlRequest): RunBounds {
    const timeout = request.timeoutMs > 0 ? request.timeoutMs : this.#options.limits.queryTimeoutMs;
    const deadlineMs = timeout > 0 ? this.#options.clock.tickMs() + timeout : Infinity;
    return { deadlineMs, signal: request.signal };
  }
}

/** What a root query needs beside itself. */
interface QueryPlace {
  readonly run: OperationRun;
  readonly request: GraphqlRequest;
  /** A reader that is lent; undefined: open one. */
  readonly given: Reader | undefined;
  readonly bounds: RunBounds;
  readonly trace: Trace;
  readonly parentType: string;
  readonly lambda: () => LambdaCalls;
}

const noPlanOfMutations = "explain and profile are for queries: the mutation was not run";

function answerOf(body: Uint8Array): GraphqlAnswer {
  return { body, headers: undefined };
}

/** `@cacheControl(maxAge: N)` on queries. */
function headersOf(run: OperationRun, touched: number): Record<string, string> {
  const headers: Record<string, string> = { "Graphql-TouchedUids": String(touched) };
  if (run.node.operation !== "query") return headers;
  const directive = run.node.directives?.find((given) => given.name.value === "cacheControl");
  const value = directive?.arguments?.find((argument) => argument.name.value === "maxAge")?.value;
  if (value === undefined) return headers;
  const age =
    value.kind === "Variable"
      ? run.values.variables[value.name.value]
      : literalText(value, run.values);
  headers["Cache-Control"] = `public,max-age=${age === undefined ? "" : scalarText(age)}`;
  headers["Vary"] = "Accept-Encoding";
  return headers;
}

function literalText(
  value: Parameters<RequestValues["literalIndex"]["get"]>[0],
  values: RequestValues,
): string {
  const index = values.literalIndex.get(value);
  if (index !== undefined) return values.literals[index] ?? "";
  return value.kind === "IntValue" ? value.value : "";
}

/** No schema: one error for each root field, and no data. */
function withoutSchema(
  request: GraphqlRequest,
  depthMax: number,
  extensions: (() => string) | undefined,
): Uint8Array {
  return writeRefusal(errorsWithoutSchema(request, depthMax), extensions);
}

function errorsWithoutSchema(request: GraphqlRequest, depthMax: number): ResponseError[] {
  const fields =
    request.kind === "json" ? readJsonBody(request.body) : readGraphqlBody(request.body);
  checkQuery(fields.query, depthMax);
  const document = parseDocument(fields.query);
  const operations = document.definitions.flatMap((node) =>
    node.kind === "OperationDefinition" ? [{ node }] : [],
  );
  const { node } = chooseOperation(undefined, operations, fields.operationName);
  return selectKeys(document, node).map((key) => ({
    message: `Not resolving ${key}. There's no GraphQL schema in Dgraph. Use the /admin API to add a GraphQL schema`,
  }));
}

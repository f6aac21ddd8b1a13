/**
 * A request's text → what it asks for, prepared: bodies that came before are looked up, with the rights that decide about
 * them.
 */
import { Lru } from "../../base/lru.ts";
import { andThen, drive, type MaybePromise } from "../../base/maybe.ts";
import { withYielder } from "../../exec/yielder.ts";
import { largeDocument } from "../../exec/fair-scheduler.ts";
import type { Reader } from "../../graph/reader.ts";
import type { Schema } from "../../graph/schema.ts";
import { restrictReader } from "../../graph/restrict.ts";
import { budgetOf } from "../../model/request-budget.ts";
import { CallerReader } from "../resolve/caller.ts";
import type { Caller } from "../resolve/caller.ts";
import { explainOperation } from "../resolve/refusals.ts";
import type { CompiledSchema, RootField } from "../schema/compiled-schema.ts";
import { readyDql } from "../resolve/dql-root.ts";
import { readyRequestRoot } from "../resolve/request-root.ts";
import { FieldRefused, refuseRequest } from "../operation/errors.ts";
import type { HandlerOptions } from "./handle-options.ts";
import { closedTo, metaJson, nothing, refuseResolvers, serviceJson } from "./handle-roots.ts";
import type { ReadyRoot } from "./handle-roots.ts";
import { printResolverArguments } from "../resolve/lambda-root.ts";
import { EntitiesRefused, readEntities } from "../resolve/entities-root.ts";
import { argumentsOf, readyQuery, rootFieldOf } from "../resolve/query-root.ts";
import { readGraphqlBody, readJsonBody, readJsonBodyInSteps } from "../operation/body.ts";
import type { RequestFields } from "../operation/body.ts";
import { RequestCache } from "../operation/cache.ts";
import type { OperationRun } from "../operation/cache.ts";
import { resolvePersisted } from "../operation/persisted.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { rightsKey } from "./sender.ts";
import type { IdentifiedRequest } from "../operation/request.ts";

/** Bytes of the bodies of a schema that are kept whole, and characters of one of them. */
const bodyBytesMax = 16 * 1024 * 1024;
const cachedBodyMax = 8 * 1024;
/** Longer bodies are decoded in steps. */
const decodedAtOnce = 64 * 1024;

/** What a prepared request takes beside its document: its text, its literals, what was lowered of it, what it tells. */
function weighBody(requests: RequestCache, { roots, run }: ReadyRequest, key: string): number {
  let own = 4 * key.length + 768 * roots.length;
  for (const root of roots) if (root.kind === "json") own += 2 * root.json.length;
  return requests.keeps(run) ? own : own + run.source.weight;
}

/** What a schema's requests share. */
interface SchemaCaches {
  readonly requests: RequestCache;
  /** By body; where rights decide, by rights and body. */
  readonly bodies: Lru<string, ReadyRequest>;
  readonly callers: CallerReader;
}

/** A request of queries alone whose values are all lowered. */
export interface ReadyRequest {
  readonly schema: CompiledSchema;
  readonly run: OperationRun;
  readonly roots: readonly ReadyRoot[];
}

export interface MutationWork {
  readonly kind: "mutation";
  readonly schema: CompiledSchema;
  readonly run: OperationRun;
  readonly caller: Caller;
}

/** A request whose document is checked and whose operation is chosen. */
interface ReadRequest {
  readonly fields: RequestFields;
  readonly run: OperationRun;
}

/** What a request asks for, prepared. */
export type Work = { readonly kind: "query"; readonly ready: ReadyRequest } | MutationWork;

/** A request whose body did not come before. */
interface NewRequest {
  readonly schema: CompiledSchema;
  readonly caches: SchemaCaches;
  readonly caller: Caller;
  /** Under which it is kept; undefined: it is not. */
  readonly key: string | undefined;
  readonly read: ReadRequest | undefined;
}

interface RootsPlace {
  readonly schema: CompiledSchema;
  readonly caller: Caller;
  /** As the caller may read it. */
  readonly storageSchema: Schema;
}

/** Of more, the roots are prepared in steps of so many. */
const rootsAtOnce = 16;

function planAhead(roots: readonly ReadyRoot[], storageSchema: Schema): void {
  for (const root of roots) {
    if (root.kind === "query") root.ready.planned.tree.planAhead(storageSchema);
  }
}

/** A subscription, prepared for a schema and a caller. */
export interface LiveRequest {
  readonly request: IdentifiedRequest;
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

export class Preparer {
  readonly #options: HandlerOptions;
  readonly #caches = new WeakMap<CompiledSchema, SchemaCaches>();

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /**
   * What a request asks for, subscriptions as queries. `read`: its operation, where that was asked for first. Throws
   * RequestRefused, and Fault for a body that is none.
   */
  prepare(
    request: IdentifiedRequest,
    schema: CompiledSchema,
    reader: Reader,
    read?: ReadRequest,
  ): MaybePromise<Work> {
    const caches = this.#cachesOf(schema);
    return andThen(caches.callers.read(request.headers), (caller) => {
      const isShort = request.kind === "json" && request.body.length <= cachedBodyMax;
      const { guard, refusal } = caller;
      const body = guard === undefined ? request.body : `${guard.key}\n${request.body}`;
      const key = isShort && refusal === undefined ? body : undefined;
      const known = key === undefined ? undefined : caches.bodies.get(key);
      const work: MaybePromise<Work> =
        known === undefined
          ? this.#prepareNew(request, reader, { schema, caches, caller, key, read })
          : { kind: "query", ready: known };
      const { tellRefusal } = this.#options;
      if (tellRefusal === undefined) return work;
      return andThen(work, (done) => {
        const { run } = done.kind === "query" ? done.ready : done;
        explainOperation(schema, run, caller, tellRefusal);
        return done;
      });
    });
  }

  async #prepareNew(
    request: IdentifiedRequest,
    reader: Reader,
    { schema, caches, caller, key, read }: NewRequest,
  ): Promise<Work> {
    const fields = read?.fields ?? (await this.#fieldsOf(request, reader));
    const { schema: storageSchema } = restrictReader(reader, request.principal?.access);
    const proceed = (run: OperationRun): Work | OperationRun => {
      if (run.node.operation === "mutation") return { kind: "mutation", schema, run, caller };
      if (run.roots.length > rootsAtOnce) return run;
      const roots = this.#readyRoots(schema, run, caller);
      planAhead(roots, storageSchema);
      return { kind: "query", ready: { schema, run, roots } };
    };
    const prepared = this.#whenFree(request, fields, caches, read?.run, proceed);
    const begun = prepared instanceof Promise ? await prepared : prepared;
    const work =
      "kind" in begun
        ? begun
        : await this.#readyInSteps(request, begun, { schema, caller, storageSchema });
    if (key === undefined || fields.extensions !== undefined || work.kind !== "query") return work;
    if (work.ready.roots.every((root) => root.kind !== "refused")) {
      caches.bodies.set(key, work.ready);
      work.ready.run.source.bodies.add(key);
    }
    return work;
  }

  /** Many roots, lowered and planned a few at a time: each takes some 50 µs. */
  async #readyInSteps(
    request: IdentifiedRequest,
    run: OperationRun,
    { schema, caller, storageSchema }: RootsPlace,
  ): Promise<Work> {
    const { clock, scheduler } = this.#options;
    const budget = budgetOf(this.#options, request);
    const roots: ReadyRoot[] = [];
    await withYielder({ clock, scheduler, budget }, async (yielder) => {
      for (let from = 0; from < run.roots.length; from += rootsAtOnce) {
        const few = run.roots.slice(from, from + rootsAtOnce);
        const ready = this.#readyRoots(schema, { ...run, roots: few }, caller);
        planAhead(ready, storageSchema);
        roots.push(...ready);
        const pause = yielder.check(rootsAtOnce);
        if (pause !== undefined) await pause;
      }
    });
    return { kind: "query", ready: { schema, run, roots } };
  }

  /** Documents that are large, or new and perhaps large with their fragments in their places, one at a time. */
  #whenFree<T>(
    request: IdentifiedRequest,
    fields: RequestFields,
    { requests }: SchemaCaches,
    run: OperationRun | undefined,
    proceed: (run: OperationRun) => T,
  ): MaybePromise<T> {
    const { scheduler } = this.#options;
    const prepare = (): T => proceed(run ?? requests.prepare(fields));
    if (scheduler === undefined) return prepare();
    if (request.body.length < largeDocument) {
      if (run !== undefined || !fields.query.includes("...")) return prepare();
      const known = requests.prepareKnown(fields);
      if (known !== undefined) return proceed(known);
    }
    return scheduler.alone(budgetOf(this.#options, request), prepare);
  }

  /** The operation that a request asks for. Throws as `prepare`. */
  async read(
    request: IdentifiedRequest,
    schema: CompiledSchema,
    reader: Reader,
  ): Promise<ReadRequest> {
    const fields = await this.#fieldsOf(request, reader);
    const caches = this.#cachesOf(schema);
    const run = await this.#whenFree(request, fields, caches, undefined, (prepared) => prepared);
    return { fields, run };
  }

  /** A subscription, for whoever listens. Throws as `prepare`. */
  async prepareLive(
    request: IdentifiedRequest,
    schema: CompiledSchema,
    { fields, run }: ReadRequest,
  ): Promise<LiveRequest> {
    const caches = this.#cachesOf(schema);
    refuseResolvers(run.roots);
    const caller = await caches.callers.read(request.headers);
    if (caller.refusal !== undefined) throw refuseRequest(caller.refusal);
    const { principal } = request;
    const tokenMs = caches.callers.expiryMs(request.headers);
    const expiryMs = Math.min(tokenMs, principal?.expiryMs ?? Infinity);
    const roots = this.#readyRoots(schema, run, caller);
    const rights = rightsKey(caller, principal);
    return { request, schema, fields, run, roots, caller, rights, expiryMs };
  }

  async #fieldsOf(request: IdentifiedRequest, reader: Reader): Promise<RequestFields> {
    const reading = this.#readFields(request);
    const fields = reading instanceof Promise ? await reading : reading;
    if (fields.extensions === undefined) return fields;
    return resolvePersisted(fields, request.namespace, reader, this.#options.engine);
  }

  #readFields(request: IdentifiedRequest): MaybePromise<RequestFields> {
    const { kind, body } = request;
    if (kind !== "json") return readGraphqlBody(body);
    if (body.length <= decodedAtOnce) return readJsonBody(body);
    const { clock, scheduler } = this.#options;
    const budget = budgetOf(this.#options, request);
    return withYielder({ clock, scheduler, budget }, (yielder) =>
      drive(readJsonBodyInSteps(body, (work) => yielder.check(work))),
    );
  }

  #cachesOf(schema: CompiledSchema): SchemaCaches {
    let caches = this.#caches.get(schema);
    if (caches === undefined) {
      const requests = new RequestCache(schema, this.#options.limits, (keys) => {
        for (const key of keys) bodies.delete(key);
      });
      const bodies = new Lru<string, ReadyRequest>(
        bodyBytesMax,
        (ready, key) => weighBody(requests, ready, key),
        ({ run }, key) => run.source.bodies.delete(key),
      );
      caches = {
        requests,
        bodies,
        callers: new CallerReader(schema, this.#options.clock, this.#options.getText),
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
    if (root?.kind === "service")
      return { kind: "json", field, json: serviceJson(schema, field, run.values) };
    if (root?.kind === "entities") return this.#readyEntities(schema, run, { root, field, caller });
    if (root?.kind === "lambda") {
      const reason = closedTo(schema, caller);
      if (reason !== undefined) return { kind: "untrusted", field, reason };
      return { kind: "lambda", field, args: printResolverArguments(root, field, run.values) };
    }
    if (root?.kind === "custom") {
      const reason = closedTo(schema, caller);
      if (reason !== undefined) return { kind: "untrusted", field, reason };
      const ready = readyDql(root, field, run.values);
      if (ready !== undefined) return { kind: "dql", field, ready };
      const request = readyRequestRoot(root, field, run.values);
      if (request !== undefined) return { kind: "request", field, ready: request };
    }
    if (!this.#options.introspection || root !== undefined) return { kind: "unresolved", field };
    return { kind: "json", field, json: metaJson(schema, operation, field, run.values) };
  }

  #readyEntities(
    schema: CompiledSchema,
    run: OperationRun,
    { root, field, caller }: { root: RootField; field: SelectedField; caller: Caller },
  ): ReadyRoot {
    const { guard, refusal } = caller;
    if (refusal !== undefined) return { kind: "untrusted", field, reason: refusal };
    try {
      const entities = readEntities(schema, argumentsOf(root, field, run.values));
      if (guard?.denies(entities.type, "query") === true)
        return { kind: "json", field, json: JSON.stringify(entities.values.map(() => null)) };
      return { kind: "query", field, ready: readyQuery(root, field, run.values, guard, entities) };
    } catch (error) {
      if (!(error instanceof EntitiesRefused)) throw error;
      return { kind: "entities", field, message: error.message };
    }
  }
}

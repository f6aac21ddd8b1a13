/** Text or tree → plan → columns → bytes: one run over one reader, for queries, upserts and guests. */
import { Lru } from "../base/lru.ts";
import type { Clock } from "../base/clock.ts";
import type { QueryDocument } from "../dql/ast.ts";
import { execute } from "../exec/execute.ts";
import type { ExecutionResult } from "../exec/frame.ts";
import type { Reader } from "../graph/reader.ts";
import type { Schema } from "../graph/schema.ts";
import type { Limits } from "../model/limits.ts";
import { buildPlan } from "../plan/build.ts";
import type { Plan } from "../plan/plan.ts";

export interface RunOptions {
  /** On the clock's tick scale; Infinity for none. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Literals in place of the plan's own, by slot. */
  readonly texts?: readonly string[];
}

/** A plan that ran. */
export interface Ran {
  readonly plan: Plan;
  readonly result: ExecutionResult;
}

export interface Runner {
  /** Builds a plan for the reader's schema and runs it. */
  runDocument(reader: Reader, document: QueryDocument, options?: RunOptions): Promise<Ran>;
  runPlan(reader: Reader, plan: Plan, options?: RunOptions): Promise<Ran>;
}

export function makeRunner(clock: Clock, limits: Limits): Runner {
  const runPlan = async (reader: Reader, plan: Plan, options: RunOptions = {}): Promise<Ran> => ({
    plan,
    result: await execute(plan, options.texts, reader, {
      clock,
      limits,
      deadlineMs: options.deadlineMs ?? Infinity,
      signal: options.signal,
    }),
  });
  return {
    runPlan,
    runDocument: (reader, document, options) =>
      runPlan(reader, buildPlan(document, reader.schema), options),
  };
}

/** A text that was parsed and planned for one version of the schema. */
export interface PlannedText {
  readonly document: QueryDocument;
  readonly plan: Plan;
}

/** Texts kept; a plan is a few kilobytes. */
const textsMax = 2000;
/** Longer texts are not kept. */
const textUnitsMax = 32_768;

/** Exact text (with the values of its variables) → plan. Keys are compared whole, never by a hash alone. */
export class PlanCache {
  readonly #plans = new Lru<string, PlannedText & { readonly schema: Schema }>(textsMax);

  find(key: string, schema: Schema): PlannedText | undefined {
    const found = this.#plans.get(key);
    return found?.schema === schema ? found : undefined;
  }

  keep(key: string, schema: Schema, planned: PlannedText): void {
    if (key.length <= textUnitsMax) this.#plans.set(key, { ...planned, schema });
  }
}

/** The cache's key of a request. */
export function planKey(
  namespace: number,
  text: string,
  variables: ReadonlyMap<string, string>,
): string {
  if (variables.size === 0) return `${namespace}\u0000${text}`;
  return `${namespace}\u0000${text}\u0000${JSON.stringify([...variables])}`;
}

/** Lowered trees → plans, kept for their shape → runs over a reader. */
import { buildPlan } from "../../exec/dql.ts";
import { must } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import type { QueryDocument } from "../../dql/ast.ts";
import { printQuery } from "../../dql/print.ts";
import { execute } from "../../exec/execute.ts";
import { explainPlan, profilePlan } from "../../exec/explain.ts";
import type { PlanReport } from "../../exec/explain.ts";
import type { BlockResult, ExecutionResult } from "../../exec/frame.ts";
import type { RunContext } from "../../exec/run.ts";
import type { FairScheduler } from "../../exec/fair-scheduler.ts";
import type { Reader } from "../../graph/reader.ts";
import type { Schema } from "../../graph/schema.ts";
import type { Limits } from "../../model/limits.ts";
import type { RequestBudget } from "../../model/request-budget.ts";
import { Fault } from "../../model/fault.ts";
import type { Plan } from "../../plan/plan.ts";
import { findReads } from "../../plan/reads.ts";

/** What every run of a service shares. */
export interface RunSettings {
  readonly clock: Clock;
  readonly limits: Limits;
  /** Where long requests of the process take turns; undefined: each goes on as it can. */
  readonly scheduler?: FairScheduler | undefined;
}

/** A tree with its plans: one for each schema, and so for each access to it. */
export class PlannedTree {
  readonly #document: QueryDocument;
  readonly #plans = new WeakMap<Schema, Plan>();
  readonly #reads = new WeakMap<Plan, ReadonlySet<number> | undefined>();
  #form: { readonly text: string | undefined } | undefined;
  /** What was met last. */
  #schema: Schema | undefined;
  #plan: Plan | undefined;

  constructor(document: QueryDocument) {
    this.#document = document;
  }

  /** What decides its answer for readers of a schema (`findReads`); undefined for anything. */
  readsOf(schema: Schema): ReadonlySet<number> | undefined {
    const plan = this.#planOf(schema);
    if (!this.#reads.has(plan)) this.#reads.set(plan, findReads(plan));
    return this.#reads.get(plan);
  }

  /** Makes its plan before it is asked for. What the plan is refused for is told when it runs. */
  planAhead(schema: Schema): void {
    try {
      this.#planOf(schema);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }

  /**
   * Equal for trees that read the same where their literals are equal; undefined for one whose run is more than reading:
   * passwords that are compared count as guesses.
   */
  get form(): string | undefined {
    if (this.#form === undefined) {
      const { parameters } = this.#document;
      // A literal of the request stands by its token alone: texts of others are not its own.
      const text = JSON.stringify(this.#document, function (this: unknown, key, value: unknown) {
        return key === "text" && isOfRequest(this) ? undefined : value;
      });
      const isMore = parameters !== undefined || text.includes("checkpwd");
      this.#form = { text: isMore ? undefined : text };
    }
    return this.#form.text;
  }

  /** As DQL, with the literals of the request that it was made for. */
  print(): string {
    return printQuery(this.#document);
  }

  /**
   * Runs the tree. `texts` are the literals by their tokens; literals without a token are the tree's own. Throws
   * Fault as `buildPlan` and `execute` do.
   */
  run(
    reader: Reader,
    texts: readonly string[],
    settings: RunSettings,
    budget: RequestBudget,
  ): Promise<ExecutionResult> {
    const { plan, bound } = this.#bind(reader, texts);
    return execute(plan, bound, reader, runContextOf(settings, budget));
  }

  /** What `run` would do; reads statistics alone. */
  explain(
    reader: Reader,
    texts: readonly string[],
    settings: RunSettings,
    budget: RequestBudget,
  ): Promise<PlanReport> {
    const { plan, bound } = this.#bind(reader, texts);
    return explainPlan(plan, bound, reader, runContextOf(settings, budget));
  }

  /** Runs the tree as `run` does, and tells what its steps did. */
  profile(
    reader: Reader,
    texts: readonly string[],
    settings: RunSettings,
    budget: RequestBudget,
  ): Promise<{ readonly result: ExecutionResult; readonly report: PlanReport }> {
    const { plan, bound } = this.#bind(reader, texts);
    return profilePlan(plan, bound, reader, runContextOf(settings, budget));
  }

  #bind(reader: Reader, texts: readonly string[]): { plan: Plan; bound: readonly string[] } {
    const plan = this.#planOf(reader.schema);
    const slots = plan.slots;
    const bound: string[] = [];
    for (let i = 0; i < slots.length; i++) {
      const { token, text } = must(slots[i], "below the number of slots").literal;
      bound.push(token < 0 ? text : must(texts[token], "each literal of the operation is bound"));
    }
    return { plan, bound };
  }

  /** A schema is one object for all readers of its version that may read the same. */
  #planOf(schema: Schema): Plan {
    if (this.#schema === schema && this.#plan !== undefined) return this.#plan;
    let plan = this.#plans.get(schema);
    if (plan === undefined) this.#plans.set(schema, (plan = buildPlan(this.#document, schema)));
    this.#schema = schema;
    this.#plan = plan;
    return plan;
  }
}

/** Whether it is a literal that stands in the text or the variables of a request. */
function isOfRequest(node: unknown): boolean {
  if (typeof node !== "object" || node === null || !("token" in node)) return false;
  return typeof node.token === "number" && node.token >= 0;
}

/** Settings come with much that is not the run's. */
export function runContextOf(
  { clock, limits, scheduler }: RunSettings,
  budget: RequestBudget,
): RunContext {
  return { clock, limits, scheduler, budget };
}

/** Uids that a run touched, as `extensions.touched_uids` counts them. */
export function touchedUids(result: ExecutionResult): number {
  let total = 0;
  for (const count of result.numUids.values()) total += count;
  return total;
}

/** Of the nodes that a block found, in the order of its answer. */
export function uidsOf({ rows, frame }: BlockResult): number[] {
  const uids: number[] = [];
  for (const row of rows) uids.push(must(frame.uids[row], "a row of the frame"));
  return uids;
}

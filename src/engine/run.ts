/** Plan → columns: one run over one reader, for queries, upserts and managed transactions. */
import type { Clock } from "../base/clock.ts";
import { execute } from "../exec/execute.ts";
import { explainPlan, profilePlan, type PlanReport } from "../exec/explain.ts";
import type { RunContext } from "../exec/run.ts";
import { makeFairScheduler, type FairScheduler } from "../exec/fair-scheduler.ts";
import type { ExecutionResult } from "../exec/frame.ts";
import type { Reader } from "../graph/reader.ts";
import type { Limits } from "../model/limits.ts";
import { makeFreeBudget, type RequestBudget } from "../model/request-budget.ts";
import type { Plan } from "../plan/plan.ts";

interface RunOptions {
  /** Of the request; undefined: the server asks for itself. */
  readonly budget?: RequestBudget | undefined;
  /** Literals in place of the plan's own, by slot. */
  readonly texts?: readonly string[] | undefined;
}

/** A plan that ran. */
export interface Ran {
  readonly plan: Plan;
  readonly result: ExecutionResult;
}

export interface Runner {
  runPlan(reader: Reader, plan: Plan, options?: RunOptions): Promise<Ran>;
  /** What a run would do; reads statistics alone. */
  explainPlan(reader: Reader, plan: Plan, options?: RunOptions): Promise<PlanReport>;
  /** Runs a plan, and tells what its steps did. */
  profilePlan(reader: Reader, plan: Plan, options?: RunOptions): Promise<Profiled>;
  /** Long requests of the process, whoever runs them, take turns here. */
  readonly scheduler: FairScheduler;
}

interface Profiled extends Ran {
  readonly report: PlanReport;
}

export function makeRunner(clock: Clock, limits: Limits): Runner {
  const scheduler = makeFairScheduler(clock);
  // What the server asks for itself, it needs.
  const ownLimits: Limits = { ...limits, queryCostMax: 0 };
  const contextOf = (options: RunOptions): RunContext => ({
    clock,
    limits: options.budget === undefined ? ownLimits : limits,
    budget: options.budget ?? makeFreeBudget(clock),
    scheduler,
  });
  return {
    runPlan: async (reader, plan, options = {}) => ({
      plan,
      result: await execute(plan, options.texts, reader, contextOf(options)),
    }),
    explainPlan: (reader, plan, options = {}) =>
      explainPlan(plan, options.texts, reader, contextOf(options)),
    profilePlan: async (reader, plan, options = {}) => ({
      plan,
      ...(await profilePlan(plan, options.texts, reader, contextOf(options))),
    }),
    scheduler,
  };
}

/** Plan → columns: one run over one reader, for queries, upserts and guests. */
import type { Cancellation } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { execute } from "../exec/execute.ts";
import { makeTurns } from "../exec/turns.ts";
import type { ExecutionResult } from "../exec/frame.ts";
import type { Reader } from "../graph/reader.ts";
import type { Limits } from "../model/limits.ts";
import type { Plan } from "../plan/plan.ts";

export interface RunOptions {
  /** On the clock's tick scale; Infinity for none. */
  readonly deadlineMs?: number;
  readonly signal?: Cancellation | undefined;
  /** Literals in place of the plan's own, by slot. */
  readonly texts?: readonly string[];
}

/** A plan that ran. */
export interface Ran {
  readonly plan: Plan;
  readonly result: ExecutionResult;
}

export interface Runner {
  runPlan(reader: Reader, plan: Plan, options?: RunOptions): Promise<Ran>;
}

export function makeRunner(clock: Clock, limits: Limits): Runner {
  const turns = makeTurns();
  const runPlan = async (reader: Reader, plan: Plan, options: RunOptions = {}): Promise<Ran> => ({
    plan,
    result: await execute(plan, options.texts, reader, {
      clock,
      limits,
      deadlineMs: options.deadlineMs ?? Infinity,
      signal: options.signal,
      turns,
    }),
  });
  return { runPlan };
}

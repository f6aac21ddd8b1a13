import type { Reader } from "../graph/reader.ts";
import type { Plan } from "../plan/plan.ts";
import { bindNumbers, findHugeUids } from "./bind.ts";
import { estimatePlan } from "../optimizer/estimate.ts";
import { checkCost } from "../optimizer/query-cost.ts";
import { estimatedOf } from "./estimated.ts";
import { runBlock } from "./block.ts";
import type { BlockResult, ExecutionResult } from "./frame.ts";
import { observePlan } from "./observed-plan.ts";
import { Profiler } from "./profile.ts";
import type { RequestObserver } from "../model/request-observer.ts";
import { makeYielder } from "./yielder.ts";
import { emptyVariable, type Run, type RunContext } from "./run.ts";

/**
 * Runs a plan: blocks one after another in the order of their dependencies. `texts[i]` is the literal of
 * `plan.slots[i]`; the plan's own literals where it is undefined. `reader` must stand at the plan's schema version.
 * Throws Fault E_QUERY, E_LIMIT, E_DEADLINE or E_CANCELLED.
 */
export async function execute(
  plan: Plan,
  texts: readonly string[] | undefined,
  reader: Reader,
  context: RunContext,
): Promise<ExecutionResult> {
  const { observer } = context.budget;
  if (observer !== undefined && context.profiler === undefined) {
    return runObserved(plan, texts, reader, { context, observer });
  }
  try {
    const run = makeRun(plan, texts, reader, context);
    const { queryCostMax } = context.limits;
    // A profile tells of the run alone.
    if (queryCostMax > 0) await refuseCostly({ ...run, reader }, queryCostMax);
    const blocks: (BlockResult | undefined)[] = plan.blocks.map(() => undefined);
    for (const b of plan.schedule) {
      const block = plan.blocks[b];
      if (block !== undefined) blocks[b] = await runBlock(run, block);
    }
    // Short runs never ask their yielder: a deadline that has passed by now counts all the same.
    context.budget.check();
    return {
      blocks: blocks.filter((block) => block !== undefined),
      variables: run.variables.map((variable) => variable ?? emptyVariable),
      hugeUids: findHugeUids(run),
      numUids: run.numUids,
    };
  } finally {
    context.scheduler?.end(context.budget);
  }
}

/** As `execute`; the observer is told of it, also when it fails. */
async function runObserved(
  plan: Plan,
  texts: readonly string[] | undefined,
  reader: Reader,
  { context, observer }: { readonly context: RunContext; readonly observer: RequestObserver },
): Promise<ExecutionResult> {
  const profiler = new Profiler(context.clock);
  const startMs = context.clock.tickMs();
  try {
    return await execute(plan, texts, reader, { ...context, profiler });
  } finally {
    const endMs = context.clock.tickMs();
    observer.addPlan(observePlan(plan, profiler, { startMs, endMs }));
  }
}

/** Throws Fault E_LIMIT. Price: that of `estimatePlan`, which reads heads of lists and a few records. */
async function refuseCostly(run: Run, costMax: number): Promise<void> {
  const { cost } = await estimatePlan(estimatedOf(run));
  checkCost(cost, costMax);
}

/** A run before its first block. Throws Fault E_QUERY for numbers that are none. */
export function makeRun(
  plan: Plan,
  texts: readonly string[] | undefined,
  reader: Reader,
  context: RunContext,
): Run {
  const { clock, profiler } = context;
  const bound = texts ?? plan.slots.map((slot) => slot.literal.text);
  return {
    plan,
    texts: bound,
    numbers: bindNumbers(plan, bound),
    reader: profiler === undefined ? reader : profiler.watch(reader),
    yielder: makeYielder(context),
    budget: context.budget,
    limits: context.limits,
    clock,
    variables: plan.variables.map(() => undefined),
    numUids: new Map(),
    bound: new Map(),
    work: { regexpCharacters: 0 },
    profiler,
  };
}

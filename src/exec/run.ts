import { must } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import type { Reader } from "../graph/reader.ts";
import { Fault } from "../model/fault.ts";
import type { Limits } from "../model/limits.ts";
import type { RequestBudget } from "../model/request-budget.ts";
import type { Value } from "../model/value.ts";
import type { CallPlan, Plan, PredicateUse, PlanRefusal, SlotIndex } from "../plan/plan.ts";
import type { ValueColumn, VariableResult } from "./frame.ts";
import type { Yielder } from "./yielder.ts";
import type { Profiler } from "./profile.ts";
import type { FairScheduler } from "./fair-scheduler.ts";

/** What the engine gives beside plan and literals. */
export interface RunContext {
  readonly clock: Clock;
  readonly limits: Limits;
  /** Of the request: its time, its work, its memory. */
  readonly budget: RequestBudget;
  /** Shared by the requests of a process, so that few long ones run at a time. */
  readonly scheduler?: FairScheduler | undefined;
  /** Told what each step does; undefined: nobody asks. */
  readonly profiler?: Profiler | undefined;
}

/** One run of a plan: what all its steps share. */
export interface Run {
  readonly plan: Plan;
  /** The literal of each slot. */
  readonly texts: readonly string[];
  /** Slots of kinds first, offset, after and uid as numbers; NaN for the others. */
  readonly numbers: Float64Array;
  readonly reader: Reader;
  readonly yielder: Yielder;
  readonly budget: RequestBudget;
  readonly limits: Limits;
  readonly clock: Clock;
  /** Filled block by block; undefined until the block that defines it is done. */
  readonly variables: (VariableResult | undefined)[];
  readonly numUids: Map<string, number>;
  /** What a function's arguments became, where that costs much: by its place in the plan. */
  readonly bound: Map<CallPlan, unknown>;
  /** What of the limits is used up, beside what one operator counts for itself. */
  readonly work: { regexpCharacters: number };
  /** Asked at the beginning and the end of a step, never for a row. */
  readonly profiler: Profiler | undefined;
}

/** `metrics.num_uids`: how many source uids a predicate was evaluated for. */
export function countUids(run: Run, use: PredicateUse | undefined, uidCount: number): void {
  const name = use === undefined ? "" : (use.reverse ? "~" : "") + use.name;
  run.numUids.set(name, (run.numUids.get(name) ?? 0) + uidCount);
}

export function slotText(run: Run, slot: SlotIndex): string {
  const text = run.texts[slot];
  if (text === undefined) throw new Fault("E_QUERY", "a literal of the query is missing");
  return text;
}

export function slotNumber(run: Run, slot: SlotIndex): number {
  return must(run.numbers[slot], "each slot has its number");
}

export function queryFault(message: string): Fault {
  return new Fault("E_QUERY", message);
}

/** Raises a refusal of the plan with this run's literals in its text. */
export function raiseRefusal(run: Run, refusal: PlanRefusal): never {
  const words = refusal.parts.map((part) =>
    typeof part === "string" ? part : slotText(run, part),
  );
  const text = refusal.text
    .replace("%s", () => `[${words.join(" ")}]`)
    .replace("%c", () => words.map((word) => ` args:${JSON.stringify(word)}`).join(""));
  throw queryFault(text);
}

const emptyColumn: ValueColumn = { uids: new Float64Array(0), values: [] };

export const emptyVariable: VariableResult = {
  uids: new Float64Array(0),
  path: undefined,
  values: undefined,
  constant: undefined,
};

/** A variable's result; empty while its block has not run (a block may mention its own variables). */
export function variableOf(run: Run, variable: number): VariableResult {
  return run.variables[variable] ?? emptyVariable;
}

/** Values of a variable by node; empty for uid variables. */
export function valuesOf(run: Run, variable: number): ValueColumn {
  return variableOf(run, variable).values ?? emptyColumn;
}

export function constantOf(run: Run, variable: number): Value | undefined {
  return variableOf(run, variable).constant;
}

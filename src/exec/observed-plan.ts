/** What is told of a plan that ran under a request's observer: its steps, without the literals, and their times. */
import { describePlan, type PlanLine } from "../plan/print.ts";
import type { Plan } from "../plan/plan.ts";
import type { ObservedPlan, RequestSpan } from "../model/request-observer.ts";
import { functionTable } from "./functions.ts";
import type { Measure, Profiler } from "./profile.ts";

export function observePlan(
  plan: Plan,
  profiler: Profiler,
  { startMs, endMs }: Pick<ObservedPlan, "startMs" | "endMs">,
): ObservedPlan {
  return {
    startMs,
    endMs,
    print: () =>
      describePlan(plan, functionTable)
        .map((line) => printLine(line, profiler, 0))
        .join(""),
    spans: () => describePlan(plan, functionTable).flatMap((line) => spansOf(line, profiler)),
  };
}

function measureOf(line: PlanLine, profiler: Profiler): ReturnType<Profiler["measureOf"]> {
  for (const part of line.of) {
    const measure = profiler.measureOf(part);
    if (measure !== undefined) return measure;
  }
  return undefined;
}

function printLine(line: PlanLine, profiler: Profiler, depth: number): string {
  const measure = measureOf(line, profiler);
  const told = measure === undefined ? "" : `  ${measure.out} in ${measure.ms.toFixed(1)} ms`;
  const own = `${"  ".repeat(depth)}${line.text}${told}\n`;
  return own + line.lines.map((inner) => printLine(inner, profiler, depth + 1)).join("");
}

/** Steps that were not timed are left out, those inside them are not. A step that ran in parts is told as one stretch. */
function spansOf(line: PlanLine, profiler: Profiler): RequestSpan[] {
  const measure = measureOf(line, profiler);
  const inside = line.lines.flatMap((inner) => spansOf(inner, profiler));
  if (measure === undefined || measure.times === 0) return inside;
  const { startMs, ms, out, times, reads, store } = measure;
  const attributes = {
    "weft.step": line.text,
    "weft.out": out,
    "weft.times": times,
    "weft.records": reads.records,
    "weft.lists": reads.lists,
  };
  const spans = store.reads === 0 ? inside : [storeSpan(measure), ...inside];
  return [{ name: line.step, startMs, endMs: startMs + ms, attributes, spans }];
}

/** Reads that came one after another are told as one stretch. */
function storeSpan({ store, reads }: Measure): RequestSpan {
  const attributes = {
    "weft.reads": store.reads,
    "weft.records": reads.records,
    "weft.lists": reads.lists,
    "weft.tokens": reads.tokens,
  };
  return { name: "store", startMs: store.startMs, endMs: store.startMs + store.ms, attributes };
}

/**
 * EXPLAIN and PROFILE: a plan with what its steps were expected to give and, where it was run, with what they gave.
 * Explaining reads statistics alone (`optimizer/estimate.ts`); profiling reads them too and then runs the plan once.
 */
import type { Reader } from "../graph/reader.ts";
import type { Plan } from "../plan/plan.ts";
import { describePlan, type PlanLine, type StepKind } from "../plan/print.ts";
import { estimatePlan, type Estimates } from "../optimizer/estimate.ts";
import { costOf, type Reads } from "../optimizer/query-cost.ts";
import { estimatedOf } from "./estimated.ts";
import { execute, makeRun } from "./execute.ts";
import { functionTable } from "./functions.ts";
import type { ExecutionResult } from "./frame.ts";
import { Profiler } from "./profile.ts";
import type { RunContext } from "./run.ts";

/** A step of a plan. Numbers that are not known are absent. */
export interface PlanStep {
  readonly step: StepKind;
  readonly text: string;
  /** Nodes (for edge fields: edges) that it was expected to give. */
  readonly estimated?: number;
  /** Nodes or edges that it was given. */
  readonly in?: number;
  readonly out?: number;
  /** How often it ran: batches, frames of a recursion. */
  readonly times?: number;
  /** With the steps inside it. */
  readonly ms?: number;
  /** Without the steps inside it. */
  readonly reads?: Reads;
  readonly notes?: readonly string[];
  readonly steps?: readonly PlanStep[];
}

export interface PlanReport {
  readonly kind: "explain" | "profile";
  /** Of the run, without parsing and writing. */
  readonly ms?: number;
  /** What it is expected to cost, in records (`optimizer/query-cost.ts`). Absent where there is no plan. */
  readonly cost?: number;
  /** What the run cost by what it read. */
  readonly costRead?: number;
  /** Where there is no plan: why. */
  readonly note?: string;
  readonly steps: readonly PlanStep[];
}

/** What would be done. Throws Fault E_QUERY for literals that no number can be made of. */
export async function explainPlan(
  plan: Plan,
  texts: readonly string[] | undefined,
  reader: Reader,
  context: RunContext,
): Promise<PlanReport> {
  const run = makeRun(plan, texts, reader, context);
  const estimates = await estimatePlan(estimatedOf(run));
  const steps = describePlan(plan, functionTable, run.texts).map((line) =>
    toStep(line, estimates, undefined),
  );
  return { kind: "explain", cost: estimates.cost, steps };
}

/** Runs a plan as `execute` does, and tells what was done. */
export async function profilePlan(
  plan: Plan,
  texts: readonly string[] | undefined,
  reader: Reader,
  context: RunContext,
): Promise<{ readonly result: ExecutionResult; readonly report: PlanReport }> {
  const run = makeRun(plan, texts, reader, context);
  const estimates = await estimatePlan(estimatedOf(run));
  const profiler = new Profiler(context.clock);
  const startMs = context.clock.tickMs();
  const result = await execute(plan, run.texts, reader, { ...context, profiler });
  const ms = round(context.clock.tickMs() - startMs);
  const steps = describePlan(plan, functionTable, run.texts).map((line) =>
    toStep(line, estimates, profiler),
  );
  const costRead = costOf(profiler.total());
  return { result, report: { kind: "profile", ms, cost: estimates.cost, costRead, steps } };
}

function toStep(line: PlanLine, estimates: Estimates, profiler: Profiler | undefined): PlanStep {
  const { step, text, of } = line;
  let estimated: number | undefined;
  for (const part of of) estimated ??= estimates.counts.get(part);
  return {
    step,
    text,
    ...(estimated === undefined ? {} : { estimated }),
    ...(profiler === undefined ? {} : measured(of, profiler)),
    ...(line.lines.length === 0
      ? {}
      : {
          steps: inOrder(line, estimates, profiler).map((inner) =>
            toStep(inner, estimates, profiler),
          ),
        }),
  };
}

/** What stands below a line; the parts of an AND as they were asked, or would be. */
function inOrder(
  line: PlanLine,
  estimates: Estimates,
  profiler: Profiler | undefined,
): readonly PlanLine[] {
  let order: readonly object[] | undefined;
  for (const part of line.of) order ??= profiler?.orderOf(part);
  for (const part of line.of) order ??= estimates.orders.get(part);
  if (order === undefined) return line.lines;
  const placeOf = (inner: PlanLine): number => {
    const place = order.findIndex((part) => inner.of.includes(part));
    return place < 0 ? order.length : place;
  };
  return [...line.lines].sort((a, b) => placeOf(a) - placeOf(b));
}

function measured(of: readonly object[], profiler: Profiler): Partial<PlanStep> {
  for (const part of of) {
    const measure = profiler.measureOf(part);
    if (measure === undefined) continue;
    const { reads, notes } = measure;
    const hasRead = reads.records + reads.lists + reads.tokens + reads.uids > 0;
    return {
      ...(measure.in === undefined ? {} : { in: measure.in }),
      out: measure.out,
      times: measure.times,
      ms: round(measure.ms),
      ...(hasRead ? { reads: { ...reads } } : {}),
      ...(notes.size === 0 ? {} : { notes: [...notes] }),
    };
  }
  return {};
}

/** Milliseconds to a microsecond. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** The JSON of a report: an object, or the string of its table. */
export function encodeReport(report: PlanReport, form: "json" | "text"): string {
  return JSON.stringify(form === "text" ? printReport(report) : report);
}

interface ReportStyle {
  /** Whether times are told; without them a report of the same data is the same text. */
  readonly times: boolean;
}

/** A report as a table for people: a line for each step, its numbers beside it. */
export function printReport(report: PlanReport, style: ReportStyle = { times: true }): string {
  if (report.note !== undefined) return `${report.note}\n`;
  const rows: Row[] = [];
  for (const step of report.steps) addRows(rows, step, 0);
  const columns = columnsOf(report, style);
  const table = [["step", ...columns.map(({ name }) => name)]];
  for (const { text, step } of rows) {
    table.push([text, ...columns.map(({ cell }) => cell(step))]);
  }
  const widths =
    table[0]?.map((_, c) => Math.max(...table.map((row) => row[c]?.length ?? 0))) ?? [];
  const lines = table.map((row, i) => {
    const notes = i === 0 ? "" : (rows[i - 1]?.step.notes ?? []).join("; ");
    const cells = row.map((cell, c) =>
      c === 0 ? cell.padEnd(widths[c] ?? 0) : cell.padStart(widths[c] ?? 0),
    );
    return [...cells, notes].join("  ").trimEnd();
  });
  const total = style.times && report.ms !== undefined ? `run in ${report.ms.toFixed(3)} ms\n` : "";
  return `${lines.join("\n")}\n${costLine(report)}${total}`;
}

function costLine({ cost, costRead }: PlanReport): string {
  if (cost === undefined) return "";
  return `cost ${cost}${costRead === undefined ? "" : ` expected, ${costRead} read`}\n`;
}

interface Row {
  readonly text: string;
  readonly step: PlanStep;
}

interface TableColumn {
  readonly name: string;
  readonly cell: (step: PlanStep) => string;
}

function addRows(rows: Row[], step: PlanStep, depth: number): void {
  rows.push({ text: "  ".repeat(depth) + step.text, step });
  for (const inner of step.steps ?? []) addRows(rows, inner, depth + 1);
}

function columnsOf(report: PlanReport, style: ReportStyle): readonly TableColumn[] {
  const number = (value: number | undefined): string => (value === undefined ? "" : String(value));
  const estimated = { name: "estimated", cell: (step: PlanStep) => number(step.estimated) };
  if (report.kind === "explain") return [estimated];
  return [
    estimated,
    { name: "in", cell: (step) => number(step.in) },
    { name: "out", cell: (step) => number(step.out) },
    { name: "times", cell: (step) => number(step.times) },
    ...(style.times ? [{ name: "ms", cell: (step: PlanStep) => step.ms?.toFixed(3) ?? "" }] : []),
    ...(["records", "lists", "tokens", "uids"] as const).map((name) => ({
      name,
      cell: (step: PlanStep) => number(step.reads?.[name] === 0 ? undefined : step.reads?.[name]),
    })),
  ];
}

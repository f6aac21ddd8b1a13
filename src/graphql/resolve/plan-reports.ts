/** EXPLAIN and PROFILE of a request: a report for each root field. */
import type { ExplainOptions } from "../../engine/explain-options.ts";
import { printReport } from "../../exec/explain.ts";
import type { PlanReport } from "../../exec/explain.ts";

/** JSON: an object by the keys of the root fields, or one string with a table for each. */
export function encodeReports(
  reports: ReadonlyMap<string, PlanReport>,
  form: ExplainOptions["form"],
): string {
  if (form === "json") return JSON.stringify(Object.fromEntries(reports));
  const tables = [...reports].map(([key, report]) => `${key}\n${printReport(report)}`);
  return JSON.stringify(tables.join("\n"));
}

/** The answer to `explain`: nothing was run, so `data` is empty. */
export function writeExplanation(
  reports: ReadonlyMap<string, PlanReport>,
  form: ExplainOptions["form"],
): Uint8Array {
  const explain = encodeReports(reports, form);
  return new TextEncoder().encode(`{"data":{},"extensions":{"explain":${explain}}}`);
}

/** Of a root field that no plan answers. */
export function makeNote(kind: PlanReport["kind"], note: string): PlanReport {
  return { kind, note, steps: [] };
}

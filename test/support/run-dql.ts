/** A query from text to JSON over any Reader, without an engine around it. */
import { buildPlan, parseQuery } from "../../src/exec/dql.ts";
import { systemClock } from "../../src/base/clock.ts";
import { execute } from "../../src/exec/execute.ts";
import type { Reader } from "../../src/graph/reader.ts";
import { defaultLimits, type Limits } from "../../src/model/limits.ts";
import { makeFreeBudget } from "../../src/model/request-budget.ts";
import { renderDql } from "../../src/render/dql-json.ts";

export interface DqlRun {
  readonly debug?: boolean;
  readonly limits?: Limits;
  /** Literals in place of the text's own, by slot. */
  readonly texts?: readonly string[];
}

/** The text of `data`. */
export async function runDql(reader: Reader, text: string, run: DqlRun = {}): Promise<string> {
  const limits = run.limits ?? defaultLimits;
  const plan = buildPlan(parseQuery(text, new Map()), reader.schema);
  const result = await execute(plan, run.texts, reader, {
    clock: systemClock,
    limits,
    budget: makeFreeBudget(systemClock),
  });
  return Buffer.from(renderDql(plan, result, { limits, debug: run.debug ?? false })).toString();
}

/** The same, parsed. */
export async function queryDql(reader: Reader, text: string, run: DqlRun = {}): Promise<unknown> {
  return JSON.parse(await runDql(reader, text, run)) as unknown;
}

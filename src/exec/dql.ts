/** DQL with all of its functions: texts to trees, their shapes, and plans. */
import type { Filter, QueryDocument } from "../dql/ast.ts";
import {
  parseConditionText,
  parseQueryText,
  parseUpsertText,
  type ParseOptions,
  type UpsertText,
} from "../dql/parser.ts";
import { liftShape, type TextShape } from "../dql/shape.ts";
import type { Schema } from "../graph/schema.ts";
import { defaultLimits } from "../model/limits.ts";
import { planDocument } from "../plan/build.ts";
import type { Plan } from "../plan/plan.ts";
import { printPlanned } from "../plan/print.ts";
import { functionTable, syntaxes } from "./functions.ts";

type Limits = ParseOptions["limits"];

/** See `parseQueryText`. */
export function parseQuery(
  text: string,
  variables: ReadonlyMap<string, string>,
  limits: Limits = defaultLimits,
): QueryDocument {
  return parseQueryText(text, variables, { functions: syntaxes, limits });
}

/** See `parseUpsertText`. */
export function parseUpsertQuery(
  upsert: UpsertText,
  limits: Limits = defaultLimits,
): ReturnType<typeof parseUpsertText> {
  return parseUpsertText(upsert, { functions: syntaxes, limits });
}

/** See `parseConditionText`. */
export function parseCondition(
  condition: string,
  limits: Limits = defaultLimits,
): Filter | undefined {
  return parseConditionText(condition, { functions: syntaxes, limits });
}

/** See `liftShape`. */
export function lexShape(query: string): TextShape | undefined {
  return liftShape(query, syntaxes);
}

/** See `planDocument`. */
export function buildPlan(document: QueryDocument, schema: Schema): Plan {
  return planDocument(document, schema, functionTable);
}

/** See `printPlanned`. */
export function printPlan(plan: Plan): string {
  return printPlanned(plan, functionTable);
}

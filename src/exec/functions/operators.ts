/** The comparisons, which are told of values, counts, variables and their sizes alike. */
import type { FunctionSyntax } from "../../dql/functions.ts";
import type { CompareOperator } from "../../plan/plan.ts";
import { betweenShare, equalShare, filterPassShare } from "../costs.ts";

const syntax: FunctionSyntax = {
  subject: "predicate",
  literals: "values",
  atRoot: true,
  brackets: "values",
  takesLength: true,
};

export const operatorNames: Readonly<Record<CompareOperator, FunctionSyntax>> = {
  eq: syntax,
  le: syntax,
  lt: syntax,
  ge: syntax,
  gt: syntax,
  between: syntax,
};

/** A name of `operatorNames`. */
export function operatorOf(name: string): CompareOperator {
  return name as CompareOperator;
}

/** The share of nodes that passes where no list tells. */
export function shareOf(operator: CompareOperator): number {
  if (operator === "eq") return equalShare;
  return operator === "between" ? betweenShare : filterPassShare;
}

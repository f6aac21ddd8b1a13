/** The comparisons, which are told of values, counts, variables and their sizes alike. */
import type { FunctionSyntax } from "../../dql/functions.ts";
import type { CompareOperator } from "../../plan/plan.ts";
import type { Guess } from "../../optimizer/statistics.ts";

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

/** What is guessed of a comparison where no list tells. */
export function guessOf(operator: CompareOperator): Guess {
  if (operator === "eq") return "equal";
  return operator === "between" ? "between" : "condition";
}

import type { MathExpression } from "../dql/ast.ts";
import { addSlot, variableIndex, type Builder } from "./builder.ts";
import type { MathPlan } from "./plan.ts";
import { addMath } from "./variables.ts";

export function buildMath(builder: Builder, expression: MathExpression): MathPlan {
  switch (expression.kind) {
    case "constant":
      return { kind: "constant", slot: addSlot(builder, "number", expression.literal) };
    case "variable":
      return { kind: "variable", variable: variableIndex(builder, expression.name) };
    case "apply":
      return {
        kind: "apply",
        operator: expression.operator,
        operands: expression.operands.map((operand) => buildMath(builder, operand)),
      };
  }
}

/** The variables of an expression, each once, in the order of the text. */
export function mathVariables(builder: Builder, expression: MathExpression): readonly number[] {
  const names = new Set<string>();
  addMath(expression, names);
  return [...names].map((name) => variableIndex(builder, name));
}

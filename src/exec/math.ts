/** Evaluates math() over columns of values (reference/dql 4.10). Price: one pass for each operation; no reads. */
import { must } from "../base/assert.ts";
import { attempt } from "../model/conversion-error.ts";
import { parseGoFloat } from "../model/float.ts";
import { parseInt64 } from "../model/int.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import { isVectorText, parseVector } from "../model/vector.ts";
import type { MathPlan } from "../plan/plan.ts";
import type { ValueColumn } from "./frame.ts";
import {
  alignColumns,
  computeNumbers,
  emptyNumbers,
  makeMathColumn,
  negateOrRound,
  toValueColumn,
  valueAt,
  type MathColumn,
} from "./math-column.ts";
import { applyBinary, applyComparison, applyUnary, MathFailure } from "./math-value.ts";
import { queryFault, slotText, type Run } from "./run.ts";

interface MathInputs {
  /** The level's nodes, ascending: a result without any variable stands at each of them. */
  readonly uids: UidSet;
  /** The values of a variable as the level sees them. */
  readonly column: (variable: number) => ValueColumn;
  /** The one value of a variable that holds for all nodes; undefined for other variables. */
  readonly constant: (variable: number) => Value | undefined;
}

export interface MathResult {
  /** Ascending by uid; nodes for which a step failed are left out. Ints become floats beside floats. */
  readonly values: ValueColumn;
  /** Where the result is one value for all nodes. */
  readonly constant: Value | undefined;
}

/**
 * Literals that cannot be computed with are an error of the query; a failing value leaves its node out. A node that
 * one of two operands lacks counts as int 0 there; comparisons need both.
 */
export function evaluateMath(run: Run, plan: MathPlan, inputs: MathInputs): MathResult {
  const evaluation: Evaluation = { run, inputs, nowMs: run.clock.nowMs() };
  const result = evaluate(evaluation, plan);
  if (result.kind === "column")
    return { values: toValueColumn(result.column), constant: undefined };
  const values = Array.from(inputs.uids, () => result.value);
  return { values: { uids: inputs.uids, values }, constant: result.value };
}

interface Evaluation {
  readonly run: Run;
  readonly inputs: MathInputs;
  readonly nowMs: number;
}

type Operand =
  | { readonly kind: "constant"; readonly value: Value; readonly isLiteral: boolean }
  | { readonly kind: "column"; readonly column: MathColumn };

type Constant = Extract<Operand, { readonly kind: "constant" }>;

function columnOperand(column: MathColumn): Operand {
  return { kind: "column", column };
}

const nowhere: Operand = columnOperand(emptyNumbers);

const comparisons: ReadonlySet<string> = new Set(["<", ">", "<=", ">=", "==", "!="]);

function evaluate(evaluation: Evaluation, plan: MathPlan): Operand {
  if (plan.kind === "constant") {
    const text = slotText(evaluation.run, plan.slot);
    const isQuoted = evaluation.run.plan.slots[plan.slot]?.literal.quoted === true;
    return { kind: "constant", value: readConstant(text, isQuoted), isLiteral: true };
  }
  if (plan.kind === "variable") {
    const constant = evaluation.inputs.constant(plan.variable);
    if (constant !== undefined) return { kind: "constant", value: constant, isLiteral: false };
    return columnOperand(makeMathColumn(evaluation.inputs.column(plan.variable)));
  }
  const [first = nowhere, second = nowhere, third = nowhere] = plan.operands.map((operand) =>
    evaluate(evaluation, operand),
  );
  if (plan.operator === "cond") return choose(first, second, third);
  if (comparisons.has(plan.operator)) return compare(plan.operator, first, second);
  if (plan.operands.length === 1) return unary(evaluation, plan.operator, first);
  return binary(plan.operator, first, second);
}

/** Ints, then floats; query variables may be vectors, bools and texts too. */
function readConstant(text: string, isQuoted: boolean): Value {
  if (isQuoted) return { kind: "string", text };
  const int = attempt(() => parseInt64(text));
  if (int !== undefined) return { kind: "int", int };
  const float = attempt(() => parseGoFloat(text));
  if (float !== undefined) return { kind: "float", float };
  if (isVectorText(text)) return { kind: "float32vector", vector: parseVector(text) };
  if (text === "true" || text === "false") return { kind: "bool", bool: text === "true" };
  return { kind: "string", text };
}

/** undefined for a failed step of values that are not literals. */
function attemptStep(isLiteral: boolean, step: () => Value): Value | undefined {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof MathFailure)) throw error;
    if (isLiteral) throw queryFault(error.message);
    return undefined;
  }
}

function constantStep(isLiteral: boolean, step: () => Value): Operand {
  const value = attemptStep(isLiteral, step);
  return value === undefined ? nowhere : { kind: "constant", value, isLiteral };
}

function unary(evaluation: Evaluation, operator: string, operand: Operand): Operand {
  const { nowMs } = evaluation;
  if (operand.kind === "constant") {
    return constantStep(operand.isLiteral, () => applyUnary(operator, operand.value, nowMs));
  }
  const { column } = operand;
  const quick = negateOrRound(operator, column);
  if (quick !== undefined) return columnOperand(quick);
  return columnOperand(
    keepComputed(column.uids, (row) => {
      const value = valueAt(column, row);
      if (value === undefined) return undefined;
      return attemptStep(false, () => applyUnary(operator, value, nowMs));
    }),
  );
}

const missing: Value = { kind: "int", int: 0 };

function binary(operator: string, left: Operand, right: Operand): Operand {
  if (left.kind === "constant" && right.kind === "constant") {
    const isLiteral = left.isLiteral && right.isLiteral;
    return constantStep(isLiteral, () => applyBinary(operator, left.value, right.value));
  }
  const quick = computeNumbers(operator, sideOf(left), sideOf(right));
  if (quick !== undefined) return columnOperand(quick);
  const { uids, leftValue, rightValue } = alignColumns(sideOf(left), sideOf(right));
  return columnOperand(
    keepComputed(uids, (row) =>
      attemptStep(false, () =>
        applyBinary(operator, leftValue(row) ?? missing, rightValue(row) ?? missing),
      ),
    ),
  );
}

function sideOf(operand: Operand): Value | MathColumn {
  return operand.kind === "constant" ? operand.value : operand.column;
}

/** A literal on the left compares with nothing: there are no nodes to say it of. */
function compare(operator: string, left: Operand, right: Operand): Operand {
  if (left.kind === "constant") {
    if (left.isLiteral || right.kind === "column") return nowhere;
    return boolConstant(applyComparison(operator, left.value, right.value));
  }
  const { uids, leftValue, rightValue } = alignColumns(left.column, sideOf(right), "left");
  return columnOperand(
    keepComputed(uids, (row) => {
      const a = leftValue(row);
      const b = rightValue(row);
      if (a === undefined || b === undefined) return undefined;
      const holds = applyComparison(operator, a, b);
      return holds === undefined ? undefined : { kind: "bool", bool: holds };
    }),
  );
}

function boolConstant(bool: boolean | undefined): Operand {
  if (bool === undefined) return nowhere;
  return { kind: "constant", value: { kind: "bool", bool }, isLiteral: false };
}

/** cond(test, a, b): at the test's nodes; what the chosen side lacks is left out. */
function choose(test: Operand, whenTrue: Operand, whenFalse: Operand): Operand {
  if (test.kind === "constant") return chooseOnce(test, whenTrue, whenFalse);
  const { column } = test;
  const yes = alignColumns(column, sideOf(whenTrue), "left").rightValue;
  const no = alignColumns(column, sideOf(whenFalse), "left").rightValue;
  return columnOperand(
    keepComputed(column.uids, (row) => {
      const value = valueAt(column, row);
      if (value?.kind !== "bool") return undefined;
      return value.bool ? yes(row) : no(row);
    }),
  );
}

function chooseOnce(test: Constant, whenTrue: Operand, whenFalse: Operand): Operand {
  if (test.isLiteral) throw queryFault("Expected a value variable in cond but missing.");
  if (test.value.kind !== "bool") return nowhere;
  const chosen = test.value.bool ? whenTrue : whenFalse;
  return chosen.kind === "constant" ? { ...chosen, isLiteral: false } : chosen;
}

/** The rows for which there is a value. */
function keepComputed(uids: UidSet, compute: (row: number) => Value | undefined): MathColumn {
  const values: Value[] = [];
  const kept = new Float64Array(uids.length);
  for (let row = 0; row < uids.length; row++) {
    const value = compute(row);
    if (value === undefined) continue;
    kept[values.length] = must(uids[row], "each row has its node");
    values.push(value);
  }
  return makeMathColumn({ uids: kept.subarray(0, values.length), values });
}

/** `math(a + b * max(c, 2))` (reference/dql 4.10). */
import { attempt } from "../model/conversion-error.ts";
import { parseGoFloat } from "../model/float.ts";
import { parseInt64 } from "../model/int.ts";
import type { MathExpression } from "./ast.ts";
import type { Reading } from "./call-parser.ts";
import { type Cursor, failPlainly } from "./cursor.ts";
import { T } from "./token.ts";

/** The higher, the tighter. Minus binds tighter than plus, and no two comparisons bind alike. */
const precedence: ReadonlyMap<string, number> = new Map([
  ["(", 0],
  ["!=", 5],
  ["==", 6],
  [">=", 7],
  ["<=", 8],
  [">", 9],
  ["<", 10],
  ["+", 46],
  ["-", 47],
  ["%", 48],
  ["dot", 49],
  ["*", 50],
  ["/", 50],
  ["min", 84],
  ["max", 85],
  ["logbase", 88],
  ["pow", 89],
  ["cond", 90],
  ["sqrt", 98],
  ["ln", 99],
  ["exp", 100],
  ["since", 103],
  ["ceil", 104],
  ["floor", 105],
  ["u-", 500],
]);

const unary: ReadonlySet<string> = new Set(["exp", "ln", "u-", "sqrt", "floor", "ceil", "since"]);
const signs: ReadonlySet<string> = new Set(["*", "+", "-", "/", "%"]);

interface Operand {
  readonly expression: MathExpression;
  /** Of a constant written in the text; NaN for everything else. */
  readonly number: number;
  readonly depth: number;
}

interface Stacks {
  readonly operators: string[];
  readonly operands: Operand[];
}

/** Reads an expression with its round brackets; the opening one is next. */
export function parseMath(reading: Reading): MathExpression {
  const { cursor } = reading;
  if (cursor.take() !== T.leftRound) failPlainly("Expected ( after math");
  const { operand, isMore } = parseGroup(reading);
  if (isMore) cursor.failNext("Comma encountered in math() at unexpected place.");
  return operand.expression;
}

/** One expression up to a comma (`isMore`) or to the closing bracket. */
function parseGroup(reading: Reading): { operand: Operand; isMore: boolean } {
  const { cursor } = reading;
  const stacks: Stacks = { operators: ["("], operands: [] };
  cursor.enter();
  let isMore = false;
  while (stacks.operators.length > 0 && !cursor.isAtEnd) {
    if (cursor.peek() === T.comma) {
      cursor.take();
      while (topOf(stacks) !== "(") reduce(stacks);
      stacks.operators.pop();
      if (stacks.operators.length > 0) failPlainly("Invalid math expression.");
      isMore = true;
    } else {
      readToken(reading, stacks);
    }
  }
  cursor.leave();
  const [operand] = stacks.operands;
  if (operand === undefined && !isMore) failPlainly("Empty () not allowed in math block.");
  if (operand === undefined || stacks.operands.length !== 1) {
    failPlainly(`Expected one item in value stack, but got ${stacks.operands.length}`);
  }
  return { operand, isMore };
}

function readToken(reading: Reading, stacks: Stacks): void {
  const { cursor } = reading;
  const before = cursor.text();
  const kind = cursor.take();
  const word = cursor.text().toLowerCase();
  if (word !== "(" && word !== "u-" && precedence.has(word)) {
    pushOperator(stacks, toOperator(word, before));
    if (cursor.peek() === T.leftRound) parseOperands(reading, stacks);
    return;
  }
  switch (kind) {
    case T.name:
      if (cursor.peek() === T.leftRound) failPlainly(`Unknown math function: ${cursor.text()}`);
      stacks.operands.push(readConstant(cursor));
      return;
    case T.dollar: {
      if (cursor.take() !== T.name) cursor.fail("Expected variable name after $");
      const literal = reading.parameters.mathLiteral("$" + cursor.text());
      stacks.operands.push({ expression: { kind: "constant", literal }, number: NaN, depth: 1 });
      return;
    }
    case T.leftRound:
      cursor.enter();
      stacks.operators.push("(");
      return;
    case T.rightRound:
      while (topOf(stacks) !== "(") reduce(stacks);
      stacks.operators.pop();
      if (stacks.operators.length > 0) cursor.leave();
      return;
    default:
      failPlainly(`Unexpected item while parsing math expression: ${cursor.describe()}`);
  }
}

/** A minus behind a bracket, a comma or another sign stands for a negative. */
function toOperator(word: string, before: string): string {
  return word === "-" && (before === "(" || before === "," || signs.has(before)) ? "u-" : word;
}

function pushOperator(stacks: Stacks, operator: string): void {
  const own = precedence.get(operator) ?? 0;
  while ((precedence.get(topOf(stacks)) ?? 0) >= own && topOf(stacks) !== "(") reduce(stacks);
  stacks.operators.push(operator);
}

/** The operands in brackets behind a function, or behind an operator. */
function parseOperands(reading: Reading, stacks: Stacks): void {
  reading.cursor.take();
  for (;;) {
    const { operand, isMore } = parseGroup(reading);
    stacks.operands.push(operand);
    if (!isMore) return;
  }
}

/** A number, or else the name of a variable. */
function readConstant(cursor: Cursor): Operand {
  const text = cursor.text();
  const number = attempt(() => Number(parseInt64(text))) ?? attempt(() => parseGoFloat(text));
  if (number === undefined) {
    return { expression: { kind: "variable", name: text }, number: NaN, depth: 1 };
  }
  const literal = cursor.literal(text, false);
  return { expression: { kind: "constant", literal }, number, depth: 1 };
}

function topOf(stacks: Stacks): string {
  return stacks.operators[stacks.operators.length - 1] ?? "(";
}

function reduce(stacks: Stacks): void {
  const { operators, operands } = stacks;
  const operator = operators.pop() ?? "(";
  const arity = unary.has(operator) ? 1 : operator === "cond" ? 3 : 2;
  if (operands.length < arity) {
    failPlainly(
      arity === 1
        ? "Invalid math statement. Expected 1 operands"
        : `Invalid Math expression. Expected ${arity} operands`,
    );
  }
  const taken = operands.splice(operands.length - arity, arity);
  const last = taken[arity - 1];
  if (last !== undefined) checkDivisor(stacks, operator, last.number);
  const depth = 1 + Math.max(...taken.map((operand) => operand.depth));
  // A chain of operators nests as deep as it is long; what walks the tree does so by recursion.
  if (depth > 1000) failPlainly("Expected at most 1000 nested operations in math");
  const expression = {
    kind: "apply",
    operator,
    operands: taken.map((operand) => operand.expression),
  } as const;
  operands.push({ expression, number: NaN, depth });
}

/** A divisor that is zero in the text itself. */
function checkDivisor(stacks: Stacks, operator: string, number: number): void {
  if ((operator === "/" || operator === "%") && number === 0) failPlainly("Division by zero.");
  const outer = topOf(stacks);
  const isDivisor = stacks.operators.length > 1 && (outer === "/" || outer === "%");
  if (isDivisor && unary.has(operator) && isZeroResult(operator, number)) {
    failPlainly("Division by zero");
  }
}

function isZeroResult(operator: string, number: number): boolean {
  switch (operator) {
    case "floor":
      return number >= 0 && number < 1;
    case "ceil":
    case "sqrt":
    case "u-":
      return number === 0;
    case "ln":
      return number === 1;
    default:
      return false;
  }
}

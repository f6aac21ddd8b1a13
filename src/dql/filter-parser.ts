/** `@filter(a() AND NOT (b() OR c()))`: not binds tighter than and, and tighter than or (reference/dql 4.3.13). */
import type { Filter } from "./ast.ts";
import { parseCall, type Reading } from "./call-parser.ts";
import { failPlainly } from "./cursor.ts";
import { T } from "./token.ts";

type Operator = "(" | "or" | "and" | "not";

const precedence: Readonly<Record<Operator, number>> = { "(": 0, or: 1, and: 2, not: 3 };

/** Operators and operands that wait, as in any operator-precedence parser; what is left over decides the refusal. */
interface Stacks {
  readonly operators: Operator[];
  readonly operands: Filter[];
}

/** Reads a filter with its round brackets; undefined for `()`. */
export function parseFilter(reading: Reading): Filter | undefined {
  const { cursor } = reading;
  if (cursor.take() !== T.leftRound) cursor.fail("Expected ( after filter directive");
  const opening = cursor.index - 1;
  const stacks: Stacks = { operators: ["("], operands: [] };
  cursor.enter();
  while (stacks.operators.length > 0 && !cursor.isAtEnd) readToken(reading, stacks);
  cursor.leave();
  if (stacks.operators.length > 0) {
    cursor.fail("Unbalanced parentheses in @filter statement", opening);
  }
  const [filter, extra] = stacks.operands;
  if (extra !== undefined) {
    cursor.fail(`Expected one item in value stack, but got ${stacks.operands.length}`, opening);
  }
  return filter;
}

function readToken(reading: Reading, stacks: Stacks): void {
  const { cursor } = reading;
  const word = toOperator(cursor.peekText());
  if (word !== undefined) {
    cursor.take();
    while (precedence[topOf(stacks)] >= precedence[word]) reduce(stacks);
    stacks.operators.push(word);
    return;
  }
  switch (cursor.peek()) {
    case T.name:
      cursor.countCondition();
      stacks.operands.push({ kind: "call", call: parseCall(reading, false) });
      return;
    case T.leftRound:
      cursor.take();
      cursor.enter();
      stacks.operators.push("(");
      return;
    case T.rightRound:
      cursor.take();
      while (topOf(stacks) !== "(") reduce(stacks);
      stacks.operators.pop();
      if (stacks.operators.length > 0) cursor.leave();
      return;
    case T.leftCurl:
      return cursor.failNext("Unrecognized character inside a func: U+007B '{'");
    case T.rightCurl:
      return cursor.failNext("Unrecognized character inside a func: U+007D '}'");
    default:
      cursor.take();
      cursor.fail(`Unexpected item while parsing @filter: ${cursor.describe()}`);
  }
}

function toOperator(text: string): Operator | undefined {
  if (text.length < 2 || text.length > 3) return undefined;
  const word = text.toLowerCase();
  return word === "and" || word === "or" || word === "not" ? word : undefined;
}

function topOf(stacks: Stacks): Operator {
  return stacks.operators[stacks.operators.length - 1] ?? "(";
}

function reduce(stacks: Stacks): void {
  const { operands } = stacks;
  const operator = stacks.operators.pop();
  const right = operands.pop();
  if (right === undefined) failPlainly("Invalid filter statement");
  if (operator === "not") {
    operands.push({ kind: "not", filter: right });
    return;
  }
  const left = operands.pop();
  if (left === undefined) failPlainly("Invalid filter statement");
  operands.push(join(operator === "and" ? "and" : "or", left, right));
}

/** `a and b and c` is one list, so that the tree stays flat however long the chain is. */
function join(kind: "and" | "or", left: Filter, right: Filter): Filter {
  const open = left as { kind: string; filters?: Filter[] };
  if (left.kind === kind && open.filters !== undefined) {
    // The list was made here and nobody else has it yet: appending keeps long chains linear.
    open.filters.push(right);
    return left;
  }
  return { kind, filters: [left, right] };
}

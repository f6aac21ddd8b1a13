/** Which variables a request defines and which it uses; every one must be both (reference/dql 4.8). */
import type {
  Argument,
  Block,
  Field,
  Filter,
  FunctionCall,
  MathExpression,
  OrderKey,
} from "./ast.ts";
import { failPlainly } from "./cursor.ts";

interface VariableUse {
  readonly defined: string[];
  readonly used: string[];
}

export function collectVariables(blocks: readonly Block[]): VariableUse {
  const use: VariableUse = { defined: [], used: [] };
  for (const block of blocks) collectBlock(block, use);
  return use;
}

/** Collects what a filter uses, such as the condition of an upsert. */
export function collectFilter(filter: Filter, use: VariableUse): void {
  switch (filter.kind) {
    case "and":
    case "or":
      for (const part of filter.filters) collectFilter(part, use);
      return;
    case "not":
      return collectFilter(filter.filter, use);
    case "call":
      return collectCall(filter.call, use);
    case "edge":
      if (filter.filter !== undefined) collectFilter(filter.filter, use);
      return;
    case "constant":
  }
}

/** Refuses variables that are defined twice, not used, or not defined. */
export function checkDqlVariables(use: VariableUse): void {
  const defined = [...new Set(use.defined)].sort();
  const used = [...new Set(use.used)].sort();
  if (defined.length !== use.defined.length) {
    failPlainly("Some variables are declared multiple times.");
  }
  const lists = `\nDefined:[${defined.join(" ")}]\nUsed:[${used.join(" ")}]\n`;
  if (defined.length > used.length) {
    failPlainly(`Some variables are defined but not used${lists}`);
  }
  if (defined.length < used.length) {
    failPlainly(`Some variables are used but not defined${lists}`);
  }
  if (defined.some((name, i) => name !== used[i])) {
    failPlainly(`Variables are not used properly. ${lists}`);
  }
}

function collectBlock(block: Block, use: VariableUse): void {
  if (block.variable !== undefined) use.defined.push(block.variable);
  if (block.root !== undefined) collectCall(block.root, use);
  collectOrder(block.order, use);
  for (const field of block.children) collectField(field, use);
  if (block.filter !== undefined) collectFilter(block.filter, use);
  if (block.shortest?.from?.kind === "variable") use.used.push(block.shortest.from.name);
  if (block.shortest?.to?.kind === "variable") use.used.push(block.shortest.to.name);
}

function collectOrder(order: readonly OrderKey[], use: VariableUse): void {
  for (const { by } of order) if (by.kind === "val") use.used.push(by.variable);
}

function collectField(field: Field, use: VariableUse): void {
  if (field.kind === "val") {
    use.used.push(field.variable);
    return;
  }
  if (field.kind !== "expand" && field.variable !== undefined) use.defined.push(field.variable);
  switch (field.kind) {
    case "predicate":
      collectOrder(field.order, use);
      for (const facet of field.facets?.fields ?? []) {
        if (facet.variable !== undefined) use.defined.push(facet.variable);
      }
      if (field.filter !== undefined) collectFilter(field.filter, use);
      for (const child of field.children ?? []) collectField(child, use);
      return;
    case "count":
      if (field.filter !== undefined) collectFilter(field.filter, use);
      return;
    case "aggregate":
      if (field.of.kind === "val") use.used.push(field.of.variable);
      return;
    case "math":
      return collectMath(field.expression, use);
    case "expand":
      if (field.of.kind === "val") use.used.push(field.of.variable);
      if (field.filter !== undefined) collectFilter(field.filter, use);
      for (const child of field.children ?? []) collectField(child, use);
      return;
    case "uid":
    case "countUid":
    case "checkpwd":
  }
}

function collectMath(expression: MathExpression, use: VariableUse): void {
  if (expression.kind === "variable") use.used.push(expression.name);
  else if (expression.kind === "apply") {
    for (const operand of expression.operands) collectMath(operand, use);
  }
}

function collectCall(call: FunctionCall, use: VariableUse): void {
  const { subject } = call;
  if (subject.kind === "val" || subject.kind === "len") use.used.push(subject.variable);
  for (const argument of call.args) collectArgument(argument, use);
}

function collectArgument(argument: Argument, use: VariableUse): void {
  if (argument.kind === "val" || argument.kind === "uid") use.used.push(argument.variable);
}

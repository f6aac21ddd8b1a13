/** Query variables: who defines them, who uses them, and in which order blocks run (reference/dql 4.8). */
import type {
  Block,
  Field,
  Filter,
  FunctionCall,
  MathExpression,
  OrderKey,
  PredicateName,
  QueryDocument,
} from "../dql/ast.ts";
import { Heap } from "../base/heap.ts";
import { refusePlan } from "./builder.ts";

/** Names that a block defines, anywhere in it. */
export function definedNames(block: Block): ReadonlySet<string> {
  const names = new Set<string>();
  if (block.variable !== undefined) names.add(block.variable);
  for (const field of block.children) addDefined(field, names);
  return names;
}

function addDefined(field: Field, names: Set<string>): void {
  if (field.kind === "expand") {
    for (const child of field.children ?? []) addDefined(child, names);
    return;
  }
  if (field.kind !== "val" && field.variable !== undefined) names.add(field.variable);
  if (field.kind !== "predicate") return;
  for (const facet of field.facets?.fields ?? []) {
    if (facet.variable !== undefined) names.add(facet.variable);
  }
  for (const child of field.children ?? []) addDefined(child, names);
}

/** Value variables of predicates of which `isHidden` is true. */
export function hiddenNames(
  document: QueryDocument,
  isHidden: (name: PredicateName) => boolean,
): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (field: Field): void => {
    if (field.kind === "predicate" && field.variable !== undefined && isHidden(field.predicate)) {
      names.add(field.variable);
    }
    if ("children" in field) field.children?.forEach(look);
  };
  for (const block of document.blocks) block.children.forEach(look);
  return names;
}

/** Names that a block uses, anywhere in it. */
function usedNames(block: Block): ReadonlySet<string> {
  const names = new Set<string>();
  if (block.root !== undefined) addCall(block.root, names);
  if (block.filter !== undefined) addFilter(block.filter, names);
  addOrder(block.order, names);
  for (const end of [block.shortest?.from, block.shortest?.to]) {
    if (end?.kind === "variable") names.add(end.name);
  }
  for (const field of block.children) addField(field, names);
  return names;
}

function addOrder(order: readonly OrderKey[], names: Set<string>): void {
  for (const key of order) if (key.by.kind === "val") names.add(key.by.variable);
}

function addCall(call: FunctionCall, names: Set<string>): void {
  if (call.subject.kind === "val" || call.subject.kind === "len") names.add(call.subject.variable);
  for (const argument of call.args) {
    if (argument.kind === "val" || argument.kind === "uid") names.add(argument.variable);
  }
}

function addFilter(filter: Filter, names: Set<string>): void {
  switch (filter.kind) {
    case "and":
    case "or":
      for (const part of filter.filters) addFilter(part, names);
      return;
    case "not":
      addFilter(filter.filter, names);
      return;
    case "call":
      addCall(filter.call, names);
      return;
    case "edge":
      if (filter.filter !== undefined) addFilter(filter.filter, names);
      return;
    case "constant":
      return;
  }
}

function addField(field: Field, names: Set<string>): void {
  switch (field.kind) {
    case "predicate":
      if (field.filter !== undefined) addFilter(field.filter, names);
      addOrder(field.order, names);
      for (const child of field.children ?? []) addField(child, names);
      return;
    case "count":
      if (field.filter !== undefined) addFilter(field.filter, names);
      return;
    case "val":
      names.add(field.variable);
      return;
    case "aggregate":
      if (field.of.kind === "val") names.add(field.of.variable);
      return;
    case "math":
      addMath(field.expression, names);
      return;
    case "expand":
      if (field.of.kind === "val") names.add(field.of.variable);
      if (field.filter !== undefined) addFilter(field.filter, names);
      for (const child of field.children ?? []) addField(child, names);
      return;
    case "uid":
    case "countUid":
    case "checkpwd":
      return;
  }
}

export function addMath(expression: MathExpression, names: Set<string>): void {
  if (expression.kind === "variable") names.add(expression.name);
  if (expression.kind === "apply") for (const part of expression.operands) addMath(part, names);
}

/** Indexes of blocks such that each comes after those whose variables it uses; textual order where free. */
export function scheduleBlocks({ blocks }: QueryDocument): readonly number[] {
  const owners = new Map<string, number>();
  blocks.forEach((block, i) => {
    for (const name of definedNames(block)) if (!owners.has(name)) owners.set(name, i);
  });
  /** By block: who waits for it, and for how many it waits itself. */
  const waiting: number[][] = blocks.map(() => []);
  const open = blocks.map(() => 0);
  blocks.forEach((block, i) => {
    const needs = new Set<number>();
    for (const name of usedNames(block)) {
      const owner = owners.get(name);
      if (owner !== undefined && owner !== i) needs.add(owner);
    }
    open[i] = needs.size;
    for (const need of needs) waiting[need]?.push(i);
  });
  const ready = new Heap<number>((a, b) => a < b);
  open.forEach((count, i) => {
    if (count === 0) ready.push(i);
  });
  const schedule: number[] = [];
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    schedule.push(next);
    for (const i of waiting[next] ?? []) {
      const left = (open[i] ?? 0) - 1;
      open[i] = left;
      if (left === 0) ready.push(i);
    }
  }
  if (schedule.length < blocks.length) refusePlan("Query couldn't be executed");
  return schedule;
}

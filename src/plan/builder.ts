import { assert } from "../base/assert.ts";
import type { Argument, FunctionCall, Literal, PredicateName } from "../dql/ast.ts";
import type { Schema } from "../graph/schema.ts";
import { Fault } from "../model/fault.ts";
import type { CallPlanning } from "./functions.ts";
import type {
  CallPlan,
  PredicateUse,
  PlanRefusal,
  Slot,
  SlotIndex,
  SlotKind,
  VariablePlan,
} from "./plan.ts";

/** What the passes of a build share: the slots and variables found so far. */
export interface Builder {
  readonly schema: Schema;
  readonly functions: FunctionTable;
  readonly slots: Slot[];
  readonly variables: VariablePlan[];
  readonly variableByName: Map<string, number>;
  /** The next free level id. */
  levelCount: number;
  /** The block being built. */
  block: number;
  /** Uses of predicates that the sender may not read, so far. */
  hiddenCount: number;
  readonly isShortest: boolean;
}

/** Makes the plan of a call: of its own kind, `nothing` or `refused`. */
export type BuildCall = (builder: Builder, call: FunctionCall, atRoot: boolean) => CallPlan;

/** The functions of the language, as plans see them. */
export interface FunctionTable {
  /** By what a call's first argument is, and its name; undefined: there is no such function. */
  readonly find: (subject: FunctionCall["subject"]["kind"], name: string) => BuildCall | undefined;
  readonly of: (call: CallPlan) => CallPlanning;
}

export function makeBuilder(schema: Schema, functions: FunctionTable): Builder {
  return {
    schema,
    functions,
    slots: [],
    variables: [],
    variableByName: new Map(),
    levelCount: 0,
    block: 0,
    hiddenCount: 0,
    isShortest: false,
  };
}

export function addSlot(
  builder: Builder,
  kind: SlotKind,
  literal: Literal,
  where: Slot["where"] = "edge",
): SlotIndex {
  builder.slots.push({ kind, literal, where });
  return builder.slots.length - 1;
}

export function addOptionalSlot(
  builder: Builder,
  kind: SlotKind,
  literal: Literal | undefined,
  where: Slot["where"] = "edge",
): SlotIndex | undefined {
  return literal === undefined ? undefined : addSlot(builder, kind, literal, where);
}

/** The index of a variable in the plan. The parser has checked that each one used is defined. */
export function variableIndex(builder: Builder, name: string): number {
  const index = builder.variableByName.get(name);
  assert(index !== undefined, "a variable is defined before it is used in a plan");
  return index;
}

/** A predicate that may not be read is one that does not exist. */
export function resolvePredicate(builder: Builder, name: PredicateName): PredicateUse {
  if (name.name.length > nameUnitsMax) checkLength(name.name);
  const hidden = isHidden(builder, name);
  if (hidden) builder.hiddenCount++;
  return {
    name: name.name,
    reverse: name.reverse,
    languages: name.languages,
    predicate: hidden ? undefined : builder.schema.predicate(name.name),
  };
}

/** A name with so few UTF-16 units has at most 2^16 − 1 bytes. */
const nameUnitsMax = 21_845;

/** The reference looks at names when it has read the text, before anything of the query is made ready. */
function checkLength(name: string): void {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length <= 65_535) return;
  const start = new TextDecoder().decode(bytes.subarray(0, 80));
  const message = `Predicate name length cannot be bigger than 2^16. Predicate: ${start}`;
  throw new Fault("E_DQL_SYNTAX", message);
}

/** Whether the sender may not read it; `~p` and `p` have rights of their own. */
export function isHidden({ schema }: Builder, { name, reverse }: PredicateName): boolean {
  return schema.access !== undefined && !schema.access.mayRead(reverse ? `~${name}` : name);
}

/** A name as the reference writes it in some of its messages: with the namespace in front. */
export function namespaced(builder: Builder, name: string): string {
  return `${builder.schema.namespace}-${name}`;
}

export function refusal(text: string, parts: PlanRefusal["parts"] = []): PlanRefusal {
  return { text, parts };
}

/** Ends the build at once: what is wrong does not depend on data. */
export function refusePlan(message: string): never {
  throw new Fault("E_QUERY", message);
}

/** Raised by the reference while it copies the tree, before anything is read. */
export function refuseTree(message: string): never {
  refusePlan(`while converting to subgraph: ${message}`);
}

/** The literals of an argument, in the order written; variables have none. */
export function literalsOf(argument: Argument): readonly Literal[] {
  switch (argument.kind) {
    case "literal":
      return [argument.literal];
    case "list":
      return argument.items;
    case "regex":
      return [argument.source];
    case "geo":
      return [argument.json];
    case "option":
      return [argument.value];
    case "val":
    case "uid":
      return [];
  }
}

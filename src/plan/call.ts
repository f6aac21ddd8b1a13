/**
 * Functions at roots and in filters, from the tree to their plans (reference/dql 2.5, 4.3): what all of them share. Each
 * one's own part is with the function, in `exec/functions`.
 */
import { assert } from "../base/assert.ts";
import { tokenizerOf } from "../tokens/tokenizers.ts";
import type { Argument, FunctionCall } from "../dql/ast.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import {
  addSlot,
  refusal,
  refuseTree,
  resolvePredicate,
  variableIndex,
  type Builder,
  literalsOf,
} from "./builder.ts";
import type {
  CallPlan,
  PredicateUse,
  PlanRefusal,
  SlotIndex,
  SlotKind,
  ValuesPlan,
} from "./plan.ts";

export function buildCall(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  const { kind } = call.subject;
  checkSubject(call.subject, atRoot);
  const build = builder.functions.find(kind, call.name);
  if (build !== undefined) return build(builder, call, atRoot);
  return refuseName(call, atRoot || (kind !== "predicate" && kind !== "none"));
}

/** Ends the build: there is no such function. */
export function refuseName(call: FunctionCall, atRoot: boolean): never {
  refuseTree(`${atRoot ? "" : "while copying filter: "}Invalid function name: ${call.name}`);
}

/** `uid` is no predicate. */
function checkSubject(subject: FunctionCall["subject"], atRoot: boolean): void {
  const predicate = subject.kind === "count" ? subject.predicate : subject;
  if (predicate.kind !== "predicate" || predicate.name !== "uid") return;
  refuseTree(`${atRoot ? "" : "while copying filter: "}Argument cannot be "uid"`);
}

/** The predicate that a call is about, itself or the number of its edges. */
export function resolveSubject(builder: Builder, { subject }: FunctionCall): PredicateUse {
  assert(subject.kind === "predicate" || subject.kind === "count", "a function of predicates");
  return resolvePredicate(builder, subject.kind === "count" ? subject.predicate : subject);
}

/** The variable that a call is about, its values or its size. */
export function subjectVariable(builder: Builder, { subject }: FunctionCall): number {
  assert(subject.kind === "val" || subject.kind === "len", "a function of variables");
  return variableIndex(builder, subject.variable);
}

/** What every function on a predicate is refused for after its own arguments were looked at. */
export function checkUse(use: PredicateUse): PlanRefusal | undefined {
  const predicate = use.predicate;
  if (predicate === undefined) return undefined;
  if (use.reverse && predicate.reverseIndex === undefined) {
    return refusal(`Predicate ${use.name} doesn't have reverse edge`);
  }
  if (use.languages.length > 0 && !predicate.definition.lang) return languageRefusal(use.name);
  return undefined;
}

export function languageRefusal(name: string): PlanRefusal {
  return refusal(
    "Language tags can only be used with predicates of string type having @lang directive in schema. " +
      `Got: [${name}]`,
  );
}

export function refused(use: PredicateUse, reason: PlanRefusal): CallPlan {
  return { kind: "refused", use, refusal: reason };
}

/** The ready index whose tokens are in the order of the values. */
export function pickSortable(indexes: readonly PredicateIndex[]): PredicateIndex | undefined {
  return indexes.find((index) => index.state === "ready" && tokenizerOf(index)?.sortable === true);
}

export function argumentCount(
  name: string,
  expected: number,
  parts: PlanRefusal["parts"],
): PlanRefusal {
  return refusal(
    `Function '${name}' requires ${expected} arguments, but got ${parts.length} (%s)`,
    parts,
  );
}

/** The ready index of one tokenizer. */
export function findIndex(use: PredicateUse, tokenizer: string): PredicateIndex | undefined {
  return use.predicate?.indexes.find(
    (index) => index.tokenizer === tokenizer && index.state === "ready",
  );
}

/** Arguments that are literals or the values of a variable. */
export function buildValues(
  builder: Builder,
  args: readonly Argument[],
  kind: SlotKind = "value",
): ValuesPlan {
  const variable = args.find((argument) => argument.kind === "val");
  return {
    slots: literalSlots(builder, kind, args),
    variable: variable === undefined ? undefined : variableIndex(builder, variable.variable),
  };
}

/** A slot for each literal of the arguments. */
export function literalSlots(
  builder: Builder,
  kind: SlotKind,
  args: readonly Argument[],
): readonly SlotIndex[] {
  return args.flatMap((argument) =>
    literalsOf(argument).map((literal) => addSlot(builder, kind, literal)),
  );
}

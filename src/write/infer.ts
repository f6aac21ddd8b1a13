/** Definitions for predicates that a mutation brings up first (reference/dql 2.9). */
import type { PredicateDefinition, PredicateKind } from "../model/definition.ts";
import { plainDefinition } from "../model/definition.ts";
import { Fault } from "../model/fault.ts";
import type { Mutation, NQuad } from "../model/nquad.ts";
import {
  internalNameSentence,
  isInternalName,
  isReservedName,
  reservedNameSentence,
} from "../graph/reserved.ts";
import type { Schema } from "../graph/schema.ts";

/** In the order in which they come up; deletes never make any. Names of the reserved part are refused. */
export function inferDefinitions(
  schema: Schema,
  mutations: readonly Pick<Mutation, "set" | "hints">[],
): readonly PredicateDefinition[] {
  const found = new Map<string, PredicateDefinition>();
  const hints = mergeHints(mutations);
  for (const { set } of mutations) {
    for (const fact of set) {
      const name = fact.predicate;
      if (found.has(name) || schema.predicate(name) !== undefined) continue;
      const kind = kindOf(fact);
      if (kind === undefined) continue;
      if (isInternalName(name)) {
        throw new Fault("E_MUTATION_FACTS", internalNameSentence(name));
      }
      if (isReservedName(name)) {
        throw new Fault("E_MUTATION_FACTS", reservedNameSentence("store", "predicate", name));
      }
      const hint = hints.get(name);
      const list = kind === "uid" ? hint !== "single" : canBeList(kind) && hint === "list";
      found.set(name, plainDefinition(name, kind, list));
    }
  }
  return [...found.values()];
}

/** Of all mutations of a request: what one of them shows as a list is one. */
function mergeHints(mutations: readonly Pick<Mutation, "hints">[]): Mutation["hints"] {
  const first = mutations[0];
  if (mutations.length === 1 && first !== undefined) return first.hints;
  const merged = new Map<string, "list" | "single">();
  for (const { hints } of mutations) {
    for (const [name, hint] of hints) if (merged.get(name) !== "list") merged.set(name, hint);
  }
  return merged;
}

function canBeList(kind: PredicateKind): boolean {
  return kind !== "password";
}

function kindOf(fact: NQuad): PredicateKind | undefined {
  switch (fact.object.kind) {
    case "node":
      return "uid";
    case "value":
      return fact.object.value.kind;
    case "val":
    case "star":
      return undefined;
  }
}

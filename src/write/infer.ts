/** Definitions for predicates that a mutation brings up first (dql.md 2.9). */
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
  for (const { set, hints } of mutations) {
    const repeated = findRepeated(schema, set);
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
      const list =
        kind === "uid"
          ? hint !== "single"
          : canBeList(kind) && (hint === "list" || repeated.has(name));
      found.set(name, plainDefinition(name, kind, list));
    }
  }
  return [...found.values()];
}

function canBeList(kind: PredicateKind): boolean {
  return kind !== "bool" && kind !== "password" && kind !== "float32vector";
}

/** Unknown predicates that one block gives a subject twice, untagged. */
function findRepeated(schema: Schema, set: readonly NQuad[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const fact of set) {
    if (schema.predicate(fact.predicate) !== undefined || fact.language !== "") continue;
    const { subject } = fact;
    const node =
      subject.kind === "uid"
        ? `u${subject.uid}`
        : subject.kind === "blank"
          ? `b${subject.label}`
          : `v${subject.name}`;
    const key = `${node} ${fact.predicate}`;
    if (seen.has(key)) repeated.add(fact.predicate);
    else seen.add(key);
  }
  return repeated;
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

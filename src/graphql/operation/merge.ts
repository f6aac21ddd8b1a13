/**
 * Which fields of one response name are not the same thing (GraphQL specification 5.3.2), told in pairs. Pairs are many:
 * this is asked only where `merge-check.ts` has found that there are any, and looks at so many and no more.
 */
import type { FieldNode, SelectionSetNode } from "graphql";
import type { FieldDefinition, NamedType } from "../schema/compiled-schema.ts";
import { printArguments, typesConflict } from "./merge-check.ts";
import type { Conflict } from "./merge-check.ts";
import { findType } from "./meta.ts";
import { findRequestField, namedTypeOf, rootTypeOf } from "./walk.ts";
import type { WalkState } from "./walk.ts";

interface Use {
  readonly node: FieldNode;
  readonly parent: NamedType | undefined;
  readonly definition: FieldDefinition | undefined;
}

const pairsMax = 200;
/** Reasons that one message joins. */
const reasonsMax = 50;

/** Fields that one operation's search for pairs may still look at. */
export interface PairBudget {
  left: number;
}

export const pairStepsMax = 100_000;

/**
 * Reports the conflicts within selection sets of one parent. `parent` is undefined for an operation's own set. Sets
 * deeper down are looked at for themselves; here they count only where two fields of this set meet.
 */
export function findConflicts(
  state: WalkState,
  sets: readonly SelectionSetNode[],
  parent: NamedType | undefined,
  budget: PairBudget,
  tell: (conflict: Conflict) => void,
): void {
  const operation = state.operation;
  const type =
    parent ?? (operation === undefined ? undefined : rootTypeOf(state.schema, operation));
  const search = { state, budget, open: new Set<string>() };
  const uses = collectUses(search, sets, type);
  for (const [name, list] of uses) {
    // Very many uses are compared with the first alone: all pairs would take a hostile document minutes.
    const firsts = list.length > pairsMax ? 1 : list.length;
    for (let i = 0; i < firsts; i++) {
      for (let j = i + 1; j < list.length && budget.left > 0; j++) {
        const a = list[i];
        const b = list[j];
        if (a === undefined || b === undefined || a.node === b.node) continue;
        const why = reasonOf(search, a, b, 0);
        if (why !== undefined) tell({ name, why, at: b.node });
      }
    }
  }
}

export function conflictMessage({ name, why }: Conflict): string {
  return `Fields "${name}" conflict because ${why}. Use different aliases on the fields to fetch both if this was intentional.`;
}

interface Search {
  readonly state: WalkState;
  readonly budget: PairBudget;
  /** The pairs under comparison, so that fragments in a circle come to an end. */
  readonly open: Set<string>;
}

function collectUses(
  { state, budget }: Search,
  sets: readonly SelectionSetNode[],
  parent: NamedType | undefined,
): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const spread = new Set<string>();
  const collect = (set: SelectionSetNode, type: NamedType | undefined): void => {
    budget.left -= set.selections.length;
    if (budget.left <= 0) return;
    for (const selection of set.selections) {
      if (selection.kind === "Field") {
        const name = selection.alias?.value ?? selection.name.value;
        const definition = findRequestField(state.schema, type, selection.name.value);
        const use = { node: selection, parent: type, definition };
        const list = uses.get(name);
        if (list === undefined) uses.set(name, [use]);
        else list.push(use);
      } else if (selection.kind === "InlineFragment") {
        const condition = selection.typeCondition?.name.value;
        const next = condition === undefined ? type : findType(state.schema, condition);
        collect(selection.selectionSet, next);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = state.fragments.get(selection.name.value);
        if (fragment === undefined) continue;
        const next = findType(state.schema, fragment.typeCondition.name.value);
        collect(fragment.selectionSet, next);
      }
    }
  };
  for (const set of sets) collect(set, parent);
  return uses;
}

function reasonOf(search: Search, a: Use, b: Use, depth: number): string | undefined {
  const { state, budget } = search;
  budget.left--;
  if (!areExclusive(a.parent, b.parent)) {
    if (a.node.name.value !== b.node.name.value) {
      return `${a.node.name.value} and ${b.node.name.value} are different fields`;
    }
    if (printArguments(state, a.node) !== printArguments(state, b.node)) {
      return "they have differing arguments";
    }
  }
  const typeA = a.definition?.type;
  const typeB = b.definition?.type;
  if (typeA !== undefined && typeB !== undefined && typesConflict(typeA, typeB)) {
    return `they return conflicting types ${typeA.text} and ${typeB.text}`;
  }
  return subReason(search, a, b, depth + 1);
}

function subReason(search: Search, a: Use, b: Use, depth: number): string | undefined {
  const { open, budget, state } = search;
  if (depth > state.meter.limits.depthMax) return undefined;
  const setA = a.node.selectionSet;
  const setB = b.node.selectionSet;
  if (setA === undefined || setB === undefined) return undefined;
  const pair = `${setA.loc?.start}-${setB.loc?.start}`;
  if (open.has(pair)) return undefined;
  open.add(pair);
  const inA = collectUses(search, [setA], a.definition && namedTypeOf(a.definition.type));
  const inB = collectUses(search, [setB], b.definition && namedTypeOf(b.definition.type));
  const reasons: string[] = [];
  for (const [name, listA] of inA) {
    for (const useA of listA) {
      for (const useB of inB.get(name) ?? []) {
        if (useA.node === useB.node) continue;
        if (budget.left <= 0 || reasons.length >= reasonsMax) return joinReasons(reasons);
        const why = reasonOf(search, useA, useB, depth);
        if (why !== undefined) reasons.push(`subfields "${name}" conflict because ${why}`);
      }
    }
  }
  return joinReasons(reasons);
}

function joinReasons(reasons: readonly string[]): string | undefined {
  return reasons.length === 0 ? undefined : reasons.join(" and ");
}

/** No object is of both types, so that only one of the two fields is ever answered. */
function areExclusive(a: NamedType | undefined, b: NamedType | undefined): boolean {
  return a !== b && a?.kind === "object" && b?.kind === "object";
}

/** Fields of one response name must be the same thing, however they were written (GraphQL specification 5.3.2). */
import type { ArgumentNode, FieldNode, SelectionSetNode } from "graphql";
import type { FieldDefinition, NamedType, TypeRef } from "./compiled-schema.ts";
import { findType } from "./request-meta.ts";
import { printValue } from "./request-parse.ts";
import { isComposite } from "./request-report.ts";
import type { Report } from "./request-report.ts";
import { findField, namedTypeOf, rootTypeOf } from "./request-walk.ts";
import type { WalkState } from "./request-walk.ts";

interface Use {
  readonly node: FieldNode;
  readonly parent: NamedType | undefined;
  readonly definition: FieldDefinition | undefined;
}

interface Conflict {
  readonly name: string;
  readonly why: string;
  readonly at: FieldNode;
}

const pairsMax = 200;

/**
 * Reports the conflicts within selection sets of one parent. `parent` is undefined for an operation's own set. Sets
 * deeper down are looked at for themselves; here they count only where two fields of this set meet.
 */
export function findConflicts(
  state: WalkState,
  sets: readonly SelectionSetNode[],
  parent: NamedType | undefined,
  report: Report,
): void {
  const operation = state.operation;
  const type =
    parent ?? (operation === undefined ? undefined : rootTypeOf(state.schema, operation));
  const uses = collectUses(state, sets, type);
  for (const conflict of conflictsOf(state, uses, new Set())) {
    report(
      `Fields "${conflict.name}" conflict because ${conflict.why}. Use different aliases on the fields to fetch both if this was intentional.`,
      conflict.at,
    );
  }
}

function collectUses(
  state: WalkState,
  sets: readonly SelectionSetNode[],
  parent: NamedType | undefined,
): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const spread = new Set<string>();
  const collect = (set: SelectionSetNode, type: NamedType | undefined): void => {
    for (const selection of set.selections) {
      if (selection.kind === "Field") {
        const name = selection.alias?.value ?? selection.name.value;
        const definition = findField(state.schema, type, selection.name.value);
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

/** `open` holds the pairs under comparison, so that fragments in a circle come to an end. */
function conflictsOf(
  state: WalkState,
  uses: ReadonlyMap<string, readonly Use[]>,
  open: Set<string>,
): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [name, list] of uses) {
    // Very many uses are compared with the first alone: all pairs would take a hostile document minutes.
    const firsts = list.length > pairsMax ? 1 : list.length;
    for (let i = 0; i < firsts; i++) {
      for (let j = i + 1; j < list.length; j++) {
        const a = list[i];
        const b = list[j];
        if (a === undefined || b === undefined || a.node === b.node) continue;
        const why = reasonOf(state, a, b, open);
        if (why !== undefined) conflicts.push({ name, why, at: b.node });
      }
    }
  }
  return conflicts;
}

function reasonOf(state: WalkState, a: Use, b: Use, open: Set<string>): string | undefined {
  if (!areExclusive(a.parent, b.parent)) {
    if (a.node.name.value !== b.node.name.value) {
      return `${a.node.name.value} and ${b.node.name.value} are different fields`;
    }
    if (!sameArguments(a.node.arguments ?? [], b.node.arguments ?? [])) {
      return "they have differing arguments";
    }
  }
  const typeA = a.definition?.type;
  const typeB = b.definition?.type;
  if (typeA !== undefined && typeB !== undefined && typesConflict(typeA, typeB)) {
    return `they return conflicting types ${typeA.text} and ${typeB.text}`;
  }
  return subReason(state, a, b, open);
}

function subReason(state: WalkState, a: Use, b: Use, open: Set<string>): string | undefined {
  const setA = a.node.selectionSet;
  const setB = b.node.selectionSet;
  if (setA === undefined || setB === undefined) return undefined;
  const pair = `${setA.loc?.start}-${setB.loc?.start}`;
  if (open.has(pair)) return undefined;
  open.add(pair);
  const inA = collectUses(state, [setA], a.definition && namedTypeOf(a.definition.type));
  const inB = collectUses(state, [setB], b.definition && namedTypeOf(b.definition.type));
  const reasons: string[] = [];
  for (const [name, listA] of inA) {
    for (const useA of listA) {
      for (const useB of inB.get(name) ?? []) {
        if (useA.node === useB.node) continue;
        const why = reasonOf(state, useA, useB, open);
        if (why !== undefined) reasons.push(`subfields "${name}" conflict because ${why}`);
      }
    }
  }
  return reasons.length === 0 ? undefined : reasons.join(" and ");
}

/** No object is of both types, so that only one of the two fields is ever answered. */
function areExclusive(a: NamedType | undefined, b: NamedType | undefined): boolean {
  return a !== b && a?.kind === "object" && b?.kind === "object";
}

function sameArguments(a: readonly ArgumentNode[], b: readonly ArgumentNode[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((left) => {
    const right = b.find((candidate) => candidate.name.value === left.name.value);
    return right !== undefined && printValue(left.value) === printValue(right.value);
  });
}

function typesConflict(a: TypeRef, b: TypeRef): boolean {
  if (a.nonNull !== b.nonNull || a.kind !== b.kind) return true;
  if (a.kind === "list") return b.kind !== "list" || typesConflict(a.element, b.element);
  if (b.kind === "list") return true;
  if (isComposite(a.type) && isComposite(b.type)) return false;
  return a.type.name !== b.type.name;
}

/**
 * Whether fields of one response name are the same thing throughout an operation, fragments included (GraphQL
 * specification 5.3.2). Fields are compared in groups, level by level, and not in pairs: within a group each is compared
 * with the first, which says the same, since being alike is an equivalence. A level that was looked at is not looked at
 * again. Which pairs are at odds is for `request-merge.ts` to tell.
 */
import type { FieldNode, OperationDefinitionNode, SelectionSetNode } from "graphql";
import type { FieldDefinition, NamedType, TypeRef } from "../schema/compiled-schema.ts";
import { findType } from "./meta.ts";
import { printValue } from "./parse.ts";
import { isComposite } from "./report.ts";
import { findRequestField, namedTypeOf, rootTypeOf } from "./walk.ts";
import type { WalkState } from "./walk.ts";

export interface Conflict {
  readonly name: string;
  readonly why: string;
  readonly at: FieldNode;
}

interface Use {
  readonly node: FieldNode;
  readonly parent: NamedType | undefined;
  readonly definition: FieldDefinition | undefined;
}

/** A selection set and the type that it is of. */
interface TypedSet {
  readonly set: SelectionSetNode;
  readonly type: NamedType | undefined;
}

type Uses = ReadonlyMap<string, readonly Use[]>;

/** The first conflict within an operation; undefined for none. Charges the walk's meter. */
export function findFirstConflict(
  state: WalkState,
  operation: OperationDefinitionNode,
): Conflict | undefined {
  const check = new MergeCheck(state);
  const root = { set: operation.selectionSet, type: rootTypeOf(state.schema, operation) };
  return check.shapes([root], 0) ?? check.parents([root], 0);
}

class MergeCheck {
  readonly #state: WalkState;
  readonly #numbers = new Map<SelectionSetNode, number>();
  readonly #shapesSeen = new Set<string>();
  readonly #parentsSeen = new Set<string>();

  constructor(state: WalkState) {
    this.#state = state;
  }

  /** All fields of one name have types that can stand in one place of the answer. */
  shapes(sets: readonly TypedSet[], depth: number): Conflict | undefined {
    if (!this.#isNew(sets, this.#shapesSeen, depth)) return undefined;
    for (const [name, uses] of this.#collect(sets)) {
      const first = uses.find((use) => use.definition !== undefined)?.definition?.type;
      if (first !== undefined) {
        for (const { definition, node } of uses) {
          if (definition === undefined || !typesConflict(first, definition.type)) continue;
          const types = `${first.text} and ${definition.type.text}`;
          return { name, why: `they return conflicting types ${types}`, at: node };
        }
      }
      const below = this.shapes(setsBelow(uses), depth + 1);
      if (below !== undefined) return below;
    }
    return undefined;
  }

  /** Fields of one name that can be asked of one object are one field with the same arguments. */
  parents(sets: readonly TypedSet[], depth: number): Conflict | undefined {
    if (!this.#isNew(sets, this.#parentsSeen, depth)) return undefined;
    for (const [name, uses] of this.#collect(sets)) {
      for (const group of groupByParent(uses)) {
        this.#state.meter.charge(group.length);
        const conflict = this.#differing(name, group) ?? this.parents(setsBelow(group), depth + 1);
        if (conflict !== undefined) return conflict;
      }
    }
    return undefined;
  }

  #differing(name: string, [first, ...others]: readonly Use[]): Conflict | undefined {
    if (first === undefined || others.length === 0) return undefined;
    const field = first.node.name.value;
    for (const { node } of others) {
      if (node === first.node) continue;
      if (node.name.value !== field) {
        return { name, why: `${field} and ${node.name.value} are different fields`, at: node };
      }
      if (printArguments(this.#state, node) !== printArguments(this.#state, first.node)) {
        return { name, why: "they have differing arguments", at: node };
      }
    }
    return undefined;
  }

  /** Levels are told apart by their sets. Circles of fragments, which are refused elsewhere, come to an end here. */
  #isNew(sets: readonly TypedSet[], seen: Set<string>, depth: number): boolean {
    if (sets.length === 0 || depth > this.#state.meter.limits.depthMax) return false;
    let key = "";
    for (const { set } of sets) {
      let number = this.#numbers.get(set);
      if (number === undefined) this.#numbers.set(set, (number = this.#numbers.size));
      key += `${number},`;
    }
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  }

  #collect(sets: readonly TypedSet[]): Uses {
    const { schema, fragments, meter } = this.#state;
    const uses = new Map<string, Use[]>();
    const spread = new Set<string>();
    const collect = (set: SelectionSetNode, type: NamedType | undefined): void => {
      meter.charge(set.selections.length);
      for (const selection of set.selections) {
        if (selection.kind === "Field") {
          const name = selection.alias?.value ?? selection.name.value;
          const definition = findRequestField(schema, type, selection.name.value);
          const use = { node: selection, parent: type, definition };
          const known = uses.get(name);
          if (known === undefined) uses.set(name, [use]);
          else known.push(use);
        } else if (selection.kind === "InlineFragment") {
          const condition = selection.typeCondition?.name.value;
          collect(
            selection.selectionSet,
            condition === undefined ? type : findType(schema, condition),
          );
        } else if (!spread.has(selection.name.value)) {
          spread.add(selection.name.value);
          const fragment = fragments.get(selection.name.value);
          if (fragment === undefined) continue;
          collect(fragment.selectionSet, findType(schema, fragment.typeCondition.name.value));
        }
      }
    };
    for (const { set, type } of sets) collect(set, type);
    return uses;
  }
}

/** No object is of two object types: the fields of each meet their like and those of abstract types alone. */
function groupByParent(uses: readonly Use[]): readonly (readonly Use[])[] {
  if (uses.length === 1) return [uses];
  const everywhere: Use[] = [];
  const byType = new Map<NamedType, Use[]>();
  for (const use of uses) {
    if (use.parent?.kind !== "object") everywhere.push(use);
    else {
      const known = byType.get(use.parent);
      if (known === undefined) byType.set(use.parent, [use]);
      else known.push(use);
    }
  }
  if (byType.size === 0) return [everywhere];
  if (everywhere.length === 0) return [...byType.values()];
  return Array.from(byType.values(), (own) => [...own, ...everywhere]);
}

function setsBelow(uses: readonly Use[]): TypedSet[] {
  const sets: TypedSet[] = [];
  for (const { node, definition } of uses) {
    if (node.selectionSet === undefined) continue;
    const type = definition === undefined ? undefined : namedTypeOf(definition.type);
    sets.push({ set: node.selectionSet, type });
  }
  return sets;
}

/** Equal for fields with equal arguments, in whatever order they were given. */
export function printArguments({ printed }: WalkState, node: FieldNode): string {
  const given = node.arguments ?? [];
  if (given.length === 0) return "";
  let text = printed.get(node);
  if (text === undefined) {
    const parts = given.map(({ name, value }) => `${name.value}:${printValue(value)}`);
    printed.set(node, (text = parts.sort().join()));
  }
  return text;
}

export function typesConflict(a: TypeRef, b: TypeRef): boolean {
  if (a.nonNull !== b.nonNull || a.kind !== b.kind) return true;
  if (a.kind === "list") return b.kind !== "list" || typesConflict(a.element, b.element);
  if (b.kind === "list") return true;
  if (isComposite(a.type) && isComposite(b.type)) return false;
  return a.type.name !== b.type.name;
}

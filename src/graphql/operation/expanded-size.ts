/**
 * How many fields an operation has once its fragments are in their places, without putting them there: what is asked of
 * one type by the same selection sets is counted once, however often it is met. Selections are made behind it, of which
 * each field takes a kilobyte.
 */
import type { OperationDefinitionNode, SelectionSetNode } from "graphql";
import type { CompositeType, NamedType, ObjectType } from "../schema/compiled-schema.ts";
import { DocumentMeter } from "./document-meter.ts";
import { collectFields, fieldIdentity, type PrepareContext } from "./prepare.ts";
import { isComposite } from "./report.ts";
import { findRequestField, namedTypeOf, rootTypeOf } from "./walk.ts";

/** Throws RequestRefused where `selectRoots` would, for a fraction of its work. */
export function checkExpandedSize(
  context: PrepareContext,
  operation: OperationDefinitionNode,
): void {
  // Without fragments a document is about as large as its text says.
  if (context.fragments.size === 0) return;
  const root = rootTypeOf(context.schema, operation);
  if (root?.kind !== "object") return;
  new SizeCount(context).selection(root, [operation.selectionSet]);
}

class SizeCount {
  readonly #context: PrepareContext;
  readonly #fieldsMax: number;
  readonly #numbers = new Map<SelectionSetNode, number>();
  readonly #sizes = new Map<string, number>();

  constructor(context: PrepareContext) {
    const { limits } = context.meter;
    // The steps of the count are not those of the work behind it.
    this.#context = { ...context, meter: new DocumentMeter(limits) };
    this.#fieldsMax = limits.documentFieldsMax;
  }

  /** Fields below a value of a type, at all levels. */
  selection(type: CompositeType, sets: readonly SelectionSetNode[]): number {
    const key = this.#keyOf(type, sets);
    const known = this.#sizes.get(key);
    if (known !== undefined) return known;
    const shared = new Set<string>();
    let size: number;
    if (type.kind === "object") size = this.#fields(type, type, sets, shared);
    else {
      size = this.#fields(type, undefined, sets, shared);
      for (const possible of type.kind === "interface" ? type.implementors : type.members) {
        size += this.#fields(type, possible, sets, shared);
      }
    }
    this.#sizes.set(key, size);
    return size;
  }

  /** Those that no sister type has. */
  #fields(
    parent: NamedType,
    type: ObjectType | undefined,
    sets: readonly SelectionSetNode[],
    shared: Set<string>,
  ): number {
    const { schema, ordinals, meter } = this.#context;
    let size = 0;
    for (const [key, { nodes }] of collectFields(this.#context, parent, type, sets)) {
      const [node] = nodes;
      if (node === undefined) continue;
      const definition = findRequestField(schema, type ?? parent, node.name.value);
      if (definition === undefined) continue;
      meter.charge(nodes.length);
      const identity = fieldIdentity(key, nodes, ordinals, definition);
      if (shared.has(identity)) continue;
      shared.add(identity);
      size += 1 + this.#below(namedTypeOf(definition.type), nodes);
      if (size > this.#fieldsMax) meter.chargeFields(size);
    }
    return size;
  }

  #below(
    type: NamedType,
    nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  ): number {
    if (!isComposite(type)) return 0;
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return this.selection(type, sets);
  }

  #keyOf(type: CompositeType, sets: readonly SelectionSetNode[]): string {
    let key = type.name;
    for (const set of sets) {
      let number = this.#numbers.get(set);
      if (number === undefined) this.#numbers.set(set, (number = this.#numbers.size));
      key += ` ${number}`;
    }
    return key;
  }
}

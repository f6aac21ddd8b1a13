/**
 * A valid operation, prepared for many requests: fields collected and merged (GraphQL specification 6.3.2) for each
 * type that they can meet, fragments and conditions resolved. Nothing here depends on literals or, but for the
 * booleans of @skip and @include, on variables.
 */
import type {
  DirectiveNode,
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
  ValueNode,
} from "graphql";
import { assert } from "../../base/assert.ts";
import { keyBytesOf } from "../../render/graphql-shape.ts";
import type {
  CompiledSchema,
  CompositeType,
  FieldDefinition,
  NamedType,
  ObjectType,
} from "../schema/compiled-schema.ts";
import type { DocumentMeter } from "./document-meter.ts";
import { findRequestField, namedTypeOf, rootTypeOf } from "./walk.ts";
import { findType } from "./meta.ts";
import { isComposite, possibleTypes } from "./report.ts";

/** One response name of one type: all its nodes merged. */
export interface SelectedField {
  readonly key: string;
  /** `"key":` as bytes. */
  readonly keyBytes: Uint8Array;
  readonly definition: FieldDefinition;
  /** Its first node: arguments and directives are the same in all. */
  readonly node: FieldNode;
  /** All nodes, for those who select by themselves (introspection). */
  readonly nodes: readonly FieldNode[];
  /** The number of the first node among the document's fields, for places in messages. */
  readonly ordinal: number;
  readonly selection: Selection | undefined;
  readonly cascade: DirectiveNode | undefined;
  /** The type of the selection set, or of the fragment, that its first node stands in. */
  readonly parent: NamedType;
}

/** What is asked of a value of a composite type. */
export interface Selection {
  readonly type: CompositeType;
  /** All fields asked of any type, each once. */
  readonly fields: readonly SelectedField[];
  /** By object type name, for abstract types whose object types are asked different things; undefined: `fields`. */
  readonly byType: ReadonlyMap<string, readonly SelectedField[]> | undefined;
  /** For nodes whose type is not known: what is asked of the abstract type itself. */
  readonly common: readonly SelectedField[];
}

/** The document's side of preparation, shared by the variants of its operations. */
export interface PrepareContext {
  readonly schema: CompiledSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly ordinals: ReadonlyMap<FieldNode, number>;
  /** Values of @skip's and @include's variables. */
  readonly booleans: ReadonlyMap<string, boolean>;
  /** Of each field that is selected, for each type that it is selected of. */
  readonly meter: DocumentMeter;
}

/** The root fields of an operation, in order. */
export function selectRoots(
  context: PrepareContext,
  operation: OperationDefinitionNode,
): readonly SelectedField[] {
  const root = rootTypeOf(context.schema, operation);
  assert(root?.kind === "object", "a valid operation has a root type");
  return fieldsFor(context, root, root, [operation.selectionSet], new Map());
}

/** The response names of an operation's root fields, where there is no schema to ask. */
export function selectKeys(document: DocumentNode, operation: OperationDefinitionNode): string[] {
  const fragments = fragmentsOf(document);
  const keys = new Set<string>();
  const spread = new Set<string>();
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === "Field") keys.add(selection.alias?.value ?? selection.name.value);
      else if (selection.kind === "InlineFragment") visit(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        visit(fragments.get(selection.name.value)?.selectionSet);
      }
    }
  };
  visit(operation.selectionSet);
  return [...keys];
}

/** Fields in textual order with their numbers. */
export function numberFields(document: DocumentNode): Map<FieldNode, number> {
  const ordinals = new Map<FieldNode, number>();
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === "Field") ordinals.set(selection, ordinals.size);
      if (selection.kind !== "FragmentSpread") visit(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) {
    if ("selectionSet" in definition) visit(definition.selectionSet);
  }
  return ordinals;
}

export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === "FragmentDefinition") {
      fragments.set(definition.name.value, definition);
    }
  }
  return fragments;
}

/** Names of the variables that decide about @skip and @include anywhere in the document. */
export function conditionVariables(document: DocumentNode): string[] {
  const names = new Set<string>();
  const note = (directives: readonly DirectiveNode[] | undefined): void => {
    for (const directive of directives ?? []) {
      const value = conditionValue(directive);
      if (value?.kind === "Variable") names.add(value.name.value);
    }
  };
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      note(selection.directives);
      if (selection.kind !== "FragmentSpread") visit(selection.selectionSet);
    }
  };
  for (const definition of document.definitions) {
    if ("selectionSet" in definition) visit(definition.selectionSet);
  }
  return [...names].sort();
}

function conditionValue(directive: DirectiveNode): ValueNode | undefined {
  if (directive.name.value !== "skip" && directive.name.value !== "include") return undefined;
  return directive.arguments?.find((argument) => argument.name.value === "if")?.value;
}

function isIncluded(
  context: PrepareContext,
  directives: readonly DirectiveNode[] | undefined,
): boolean {
  for (const directive of directives ?? []) {
    const value = conditionValue(directive);
    if (value === undefined) continue;
    const condition =
      value.kind === "Variable"
        ? context.booleans.get(value.name.value) === true
        : value.kind === "BooleanValue" && value.value;
    if (condition === (directive.name.value === "skip")) return false;
  }
  return true;
}

/** The nodes of one response name. */
interface Collected {
  readonly nodes: FieldNode[];
  readonly parent: NamedType;
}

/** The nodes of a type's fields by response name, in order; `type` undefined: only what all types share. */
export function collectFields(
  context: PrepareContext,
  parent: NamedType,
  type: ObjectType | undefined,
  sets: readonly SelectionSetNode[],
): Map<string, Collected> {
  const found = new Map<string, Collected>();
  const spread = new Set<string>();
  const applies = (condition: string | undefined): boolean => {
    if (condition === undefined || condition === parent.name) return true;
    if (type === undefined) return false;
    if (condition === type.name) return true;
    const named = findType(context.schema, condition);
    return isComposite(named) && possibleTypes(named).has(type);
  };
  const named = (condition: string | undefined): NamedType | undefined =>
    condition === undefined ? undefined : findType(context.schema, condition);
  const visit = (set: SelectionSetNode, around: NamedType): void => {
    context.meter.charge(set.selections.length);
    for (const selection of set.selections) {
      if (!isIncluded(context, selection.directives)) continue;
      if (selection.kind === "Field") {
        const key = selection.alias?.value ?? selection.name.value;
        const known = found.get(key);
        if (known === undefined) found.set(key, { nodes: [selection], parent: around });
        else known.nodes.push(selection);
      } else if (selection.kind === "InlineFragment") {
        const condition = selection.typeCondition?.name.value;
        if (applies(condition)) visit(selection.selectionSet, named(condition) ?? around);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = context.fragments.get(selection.name.value);
        const condition = fragment?.typeCondition.name.value;
        if (fragment !== undefined && applies(condition)) {
          visit(fragment.selectionSet, named(condition) ?? around);
        }
      }
    }
  };
  for (const set of sets) visit(set, parent);
  return found;
}

/** Selected fields of one type. Equal ones of sister types are the same object (`shared`). */
function fieldsFor(
  context: PrepareContext,
  parent: NamedType,
  type: ObjectType | undefined,
  sets: readonly SelectionSetNode[],
  shared: Map<string, SelectedField>,
): readonly SelectedField[] {
  const fields: SelectedField[] = [];
  const { meter } = context;
  for (const [key, { nodes, parent: around }] of collectFields(context, parent, type, sets)) {
    const [node] = nodes;
    if (node === undefined) continue;
    const definition = findRequestField(context.schema, type ?? parent, node.name.value);
    if (definition === undefined) continue;
    meter.charge(nodes.length);
    const identity = fieldIdentity(key, nodes, context.ordinals, definition);
    let field = shared.get(identity);
    if (field === undefined) {
      meter.chargeFields(1);
      const ordinal = context.ordinals.get(node) ?? 0;
      field = makeField(context, { key, definition, nodes, ordinal, parent: around });
      shared.set(identity, field);
    }
    fields.push(field);
  }
  return fields;
}

type FieldParts = Pick<SelectedField, "key" | "definition" | "nodes" | "ordinal" | "parent">;

function makeField(context: PrepareContext, parts: FieldParts): SelectedField {
  const { key, definition, nodes } = parts;
  const [node] = nodes;
  assert(node !== undefined, "a selected field has a node");
  const type = namedTypeOf(definition.type);
  const sets = nodes.flatMap((n) => (n.selectionSet === undefined ? [] : [n.selectionSet]));
  return {
    ...parts,
    keyBytes: keyBytesOf(key),
    node,
    selection: isComposite(type) ? makeSelection(context, type, sets) : undefined,
    cascade: node.directives?.find((directive) => directive.name.value === "cascade"),
  };
}

function makeSelection(
  context: PrepareContext,
  type: CompositeType,
  sets: readonly SelectionSetNode[],
): Selection {
  const shared = new Map<string, SelectedField>();
  if (type.kind === "object") {
    const fields = fieldsFor(context, type, type, sets, shared);
    return { type, fields, byType: undefined, common: fields };
  }
  const common = fieldsFor(context, type, undefined, sets, shared);
  const byType = new Map<string, readonly SelectedField[]>();
  let isUniform = true;
  for (const possible of type.kind === "interface" ? type.implementors : type.members) {
    const fields = fieldsFor(context, type, possible, sets, shared);
    byType.set(possible.name, fields);
    isUniform &&= fields.length === common.length && fields.every((f, i) => f === common[i]);
  }
  return { type, fields: [...shared.values()], byType: isUniform ? undefined : byType, common };
}

/** The same for what sister types are asked alike. */
export function fieldIdentity(
  key: string,
  nodes: readonly FieldNode[],
  ordinals: ReadonlyMap<FieldNode, number>,
  definition: FieldDefinition,
): string {
  const numbers = nodes.map((node) => ordinals.get(node) ?? 0);
  return `${key} ${numbers.join(",")} ${sourceIdentity(definition)}`;
}

/** Tells fields of one name apart where they read different things. */
function sourceIdentity(definition: FieldDefinition): string {
  const source = definition.source;
  const type = definition.type.text;
  switch (source.kind) {
    case "value":
      return `${type} ${source.predicate}@${source.languages.join(":")}`;
    case "edge":
      return `${type} ${source.isReverse ? "~" : ""}${source.predicate}`;
    case "edgeAggregate": {
      const edge = source.edge.source;
      return `${type} ${edge.kind === "edge" ? edge.predicate : ""}`;
    }
    default:
      return `${type} ${source.kind}`;
  }
}

/**
 * The walk of validation: visits a document in the order in which clients are used to see faults (inner things
 * first, a thing's own faults behind those of what it holds), with the schema's view of each node, and hands every
 * node to the rules of `request-rules.ts`.
 */
import type {
  ArgumentNode,
  DirectiveNode,
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  FragmentSpreadNode,
  InlineFragmentNode,
  OperationDefinitionNode,
  SelectionSetNode,
  ValueNode,
  VariableDefinitionNode,
  VariableNode,
} from "graphql";
import type {
  ArgumentDefinition,
  CompiledSchema,
  DirectiveDefinition,
  FieldDefinition,
  NamedType,
  TypeRef,
} from "../schema/compiled-schema.ts";
import type { DocumentMeter } from "./document-meter.ts";
import { findMetaField, findType } from "./meta.ts";
import { typenameField } from "./typename.ts";

/** What rules are told; each call stands behind those for what the node holds. */
export interface WalkVisitor {
  value(value: ValueNode, expected: TypeRef | undefined): void;
  directive(
    directive: DirectiveNode,
    definition: DirectiveDefinition | undefined,
    at: DirectivePlace,
  ): void;
  directives(directives: readonly DirectiveNode[]): void;
  field(
    field: FieldNode,
    definition: FieldDefinition | undefined,
    parent: NamedType | undefined,
  ): void;
  inlineFragment(fragment: InlineFragmentNode, parent: NamedType | undefined): void;
  fragmentSpread(spread: FragmentSpreadNode, parent: NamedType | undefined): void;
  fragment(fragment: FragmentDefinitionNode): void;
  operation(operation: OperationDefinitionNode): void;
}

export interface DirectivePlace {
  /** QUERY, FIELD, INLINE_FRAGMENT … */
  readonly location: string;
  /** Of a field: the type of its value. */
  readonly parent: NamedType | undefined;
}

/** Where the walk is. */
export interface WalkState {
  readonly schema: CompiledSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** undefined within fragment definitions that are walked for themselves. */
  operation: OperationDefinitionNode | undefined;
  /** Variables that the current operation uses. */
  used: Set<VariableDefinitionNode>;
  /** Uses of variables, by the operation that was walked last. */
  readonly declared: Map<VariableNode, VariableDefinitionNode>;
  /** Literals beyond all numbers, and what holds one. */
  readonly unreadable: Set<ValueNode>;
  /** Arguments of fields as text. */
  readonly printed: Map<FieldNode, string>;
  readonly meter: DocumentMeter;
  /** Variables of the current operation by their names, the first of each. */
  variables: ReadonlyMap<string, VariableDefinitionNode>;
  /** Faults that were reported so far. */
  faults: number;
}

export function startWalk(
  schema: CompiledSchema,
  fragments: WalkState["fragments"],
  meter: DocumentMeter,
): WalkState {
  return {
    schema,
    fragments,
    meter,
    variables: new Map(),
    printed: new Map(),
    faults: 0,
    operation: undefined,
    used: new Set(),
    declared: new Map(),
    unreadable: new Set(),
  };
}

export function walkDocument(state: WalkState, document: DocumentNode, visitor: WalkVisitor): void {
  const walk = new Walk(state, visitor);
  for (const definition of document.definitions) {
    if (definition.kind === "OperationDefinition") walk.operation(definition);
  }
  for (const definition of document.definitions) {
    if (definition.kind === "FragmentDefinition") walk.fragment(definition);
  }
}

/** The innermost named type of a use. */
export function namedTypeOf(ref: TypeRef): NamedType {
  let at = ref;
  while (at.kind === "list") at = at.element;
  return at.type;
}

/** The field of a type as validation sees it, `__typename` and introspection included. */
export function findRequestField(
  schema: CompiledSchema,
  parent: NamedType | undefined,
  name: string,
): FieldDefinition | undefined {
  if (name === "__typename") return typenameField;
  if (parent === undefined) return undefined;
  if (parent === schema.queryType && name.startsWith("__")) return findMetaField(name);
  return parent.kind === "object" || parent.kind === "interface"
    ? parent.fields.get(name)
    : undefined;
}

export function rootTypeOf(
  schema: CompiledSchema,
  operation: OperationDefinitionNode,
): NamedType | undefined {
  if (operation.operation === "query") return schema.queryType;
  return operation.operation === "mutation" ? schema.mutationType : schema.subscriptionType;
}

class Walk {
  readonly #state: WalkState;
  readonly #visitor: WalkVisitor;
  #spread = new Set<string>();
  /** Fragments in which nothing was found wrong when they were walked for themselves: they need no second walk there. */
  readonly #sound = new Set<FragmentDefinitionNode>();
  /** Whether the walk is within a fragment: its parts may be met many times. */
  #isSpread = false;

  constructor(state: WalkState, visitor: WalkVisitor) {
    this.#state = state;
    this.#visitor = visitor;
  }

  operation(operation: OperationDefinitionNode): void {
    const state = this.#state;
    state.operation = operation;
    state.used = new Set();
    state.variables = firstByName(operation.variableDefinitions ?? []);
    this.#spread = new Set();
    this.#isSpread = false;
    const root = rootTypeOf(state.schema, operation);
    const location = operation.operation.toUpperCase();
    this.#directives(operation.directives ?? [], { location, parent: root });
    for (const definition of operation.variableDefinitions ?? []) {
      if (definition.defaultValue === undefined) continue;
      this.#value(definition.defaultValue, variableType(state.schema, definition));
    }
    this.#selectionSet(operation.selectionSet, root);
    this.#visitor.operation(operation);
    state.operation = undefined;
    state.variables = new Map();
  }

  fragment(fragment: FragmentDefinitionNode): void {
    this.#spread = new Set();
    this.#isSpread = true;
    const { faults } = this.#state;
    const type = findType(this.#state.schema, fragment.typeCondition.name.value);
    const place = { location: "FRAGMENT_DEFINITION", parent: type };
    this.#directives(fragment.directives ?? [], place);
    this.#selectionSet(fragment.selectionSet, type);
    if (faults === this.#state.faults) this.#sound.add(fragment);
    this.#visitor.fragment(fragment);
  }

  #selectionSet(set: SelectionSetNode | undefined, parent: NamedType | undefined): void {
    if (set === undefined) return;
    this.#state.meter.charge(set.selections.length);
    for (const selection of set.selections) {
      if (selection.kind === "Field") this.#field(selection, parent);
      else if (selection.kind === "InlineFragment") this.#inlineFragment(selection, parent);
      else this.#fragmentSpread(selection, parent);
    }
  }

  #field(field: FieldNode, parent: NamedType | undefined): void {
    const definition = findRequestField(this.#state.schema, parent, field.name.value);
    const next = definition === undefined ? undefined : namedTypeOf(definition.type);
    this.#arguments(field.arguments ?? [], definition?.arguments);
    this.#directives(field.directives ?? [], { location: "FIELD", parent: next });
    this.#selectionSet(field.selectionSet, next);
    this.#visitor.field(field, definition, parent);
  }

  #inlineFragment(fragment: InlineFragmentNode, parent: NamedType | undefined): void {
    const condition = fragment.typeCondition?.name.value;
    const next = condition === undefined ? parent : findType(this.#state.schema, condition);
    const place = { location: "INLINE_FRAGMENT", parent: next };
    this.#directives(fragment.directives ?? [], place);
    this.#selectionSet(fragment.selectionSet, next);
    this.#visitor.inlineFragment(fragment, parent);
  }

  #fragmentSpread(spread: FragmentSpreadNode, parent: NamedType | undefined): void {
    const name = spread.name.value;
    const definition = this.#state.fragments.get(name);
    const next =
      definition === undefined
        ? undefined
        : findType(this.#state.schema, definition.typeCondition.name.value);
    this.#directives(spread.directives ?? [], { location: "FRAGMENT_SPREAD", parent: next });
    // Once per definition that is walked: fragments may (wrongly) go in circles.
    if (definition !== undefined && !this.#spread.has(name)) {
      this.#spread.add(name);
      this.#spreadOnce(definition, next);
    }
    this.#visitor.fragmentSpread(spread, parent);
  }

  #spreadOnce(fragment: FragmentDefinitionNode, type: NamedType | undefined): void {
    const isInOperation = this.#state.operation !== undefined;
    if (!isInOperation && this.#sound.has(fragment)) return;
    const { faults } = this.#state;
    const wasSpread = this.#isSpread;
    this.#isSpread = true;
    this.#selectionSet(fragment.selectionSet, type);
    this.#isSpread = wasSpread;
    // What it spreads itself was walked for it or for another one just now, or is sound.
    if (!isInOperation && faults === this.#state.faults) this.#sound.add(fragment);
  }

  #directives(directives: readonly DirectiveNode[], place: DirectivePlace): void {
    if (directives.length > 0) this.#state.meter.charge(directives.length);
    for (const directive of directives) {
      const definition = this.#state.schema.directives.get(directive.name.value);
      this.#arguments(directive.arguments ?? [], definition?.arguments);
      this.#visitor.directive(directive, definition, place);
    }
    this.#visitor.directives(directives);
  }

  #arguments(
    given: readonly ArgumentNode[],
    known: ReadonlyMap<string, ArgumentDefinition> | undefined,
  ): void {
    if (given.length > 0) this.#state.meter.charge(given.length);
    for (const argument of given) {
      this.#value(argument.value, known?.get(argument.name.value)?.type);
    }
  }

  #value(value: ValueNode, expected: TypeRef | undefined): void {
    // The text alone bounds what stands in it once.
    if (this.#isSpread) this.#state.meter.charge(1);
    if (value.kind === "Variable") {
      const definition = this.#state.variables.get(value.name.value);
      if (definition !== undefined) {
        this.#state.used.add(definition);
        this.#state.declared.set(value, definition);
      }
    } else if (value.kind === "ObjectValue") {
      const type = expected === undefined ? undefined : namedTypeOf(expected);
      const fields = type?.kind === "input" ? type.fields : undefined;
      for (const field of value.fields) {
        this.#value(field.value, fields?.get(field.name.value)?.type);
      }
    } else if (value.kind === "ListValue") {
      const element = expected?.kind === "list" ? expected.element : undefined;
      for (const item of value.values) this.#value(item, element);
    }
    this.#visitor.value(value, expected);
  }
}

function firstByName(
  definitions: readonly VariableDefinitionNode[],
): ReadonlyMap<string, VariableDefinitionNode> {
  const byName = new Map<string, VariableDefinitionNode>();
  for (const definition of definitions) {
    const name = definition.variable.name.value;
    if (!byName.has(name)) byName.set(name, definition);
  }
  return byName;
}

/** The type of a variable as a use of the schema's types; undefined where it names none of them. */
export function variableType(
  schema: CompiledSchema,
  definition: VariableDefinitionNode,
): TypeRef | undefined {
  return typeUse(schema, definition.type);
}

function typeUse(
  schema: CompiledSchema,
  node: VariableDefinitionNode["type"],
): TypeRef | undefined {
  if (node.kind === "NonNullType") {
    const inner = typeUse(schema, node.type);
    return inner === undefined ? undefined : { ...inner, nonNull: true, text: `${inner.text}!` };
  }
  if (node.kind === "ListType") {
    const element = typeUse(schema, node.type);
    if (element === undefined) return undefined;
    return { kind: "list", element, nonNull: false, text: `[${element.text}]` };
  }
  const type = findType(schema, node.name.value);
  if (type === undefined) return undefined;
  return { kind: "named", type, nonNull: false, text: type.name };
}

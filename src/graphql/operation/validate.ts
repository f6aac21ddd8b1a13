/**
 * What a request must keep to (reference/graphql 4.11, reference/messages 5): the rules over the walk of
 * `request-walk.ts`. The order of the checks within a node is part of the answer: clients see all faults, in this
 * order.
 */
import type {
  DirectiveNode,
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  FragmentSpreadNode,
  InlineFragmentNode,
  OperationDefinitionNode,
  ValueNode,
  VariableDefinitionNode,
} from "graphql";
import type {
  ArgumentDefinition,
  CompiledSchema,
  CompositeType,
  DirectiveDefinition,
  FieldDefinition,
  NamedType,
  TypeRef,
} from "../schema/compiled-schema.ts";
import { checkCascade } from "./cascade.ts";
import type { ResponseError } from "./errors.ts";
import { giveHint, RequestRefused } from "./errors.ts";
import { checkDepth } from "./document-depth.ts";
import { DocumentMeter } from "./document-meter.ts";
import { findFirstConflict } from "./merge-check.ts";
import type { Conflict } from "./merge-check.ts";
import { conflictMessage, findConflicts, pairStepsMax } from "./merge.ts";
import type { PairBudget } from "./merge.ts";
import { findType, metaFieldNames, typeNames } from "./meta.ts";
import { makeLocator, offsetOf } from "./parse.ts";
import { sentence, suggestQuoted } from "./suggest.ts";
import { checkValue } from "./values.ts";
import { isComposite, possibleTypes, printType } from "./report.ts";
import type { Report } from "./report.ts";
import { namedTypeOf, startWalk, walkDocument } from "./walk.ts";
import type { DirectivePlace, WalkState, WalkVisitor } from "./walk.ts";
import type { JsonObject } from "./json.ts";

/** Faults that are told of one document. */
const faultsMax = 200;

/**
 * Checks a document against a schema. Throws RequestRefused with every fault, up to some hundred; with the limit alone
 * for a document that is larger than `meter` allows. `variables` are looked at by @cascade alone, whose field names may
 * come from one.
 */
export function validateDocument(
  schema: CompiledSchema,
  text: string,
  document: DocumentNode,
  variables: JsonObject,
  meter = new DocumentMeter(),
): void {
  checkDepth(document, meter.limits);
  const errors: ResponseError[] = [];
  const locate = makeLocator(text);
  const report: Report = (message, node, hint) => {
    errors.push(giveHint({ message, locations: [locate(offsetOf(node))] }, hint));
    state.faults++;
    if (errors.length < faultsMax) return;
    throw new RequestRefused([...errors, { message: "Too many faults: the rest is not told." }]);
  };
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind !== "FragmentDefinition") continue;
    // The first of one name counts; the second is reported when the walk reaches it.
    if (!fragments.has(definition.name.value)) fragments.set(definition.name.value, definition);
  }
  const state = startWalk(schema, fragments, meter);
  walkDocument(state, document, new Rules(state, document, report, variables));
  if (errors.length > 0) throw new RequestRefused(errors);
}

class Rules implements WalkVisitor {
  readonly #state: WalkState;
  readonly #operationCount: number;
  readonly #report: Report;
  readonly #variables: JsonObject;
  readonly #spreadNames = new Set<string>();
  readonly #fragmentNames = new Set<string>();
  readonly #operationNames = new Set<string>();
  readonly #acyclic = new Set<string>();
  /** Of the operation that is walked: a conflict that is in it somewhere. */
  #conflict: Conflict | undefined;
  #isSearched = false;
  #hasToldConflict = false;
  #pairs: PairBudget = { left: pairStepsMax };

  constructor(state: WalkState, document: DocumentNode, report: Report, variables: JsonObject) {
    this.#state = state;
    this.#operationCount = document.definitions.filter(
      (definition) => definition.kind === "OperationDefinition",
    ).length;
    this.#report = report;
    this.#variables = variables;
  }

  value(value: ValueNode, expected: TypeRef | undefined): void {
    checkValue(this.#state, value, expected, this.#report);
  }

  directive(
    directive: DirectiveNode,
    definition: DirectiveDefinition | undefined,
    place: DirectivePlace,
  ): void {
    const name = directive.name.value;
    const report = this.#report;
    checkCascade(directive, place.parent, this.#variables, report);
    if (definition === undefined) report(`Unknown directive "${name}".`, directive);
    else {
      checkKnownArguments(directive.arguments ?? [], definition.arguments, (argument, suggested) =>
        report(`Unknown argument "${argument}" on directive "@${name}".${suggested}`, directive),
      );
      checkRequiredArguments(directive.arguments ?? [], definition.arguments, (argument) =>
        report(
          `Directive "@${name}" argument "${argument.name}" of type "${argument.type.text}" is required but not provided.`,
          directive,
        ),
      );
    }
    checkUniqueNames(directive.arguments ?? [], "argument", report);
    if (definition?.locations.includes(place.location) === false) {
      report(`Directive "${name}" may not be used on ${place.location}.`, directive);
    }
  }

  directives(directives: readonly DirectiveNode[]): void {
    const seen = new Set<string>();
    for (const directive of directives) {
      const name = directive.name.value;
      if (seen.has(name)) {
        this.#report(`The directive "${name}" can only be used once at this location.`, directive);
      }
      seen.add(name);
    }
  }

  field(
    field: FieldNode,
    definition: FieldDefinition | undefined,
    parent: NamedType | undefined,
  ): void {
    const report = this.#report;
    const name = field.name.value;
    const given = field.arguments ?? [];
    if (definition === undefined) {
      if (parent !== undefined) report(unknownField(this.#state.schema, parent, name), field);
    }
    this.#conflicts(field.selectionSet === undefined ? [] : [field.selectionSet], definition);
    if (definition !== undefined) {
      checkKnownArguments(given, definition.arguments, (argument, suggested) =>
        report(
          `Unknown argument "${argument}" on field "${name}" of type "${parent?.name ?? ""}".${suggested}`,
          field,
        ),
      );
    }
    checkUniqueNames(given, "argument", report);
    if (definition === undefined) return;
    checkLeaf(field, definition, report);
    checkRequiredArguments(given, definition.arguments, (argument) =>
      report(
        `Field "${name}" argument "${argument.name}" of type "${argument.type.text}" is required but not provided.`,
        field,
      ),
    );
  }

  inlineFragment(fragment: InlineFragmentNode, parent: NamedType | undefined): void {
    const report = this.#report;
    const name = fragment.typeCondition?.name.value;
    if (name === undefined) return;
    const type = findType(this.#state.schema, name);
    if (type !== undefined && !isComposite(type)) {
      report(`Fragment cannot condition on non composite type "${name}".`, fragment);
    }
    if (type === undefined) report(`Unknown type "${name}".`, fragment);
    if (isComposite(type) && isComposite(parent) && !overlap(type, parent)) {
      report(
        `Fragment cannot be spread here as objects of type "${parent.name}" can never be of type "${name}".`,
        fragment,
      );
    }
  }

  fragmentSpread(spread: FragmentSpreadNode, parent: NamedType | undefined): void {
    const name = spread.name.value;
    const definition = this.#state.fragments.get(name);
    if (definition === undefined) {
      this.#report(`Unknown fragment "${name}".`, spread);
      return;
    }
    // What the first fragment spreads counts too, as in the reference; what later ones do does not.
    if (this.#fragmentNames.size === 0) this.#spreadNames.add(name);
    const type = findType(this.#state.schema, definition.typeCondition.name.value);
    if (isComposite(type) && isComposite(parent) && !overlap(type, parent)) {
      this.#report(
        `Fragment "${name}" cannot be spread here as objects of type "${parent.name}" can never be of type "${type.name}".`,
        spread,
      );
    }
  }

  fragment(fragment: FragmentDefinitionNode): void {
    const report = this.#report;
    const name = fragment.name.value;
    const condition = fragment.typeCondition.name.value;
    const type = findType(this.#state.schema, condition);
    if (type !== undefined && !isComposite(type)) {
      report(`Fragment "${name}" cannot condition on non composite type "${condition}".`, fragment);
    }
    this.#findCycles(fragment, [], new Map());
    if (!this.#spreadNames.has(name)) report(`Fragment "${name}" is never used.`, fragment);
    if (type === undefined) {
      const suggested = suggestQuoted(condition, typeNames(this.#state.schema));
      report(`Unknown type "${condition}".${suggested}`, fragment);
    }
    if (this.#fragmentNames.has(name)) {
      report(`There can be only one fragment named "${name}".`, fragment);
    }
    this.#fragmentNames.add(name);
  }

  operation(operation: OperationDefinitionNode): void {
    const report = this.#report;
    const name = operation.name?.value;
    const definitions = operation.variableDefinitions ?? [];
    const second = operation.selectionSet.selections[1];
    if (operation.operation === "subscription" && second !== undefined) {
      const who = name === undefined ? "Anonymous Subscription" : `Subscription "${name}"`;
      report(`${who} must select only one top level field.`, second);
    }
    for (const definition of definitions) {
      if (this.#state.used.has(definition)) continue;
      const where = name === undefined ? "" : ` in operation "${name}"`;
      report(`Variable "$${definition.variable.name.value}" is never used${where}.`, definition);
    }
    this.#conflicts([operation.selectionSet], undefined);
    this.#endConflicts();
    for (const definition of definitions) {
      const typeName = variableTypeName(definition);
      if (findType(this.#state.schema, typeName) === undefined) {
        report(`Unknown type "${typeName}".`, operation);
      }
    }
    if (name === undefined && this.#operationCount > 1) {
      report("This anonymous operation must be the only defined operation.", operation);
    }
    const known = name ?? "";
    if (this.#operationNames.has(known)) {
      report(`There can be only one operation named "${known}".`, operation);
    }
    this.#operationNames.add(known);
    checkVariableDefinitions(this.#state.schema, definitions, report);
  }

  /** Most operations have no conflict anywhere, which is found out at their first field and for all of them. */
  #conflicts(
    sets: Parameters<typeof findConflicts>[1],
    definition: FieldDefinition | undefined,
  ): void {
    const state = this.#state;
    const { operation } = state;
    // Fragments are looked at where they are spread.
    if (operation === undefined || sets.length === 0) return;
    if (!this.#isSearched) {
      this.#isSearched = true;
      this.#conflict = findFirstConflict(state, operation);
    }
    if (this.#conflict === undefined) return;
    const parent = definition === undefined ? undefined : namedTypeOf(definition.type);
    findConflicts(state, sets, parent, this.#pairs, (conflict) => this.#tell(conflict));
  }

  #tell(conflict: Conflict): void {
    this.#hasToldConflict = true;
    this.#report(conflictMessage(conflict), conflict.at);
  }

  /** What was found is told, if the search for pairs did not come as far. */
  #endConflicts(): void {
    if (this.#conflict !== undefined && !this.#hasToldConflict) this.#tell(this.#conflict);
    this.#conflict = undefined;
    this.#isSearched = false;
    this.#hasToldConflict = false;
    this.#pairs = { left: pairStepsMax };
  }

  /** Depth first from one fragment; each fragment is started from once. */
  #findCycles(
    fragment: FragmentDefinitionNode,
    path: FragmentSpreadNode[],
    depths: Map<string, number>,
  ): void {
    const name = fragment.name.value;
    if (this.#acyclic.has(name)) return;
    this.#acyclic.add(name);
    const spreads = spreadsOf(fragment);
    if (spreads.length === 0) return;
    depths.set(name, path.length);
    for (const spread of spreads) {
      const target = spread.name.value;
      const start = depths.get(target);
      path.push(spread);
      if (start === undefined) {
        const next = this.#state.fragments.get(target);
        if (next !== undefined) this.#findCycles(next, path, depths);
      } else {
        const via = path.slice(start, -1).map((s) => s.name.value);
        const how = via.length === 0 ? "" : ` via ${via.join(", ")}`;
        this.#report(`Cannot spread fragment "${target}" within itself${how}.`, spread);
      }
      path.pop();
    }
    depths.delete(name);
  }
}

function overlap(a: CompositeType, b: CompositeType): boolean {
  if (a === b) return true;
  const inB = possibleTypes(b);
  for (const type of possibleTypes(a)) if (inB.has(type)) return true;
  return false;
}

function spreadsOf(fragment: FragmentDefinitionNode): FragmentSpreadNode[] {
  const spreads: FragmentSpreadNode[] = [];
  const open = [fragment.selectionSet];
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === "FragmentSpread") spreads.push(selection);
      else if (selection.selectionSet !== undefined) open.push(selection.selectionSet);
    }
  }
  return spreads;
}

function unknownField(schema: CompiledSchema, parent: NamedType, name: string): string {
  const message = `Cannot query field "${name}" on type "${parent.name}".`;
  const fragments = typesWithField(parent, name).map((type) => `"${type}"`);
  if (fragments.length > 0) {
    return message + sentence("Did you mean to use an inline fragment on", fragments);
  }
  if (parent.kind !== "object" && parent.kind !== "interface") return message;
  const names = [...parent.fields.keys()];
  if (parent === schema.queryType) names.push(...metaFieldNames());
  return message + suggestQuoted(name, names);
}

/** Interfaces, then object types, that a value of an abstract type can have and that know the field. */
function typesWithField(parent: NamedType, name: string): string[] {
  if (parent.kind !== "interface" && parent.kind !== "union") return [];
  const objects: string[] = [];
  const interfaces = new Set<string>();
  for (const type of parent.kind === "interface" ? parent.implementors : parent.members) {
    if (!type.fields.has(name)) continue;
    objects.push(type.name);
    for (const face of type.interfaces) if (face.fields.has(name)) interfaces.add(face.name);
  }
  return [...interfaces, ...objects];
}

interface Named {
  readonly name: { readonly value: string };
}

function checkKnownArguments(
  given: readonly Named[],
  known: ReadonlyMap<string, ArgumentDefinition>,
  unknown: (name: string, suggested: string) => void,
): void {
  for (const argument of given) {
    const name = argument.name.value;
    if (!known.has(name)) unknown(name, suggestQuoted(name, known.keys()));
  }
}

function checkRequiredArguments(
  given: readonly Named[],
  known: ReadonlyMap<string, ArgumentDefinition>,
  missing: (argument: ArgumentDefinition) => void,
): void {
  // Few arguments are required of any field.
  for (const argument of known.values()) {
    if (!argument.type.nonNull || argument.defaultValue !== undefined) continue;
    if (!given.some((g) => g.name.value === argument.name)) missing(argument);
  }
}

function checkUniqueNames(
  given: readonly (Named & Parameters<Report>[1])[],
  what: string,
  report: Report,
): void {
  const seen = new Set<string>();
  for (const thing of given) {
    const name = thing.name.value;
    if (seen.has(name)) report(`There can be only one ${what} named "${name}".`, thing);
    seen.add(name);
  }
}

function checkLeaf(field: FieldNode, definition: FieldDefinition, report: Report): void {
  const name = field.name.value;
  const type = definition.type.text;
  const isLeaf = !isComposite(namedTypeOf(definition.type));
  if (isLeaf && field.selectionSet !== undefined) {
    report(
      `Field "${name}" must not have a selection since type "${namedTypeOf(definition.type).name}" has no subfields.`,
      field,
    );
  }
  if (!isLeaf && field.selectionSet === undefined) {
    report(
      `Field "${name}" of type "${type}" must have a selection of subfields. Did you mean "${name} { ... }"?`,
      field,
    );
  }
}

function checkVariableDefinitions(
  schema: CompiledSchema,
  definitions: readonly VariableDefinitionNode[],
  report: Report,
): void {
  const seen = new Set<string>();
  for (const definition of definitions) {
    const name = definition.variable.name.value;
    if (seen.has(name)) report(`There can be only one variable named "${name}".`, definition);
    seen.add(name);
  }
  for (const definition of definitions) {
    const type = findType(schema, variableTypeName(definition));
    if (!isComposite(type)) continue;
    const name = definition.variable.name.value;
    report(`Variable "$${name}" cannot be non-input type "${printType(definition)}".`, definition);
  }
}

function variableTypeName(definition: VariableDefinitionNode): string {
  let type = definition.type;
  while (type.kind !== "NamedType") type = type.type;
  return type.name.value;
}

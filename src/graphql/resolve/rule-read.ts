/** `@auth` of a schema's types → rules, or what is wrong with them (reference/graphql 6.3, reference/messages 4.2). */
import type {
  ConstObjectValueNode,
  ConstValueNode,
  DocumentNode,
  OperationDefinitionNode,
  StringValueNode,
} from "graphql";
import { parseRoleRule, RuleFault } from "../../auth/role-rule.ts";
import type { Rule } from "../../auth/rule.ts";
import type {
  CompiledSchema,
  GraphRule,
  NamedType,
  NodeMapping,
  NodeType,
  RuleLevel,
  RuleOperation,
  SchemaRules,
  TypeRules,
} from "../schema/compiled-schema.ts";
import { findFollowedEdges } from "../schema/rule-reads.ts";
import { placeInText } from "../schema/rule-place.ts";
import type { SchemaProblem } from "../schema/sdl-draft.ts";
import type { SdlPosition } from "../schema/sdl-position.ts";
import { RequestRefused } from "../operation/errors.ts";
import { DocumentMeter } from "../operation/document-meter.ts";
import { parseDocument } from "../operation/parse.ts";
import { conditionVariables, fragmentsOf, selectRoots } from "../operation/prepare.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { validateDocument } from "../operation/validate.ts";
import { variablesOf } from "../operation/variables.ts";
import { namedTypeOf } from "../operation/walk.ts";
import { isNode } from "../operation/meta.ts";

const operations: readonly RuleOperation[] = ["password", "query", "add", "update", "delete"];

const onlyOne = 'there should be only one of "and", "or", "not" and "rule"';

export interface RuleProblem extends SchemaProblem {
  readonly operation: RuleOperation;
}

/** The rules of a linked schema, undefined where it has none; or every problem, each whole. */
export function readRules(
  schema: CompiledSchema,
): { readonly rules: SchemaRules | undefined } | { readonly problems: readonly RuleProblem[] } {
  const problems: RuleProblem[] = [];
  const own = new Map<NodeType, TypeRules>();
  for (const type of schema.nodes) {
    const directive = type.node.auth;
    if (directive === undefined) continue;
    const reader = new RuleReader(schema, type);
    const rules = reader.readDirective(directive.rules);
    if (Object.keys(rules).length > 0) own.set(type, rules);
    problems.push(...reader.problems);
  }
  if (problems.length > 0) return { problems };
  return { rules: own.size === 0 ? undefined : completeRules(schema, own) };
}

class RuleReader {
  readonly problems: RuleProblem[] = [];
  /** What is being read. */
  #operation: RuleOperation = "query";
  readonly #schema: CompiledSchema;
  readonly #type: NodeType;

  constructor(schema: CompiledSchema, type: NodeType) {
    this.#schema = schema;
    this.#type = type;
  }

  readDirective(written: NonNullable<NodeMapping["auth"]>["rules"]): TypeRules {
    const rules: Partial<Record<RuleOperation, Rule<GraphRule>>> = {};
    for (const operation of operations) {
      const value = written[operation];
      this.#operation = operation;
      const rule = value === undefined ? undefined : this.#read(value);
      if (rule !== undefined) rules[operation] = rule;
    }
    return rules;
  }

  /** undefined: a problem was noted. */
  #read(value: ConstValueNode): Rule<GraphRule> | undefined {
    if (value.kind !== "ObjectValue" || value.fields.length === 0)
      return this.#note(`no arguments - ${onlyOne}`, value);
    const found: (Rule<GraphRule> | undefined)[] = [];
    for (const kind of ["or", "and"] as const) {
      const members = membersOf(value, kind);
      if (members.length === 0) continue;
      const rules = members.flatMap((member) => this.#read(member) ?? []);
      if (members.length < 2)
        this.#note(`'${kind.toUpperCase()}' should contain at least two rules`, value);
      found.push({ kind, rules });
    }
    const not = memberOf(value, "not");
    if (not?.kind === "ObjectValue" && not.fields.length > 0) {
      const rule = this.#read(not);
      found.push(rule === undefined ? undefined : { kind: "not", rule });
    }
    const text = memberOf(value, "rule");
    if (text?.kind === "StringValue") found.push(this.#readText(text));
    if (found.length !== 1 || value.fields.length > 1) return this.#note(onlyOne, value);
    return found[0];
  }

  #readText(node: StringValueNode): Rule<GraphRule> | undefined {
    const text = node.value;
    try {
      if (text.startsWith("{")) return { kind: "role", role: parseRoleRule(text) };
      return { kind: "graph", graph: this.#readGraph(node) };
    } catch (error) {
      if (error instanceof RequestRefused) {
        for (const { message, locations } of error.errors)
          this.#note(message, node, locations?.[0]);
        return undefined;
      }
      if (!(error instanceof RuleFault)) throw error;
      return this.#note(error.message, node);
    }
  }

  /** Throws RuleFault, and RequestRefused for what has its places in the rule. */
  #readGraph({ value: text }: StringValueNode): GraphRule {
    const document = inRule("failed to parse GraphQL rule", () => parseDocument(text));
    const operation = soleQuery(document);
    inRule("failed to validate GraphQL rule", () => {
      validateDocument(this.#schema, text, document, {});
    });
    if (conditionVariables(document).length > 0)
      throw new RuleFault("the variables of @skip and @include can't be claims");
    const roots = selectRoots(
      {
        schema: this.#schema,
        fragments: fragmentsOf(document),
        ordinals: new Map(),
        booleans: new Map(),
        meter: new DocumentMeter(),
      },
      operation,
    );
    const [root] = roots;
    if (roots.length !== 1 || root === undefined)
      throw new RuleFault(`a rule should be exactly one query, found ${roots.length} queries`);
    const wanted = `query${this.#type.name}`;
    const found = root.definition.name;
    if (found !== wanted) throw new RuleFault(`expected only ${wanted} rules,but found ${found}`);
    const variables = variablesOf(this.#schema, operation);
    return {
      variables: variables.map(({ name, type }) => ({ name, type })),
      level: levelOf(root, this.#type),
    };
  }

  /** `inner`: where in the text of `node`. */
  #note(problem: string, node: ConstValueNode, inner?: SdlPosition): undefined {
    const message = `Type ${this.#type.name}: @auth: ${problem}`;
    this.problems.push({ message, at: placeInText(node, inner), operation: this.#operation });
    return undefined;
  }
}

/** Does it, and tells what is refused as a fault of the rule. */
function inRule<T>(words: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    throw new RequestRefused(
      error.errors.map((one) => ({ ...one, message: `${words} [reason : ${one.message}]` })),
    );
  }
}

function soleQuery(document: DocumentNode): OperationDefinitionNode {
  const found = document.definitions.filter((node) => node.kind === "OperationDefinition");
  const [operation] = found;
  const expected = "a rule should be exactly one query, found";
  if (operation === undefined || found.length !== 1)
    throw new RuleFault(`${expected} ${found.length} GraphQL operations`);
  if (operation.operation !== "query") throw new RuleFault(`${expected} a ${operation.operation}`);
  return operation;
}

/**
 * What a field of a rule asks. A rule is about each node for itself, so that it can be asked of any node: what
 * depends on the other nodes of a list has no place in it.
 */
function levelOf(field: SelectedField, target: NamedType): RuleLevel {
  const given = field.node.arguments ?? [];
  for (const { name } of given)
    if (name.value === "first" || name.value === "offset")
      throw new RuleFault(`\`${name.value}\` is not supported in rules.`);
  return {
    target,
    given,
    known: field.definition.arguments,
    fields: (field.selection?.fields ?? []).map((inner) => {
      const { source, type } = inner.definition;
      const level = source.kind === "edge" ? levelOf(inner, namedTypeOf(type)) : undefined;
      return { field: inner.definition, level };
    }),
  };
}

function memberOf(value: ConstObjectValueNode, name: string): ConstValueNode | undefined {
  return value.fields.find((field) => field.name.value === name)?.value;
}

function membersOf(value: ConstObjectValueNode, name: string): readonly ConstValueNode[] {
  const member = memberOf(value, name);
  return member?.kind === "ListValue" ? member.values : [];
}

/** Interfaces give their rules to the types that implement them. */
function completeRules(schema: CompiledSchema, own: ReadonlyMap<NodeType, TypeRules>): SchemaRules {
  const byType = new Map<NodeType, TypeRules>();
  for (const type of schema.nodes) {
    const sources = [type, ...(type.kind === "object" ? type.interfaces : [])];
    const found = sources.flatMap((source) => (isNode(source) ? (own.get(source) ?? []) : []));
    if (found.length > 0) byType.set(type, mergeRules(found));
  }
  const variables = new Set<string>();
  for (const rules of own.values())
    for (const rule of Object.values(rules)) noteVariables(rule, variables);
  const followed = findFollowedEdges([...own.values()].flatMap((rules) => Object.values(rules)));
  const hidden = findHidden(schema, byType);
  return { byType, hidden, followed, variables: [...variables].sort() };
}

/** All of them must hold. */
function mergeRules(all: readonly TypeRules[]): TypeRules {
  const merged: Partial<Record<RuleOperation, Rule<GraphRule>>> = {};
  for (const operation of operations) {
    const rules = all.flatMap((each) => each[operation] ?? []);
    const [only] = rules;
    if (only === undefined) continue;
    merged[operation] = rules.length === 1 ? only : { kind: "and", rules };
  }
  return merged;
}

function noteVariables(rule: Rule<GraphRule>, into: Set<string>): void {
  switch (rule.kind) {
    case "role":
      into.add(rule.role.variable);
      return;
    case "graph":
      for (const { name } of rule.graph.variables) into.add(name);
      return;
    case "not":
      noteVariables(rule.rule, into);
      return;
    default:
      for (const member of rule.rules) noteVariables(member, into);
  }
}

function findHidden(
  schema: CompiledSchema,
  byType: ReadonlyMap<NodeType, TypeRules>,
): Set<NamedType> {
  const hidden = new Set<NamedType>();
  const isHidden = (type: NamedType): boolean =>
    isNode(type) && byType.get(type)?.query !== undefined;
  for (const type of schema.types.values()) {
    const members =
      type.kind === "union" ? type.members : type.kind === "interface" ? type.implementors : [];
    if (isHidden(type) || members.some(isHidden)) hidden.add(type);
  }
  return hidden;
}

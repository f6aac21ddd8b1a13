/** What a caller may do by the rules of a schema: conditions that the nodes of a type must meet. */
import { decide } from "../../auth/rule.ts";
import type { Condition, Decision } from "../../auth/rule.ts";
import type { Claims } from "../../auth/token.ts";
import type { Filter } from "../../dql/ast.ts";
import type {
  EdgeSource,
  GraphRule,
  NamedType,
  NodeType,
  ObjectType,
  RuleOperation,
  SchemaRules,
} from "../schema/compiled-schema.ts";
import { isFollowedBack } from "../schema/rule-reads.ts";
import { andFilter, callFilter, denied, typeCall } from "./lower-context.ts";
import type { Guard, LowerContext } from "./lower-context.ts";
import type { JsonObject, JsonValue } from "../operation/json.ts";
import { isNode } from "../operation/meta.ts";
import { hasVariables, lowerGraphRule } from "./rule-lower.ts";

export class Rights implements Guard {
  readonly key: string;
  readonly #rules: SchemaRules;
  readonly #claims: Claims;
  readonly #variables: JsonObject;
  /** By operation. */
  readonly #decisions = new Map<RuleOperation, Map<NodeType, Decision<GraphRule>>>();

  constructor(rules: SchemaRules, claims: Claims) {
    this.#rules = rules;
    this.#claims = claims;
    const variables: Record<string, JsonValue> = {};
    for (const name of rules.variables) {
      const value = claims.get(name);
      if (value !== undefined) variables[name] = value;
    }
    this.#variables = variables;
    this.key = JSON.stringify(variables);
  }

  hides(type: NamedType): boolean {
    return this.#rules.hidden.has(type);
  }

  goesBy(edge: EdgeSource): boolean {
    return isFollowedBack(this.#rules.followed, edge);
  }

  denies(type: NamedType, operation: RuleOperation): boolean {
    if (isNode(type) && !isAbstract(type)) return this.#decide(type, operation) === false;
    const members = membersOf(type);
    return members.length > 0 && members.every((member) => this.denies(member, operation));
  }

  filter(context: LowerContext, type: NamedType, operation: RuleOperation): Filter | undefined {
    if (isNode(type) && !isAbstract(type)) {
      const decision = this.#decide(type, operation);
      if (decision === true) return undefined;
      if (decision === false) return denied;
      return { ...this.#lower(context, decision), rule: type.name };
    }
    return this.#filterMembers(context, membersOf(type), operation);
  }

  /** Types that are denied are left out; the rules of the others count for their own nodes. */
  #filterMembers(
    context: LowerContext,
    members: readonly ObjectType[],
    operation: RuleOperation,
  ): Filter | undefined {
    const nodes = members.filter((member) => isNode(member));
    if (nodes.every((type) => this.#decide(type, operation) === true)) return undefined;
    const filters: Filter[] = [];
    for (const type of nodes) {
      const rule = this.filter(context, type, operation);
      if (rule === denied) continue;
      const both = andFilter(callFilter(typeCall(type)), rule);
      if (both !== undefined) filters.push(both);
    }
    const [only] = filters;
    if (only === undefined) return denied;
    return filters.length === 1 ? only : { kind: "or", filters };
  }

  #decide(type: NodeType, operation: RuleOperation): Decision<GraphRule> {
    let known = this.#decisions.get(operation);
    if (known === undefined) this.#decisions.set(operation, (known = new Map()));
    let decision = known.get(type);
    if (decision === undefined) {
      const rule = this.#rules.byType.get(type)?.[operation];
      const canAsk = (graph: GraphRule): boolean => hasVariables(graph, this.#claims);
      decision = rule === undefined ? true : decide(rule, this.#claims, canAsk);
      known.set(type, decision);
    }
    return decision;
  }

  #lower(context: LowerContext, condition: Condition<GraphRule>): Filter {
    switch (condition.kind) {
      case "graph":
        return lowerGraphRule(context, condition.graph, this.#variables);
      case "not":
        return { kind: "not", filter: this.#lower(context, condition.rule) };
      default:
        return {
          kind: condition.kind,
          filters: condition.rules.map((rule) => this.#lower(context, rule)),
        };
    }
  }
}

/** Whose nodes are those of its members. An interface that nothing implements stands for itself. */
function isAbstract(type: NamedType): boolean {
  return membersOf(type).length > 0;
}

function membersOf(type: NamedType): readonly ObjectType[] {
  if (type.kind === "union") return type.members;
  return type.kind === "interface" ? type.implementors : [];
}

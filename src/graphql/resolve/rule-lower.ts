/**
 * A rule about the graph → a filter of the tree, which any node can be asked: the node passes where its own arguments
 * leave it and all that is selected of it exists, level by level. The rule is asked with the rights of the server:
 * what it looks at may be hidden from the caller.
 */
import type { Claims, ClaimValue } from "../../auth/token.ts";
import type { Filter } from "../../dql/ast.ts";
import { defaultLimits } from "../../model/limits.ts";
import type { GraphRule, RuleLevel, TypeRef } from "../schema/compiled-schema.ts";
import {
  andFilter,
  callFilter,
  predicateName,
  loweredPredicateOf,
  typeCall,
} from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import { hasCall } from "./lower-filter.ts";
import { lowerFilterArgument } from "./lower-site.ts";
import { evaluateArguments, makeValueUse } from "../operation/arguments.ts";
import type { RequestValues } from "../operation/arguments.ts";
import type { JsonObject } from "../operation/json.ts";
import { isNode } from "../operation/meta.ts";

/** Whether the claims have every variable of the rule, each of its type. */
export function hasVariables(rule: GraphRule, claims: Claims): boolean {
  return rule.variables.every(({ name, type }) => fits(type, claims.get(name) ?? null));
}

/** `variables`: the caller's claims. */
export function lowerGraphRule(
  context: LowerContext,
  rule: GraphRule,
  variables: JsonObject,
): Filter {
  const inner: LowerContext = { texts: context.texts, guard: undefined };
  const request: RequestValues = {
    declared: [],
    variables,
    literals: [],
    literalIndex: noLiterals,
    limits: defaultLimits,
    use: makeValueUse(),
    grow: () => {},
  };
  return lowerLevel(inner, rule.level, request) ?? { kind: "constant", value: true };
}

const noLiterals: RequestValues["literalIndex"] = new Map();

function lowerLevel(
  context: LowerContext,
  level: RuleLevel,
  request: RequestValues,
): Filter | undefined {
  const values = evaluateArguments(level.given, level.known, request);
  return andFilter(
    lowerFilterArgument(context, level.target, values["filter"]),
    ...level.fields.map((field) => lowerField(context, field, request)),
  );
}

function lowerField(
  context: LowerContext,
  { field, level }: RuleLevel["fields"][number],
  request: RequestValues,
): Filter | undefined {
  const predicate = loweredPredicateOf(field);
  const { source } = field;
  if (predicate === undefined) return undefined;
  if (source.kind !== "edge" || level === undefined) return callFilter(hasCall(predicate));
  const { target, isReverse } = source;
  const declared = isReverse && isNode(target) ? callFilter(typeCall(target)) : undefined;
  const asked = andFilter(declared, lowerLevel(context, level, request));
  return { kind: "edge", predicate, filter: asked ?? exists };
}

/** An edge may lead to a node that was deleted since: such a one lets nobody in. */
const exists: Filter = callFilter(hasCall(predicateName("dgraph.type")));

function isDecimal(text: string): boolean {
  return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}

/** Claims are no input that was checked: one of another type than the rule asks for is as good as none. */
function fits(type: TypeRef, value: ClaimValue): boolean {
  if (value === null) return false;
  if (Array.isArray(value)) {
    return type.kind === "list" && value.every((item: ClaimValue) => fits(type.element, item));
  }
  if (type.kind === "list") return fits(type.element, value);
  if (type.type.kind === "input") return typeof value === "object";
  if (typeof value === "object") return false;
  switch (type.type.name) {
    case "Int":
    case "Int64":
      // As in the reference, whose users keep numbers in claims that are texts.
      return Number.isInteger(value) || (typeof value === "string" && /^-?\d+$/.test(value));
    case "Float":
      return typeof value === "number" || (typeof value === "string" && isDecimal(value));
    case "Boolean":
      return typeof value === "boolean";
    default:
      return true;
  }
}

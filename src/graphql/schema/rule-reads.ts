/** What rules read of the graph: fields that they select, filter by, or ask for the presence of. */
import type { ConstValueNode, ValueNode } from "graphql";
import type { Rule } from "../../auth/rule.ts";
import type {
  EdgeSource,
  FieldDefinition,
  FollowedEdges,
  GraphRule,
  InputField,
  InputObjectType,
  NamedType,
  RuleLevel,
} from "./compiled-schema.ts";

interface RuleRead {
  /** Whose nodes are asked. */
  readonly of: NamedType;
  readonly field: FieldDefinition;
}

export function findFollowedEdges(rules: Iterable<Rule<GraphRule>>): FollowedEdges {
  const forwards = new Set<string>();
  const backwards = new Set<string>();
  for (const rule of rules)
    for (const { field } of readsOfRule(rule))
      if (field.source.kind === "edge")
        (field.source.isReverse ? backwards : forwards).add(field.source.predicate);
  return { forwards, backwards };
}

/** Whether a change of an edge changes what rules read at the node that it leads to. */
export function isFollowedBack({ forwards, backwards }: FollowedEdges, edge: EdgeSource): boolean {
  const inverse = edge.inverse?.source;
  if (backwards.has(edge.predicate)) return true;
  return inverse?.kind === "edge" && forwards.has(inverse.predicate);
}

export function* readsOfRule(rule: Rule<GraphRule>): Generator<RuleRead> {
  switch (rule.kind) {
    case "role":
      return;
    case "graph":
      yield* readsOfLevel(rule.graph.level);
      return;
    case "not":
      yield* readsOfRule(rule.rule);
      return;
    default:
      for (const member of rule.rules) yield* readsOfRule(member);
  }
}

function* readsOfLevel({ target, given, known, fields }: RuleLevel): Generator<RuleRead> {
  for (const { name, value } of given) {
    let type = known.get(name.value)?.type;
    while (type?.kind === "list") type = type.element;
    if (name.value !== "filter" || type?.type.kind !== "input") continue;
    yield* readsOfFilter(target, type.type, value);
  }
  for (const { field, level } of fields) {
    yield { of: target, field };
    if (level !== undefined) yield* readsOfLevel(level);
  }
}

/** What a claim brings is not known before: all that the filter could ask. */
function* readsOfFilter(
  of: NamedType,
  input: InputObjectType,
  value: ValueNode | ConstValueNode,
): Generator<RuleRead> {
  if (value.kind === "ListValue") {
    for (const one of value.values) yield* readsOfFilter(of, input, one);
    return;
  }
  if (value.kind === "Variable") {
    yield* readsOfAnyFilter(of, input);
    return;
  }
  if (value.kind !== "ObjectValue") return;
  for (const { name, value: inner } of value.fields) {
    const part = input.fields.get(name.value);
    if (part === undefined) continue;
    if (part.field !== undefined) yield { of, field: part.field };
    else if (part.role === "has") yield* fieldsOfPresence(of, part, inner);
    else {
      const nested = filterWithin(of, part, input);
      if (nested !== undefined) yield* readsOfFilter(nested.of, nested.input, inner);
    }
  }
}

function* readsOfAnyFilter(of: NamedType, input: InputObjectType): Generator<RuleRead> {
  for (const part of input.fields.values()) {
    if (part.field !== undefined) yield { of, field: part.field };
    else if (part.role === "has") yield* fieldsOfPresence(of, part, undefined);
    else if (part.role === "member") {
      const nested = filterWithin(of, part, input);
      if (nested !== undefined) yield* readsOfAnyFilter(nested.of, nested.input);
    }
  }
}

function filterWithin(
  of: NamedType,
  part: InputField,
  input: InputObjectType,
): { readonly of: NamedType; readonly input: InputObjectType } | undefined {
  switch (part.role) {
    case "and":
    case "or":
    case "not":
      return { of, input };
    case "member": {
      const own = part.member?.node?.filterInput;
      return part.member === undefined || own === undefined
        ? undefined
        : { of: part.member, input: own };
    }
    default:
      return undefined;
  }
}

/** `value` undefined, or a variable: all of them. */
function* fieldsOfPresence(
  of: NamedType,
  part: InputField,
  value: ValueNode | undefined,
): Generator<RuleRead> {
  let type = part.type;
  while (type.kind === "list") type = type.element;
  if (type.type.kind !== "enum") return;
  const given = value?.kind === "ListValue" ? value.values : [value];
  const names = given.map((one) => (one?.kind === "EnumValue" ? one.value.toLowerCase() : ""));
  for (const { name, field } of type.type.values.values())
    if (field !== undefined && (names.includes("") || names.includes(name.toLowerCase())))
      yield { of, field };
}

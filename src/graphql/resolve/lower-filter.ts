/** Filter objects → filters of the tree (reference/graphql 4.6). */
import type { Filter, FunctionCall, Literal, PredicateName } from "../../dql/ast.ts";
import type {
  FieldDefinition,
  InputField,
  InputObjectType,
  UnionType,
} from "../schema/compiled-schema.ts";
import {
  andFilter,
  callFilter,
  chargeConditions,
  chargeValues,
  compareCall,
  guarded,
  joinFilters,
  literal,
  loweredPredicateOf,
  typeCall,
  uidCall,
} from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import { lowerGeoFunction } from "./lower-geo.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue } from "../operation/arguments.ts";
import { isNode } from "../operation/meta.ts";

const never: Filter = { kind: "constant", value: false };

/**
 * A filter object of a node type. undefined: no condition. Siblings are a conjunction; `or` joins its members with
 * that conjunction, wherever it stands in the object. What says nothing (null, {}, []) is no condition.
 */
export function lowerFilter(
  context: LowerContext,
  input: InputObjectType,
  value: ArgumentValue,
): Filter | undefined {
  if (!isArgumentObject(value)) return undefined;
  chargeConditions(context, 1);
  const conditions: Filter[] = [];
  let alternatives: readonly ArgumentValue[] = [];
  for (const name of Object.keys(value)) {
    const field = input.fields.get(name);
    if (field === undefined) continue;
    const given = value[name];
    if (field.role === "or") {
      if (isArgumentList(given)) alternatives = given;
      continue;
    }
    const condition = lowerEntry(context, input, field, given);
    if (condition !== undefined) conditions.push(condition);
  }
  const together = joinFilters(conditions);
  const members = alternatives
    .map((member) => lowerFilter(context, input, member))
    .filter((member) => member !== undefined);
  if (members.length === 0) return together;
  const all = together === undefined ? members : [together, ...members];
  return all.length === 1 ? all[0] : { kind: "or", filters: all };
}

function lowerEntry(
  context: LowerContext,
  input: InputObjectType,
  field: InputField,
  value: ArgumentValue,
): Filter | undefined {
  switch (field.role) {
    case "and":
      if (!isArgumentList(value)) return undefined;
      return joinFilters(value.map((member) => lowerFilter(context, input, member)));
    case "not": {
      const inner = lowerFilter(context, input, value);
      return inner === undefined ? undefined : { kind: "not", filter: inner };
    }
    case "has":
      return lowerHas(context, field, value);
    default:
      return field.field === undefined ? undefined : lowerFieldFilter(context, field.field, value);
  }
}

function lowerHas(
  context: LowerContext,
  field: InputField,
  value: ArgumentValue,
): Filter | undefined {
  if (!isArgumentList(value)) return undefined;
  chargeConditions(context, value.length);
  const conditions = value.map((name) => {
    const named = name === null ? undefined : findEnumField(field, argumentText(name));
    return named === undefined ? undefined : lowerPresence(context, named);
  });
  return joinFilters(conditions);
}

/** An edge counts where it leads to a node that the caller may see. */
function lowerPresence(context: LowerContext, field: FieldDefinition): Filter | undefined {
  const predicate = loweredPredicateOf(field);
  if (predicate === undefined) return undefined;
  const { source } = field;
  const rule = source.kind === "edge" ? guarded(context, source.target, undefined) : undefined;
  return rule === undefined
    ? callFilter(hasCall(predicate))
    : { kind: "edge", predicate, filter: rule };
}

function findEnumField(field: InputField, name: string): FieldDefinition | undefined {
  let type = field.type;
  while (type.kind === "list") type = type.element;
  if (type.type.kind !== "enum") return undefined;
  const exact = type.type.values.get(name);
  if (exact !== undefined) return exact.field;
  for (const value of type.type.values.values()) {
    if (value.name.toLowerCase() === name.toLowerCase()) return value.field;
  }
  return undefined;
}

export function hasCall(predicate: PredicateName): FunctionCall {
  return { name: "has", subject: predicate, args: [], at: undefined };
}

function lowerFieldFilter(
  context: LowerContext,
  field: FieldDefinition,
  value: ArgumentValue,
): Filter | undefined {
  if (field.source.kind === "uid") return lowerIdList(context, value);
  const predicate = loweredPredicateOf(field);
  if (predicate === undefined || value === null || value === undefined) return undefined;
  if (typeof value === "boolean") {
    return callFilter(compareCall("eq", predicate, [literal(context, String(value), false)]));
  }
  // An id that comes from another service: a stored value with a list of ids for its filter.
  if (isArgumentList(value)) return lowerIn(context, predicate, value);
  if (!isArgumentObject(value)) return undefined;
  return joinFilters(
    Object.keys(value).map((name) => lowerFunction(context, predicate, name, value[name])),
  );
}

/** Ids that do not parse are left out; nothing left means no node. */
function lowerIdList(context: LowerContext, value: ArgumentValue): Filter {
  const uids = uidLiterals(context, value);
  return uids.length === 0 ? never : callFilter(uidCall(uids));
}

export function uidLiterals(context: LowerContext, value: ArgumentValue): Literal[] {
  if (!isArgumentList(value)) return [];
  chargeValues(context, value.length);
  return value
    .filter((id) => id !== null && id !== undefined && isUidText(argumentText(id)))
    .map((id) => literal(context, argumentText(id), false));
}

const uidPattern = /^(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*|0)$/;

/** Whether a text is an unsigned 64-bit number in one of the forms of an ID. */
export function isUidText(text: string): boolean {
  if (!uidPattern.test(text)) return false;
  if (text.length < 17) return true;
  const octal = /^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text;
  return BigInt(octal) < 1n << 64n;
}

function lowerFunction(
  context: LowerContext,
  predicate: PredicateName,
  name: string,
  value: ArgumentValue,
): Filter | undefined {
  switch (name) {
    case "eq":
      return value === null || value === undefined
        ? { kind: "not", filter: callFilter(hasCall(predicate)) }
        : callFilter(compareCall("eq", predicate, [valueLiteral(context, value)]));
    case "in":
      return isArgumentList(value) ? lowerIn(context, predicate, value) : undefined;
    case "le":
    case "lt":
    case "ge":
    case "gt":
      if (value === null || value === undefined) return undefined;
      return callFilter(compareCall(name, predicate, [valueLiteral(context, value)]));
    case "between":
      return lowerBetween(context, predicate, value);
    case "allofterms":
    case "anyofterms":
    case "alloftext":
    case "anyoftext":
    case "ngram":
      if (value === null || value === undefined) return undefined;
      return callFilter(
        compareCall(name, predicate, [literal(context, argumentText(value), true)]),
      );
    case "regexp":
      if (value === null || value === undefined) return undefined;
      return callFilter(regexpCall(context, predicate, argumentText(value)));
    default:
      return lowerGeoFunction(context, predicate, name, value);
  }
}

/** null among the values asks for nodes without one, as `eq: null` does. */
function lowerIn(
  context: LowerContext,
  predicate: PredicateName,
  values: readonly ArgumentValue[],
): Filter {
  chargeValues(context, values.length);
  const given = values.filter((value) => value !== null && value !== undefined);
  const filters: Filter[] = [];
  if (given.length > 0) {
    const items = given.map((value) => valueLiteral(context, value));
    const call: FunctionCall = {
      name: "eq",
      subject: predicate,
      args: items.map((item) => ({ kind: "literal", literal: item })),
      at: undefined,
    };
    filters.push(callFilter(call));
  }
  if (given.length < values.length) {
    filters.push({ kind: "not", filter: callFilter(hasCall(predicate)) });
  }
  if (filters.length === 0) return never;
  return filters.length === 1 ? (filters[0] ?? never) : { kind: "or", filters };
}

function lowerBetween(
  context: LowerContext,
  predicate: PredicateName,
  value: ArgumentValue,
): Filter | undefined {
  if (value === null || value === undefined) return undefined;
  // Enums have no range type: their `between` takes one value, which is both ends.
  const ends = isArgumentObject(value) ? [value["min"], value["max"]] : [value, value];
  if (ends.some((end) => end === null || end === undefined)) return undefined;
  return callFilter(
    compareCall(
      "between",
      predicate,
      ends.map((end) => valueLiteral(context, end)),
    ),
  );
}

/** `/source/flags`; a text without slashes has one argument too few, which the engine says. */
function regexpCall(context: LowerContext, predicate: PredicateName, text: string): FunctionCall {
  const match = /^\/(?<source>.*)\/(?<flags>[a-zA-Z]*)$/s.exec(text);
  if (match?.groups === undefined) {
    return compareCall("regexp", predicate, [literal(context, text, true)]);
  }
  const source = literal(context, match.groups["source"] ?? "", false);
  const flags = match.groups["flags"] ?? "";
  return {
    name: "regexp",
    subject: predicate,
    args: [{ kind: "regex", source, flags }],
    at: undefined,
  };
}

export function valueLiteral(context: LowerContext, value: ArgumentValue): Literal {
  return literal(context, argumentText(value), typeof value === "string");
}

/** Members of a union: those of `memberTypes` (all without it), each under its own filter. */
export function lowerUnionFilter(
  context: LowerContext,
  union: UnionType,
  value: ArgumentValue,
): Filter | undefined {
  if (!isArgumentObject(value)) return undefined;
  const given = value["memberTypes"];
  const wanted = isArgumentList(given)
    ? new Set(given.map((name) => (name === null ? "" : argumentText(name).toLowerCase())))
    : undefined;
  const filters: Filter[] = [];
  let isOpen = wanted === undefined;
  for (const member of union.members) {
    if (!isNode(member)) continue;
    if (wanted !== undefined && !wanted.has(member.name.toLowerCase())) continue;
    const condition = memberFilter(context, union, member.name, value);
    isOpen &&= condition === undefined;
    const both = andFilter(callFilter(typeCall(member)), condition);
    if (both !== undefined) filters.push(both);
  }
  if (isOpen) return undefined;
  if (filters.length === 0) return never;
  return filters.length === 1 ? filters[0] : { kind: "or", filters };
}

function memberFilter(
  context: LowerContext,
  union: UnionType,
  member: string,
  value: ArgumentObject,
): Filter | undefined {
  for (const field of union.filterInput?.fields.values() ?? []) {
    if (field.role !== "member" || field.member?.name !== member) continue;
    const input = field.member.node?.filterInput;
    return input === undefined ? undefined : lowerFilter(context, input, value[field.name]);
  }
  return undefined;
}

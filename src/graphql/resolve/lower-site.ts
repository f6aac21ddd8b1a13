/**
 * Arguments of fields → filter, order, page and cascade of their place in the tree. These are all that a request's
 * values decide; the rest of a tree is fixed by the selection.
 */
import type { Filter, OrderKey, Page } from "../../dql/ast.ts";
import { noPage } from "../../dql/ast.ts";
import type { FieldDefinition, InputObjectType, NamedType } from "../schema/compiled-schema.ts";
import { guarded, literal, loweredPredicateOf } from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import { lowerFilter, lowerUnionFilter } from "./lower-filter.ts";
import {
  argumentText,
  evaluate,
  evaluateArguments,
  isArgumentList,
  isArgumentObject,
} from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue, RequestValues } from "../operation/arguments.ts";
import { isNode } from "../operation/meta.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

export interface SiteParts {
  readonly filter: Filter | undefined;
  readonly order: readonly OrderKey[];
  readonly page: Page;
  /** undefined: no @cascade; empty: all fields; else GraphQL names of fields of the value's type. */
  readonly cascade: readonly string[] | undefined;
}

export const noParts: SiteParts = {
  filter: undefined,
  order: [],
  page: noPage,
  cascade: undefined,
};

/** A field's own arguments, where its value is an edge, a list of nodes or an aggregate of them. */
export function lowerSite(
  context: LowerContext,
  field: SelectedField,
  request: RequestValues,
): SiteParts {
  const given = field.node.arguments ?? [];
  if (given.length === 0 && field.cascade === undefined) {
    const filter = guarded(context, targetOf(field.definition), undefined);
    return filter === undefined ? noParts : { ...noParts, filter };
  }
  const values = evaluateArguments(given, field.definition.arguments, request);
  return {
    filter: lowerFilterArgument(context, targetOf(field.definition), values["filter"]),
    order: lowerOrder(orderInputOf(field.definition), values["order"]),
    page: lowerPage(context, values),
    cascade: cascadeNames(field, request),
  };
}

/** The type whose nodes a field filters: of `fAggregate`, the edge's. */
export function targetOf(field: FieldDefinition): NamedType {
  if (field.source.kind === "edgeAggregate") return namedTypeOf(field.source.edge.type);
  return namedTypeOf(field.type);
}

export function lowerFilterArgument(
  context: LowerContext,
  target: NamedType,
  value: ArgumentValue,
): Filter | undefined {
  if (target.kind === "union")
    return guarded(context, target, lowerUnionFilter(context, target, value));
  if (!isNode(target)) return undefined;
  const input = target.node.filterInput;
  const own = input === undefined ? undefined : lowerFilter(context, input, value);
  return guarded(context, target, own);
}

function orderInputOf(field: FieldDefinition): InputObjectType | undefined {
  const argument = field.arguments.get("order");
  const type = argument === undefined ? undefined : namedTypeOf(argument.type);
  return type?.kind === "input" ? type : undefined;
}

/** `asc` wins over `desc` of the same object; `then` goes on. */
export function lowerOrder(input: InputObjectType | undefined, value: ArgumentValue): OrderKey[] {
  const keys: OrderKey[] = [];
  if (input === undefined) return keys;
  let at = value;
  while (isArgumentObject(at)) {
    const ascending = at["asc"];
    const descending = at["desc"];
    const isDescending = ascending === null || ascending === undefined;
    const name = isDescending ? descending : ascending;
    if (name !== null && name !== undefined) {
      const predicate = orderedPredicate(input, argumentText(name));
      if (predicate !== undefined) keys.push({ by: predicate, descending: isDescending });
    }
    at = at["then"];
  }
  return keys;
}

function orderedPredicate(
  input: InputObjectType,
  name: string,
): ReturnType<typeof loweredPredicateOf> {
  const type = input.fields.get("asc")?.type;
  const named = type === undefined ? undefined : namedTypeOf(type);
  if (named?.kind !== "enum") return undefined;
  for (const value of named.values.values()) {
    if (value.name !== name && value.name.toLowerCase() !== name.toLowerCase()) continue;
    return value.field === undefined ? undefined : loweredPredicateOf(value.field);
  }
  return undefined;
}

export function lowerPage(context: LowerContext, values: ArgumentObject): Page {
  const first = values["first"];
  const offset = values["offset"];
  if ((first ?? null) === null && (offset ?? null) === null) return noPage;
  return {
    first: (first ?? null) === null ? undefined : literal(context, argumentText(first), false),
    offset: (offset ?? null) === null ? undefined : literal(context, argumentText(offset), false),
    after: undefined,
  };
}

/** The GraphQL names of a field's @cascade; see `SiteParts.cascade`. */
export function cascadeNames(
  field: SelectedField,
  request: RequestValues,
): readonly string[] | undefined {
  if (field.cascade === undefined) return undefined;
  const argument = field.cascade.arguments?.find((given) => given.name.value === "fields");
  if (argument === undefined) return [];
  const value = evaluate(argument.value, stringList, request);
  if (!isArgumentList(value)) return [];
  return value.filter((name) => name !== null && name !== undefined).map(argumentText);
}

const stringList: Parameters<typeof evaluate>[1] = {
  kind: "list",
  nonNull: false,
  text: "[String]",
  element: {
    kind: "named",
    nonNull: false,
    text: "String",
    type: { kind: "scalar", name: "String", description: undefined, origin: "specified" },
  },
};

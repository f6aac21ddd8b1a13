/** @facets: what is shown, ordered by, filtered by (reference/dql 4.11). */
import type { FacetSelection, Filter, FunctionCall } from "../dql/ast.ts";
import { addSlot, literalsOf, refusePlan, variableIndex, type Builder } from "./builder.ts";
import type { FacetFilterPlan, FacetsPlan } from "./plan.ts";

export function buildFacets(
  builder: Builder,
  selection: FacetSelection | undefined,
): FacetsPlan | undefined {
  if (selection === undefined) return undefined;
  return {
    all: selection.all,
    fields: selection.fields.map((field) => ({
      key: field.key,
      alias: field.alias,
      variable: field.variable === undefined ? undefined : variableIndex(builder, field.variable),
    })),
    order: selection.order,
  };
}

type FacetOperator = Extract<FacetFilterPlan, { kind: "test" }>["operator"];

const facetOperators: ReadonlySet<string> = new Set([
  "eq",
  "le",
  "lt",
  "ge",
  "gt",
  "allofterms",
  "anyofterms",
]);

export function buildFacetFilter(
  builder: Builder,
  filter: Filter | undefined,
): FacetFilterPlan | undefined {
  return filter === undefined ? undefined : build(builder, filter);
}

function build(builder: Builder, filter: Filter): FacetFilterPlan {
  switch (filter.kind) {
    case "and":
    case "or":
      return { kind: filter.kind, filters: filter.filters.map((part) => build(builder, part)) };
    case "not":
      return { kind: "not", filter: build(builder, filter.filter) };
    case "call":
      return buildTest(builder, filter.call);
    case "constant":
      return { kind: filter.value ? "and" : "or", filters: [] };
    case "edge":
      return refusePlan("A filter of facets cannot follow edges.");
  }
}

function buildTest(builder: Builder, call: FunctionCall): FacetFilterPlan {
  const literals = call.args.flatMap(literalsOf);
  // A regular expression counts as two arguments: its text and its flags.
  const regexes = call.args.filter((argument) => argument.kind === "regex").length;
  const count = literals.length + regexes;
  const [value] = literals;
  if (count !== 1 || value === undefined) {
    return refusePlan(`One argument expected in ${call.name}, but got ${count}.`);
  }
  if (!facetOperators.has(call.name)) {
    return refusePlan(`Fn ${call.name} not supported in preprocessFilter.`);
  }
  return {
    kind: "test",
    key: call.subject.kind === "predicate" ? call.subject.name : "",
    operator: call.name as FacetOperator,
    value: addSlot(builder, "value", value),
  };
}

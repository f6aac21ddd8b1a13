/** @groupby (reference/dql 4.15). */
import type { Field, GroupKey } from "../dql/ast.ts";
import { resolvePredicate, type Builder } from "./builder.ts";
import { defineVariable } from "./define.ts";
import type { GroupAggregatePlan, GroupPlan } from "./plan.ts";

/** A count of a predicate is refused where there is a group to count in. */
export function buildGroup(
  builder: Builder,
  keys: readonly GroupKey[],
  children: readonly Field[],
): GroupPlan {
  const aggregates = children.map((child) => buildAggregate(builder, child));
  return {
    keys: keys.map((key) => ({
      key: key.alias ?? (key.predicate.reverse ? "~" : "") + key.predicate.name,
      use: resolvePredicate(builder, key.predicate),
    })),
    aggregates: aggregates.filter((aggregate) => aggregate !== undefined),
    refusal: aggregates.includes(undefined)
      ? "Only uid predicate is allowed in count within groupby"
      : undefined,
  };
}

/** undefined for a count of anything but nodes, all that the parser lets through beside these. */
function buildAggregate(builder: Builder, field: Field): GroupAggregatePlan | undefined {
  if (field.kind === "countUid") {
    return {
      kind: "count",
      key: field.alias ?? "count",
      variable: defineVariable(builder, field.variable, "value", -1),
    };
  }
  if (field.kind === "aggregate" && field.of.kind === "predicate") {
    return {
      kind: "aggregate",
      key: field.alias ?? `${field.function}(${field.of.name})`,
      function: field.function,
      use: resolvePredicate(builder, field.of),
      variable: defineVariable(builder, field.variable, "value", -1),
    };
  }
  return undefined;
}

/** @groupby (dql.md 4.15). */
import type { Field, GroupKey } from "../dql/ast.ts";
import { refuse, resolvePredicate, type Builder } from "./builder.ts";
import { defineVariable } from "./define.ts";
import type { GroupAggregatePlan, GroupPlan } from "./plan.ts";

export function buildGroup(
  builder: Builder,
  keys: readonly GroupKey[],
  children: readonly Field[],
): GroupPlan {
  const plan: GroupPlan = {
    keys: keys.map((key) => ({
      key: key.alias ?? (key.predicate.reverse ? "~" : "") + key.predicate.name,
      use: resolvePredicate(builder, key.predicate),
    })),
    aggregates: children.map((child) => buildAggregate(builder, child)),
  };
  if (plan.aggregates.some((aggregate) => aggregate.variable !== undefined)) checkVariables(plan);
  return plan;
}

function checkVariables(plan: GroupPlan): void {
  if (plan.keys.length !== 1) {
    refuse(`Expected one UID for var in groupby but got: ${plan.keys.length}`);
  }
  const predicate = plan.keys[0]?.use.predicate;
  if (predicate !== undefined && predicate.definition.kind !== "uid") {
    refuse("Vars can be assigned only when grouped by UID attribute");
  }
}

function buildAggregate(builder: Builder, field: Field): GroupAggregatePlan {
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
  return refuse("Only aggregator/count functions allowed inside @groupby. Got: val");
}

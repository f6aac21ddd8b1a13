/**
 * What must be looked at again for each request of a prepared document: literals whose type has bounds, and names that
 * @cascade takes from literals or variables. All else of validity rests on the template alone.
 */
import type { DirectiveNode, DocumentNode, FragmentDefinitionNode, ValueNode } from "graphql";
import type { DocumentMeter } from "./document-meter.ts";
import type { CompiledSchema, NamedType } from "../schema/compiled-schema.ts";
import { cascadeFields } from "./cascade.ts";
import { isJsonArray } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { intProblem, isBeyondNumbers, isJudged, isNumber } from "./values.ts";
import { namedTypeOf, startWalk, walkDocument } from "./walk.ts";

export interface DocumentChecks {
  readonly integers: readonly { readonly index: number; readonly type: "Int" | "Int64" }[];
  /** Other numbers, which must be within what a number can be at all. */
  readonly numbers: readonly number[];
  readonly cascades: readonly CascadeCheck[];
}

interface CascadeCheck {
  readonly fields: ReadonlyMap<string, unknown>;
  /** Literals that hold names, by index. */
  readonly literals: readonly number[];
  readonly variable: string | undefined;
}

export function collectChecks(
  schema: CompiledSchema,
  document: DocumentNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  literalIndex: ReadonlyMap<ValueNode, number>,
  meter: DocumentMeter,
): DocumentChecks {
  const integers = new Map<number, "Int" | "Int64">();
  const numbers = new Set<number>();
  const cascades: CascadeCheck[] = [];
  const ignore = (): void => {};
  const state = startWalk(schema, fragments, meter);
  walkDocument(state, document, {
    value(value, expected) {
      const index = literalIndex.get(value);
      if (index === undefined) return;
      const name = expected === undefined ? "" : namedTypeOf(expected).name;
      if (name === "Int" || name === "Int64") integers.set(index, name);
      else if (isNumber(value) && isJudged(expected)) numbers.add(index);
    },
    directive(directive, _, place) {
      const check = cascadeCheck(directive, place.parent, literalIndex);
      if (check !== undefined) cascades.push(check);
    },
    directives: ignore,
    field: ignore,
    inlineFragment: ignore,
    fragmentSpread: ignore,
    fragment: ignore,
    operation: ignore,
  });
  const bounds = Array.from(integers, ([index, type]) => ({ index, type }));
  return { integers: bounds, numbers: [...numbers], cascades };
}

function cascadeCheck(
  directive: DirectiveNode,
  parent: NamedType | undefined,
  literalIndex: ReadonlyMap<ValueNode, number>,
): CascadeCheck | undefined {
  if (directive.name.value !== "cascade") return undefined;
  if (parent === undefined) return undefined;
  const value = directive.arguments?.find((argument) => argument.name.value === "fields")?.value;
  if (value === undefined) return undefined;
  const nodes = value.kind === "ListValue" ? value.values : [value];
  const literals = nodes.flatMap((node) => literalIndex.get(node) ?? []);
  const variable = value.kind === "Variable" ? value.name.value : undefined;
  return { fields: cascadeFields(parent), literals, variable };
}

/** Whether a request's values pass; what is wrong with them, validation in full will say. */
export function passesChecks(
  checks: DocumentChecks,
  literals: readonly string[],
  variables: JsonObject,
): boolean {
  for (const { index, type } of checks.integers) {
    if (intProblem(literals[index] ?? "", type) !== undefined) return false;
  }
  for (const index of checks.numbers) if (isBeyondNumbers(literals[index] ?? "")) return false;
  for (const check of checks.cascades) {
    for (const index of check.literals) if (!check.fields.has(literals[index] ?? "")) return false;
    if (check.variable === undefined) continue;
    for (const name of namesOf(variables[check.variable]))
      if (!check.fields.has(name)) return false;
  }
  return true;
}

function namesOf(value: JsonValue | undefined): string[] {
  return isJsonArray(value) ? value.filter((name) => typeof name === "string") : [];
}

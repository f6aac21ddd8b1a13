/** The fields that @cascade may name (graphql.md 4.8). */
import type { DirectiveNode, ValueNode } from "graphql";
import type { NamedType } from "./compiled-schema.ts";
import { isJsonArray } from "./request-json.ts";
import type { JsonObject } from "./request-json.ts";

/** Reports each name that is no field of the type. `parent` is the type of the field's value. */
export function checkCascade(
  directive: DirectiveNode,
  parent: NamedType | undefined,
  variables: JsonObject,
  report: (message: string, node: DirectiveNode) => void,
): void {
  if (directive.name.value !== "cascade" || parent === undefined) return;
  if (parent.kind !== "object" && parent.kind !== "interface") return;
  const value = directive.arguments?.find((argument) => argument.name.value === "fields")?.value;
  if (value === undefined) return;
  for (const name of cascadeNames(value, variables)) {
    if (parent.fields.has(name)) continue;
    const from = value.kind === "Variable" ? `input: variables.${value.name.value}.${name} ` : "";
    report(
      `${from}Field \`${name}\` is not present in type \`${parent.name}\`. You can only use fields in cascade which are in type \`${parent.name}\``,
      directive,
    );
  }
}

function cascadeNames(value: ValueNode, variables: JsonObject): string[] {
  if (value.kind === "StringValue") return [value.value];
  if (value.kind === "ListValue") return value.values.flatMap((v) => cascadeNames(v, variables));
  if (value.kind !== "Variable") return [];
  const given = variables[value.name.value];
  if (typeof given === "string") return [given];
  return isJsonArray(given) ? given.filter((name) => typeof name === "string") : [];
}

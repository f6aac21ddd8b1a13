/** The fields that @cascade may name (reference/graphql 4.8). */
import type { DirectiveNode, ValueNode } from "graphql";
import type { NamedType } from "../schema/compiled-schema.ts";
import { isJsonArray } from "./json.ts";
import type { JsonObject } from "./json.ts";

/** Reports the first name that is no field of the type. `parent` is the type of the field's value. */
export function checkCascade(
  directive: DirectiveNode,
  parent: NamedType | undefined,
  variables: JsonObject,
  report: (message: string, node: DirectiveNode) => void,
): void {
  if (directive.name.value !== "cascade" || parent === undefined) return;
  const value = directive.arguments?.find((argument) => argument.name.value === "fields")?.value;
  if (value === undefined) return;
  const fields = cascadeFields(parent);
  const name = cascadeNames(value, variables).find((candidate) => !fields.has(candidate));
  if (name === undefined) return;
  const from = value.kind === "Variable" ? `input: variables.${value.name.value}.${name} ` : "";
  report(
    `${from}Field \`${name}\` is not present in type \`${parent.name}\`. You can only use fields in cascade which are in type \`${parent.name}\``,
    directive,
  );
}

const none: ReadonlyMap<string, unknown> = new Map();

/** The fields that may be named for a value of a type: none for unions and what has no fields. */
export function cascadeFields(parent: NamedType): ReadonlyMap<string, unknown> {
  return parent.kind === "object" || parent.kind === "interface" ? parent.fields : none;
}

/** A lone name stands for a list where it is a literal; in a variable it is refused by its type. */
function cascadeNames(value: ValueNode, variables: JsonObject): string[] {
  if (value.kind === "StringValue" || value.kind === "EnumValue") return [value.value];
  if (value.kind === "ListValue") return value.values.flatMap((v) => cascadeNames(v, variables));
  if (value.kind !== "Variable") return [];
  const given = variables[value.name.value];
  return isJsonArray(given) ? given.filter((name) => typeof name === "string") : [];
}

/** The body of a request of `@custom(http:)`: its template with values in it, as JSON (reference/graphql 8.4). */
import type { FieldNode, ValueNode } from "graphql";
import type { BodyTemplate } from "../schema/custom-body.ts";
import type { ArgumentDefinition, TypeRef } from "../schema/compiled-schema.ts";
import {
  argumentText,
  evaluate,
  isArgumentList,
  isArgumentObject,
} from "../operation/arguments.ts";
import type { ArgumentValue, RequestValues } from "../operation/arguments.ts";
import { isJsonArray, isJsonObject, NumberText, type JsonValue } from "../operation/json.ts";
import { namedTypeOf } from "../operation/walk.ts";
import type { RequestVariables } from "./request-url.ts";

/**
 * The JSON of a template; "" for none. In objects a variable without a value takes its name with it, in lists it is null.
 */
export function fillBody(template: BodyTemplate | undefined, variables: RequestVariables): string {
  const text = template === undefined ? undefined : fill(template, variables);
  return text === undefined ? "" : toHtmlSafe(text);
}

/** As the reference prints JSON: it may stand in a page. These signs are in strings alone. */
export function toHtmlSafe(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** undefined: a variable without a value. */
function fill(template: BodyTemplate, variables: RequestVariables): string | undefined {
  switch (template.kind) {
    case "constant":
      return template.json;
    case "variable": {
      const value = variables.get(template.name);
      return value === undefined ? undefined : printSorted(value);
    }
    case "list":
      return `[${template.items.map((item) => fill(item, variables) ?? "null").join()}]`;
    case "object": {
      const members: string[] = [];
      for (const [name, inner] of template.members) {
        const text = fill(inner, variables);
        if (text !== undefined) members.push(`${JSON.stringify(name)}:${text}`);
      }
      return `{${members.join()}}`;
    }
  }
}

/** JSON with members in alphabetical order. */
export function printSorted(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  if (isJsonArray(value)) return `[${value.map(printSorted).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${printSorted(member)}`);
  return `{${members.join()}}`;
}

/** The arguments that a client gives; defaults of the SDL are not filled in. */
export function argumentVariables(
  { arguments: given = [] }: FieldNode,
  known: ReadonlyMap<string, ArgumentDefinition>,
  request: RequestValues,
): RequestVariables {
  const variables = new Map<string, JsonValue>();
  for (const { name, value: node } of given) {
    const type = known.get(name.value)?.type;
    const value = type === undefined ? undefined : evaluate(node, type, request);
    if (type === undefined || value === undefined) continue;
    variables.set(name.value, toJson(value, type, node, false));
  }
  return variables;
}

/**
 * IDs and Int64 as texts, numbers as they are counted with. `node`: where the value is written in the document; an empty
 * list that stands so within an object becomes null, as the reference sends it.
 */
function toJson(
  value: ArgumentValue,
  type: TypeRef,
  node: ValueNode | undefined,
  isInObject: boolean,
): JsonValue {
  if (value === undefined || value === null) return null;
  if (isArgumentList(value)) {
    const items = node?.kind === "ListValue" ? node.values : undefined;
    if (isInObject && items?.length === 0) return null;
    const element = type.kind === "list" ? type.element : type;
    return value.map((item, i) => toJson(item, element, items?.[i], isInObject));
  }
  const named = namedTypeOf(type);
  if (isArgumentObject(value)) {
    const fields = node?.kind === "ObjectValue" ? node.fields : [];
    const members: [string, JsonValue][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      const inner = named.kind === "input" ? named.fields.get(name)?.type : type;
      const written = fields.find((field) => field.name.value === name)?.value;
      members.push([name, toJson(item, inner ?? type, written, true)]);
    }
    return Object.fromEntries(members);
  }
  if (named.name === "ID" || named.name === "Int64") return argumentText(value);
  if (!(value instanceof NumberText) || named.name !== "Float") return value;
  const number = Number(value.text);
  return Number.isFinite(number) ? number : value;
}

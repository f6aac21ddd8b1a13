/**
 * Values of arguments: literals and variables of a valid document, brought into the form of their type (a single
 * value for a list becomes a list). Scalars stay as sent; what they mean is decided where they are lowered.
 */
import type { ArgumentNode, ObjectValueNode, ValueNode } from "graphql";
import type { ArgumentDefinition, InputField, TypeRef } from "../schema/compiled-schema.ts";
import type { DocumentLimits } from "./document-meter.ts";
import { isJsonArray, isJsonObject, NumberText } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { VariableUse } from "./variables.ts";

/** undefined: a variable that the request leaves out. It counts as null in filters, as absent elsewhere. */
export type ArgumentValue =
  | undefined
  | null
  | boolean
  | string
  | number
  | NumberText
  | readonly ArgumentValue[]
  | ArgumentObject;

export interface ArgumentObject {
  readonly [field: string]: ArgumentValue;
}

/** What a request brings to a prepared operation. */
export interface RequestValues {
  readonly declared: readonly VariableUse[];
  readonly variables: JsonObject;
  /** The literals of the document in textual order, and the index of each literal's node. */
  readonly literals: readonly string[];
  readonly literalIndex: ReadonlyMap<ValueNode, number>;
  readonly limits: DocumentLimits;
  readonly use: ValueUse;
  /** Something of so many bytes is kept with the operation. */
  readonly grow: (bytes: number) => void;
}

/** What has been made of one request's values so far. */
interface ValueUse {
  /** Conditions in filters, and the values that they compare with. */
  conditions: number;
  values: number;
  /** Objects of answers to introspection. */
  introspected: number;
  /** Declared variables by name, once they were looked for. */
  declared: ReadonlyMap<string, VariableUse> | undefined;
  /** Values of variables in the forms of the places that they are used in: each is made once. */
  readonly shaped: Map<string, Map<TypeRef, ArgumentValue>>;
}

export function makeValueUse(): ValueUse {
  return {
    conditions: 0,
    values: 0,
    introspected: 0,
    declared: undefined,
    shaped: new Map(),
  };
}

/** The given arguments by name; those that are left out, or are variables without a value, are absent. */
export function evaluateArguments(
  given: readonly ArgumentNode[],
  known: ReadonlyMap<string, ArgumentDefinition>,
  request: RequestValues,
): ArgumentObject {
  const result: Record<string, ArgumentValue> = {};
  for (const argument of given) {
    const definition = known.get(argument.name.value);
    if (definition === undefined) continue;
    const value = evaluate(argument.value, definition.type, request);
    if (value !== undefined) result[definition.name] = value;
  }
  for (const definition of known.values()) {
    if (definition.defaultValue === undefined || definition.name in result) continue;
    const value = evaluate(definition.defaultValue, definition.type, request);
    if (value !== undefined) result[definition.name] = value;
  }
  return result;
}

/** The value of a node. `type` is the type of its place. */
export function evaluate(node: ValueNode, type: TypeRef, request: RequestValues): ArgumentValue {
  switch (node.kind) {
    case "Variable":
      return evaluateVariable(node.name.value, type, request);
    case "NullValue":
      return null;
    case "ListValue": {
      const element = type.kind === "list" ? type.element : type;
      return node.values.map((item) => evaluate(item, element, request) ?? null);
    }
    case "ObjectValue":
      return wrap(evaluateObject(node, innermost(type), request), type);
    default:
      return wrap(evaluateScalar(node, request), type);
  }
}

function evaluateObject(
  node: ObjectValueNode,
  type: TypeRef & { kind: "named" },
  request: RequestValues,
): ArgumentObject {
  const fields = type.type.kind === "input" ? type.type.fields : undefined;
  const result: Record<string, ArgumentValue> = {};
  for (const field of node.fields) {
    // Without fields of its own (_Any) a type takes any object.
    const inner = fields === undefined ? type : fields.get(field.name.value)?.type;
    if (inner !== undefined) result[field.name.value] = evaluate(field.value, inner, request);
  }
  if (fields !== undefined) addDefaults(result, fields, request);
  return result;
}

type ScalarNode = Extract<
  ValueNode,
  { kind: "IntValue" | "FloatValue" | "StringValue" | "BooleanValue" | "EnumValue" }
>;

function evaluateScalar(
  node: ScalarNode,
  request: RequestValues,
): boolean | string | number | NumberText {
  if (node.kind === "BooleanValue" || node.kind === "EnumValue") return node.value;
  const index = request.literalIndex.get(node);
  const text = index === undefined ? node.value : (request.literals[index] ?? "");
  if (node.kind === "StringValue") return text;
  return node.kind === "IntValue" && text.length < 16 ? Number(text) : new NumberText(text);
}

function evaluateVariable(name: string, type: TypeRef, request: RequestValues): ArgumentValue {
  if (Object.hasOwn(request.variables, name)) {
    const given = request.variables[name];
    if (given !== undefined) {
      return typeof given === "object"
        ? shapeOnce(name, given, type, request)
        : shapeGiven(given, type);
    }
  }
  const { use } = request;
  use.declared ??= new Map(request.declared.map((declared) => [declared.name, declared]));
  const fallback = use.declared.get(name)?.defaultValue;
  return fallback === undefined ? undefined : evaluate(fallback, type, request);
}

function shapeOnce(
  name: string,
  given: JsonValue,
  type: TypeRef,
  { use }: RequestValues,
): ArgumentValue {
  let known = use.shaped.get(name);
  if (known === undefined) use.shaped.set(name, (known = new Map()));
  if (known.has(type)) return known.get(type);
  const shaped = shapeGiven(given, type);
  known.set(type, shaped);
  return shaped;
}

/** Lists around single values, down to the leaves; fields in their own form. */
function shapeGiven(value: JsonValue, type: TypeRef): ArgumentValue {
  if (value === null) return null;
  if (type.kind === "list") {
    if (!isJsonArray(value)) return [shapeGiven(value, type.element)];
    return value.map((item) => shapeGiven(item, type.element));
  }
  if (type.type.kind !== "input" || !isJsonObject(value)) return value;
  const result: Record<string, ArgumentValue> = {};
  for (const key of Object.keys(value)) {
    const field = type.type.fields.get(key);
    if (field !== undefined) result[key] = shapeGiven(value[key] ?? null, field.type);
  }
  return result;
}

function addDefaults(
  result: Record<string, ArgumentValue>,
  fields: ReadonlyMap<string, InputField>,
  request: RequestValues,
): void {
  for (const field of fields.values()) {
    if (field.defaultValue === undefined || field.name in result) continue;
    result[field.name] = evaluate(field.defaultValue, field.type, request);
  }
}

function innermost(type: TypeRef): Extract<TypeRef, { kind: "named" }> {
  let at = type;
  while (at.kind === "list") at = at.element;
  return at;
}

function wrap(value: ArgumentValue, type: TypeRef): ArgumentValue {
  let result = value;
  for (let at = type; at.kind === "list"; at = at.element) result = [result];
  return result;
}

export function isArgumentObject(value: ArgumentValue): value is ArgumentObject {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof NumberText)
  );
}

export function isArgumentList(value: ArgumentValue): value is readonly ArgumentValue[] {
  return Array.isArray(value);
}

/** The text of a scalar: digits as they were sent. */
export function argumentText(value: ArgumentValue): string {
  if (value instanceof NumberText) return value.text;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * The values of a request's variables against their declared types (reference/graphql 4.11). Values stay as they were
 * sent: a single value for a list, an enum in another case and an Int64 in quotes are understood where they are used.
 */
import type { ConstValueNode, OperationDefinitionNode } from "graphql";
import type { CompiledSchema, NamedType, TypeRef } from "../schema/compiled-schema.ts";
import type { ResponsePath } from "./errors.ts";
import { giveHint, RequestRefused } from "./errors.ts";
import { isJsonArray, isJsonObject, NumberText } from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { explainOrder, intProblem } from "./values.ts";
import { variableType } from "./walk.ts";

export interface VariableUse {
  readonly name: string;
  readonly type: TypeRef;
  readonly defaultValue: ConstValueNode | undefined;
}

/** The declared variables of a valid operation. */
export function variablesOf(
  schema: CompiledSchema,
  operation: OperationDefinitionNode,
): VariableUse[] {
  const uses: VariableUse[] = [];
  for (const definition of operation.variableDefinitions ?? []) {
    const type = variableType(schema, definition);
    if (type === undefined) continue;
    const name = definition.variable.name.value;
    uses.push({ name, type, defaultValue: definition.defaultValue });
  }
  return uses;
}

/** Throws RequestRefused with the first fault: its path, no place. */
export function checkRequestVariables(declared: readonly VariableUse[], given: JsonObject): void {
  for (const use of declared) {
    const value = Object.hasOwn(given, use.name) ? given[use.name] : undefined;
    if (value === undefined) {
      if (use.defaultValue === undefined && use.type.nonNull) {
        throw refused("must be defined", ["variable", use.name]);
      }
    } else checkValue(use.type, value, ["variable", use.name]);
  }
}

function checkValue(type: TypeRef, value: JsonValue, path: ResponsePath): void {
  if (value === null) {
    if (type.nonNull) throw refused("cannot be null", path);
    return;
  }
  if (type.kind === "list") {
    if (!isJsonArray(value)) checkValue(type.element, value, [...path, 0]);
    else
      for (let i = 0; i < value.length; i++)
        checkValue(type.element, value[i] ?? null, [...path, i]);
    return;
  }
  checkNamed(type.type, value, path);
}

function checkNamed(type: NamedType, value: JsonValue, path: ResponsePath): void {
  if (type.kind === "input") {
    if (!isJsonObject(value)) throw refused(`must be a ${type.name}`, path);
    for (const key of Object.keys(value)) {
      if (!type.fields.has(key)) throw refused("unknown field", [...path, key]);
    }
    for (const field of type.fields.values()) {
      const member = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
      if (member !== undefined) checkValue(field.type, member, [...path, field.name]);
      else if (field.type.nonNull && field.defaultValue === undefined) {
        throw refused("must be defined", [...path, field.name]);
      }
    }
  } else if (type.kind === "enum") {
    if (typeof value !== "string" && !isNumber(value)) {
      throw refused("enums must be ints or strings", path);
    }
    const text = scalarText(value).toLowerCase();
    for (const name of type.values.keys()) if (name.toLowerCase() === text) return;
    const message = `${scalarText(value)} is not a valid ${type.name}`;
    throw new RequestRefused([giveHint({ message, path }, explainOrder(type, scalarText(value)))]);
  } else if (type.kind === "scalar") checkScalar(type.name, value, path);
}

function checkScalar(name: string, value: JsonValue, path: ResponsePath): void {
  const kind = kindOf(value);
  switch (name) {
    case "Int":
      if (kind !== "Number") throw refused(`cannot use ${kind} as Int`, path);
      checkInteger("Int", scalarText(value), path);
      return;
    case "Int64":
      if (kind !== "Number" && kind !== "string")
        throw refused(`cannot use ${kind} as Int64`, path);
      checkInteger("Int64", scalarText(value), path);
      return;
    case "Float":
    case "ID":
      if (kind !== "Number" && kind !== "string")
        throw refused(`cannot use ${kind} as ${name}`, path);
      return;
    case "String":
      if (kind !== "string") throw refused(`cannot use ${kind} as String`, path);
      return;
    case "Boolean":
      if (kind === "bool") return;
      throw refused(`cannot use ${kind} as Boolean`, path);
    default:
      if (name !== "_Any" && kind === "") {
        throw refused(`cannot use ${kind} as ${name}`, path);
      }
  }
}

function checkInteger(name: "Int" | "Int64", text: string, path: ResponsePath): void {
  const problem = intProblem(text, name);
  if (problem === undefined) return;
  const isForm = problem.startsWith("strconv");
  throw refused(
    isForm ? `Type mismatched for Value \`${text}\`, expected:\`${name}\`` : problem,
    path,
  );
}

/** As the reference calls it; lists and objects have no name there. */
function kindOf(value: JsonValue): "string" | "bool" | "Number" | "" {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  return isNumber(value) ? "Number" : "";
}

function isNumber(value: JsonValue): value is number | NumberText {
  return typeof value === "number" || value instanceof NumberText;
}

/** A scalar as its text: the digits of a number as they were sent. */
export function scalarText(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function refused(message: string, path: ResponsePath): RequestRefused {
  return new RequestRefused([{ message, path }]);
}

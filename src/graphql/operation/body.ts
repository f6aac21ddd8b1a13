/** A request's body → its fields (reference/graphql 4.1.1). */
import { Fault } from "../../model/fault.ts";
import type { Steps } from "../../base/maybe.ts";
import type { Look } from "../../model/request-budget.ts";
import {
  decodeJson,
  decodeJsonInSteps,
  isJsonObject,
  JsonSyntaxError,
  NumberText,
} from "./json.ts";
import type { JsonObject, JsonValue } from "./json.ts";

export interface RequestFields {
  readonly query: string;
  readonly operationName: string;
  /** As sent, keys without `$`. */
  readonly variables: JsonObject;
  readonly extensions: JsonObject | undefined;
}

const noVariables: JsonObject = {};

/**
 * Decodes the JSON object of reference/graphql 4.1.1. Text after it is ignored; unknown members too; member names may
 * be in any case. Fault E_GRAPHQL_REQUEST with the text of reference/graphql 4.1.1.
 */
export function readJsonBody(body: string): RequestFields {
  return toFields(asValid(() => decodeJson(body)));
}

/** `readJsonBody` that rests every few milliseconds on its way through a long body. */
export function* readJsonBodyInSteps(body: string, look: Look): Steps<RequestFields> {
  try {
    return toFields(yield* decodeJsonInSteps(body, look));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw notValid(error.message);
    throw error;
  }
}

function toFields(value: JsonValue): RequestFields {
  if (value === null) return fieldsOf("", "", noVariables, undefined);
  if (!isJsonObject(value)) {
    throw notValid(`json: cannot unmarshal ${kindOf(value)} into Go value of type schema.Request`);
  }
  let query = "";
  let operationName = "";
  let variables = noVariables;
  let extensions: JsonObject | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === null || member === undefined) continue;
    switch (key.toLowerCase()) {
      case "query":
        query = expectString("query", member);
        break;
      case "operationname":
        operationName = expectString("operationName", member);
        break;
      case "variables":
        variables = expectObject("variables", "map[string]interface {}", member);
        break;
      case "extensions":
        extensions = expectObject("extensions", "schema.RequestExtensions", member);
        break;
    }
  }
  return fieldsOf(query, operationName, variables, extensions);
}

/** `application/graphql`: the body is the document. */
export function readGraphqlBody(body: string): RequestFields {
  return fieldsOf(body, "", noVariables, undefined);
}

function fieldsOf(
  query: string,
  operationName: string,
  variables: JsonObject,
  extensions: JsonObject | undefined,
): RequestFields {
  return { query, operationName, variables, extensions };
}

function asValid(decode: () => JsonValue): JsonValue {
  try {
    return decode();
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw notValid(error.message);
    throw error;
  }
}

function expectString(field: string, value: JsonValue): string {
  if (typeof value === "string") return value;
  throw wrongMember(field, "string", value);
}

function expectObject(field: string, type: string, value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value;
  throw wrongMember(field, type, value);
}

function wrongMember(field: string, type: string, value: JsonValue): Fault {
  const kind = kindOf(value);
  return notValid(
    `json: cannot unmarshal ${kind} into Go struct field Request.${field} of type ${type}`,
  );
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" || value instanceof NumberText) return "number";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "object";
}

function notValid(detail: string): Fault {
  return new Fault("E_GRAPHQL_REQUEST", `Not a valid GraphQL request body: ${detail}`);
}

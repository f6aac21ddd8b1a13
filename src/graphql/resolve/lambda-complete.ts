/**
 * What a lambda server answered, a service outside, or a query written in DQL → JSON that fits the field's type (reference/graphql 4.10):
 * scalars coerced, members picked by the selection, nulls propagated, everything that does not fit noted.
 */
import { ConversionError } from "../../model/conversion-error.ts";
import { isInt64 } from "../../model/int.ts";
import { parseDateTime, printDateTime } from "../../model/datetime.ts";
import { quoteJson } from "../../model/print-value.ts";
import type { CompletionError } from "../../render/graphql-json.ts";
import type { EnumType, ScalarType, TypeRef } from "../schema/compiled-schema.ts";
import { geometryParts } from "./geometry-parts.ts";
import { isJsonArray, isJsonObject, NumberText } from "../operation/json.ts";
import type { JsonObject, JsonValue } from "../operation/json.ts";
import type { SelectedField, Selection } from "../operation/prepare.ts";
import type { AnswerKeys } from "./request-selection.ts";

const sameTail =
  "This indicates an internal error - probably a mismatch between the GraphQL and Dgraph/remote schemas. The value was resolved as null (which may trigger GraphQL error propagation) and as much other data as possible returned.";
const listReturned = `A list was returned, but GraphQL was expecting just one item. ${sameTail}`;
const itemReturned = `An item was returned, but GraphQL was expecting a list of items. ${sameTail}`;
const objectReturned = `An object type was returned, but GraphQL was expecting a scalar. ${sameTail}`;

/** A field that may not be null has no value. */
export function absentMessage({ definition: { name, type } }: SelectedField): string {
  return `Non-nullable field '${name}' (type ${type.text}) was not present in result from Dgraph.  GraphQL error propagation triggered.`;
}

/**
 * The JSON of a field; null: there is none, and null goes up. `undefined` is a value that is not there. Errors carry
 * `path` and what they are found below.
 */
export function completeField(
  field: SelectedField,
  value: JsonValue | undefined,
  path: readonly (string | number)[],
  errors: CompletionError[],
  keys?: AnswerKeys,
): string | null {
  return new Completion(errors, [...path], keys).field(field, value);
}

class Completion {
  readonly #errors: CompletionError[];
  readonly #path: (string | number)[];

  readonly #keys: AnswerKeys | undefined;

  constructor(errors: CompletionError[], path: (string | number)[], keys?: AnswerKeys) {
    this.#errors = errors;
    this.#keys = keys;
    this.#path = path;
  }

  field(field: SelectedField, value: JsonValue | undefined): string | null {
    const type = field.definition.type;
    // A list that is not there is an empty one, whatever its type says.
    if (type.kind === "list" && (value ?? null) === null) return "[]";
    return this.#value(field, type, value);
  }

  #value(field: SelectedField, type: TypeRef, value: JsonValue | undefined): string | null {
    if (value === undefined || value === null) {
      if (!type.nonNull) return "null";
      return this.#fail(field, absentMessage(field));
    }
    const text =
      type.kind === "list" ? this.#list(field, type, value) : this.#named(field, type, value);
    return text ?? (type.nonNull ? null : "null");
  }

  #list(
    field: SelectedField,
    type: Extract<TypeRef, { kind: "list" }>,
    value: JsonValue,
  ): string | null {
    if (!isJsonArray(value)) return this.#fail(field, itemReturned);
    const parts: string[] = [];
    for (let i = 0; i < value.length; i++) {
      this.#path.push(i);
      const part = this.#value(field, type.element, value[i]);
      this.#path.pop();
      if (part === null) return null;
      parts.push(part);
    }
    return `[${parts.join()}]`;
  }

  #named(
    field: SelectedField,
    { type }: Extract<TypeRef, { kind: "named" }>,
    value: JsonValue,
  ): string | null {
    if (isJsonArray(value)) return this.#fail(field, listReturned);
    if (type.kind === "scalar" || type.kind === "enum") {
      if (isJsonObject(value) && !isAny(type)) return this.#fail(field, objectReturned);
      const text = type.kind === "enum" ? enumText(type, value) : scalarText(type, value);
      return text ?? this.#coercion(field, value, type.name);
    }
    if (!isJsonObject(value)) return this.#coercion(field, value, type.name);
    if (field.selection === undefined) return null;
    return this.#object(field, field.selection, geometryParts(type.name, value) ?? value);
  }

  #object(field: SelectedField, selection: Selection, value: JsonObject): string | null {
    const typeName = this.#typeName(selection, value);
    if (typeName === undefined) {
      const name = selection.type.name;
      return this.#fail(
        field,
        `The __typename of the result does not name a type of ${name}, so it cannot be told what it is.`,
      );
    }
    let text = "{";
    for (const inner of fieldsOf(selection, typeName)) {
      this.#path.push(inner.key);
      const part = this.#member(inner, typeName, value);
      this.#path.pop();
      if (part === null) return null;
      text += `${text.length > 1 ? "," : ""}${JSON.stringify(inner.key)}:${part}`;
    }
    return `${text}}`;
  }

  /** Members go by the names of the fields. What a resolver would compute is what this one returned, or nothing. */
  #member(field: SelectedField, typeName: string, value: JsonObject): string | null {
    const { name } = field.definition;
    if (name === "__typename") return JSON.stringify(typeName);
    const own = value[field.definition.directives.remoteResponse?.name ?? name];
    const key = this.#keys?.get(field);
    return this.field(field, (key === undefined ? undefined : value[key]) ?? own);
  }

  #typeName({ type }: Selection, value: JsonObject): string | undefined {
    if (type.kind === "object") return type.name;
    const possible = type.kind === "interface" ? type.implementors : type.members;
    const given = value["__typename"];
    if (given !== undefined) return possible.find((one) => one.name === given)?.name;
    // What DQL says of a node: its own type beside those of its interfaces.
    const stored = value["dgraph.type"];
    if (!isJsonArray(stored)) return undefined;
    return possible.find(({ node }) => node !== undefined && stored.includes(node.typeName))?.name;
  }

  #coercion(field: SelectedField, value: JsonValue, typeName: string): null {
    return this.#fail(
      field,
      `Error coercing value '${cut(plainText(value))}' for field '${field.definition.name}' to type ${typeName}.`,
    );
  }

  #fail(field: SelectedField, message: string): null {
    if (this.#errors.length >= errorsMax) return null;
    this.#errors.push({ message, path: [...this.#path], place: field.ordinal });
    return null;
  }
}

function fieldsOf(selection: Selection, typeName: string): readonly SelectedField[] {
  if (selection.type.kind === "object") return selection.fields;
  return selection.byType?.get(typeName) ?? selection.common;
}

function isAny(type: ScalarType | EnumType): boolean {
  return type.name === "_Any";
}

function enumText(type: EnumType, value: JsonValue): string | undefined {
  return typeof value === "string" && type.values.has(value) ? JSON.stringify(value) : undefined;
}

function plainText(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** What is wrong a thousand times is not told again. */
const errorsMax = 1000;

/** A value that does not fit may be a page of text. */
function cut(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}

const shownMax = 1000;

const int32Limit = 2 ** 31;

/** The JSON of a scalar; undefined where the value does not fit. */
function scalarText(type: ScalarType, value: JsonValue): string | undefined {
  const text = plainText(value);
  switch (type.name) {
    case "String":
    case "ID":
      return quoteJson(text);
    case "Boolean":
      return booleanText(value, text);
    case "Int": {
      const number = numberOf(value, text);
      if (number === undefined || !Number.isInteger(number)) return undefined;
      return number >= -int32Limit && number < int32Limit ? String(number) : undefined;
    }
    case "Int64":
      return quoteWhere(type.isText === true, int64Text(value, text));
    case "Float": {
      const number = numberOf(value, text);
      if (number === undefined || !Number.isFinite(number)) return undefined;
      return typeof value === "string" || typeof value === "boolean" ? String(number) : text;
    }
    case "DateTime":
      return dateTimeText(value, text);
    default:
      return printJson(value);
  }
}

function booleanText(value: JsonValue, text: string): string {
  if (typeof value === "boolean") return text;
  if (typeof value === "string") return String(value !== "");
  return String(Number(text) !== 0);
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function numberOf(value: JsonValue, text: string): number | undefined {
  if (typeof value === "boolean") return value ? 1 : 0;
  return decimal.test(text) ? Number(text) : undefined;
}

function quoteWhere(isText: boolean, number: string | undefined): string | undefined {
  return isText && number !== undefined ? `"${number}"` : number;
}

function int64Text(value: JsonValue, text: string): string | undefined {
  if (typeof value === "boolean") return value ? "1" : "0";
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const int = BigInt(text.replace("+", ""));
  return isInt64(int) ? String(int) : undefined;
}

function dateTimeText(value: JsonValue, text: string): string | undefined {
  if (typeof value === "boolean") return undefined;
  if (typeof value !== "string") {
    const seconds = Number(text);
    if (!Number.isSafeInteger(seconds)) return undefined;
    return quoteJson(printDateTime({ seconds, nanos: 0, offsetMinutes: 0 }));
  }
  try {
    return quoteJson(printDateTime(parseDateTime(text)));
  } catch (error) {
    if (error instanceof ConversionError) return undefined;
    throw error;
  }
}

/** JSON of any value, numbers with the digits that they came with. */
function printJson(value: JsonValue): string {
  if (value instanceof NumberText) return value.text;
  if (isJsonArray(value)) return `[${value.map(printJson).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).map(
    (key) => `${JSON.stringify(key)}:${printJson(value[key] ?? null)}`,
  );
  return `{${members.join()}}`;
}

/** Dates of an input, which are texts until the engine reads them: the first that is none, for errors that tell it. */
import type { NamedType } from "../schema/compiled-schema.ts";
import { namedTypeOf } from "../operation/walk.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import { parseDateTime } from "../../model/datetime.ts";
import { isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentValue } from "../operation/arguments.ts";
import type { ProblemDetail } from "./mutation-refused.ts";

export function findWrongDate(
  type: NamedType,
  value: ArgumentValue,
  input: readonly (string | number)[],
): ProblemDetail | undefined {
  if (isArgumentList(value)) {
    for (const [i, item] of value.entries()) {
      const found = findWrongDate(type, item, [...input, i]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isArgumentObject(value)) {
    if (type.kind !== "input") return undefined;
    for (const [name, field] of type.fields) {
      const found = findWrongDate(namedTypeOf(field.type), value[name], [...input, name]);
      if (found === undefined) continue;
      return found.field === undefined ? { ...found, field: name } : found;
    }
    return undefined;
  }
  if (type.name !== "DateTime" || typeof value !== "string" || isDate(value)) return undefined;
  return { code: "BAD_USER_INPUT", value, input };
}

function isDate(text: string): boolean {
  try {
    parseDateTime(text);
    return true;
  } catch (error) {
    if (error instanceof ConversionError) return false;
    throw error;
  }
}

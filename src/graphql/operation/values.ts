/** Literals and variables against the types of their places (reference/graphql 4.11). */
import type {
  FloatValueNode,
  IntValueNode,
  ObjectValueNode,
  ValueNode,
  VariableNode,
} from "graphql";
import type { EnumType, InputObjectType, NamedType, TypeRef } from "../schema/compiled-schema.ts";
import { printValue } from "./parse.ts";
import { printType } from "./report.ts";
import type { Report } from "./report.ts";
import { suggestBare } from "./suggest.ts";
import { namedTypeOf, variableType } from "./walk.ts";
import type { WalkState } from "./walk.ts";

/** The filters of which one object may use a single function only. */
const singleFunctionFilters = new Set([
  "IntFilter",
  "Int64Filter",
  "FloatFilter",
  "DateTimeFilter",
  "StringTermFilter",
  "StringRegExpFilter",
  "StringNgramFilter",
  "StringFullTextFilter",
  "StringExactFilter",
  "StringHashFilter",
  "PointGeoFilter",
  "PolygonGeoFilter",
  "ContainsFilter",
  "IntersectsFilter",
]);

/** Checks one value for itself; what it holds was checked before. */
export function checkValue(
  state: WalkState,
  value: ValueNode,
  expected: TypeRef | undefined,
  report: Report,
): void {
  if (value.kind === "Variable") {
    checkVariable(state, value, expected, report);
    return;
  }
  if (expected === undefined) {
    if (value.kind === "ObjectValue") checkUniqueFields(value, report);
    return;
  }
  const type = namedTypeOf(expected);
  const isOutOfRange = checkRange(value, type, report);
  if (value.kind === "ObjectValue") {
    if (singleFunctionFilters.has(type.name) && value.fields.length > 1) {
      report(
        `${type.name} filter expects only one filter function, got: ${value.fields.length}`,
        value,
      );
    }
    checkUniqueFields(value, report);
  }
  if (value.kind === "NullValue") {
    if (expected.nonNull) report(`Expected type ${expected.text}, found null.`, value);
    return;
  }
  // A single value stands for a list of one.
  let place = expected;
  while (place.kind === "list" && value.kind !== "ListValue") place = place.element;
  // What is no number has been told once.
  const isEmpty = value.kind === "ObjectValue" && value.fields.length === 0;
  if (isOutOfRange && (place !== expected || isEmpty || isCustom(type))) return;
  if (isJudged(expected) && isUnreadable(value, state.unreadable)) {
    state.unreadable.add(value);
    report(`Expected type ${place.text}, found ${printValue(value)}.`, value);
  }
  checkForm(value, place, type, report);
}

/** Whether literals are read at all: ids and 64-bit integers keep their text, and so do scalars of other kinds. */
export function isJudged(expected: TypeRef | undefined): boolean {
  if (expected === undefined) return false;
  const type = namedTypeOf(expected);
  return type.kind !== "scalar" || isOneOf(type, "Int", "Float", "String", "Boolean");
}

export function isNumber(value: ValueNode): value is IntValueNode | FloatValueNode {
  return value.kind === "IntValue" || value.kind === "FloatValue";
}

/** Whether a literal is beyond 64 bits, or beyond a double where it has a fraction or an exponent. */
export function isBeyondNumbers(text: string): boolean {
  if (text.length < 19) return /[eE]/.test(text) && !Number.isFinite(Number(text));
  if (!/^-?[0-9]+$/.test(text)) return !Number.isFinite(Number(text));
  // Literals have no leading zeros.
  return text.length > 20 || BigInt.asIntN(64, BigInt(text)) !== BigInt(text);
}

/** A value that cannot be read makes everything around it unreadable. */
function isUnreadable(value: ValueNode, unreadable: ReadonlySet<ValueNode>): boolean {
  if (isNumber(value)) return isBeyondNumbers(value.value);
  if (value.kind === "ListValue") return value.values.some((item) => unreadable.has(item));
  return value.kind === "ObjectValue" && value.fields.some((f) => unreadable.has(f.value));
}

function checkVariable(
  state: WalkState,
  value: VariableNode,
  expected: TypeRef | undefined,
  report: Report,
): void {
  const operation = state.operation;
  const name = value.name.value;
  // A fragment by itself is judged by the operation that spread it last.
  const definition =
    operation === undefined ? state.declared.get(value) : state.variables.get(name);
  if (operation !== undefined && definition === undefined) {
    if (operation.name === undefined) report(`Variable "$${name}" is not defined.`, value);
    else {
      report(
        `Variable "$${name}" is not defined by operation "${operation.name.value}".`,
        operation,
      );
    }
    return;
  }
  if (definition === undefined || expected === undefined) return;
  const given = variableType(state.schema, definition);
  const fallback = definition.defaultValue;
  const hasDefault = fallback !== undefined && fallback.kind !== "NullValue";
  if (given !== undefined && isUsable(given, expected, hasDefault)) return;
  const text = printType(definition);
  report(
    `Variable type provided ${text} is incompatible with expected type ${expected.text}`,
    value,
  );
  if (operation === undefined) return;
  report(
    `Variable "$${name}" of type "${text}" used in position expecting type "${expected.text}".`,
    value,
  );
}

function isUsable(given: TypeRef, expected: TypeRef, hasDefault: boolean): boolean {
  if (expected.nonNull && !given.nonNull && !hasDefault) return false;
  if (given.kind === "list") {
    return expected.kind === "list" && isUsable(given.element, expected.element, false);
  }
  return expected.kind === "named" && given.type.name === expected.type.name;
}

function checkUniqueFields(value: ObjectValueNode, report: Report): void {
  const seen = new Set<string>();
  for (const field of value.fields) {
    const name = field.name.value;
    if (seen.has(name)) report(`There can be only one input field named "${name}".`, field);
    seen.add(name);
  }
}

/** Numbers beyond their type, and what is no number at all: true where it was told. */
function checkRange(value: ValueNode, type: NamedType, report: Report): boolean {
  if (value.kind === "ListValue" || value.kind === "NullValue") return false;
  const problem = rangeProblem(value, type);
  if (problem !== undefined) report(problem, value);
  return problem !== undefined;
}

function rangeProblem(value: ValueNode, type: NamedType): string | undefined {
  if (type.name === "Int") return intProblem(rawText(value), "Int");
  const { name }: { readonly name: string } = type;
  // UInt64 is known to the administration's API alone.
  if (name !== "Int64" && name !== "UInt64") return undefined;
  if (value.kind === "IntValue" || value.kind === "StringValue") {
    return name === "Int64" ? intProblem(value.value, name) : unsignedProblem(value.value);
  }
  return `Type mismatched for Value \`${rawText(value)}\`, expected: ${name}, got: '${kindName(value)}'`;
}

/** What is wrong with the text of an integer; undefined for nothing. */
export function intProblem(text: string, type: "Int" | "Int64"): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) {
    return `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  if (text.length < 9) return undefined;
  const number = BigInt(text.startsWith("+") ? text.slice(1) : text);
  const bits = type === "Int" ? 31n : 63n;
  if (number < -(1n << bits) || number >= 1n << bits) {
    return `Out of range value '${text}', for type \`${type}\``;
  }
  return undefined;
}

function unsignedProblem(text: string): string | undefined {
  const parsing = `strconv.ParseUint: parsing ${JSON.stringify(text)}`;
  if (!/^[0-9]+$/.test(text)) return `${parsing}: invalid syntax`;
  return text.length > 20 || BigInt(text) >= 1n << 64n
    ? `${parsing}: value out of range`
    : undefined;
}

function checkForm(value: ValueNode, place: TypeRef, type: NamedType, report: Report): void {
  const unexpected = (suggested = "", hint?: string): void =>
    report(`Expected type ${place.text}, found ${printValue(value)}.${suggested}`, value, hint);
  switch (value.kind) {
    case "ListValue":
      if (place.kind !== "list") unexpected();
      return;
    case "ObjectValue":
      checkObject(value, type, report);
      if (type.kind !== "input" && value.fields.length === 0 && type.name !== "_Any") unexpected();
      return;
    case "StringValue":
      if (type.kind === "enum") {
        unexpected(suggestBare("Did you mean the enum value", value.value, type.values.keys()));
      } else if (!isCustom(type) && !isOneOf(type, "String", "ID")) unexpected();
      return;
    case "EnumValue":
      if (type.kind === "enum") {
        if (type.values.has(value.value)) return;
        unexpected(
          suggestBare("Did you mean the enum value", value.value, type.values.keys()),
          explainOrder(type, value.value),
        );
      } else if (!isCustom(type) && !isOneOf(type, "ID")) unexpected();
      return;
    case "IntValue":
      if (!isCustom(type) && !isOneOf(type, "Int", "Float", "ID")) unexpected();
      return;
    case "FloatValue":
      if (!isCustom(type) && !isOneOf(type, "Float", "ID")) unexpected();
      return;
    case "BooleanValue":
      if (!isCustom(type) && !isOneOf(type, "Boolean", "ID")) unexpected();
      return;
    default:
      return;
  }
}

/** Why nodes are not ordered by a field that their type has; undefined where that is not what was asked for. */
export function explainOrder({ name, of }: EnumType, asked: string): string | undefined {
  if (of === undefined || of.kind === "union" || name !== `${of.name}Orderable`) return undefined;
  const field = of.fields.get(asked);
  if (field === undefined) return undefined;
  const named = namedTypeOf(field.type);
  const what = named.kind === "enum" ? `the enum ${named.name}` : field.type.text;
  return `${of.name}.${asked} is of ${what}; nodes are ordered by single fields of Int, Int64, Float, String or DateTime alone`;
}

/** Scalars that take any literal here: their values are judged where they are used. */
function isCustom(type: NamedType): boolean {
  return type.kind === "scalar" && !isOneOf(type, "Int", "Float", "String", "Boolean", "ID");
}

function isOneOf(type: NamedType, ...names: readonly string[]): boolean {
  return names.includes(type.name);
}

function checkObject(value: ObjectValueNode, type: NamedType, report: Report): void {
  // Representations of entities have what their type has.
  if (type.name === "_Any") return;
  const known = type.kind === "input" ? type.fields : noFields;
  const given = new Set(value.fields.map(({ name }) => name.value));
  for (const field of known.values()) {
    if (!field.type.nonNull || field.defaultValue !== undefined) continue;
    if (given.has(field.name)) continue;
    report(
      `Field ${type.name}.${field.name} of required type ${field.type.text} was not provided.`,
      value,
    );
  }
  for (const given of value.fields) {
    const name = given.name.value;
    if (known.has(name)) continue;
    const suggested = suggestBare("Did you mean", name, known.keys());
    report(`Field "${name}" is not defined by type ${type.name}.${suggested}`, given);
  }
}

const noFields: InputObjectType["fields"] = new Map();

function rawText(value: ValueNode): string {
  return "value" in value && typeof value.value !== "object" ? String(value.value) : "";
}

function kindName(value: ValueNode): string {
  switch (value.kind) {
    case "IntValue":
      return "Int";
    case "FloatValue":
      return "Float";
    case "StringValue":
      return value.block === true ? "Block" : "String";
    case "BooleanValue":
      return "Boolean";
    case "EnumValue":
      return "Enum";
    case "ListValue":
      return "List";
    case "ObjectValue":
      return "Object";
    case "NullValue":
      return "Null";
    default:
      return "Variable";
  }
}

/** Values of columns → what is stored, as texts that the server reads, or what was expected instead. */
import { convertValue, parseBool } from "../model/convert.ts";
import type { FieldDefinition, ValueSource } from "../graphql/schema/compiled-schema.ts";
import { type DateReader, makeDateReader } from "./date-form.ts";
import type { ColumnMapping, Mapping } from "./mapping.ts";

/** A value that does not fit its field. */
export class Unfit extends Error {
  override readonly name = "Unfit";
}

/** Texts of one value: none for nothing, several for a list. Throws Unfit with what was expected. */
export type ValueReader = (value: unknown) => readonly string[];

/** Makes one text of what a column holds. */
type OneReader = (value: unknown) => string;

/** Of a field with values. */
export function makeValueReader(
  mapping: Mapping,
  column: ColumnMapping,
  field: FieldDefinition,
  source: ValueSource,
): ValueReader {
  const one = makeOneReader(mapping, column, source);
  const { separator, place } = column;
  if (source.isEmbedding) return (value) => [readVector(value, separator)];
  return makeListReader(
    mapping,
    { isList: source.isList, separator, place, name: field.name },
    one,
  );
}

interface ListForm {
  readonly isList: boolean;
  readonly separator: string | undefined;
  readonly place: string;
  readonly name: string;
}

/** What a column says about several values, or about one. */
export function makeListReader(
  { nulls }: Pick<Mapping, "nulls">,
  { isList, separator }: ListForm,
  one: OneReader,
): ValueReader {
  const isNothing = (value: unknown): boolean =>
    value === undefined || value === null || (typeof value === "string" && nulls.includes(value));
  return (value) => {
    if (isNothing(value)) return [];
    if (!isList) {
      if (Array.isArray(value)) throw new Unfit(`a list, where one value is wanted`);
      return [one(value)];
    }
    const items: unknown[] =
      typeof value === "string" && separator !== undefined
        ? value.split(separator).map((item) => item.trim())
        : Array.isArray(value)
          ? value
          : [value];
    return items.filter((item) => !isNothing(item)).map(one);
  };
}

function makeOneReader(mapping: Mapping, column: ColumnMapping, source: ValueSource): OneReader {
  if (source.valueType.kind === "enum") {
    const { name, values } = source.valueType;
    const known = [...values.keys()];
    return (value) => {
      const text = plainText(value).trim();
      if (values.has(text)) return text;
      throw new Unfit(`${quote(text)} is no ${name} (${known.slice(0, 12).join(", ")})`);
    };
  }
  switch (source.valueKind) {
    case "int":
      return (value) => readInt(value, source.valueType.name);
    case "float":
      return (value) => readFloat(value, mapping.decimal);
    case "bool":
      return (value) => readBool(value, mapping);
    case "datetime":
      return makeTimeReader(column);
    case "geo":
      return (value) => readGeometry(value, column);
    default:
      return plainText;
  }
}

/** Of `@secret`: the server hashes it. */
export const readPassword: OneReader = (value) => {
  const text = plainText(value);
  try {
    convertValue({ kind: "string", text }, "password");
  } catch (error) {
    throw new Unfit(error instanceof Error ? error.message : String(error));
  }
  return text;
};

/** Of keys: equal values are equal texts. */
export function makeKeyReader(source: ValueSource): OneReader {
  return source.valueKind === "int" ? (value) => readInt(value, source.valueType.name) : plainText;
}

function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new Unfit(`${value} has more digits than JSON's numbers keep: write it as a text`);
    }
    return String(value);
  }
  if (typeof value === "boolean") return String(value);
  throw new Unfit(`${quote(JSON.stringify(value))} is not one value`);
}

const intRanges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  Int: [-(2n ** 31n), 2n ** 31n - 1n],
  Int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

function readInt(value: unknown, type: string): string {
  const text = plainText(value).trim();
  if (!/^[+-]?\d+$/.test(text)) throw new Unfit(`${quote(text)} is not a whole number (${type})`);
  const int = BigInt(text.replace(/^\+/, ""));
  const [min, max] = intRanges[type] ?? [int, int];
  if (int < min || int > max) throw new Unfit(`${text} is out of the range of ${type}`);
  return String(int);
}

function readFloat(value: unknown, decimal: "." | ","): string {
  if (typeof value === "number") return String(value);
  const text = plainText(value).trim();
  const pattern =
    decimal === "," ? /^[+-]?\d+(?:,\d+)?$/ : /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
  if (pattern.test(text)) return text.replace(",", ".");
  throw new Unfit(
    `${quote(text)} is not a number${decimal === "," ? " with a decimal comma" : ""}`,
  );
}

function readBool(value: unknown, { trues, falses }: Mapping): string {
  const text = plainText(value).trim();
  if (trues.includes(text)) return "true";
  if (falses.includes(text)) return "false";
  try {
    return String(parseBool(text));
  } catch {
    const words = ["true", "false", ...trues, ...falses].join(", ");
    throw new Unfit(`${quote(text)} is neither true nor false (${words})`);
  }
}

function makeTimeReader({ dates, place }: ColumnMapping): OneReader {
  const forms = dates.length === 0 ? ["iso"] : dates;
  const readers: DateReader[] = forms.map((form) => makeDateReader(form, place));
  const wanted = forms.map((form) => (form === "iso" ? "2006-01-02T15:04:05Z" : form)).join(" or ");
  return (value) => {
    const text = plainText(value).trim();
    for (const reader of readers) {
      const time = reader(text);
      if (time !== undefined) return time;
    }
    throw new Unfit(`${quote(text)} is not a date of the form ${wanted}`);
  };
}

function readVector(value: unknown, separator: string | undefined): string {
  const given: unknown = typeof value === "string" ? splitNumbers(value, separator) : value;
  const numbers = Array.isArray(given) ? given.map(Number) : [];
  if (numbers.length > 0 && numbers.every((one) => Number.isFinite(one))) {
    return JSON.stringify(numbers);
  }
  throw new Unfit("a list of numbers is wanted");
}

function splitNumbers(text: string, separator: string | undefined): string[] {
  const inner = text.trim().replace(/^\[(?<inner>.*)\]$/s, "$<inner>");
  return inner.split(separator ?? ",").map((one) => one.trim());
}

const pair = /^\s*(?<first>-?\d+(?:\.\d+)?)\s*[,; ]\s*(?<second>-?\d+(?:\.\d+)?)\s*$/;

/** GeoJSON, a point of GraphQL (`{longitude, latitude}`), or two numbers where the mapping says their order. */
function readGeometry(value: unknown, { geo }: ColumnMapping): string {
  const given = typeof value === "string" ? readGeoText(value, geo) : value;
  const { longitude, latitude } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const geometry =
    typeof longitude === "number" && typeof latitude === "number"
      ? { type: "Point", coordinates: [longitude, latitude] }
      : given;
  const text = JSON.stringify(geometry) ?? "";
  try {
    convertValue({ kind: "string", text }, "geo");
  } catch {
    const form = geo ?? 'GeoJSON (or say "geo: lat,lon")';
    throw new Unfit(`${quote(typeof value === "string" ? value : text)} is not ${form}`);
  }
  return text;
}

function readGeoText(text: string, geo: ColumnMapping["geo"]): unknown {
  const groups = geo === undefined ? undefined : pair.exec(text)?.groups;
  if (groups === undefined) {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }
  const [first, second] = [Number(groups["first"]), Number(groups["second"])];
  return { type: "Point", coordinates: geo === "lat,lon" ? [second, first] : [first, second] };
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

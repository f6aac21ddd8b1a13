/** The URL of a request of `@custom(http:)`: its template with values in it (reference/graphql 8.4). */
import { splitUrl, urlVariableOf } from "../schema/custom-url.ts";
import { isJsonArray, isJsonObject, NumberText, type JsonValue } from "../operation/json.ts";

/** By the names of variables; what is left out is absent. */
export type RequestVariables = ReadonlyMap<string, JsonValue>;

/** A value cannot stand where the template wants it. */
export class WrongUrlValue extends Error {
  override readonly name = "WrongUrlValue";
}

/**
 * Segments of the path are escaped whole, and parameters are in alphabetical order. The host is the template's, whatever
 * the values say. Throws WrongUrlValue.
 */
export function fillUrl(template: string, variables: RequestVariables): string {
  const { origin, segments, pairs } = splitUrl(template);
  const path = segments.map((segment) => fillSegment(segment, variables)).join("/");
  const query = fillQuery(pairs, variables);
  return `${origin}${path}${query === "" ? "" : `?${query}`}`;
}

function fillSegment(segment: string, variables: RequestVariables): string {
  const name = urlVariableOf(segment);
  if (name === undefined) return segment;
  const value = variables.get(name);
  if (value === undefined || value === null) {
    throw new WrongUrlValue(`the url needs a value for $${name}`);
  }
  const text = pathText(value);
  // Whoever reads the path would take it for a way up, out of what the schema's author wrote.
  if (text === "." || text === "..") {
    throw new WrongUrlValue(`the url cannot have "${text}" for $${name}`);
  }
  return escapeSegment(text);
}

/** Lists and objects with commas in between. */
function pathText(value: JsonValue): string {
  if (isJsonArray(value)) return value.map(pathText).join();
  if (isJsonObject(value)) {
    return sortedEntries(value)
      .map(([name, member]) => `${name},${pathText(member)}`)
      .join();
  }
  return plainText(value);
}

function plainText(value: null | boolean | string | number | NumberText): string {
  if (value instanceof NumberText) return value.text;
  return value === null ? "" : String(value);
}

type Pair = readonly [name: string, value: string];

function fillQuery(pairs: readonly Pair[], variables: RequestVariables): string {
  const filled = new Map<string, string[]>();
  const add = (name: string, value: string): void => {
    const known = filled.get(name);
    if (known === undefined) filled.set(name, [value]);
    else known.push(value);
  };
  const addValue = (name: string, value: JsonValue): void => {
    if (isJsonArray(value)) for (const item of value) addValue(name, item);
    else if (isJsonObject(value)) {
      for (const [key, member] of sortedEntries(value)) addValue(`${name}[${key}]`, member);
    } else add(name, plainText(value));
  };
  // What is written for a name stands in front of what is filled in for it.
  for (const [name, value] of pairs) if (urlVariableOf(value) === undefined) add(name, value);
  for (const [name, value] of pairs) {
    const variable = urlVariableOf(value);
    const given = variable === undefined ? undefined : variables.get(variable);
    if (given !== undefined) addValue(name, given);
  }
  return [...filled]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, values]) =>
      values.map((value) => `${escapeParameter(name)}=${escapeParameter(value)}`),
    )
    .join("&");
}

function sortedEntries(object: { readonly [name: string]: JsonValue }): [string, JsonValue][] {
  return Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** As the reference escapes: of the signs these alone stay. */
function escapeSegment(text: string): string {
  return escape(text).replace(/%(?:24|26|2B|3D|3A|40)/g, (code) => decodeURIComponent(code));
}

function escapeParameter(text: string): string {
  return escape(text).replaceAll("%20", "+");
}

function escape(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function withoutCredentials(url: string): string {
  return url.replace(/^(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$<scheme>");
}

/** As errors show it: without credentials, and without parameters, which may be secrets. */
export function shownUrl(url: string): string {
  return withoutCredentials(url).replace(/[?#].*$/s, "");
}

/** JSON bodies of the native endpoints: read once into what a route needs, refused in the reference's words. */
import { Broken } from "../base/assert.ts";
import { encodeUtf8 } from "../base/bytes.ts";
import { findJsonPlaces, type JsonPlace } from "../base/json-places.ts";
import { findJsonSyntaxFault, locateOffset } from "../base/json-syntax.ts";
import { Fault } from "../model/fault.ts";

/** `Error parsing JSON at line L, character C: <detail>\n`, with its line feed (reference/dql 1.2). */
export function parseJsonBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const found = findJsonSyntaxFault(text);
    if (found === undefined) throw error;
    const { line, character } = locateOffset(text, found.offset);
    throw new Fault(
      "E_JSON_SYNTAX",
      `Error parsing JSON at line ${line}, character ${character}: ${found.detail}\n`,
    );
  }
}

/** The bare detail, as /commit tells it. */
export function parseJsonPlain(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const found = findJsonSyntaxFault(text);
    if (found === undefined) throw error;
    throw new Fault("E_JSON_SYNTAX", found.detail);
  }
}

/** The kind of a JSON value, as the reference names it. */
function nameJsonKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}

/** A type that does not fit: `what` is the place and the type that was wanted. */
function refuseJsonType(value: unknown, what: string): Fault {
  return new Fault("E_JSON_TYPE", `json: cannot unmarshal ${nameJsonKind(value)} into Go ${what}`);
}

/** What a place asks for. */
interface JsonWish {
  readonly kind: JsonPlace["kind"];
  /** The place and its type, as the reference names them. */
  readonly place: string;
}

/** The refusal of the first value that is neither null nor what `wish` says for its path (of two keys at most). */
export function refuseJsonPlace(
  text: string,
  wish: (path: readonly string[]) => JsonWish | undefined,
): Fault {
  for (const { path, kind, end } of findJsonPlaces(text, 2)) {
    const wanted = kind === "null" ? undefined : wish(path);
    if (wanted === undefined || wanted.kind === kind) continue;
    const { line, character } = locateOffset(text, encodeUtf8(text.slice(0, end)).length);
    const detail = `json: cannot unmarshal ${kind} into Go ${wanted.place}`;
    return new Fault(
      "E_JSON_TYPE",
      `Error parsing JSON at line ${line}, character ${character}: ${detail}\n`,
    );
  }
  throw new Broken("a value that does not fit has a place");
}

/** The members of an object; `null` counts as one without any. `type` is the wanted type in a refusal. */
export function expectObject(value: unknown, type: string): ReadonlyMap<string, unknown> {
  if (value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) {
    throw refuseJsonType(value, `value of type ${type}`);
  }
  return new Map(Object.entries(value));
}

/** A member by its name, else by its name in another case: the last one of those. Absent and null are undefined. */
export function findJsonMember(members: ReadonlyMap<string, unknown>, name: string): unknown {
  let found = members.get(name);
  if (found === undefined) {
    for (const [key, value] of members) if (key.toLowerCase() === name) found = value;
  }
  return found ?? undefined;
}

/** A list of strings; undefined stays empty. */
export function expectStrings(value: unknown, place: string): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw refuseJsonType(value, `${place} of type []string`);
  return value.map((item: unknown) => {
    if (item === null) return "";
    if (typeof item !== "string") throw refuseJsonType(item, `${place} of type string`);
    return item;
  });
}

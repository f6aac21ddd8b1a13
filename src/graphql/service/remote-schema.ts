/** The schema of another GraphQL service, as its introspection tells it: whatever the service says is only read. */
import { decodeJson, isJsonArray, isJsonObject, JsonSyntaxError } from "../operation/json.ts";
import type { JsonObject, JsonValue } from "../operation/json.ts";

export interface RemoteRef {
  readonly kind: string;
  /** Below lists and non-null. */
  readonly name: string;
  /** As SDL. */
  readonly text: string;
  /** LIST, NON_NULL … from the outside in; the named kind last. */
  readonly kinds: readonly string[];
}

export interface RemoteField {
  readonly name: string;
  readonly type: RemoteRef;
  readonly arguments: ReadonlyMap<string, RemoteRef>;
}

interface RemoteType {
  readonly name: string;
  readonly kind: string;
  /** Of an input, its members. */
  readonly fields: ReadonlyMap<string, RemoteField>;
}

export interface RemoteSchema {
  /** undefined: the service has none. */
  readonly queryType: string | undefined;
  readonly mutationType: string | undefined;
  readonly types: ReadonlyMap<string, RemoteType>;
}

/** Why an answer is no schema. */
export class RemoteSchemaFault extends Error {
  override readonly name = "RemoteSchemaFault";
}

/** Throws RemoteSchemaFault. */
export function readRemoteSchema(text: string): RemoteSchema {
  let answer: JsonValue;
  try {
    answer = decodeJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError) && !(error instanceof RangeError)) throw error;
    const why = error instanceof JsonSyntaxError ? error.message : "exceeded max depth";
    throw new RemoteSchemaFault(
      `while json unmarshaling result from remote introspection query: ${why}`,
    );
  }
  const schema = member(member(answer, "data"), "__schema");
  const types = new Map<string, RemoteType>();
  for (const type of listOf(member(schema, "types"))) {
    const read = readType(type);
    types.set(read.name, read);
  }
  return {
    queryType: nameOf(member(schema, "queryType")),
    mutationType: nameOf(member(schema, "mutationType")),
    types,
  };
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** Names stand in messages. */
const nameMax = 200;

function nameOf(value: JsonValue | undefined): string | undefined {
  const name = member(value, "name");
  return typeof name === "string" ? name.slice(0, nameMax) : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function readType(type: JsonObject): RemoteType {
  const own = listOf(member(type, "fields"));
  const fields = own.length > 0 ? own : listOf(member(type, "inputFields"));
  return {
    name: nameOf(type) ?? "",
    kind: textOf(member(type, "kind")),
    fields: new Map(fields.map(readField).map((field) => [field.name, field])),
  };
}

function readField(field: JsonObject): RemoteField {
  const given = listOf(member(field, "args"));
  return {
    name: nameOf(field) ?? "",
    type: readRef(member(field, "type")),
    arguments: new Map(given.map((each) => [nameOf(each) ?? "", readRef(member(each, "type"))])),
  };
}

/** A type that is wrapped more often is none. */
const wrapsMax = 20;

function readRef(value: JsonValue | undefined): RemoteRef {
  const kinds: string[] = [];
  let at = value;
  while (kinds.length < wrapsMax) {
    const kind = textOf(member(at, "kind"));
    kinds.push(kind);
    if (kind !== "LIST" && kind !== "NON_NULL") break;
    at = member(at, "ofType");
  }
  const name = nameOf(at) ?? "";
  const text = kinds.reduceRight((inner, kind) => {
    if (kind === "LIST") return `[${inner}]`;
    return kind === "NON_NULL" ? `${inner}!` : inner;
  }, name);
  return { kind: kinds[0] ?? "", name, text, kinds };
}

/**
 * What a schema expects of the GraphQL services that it names (reference/graphql 8.3), as plain data: read where the schema
 * is compiled, compared where somebody may ask the services.
 */
import type { CompiledSchema, FieldDefinition, NamedType } from "./compiled-schema.ts";
import type { CustomHttp } from "./custom-http.ts";
import type { SchemaProblem } from "./sdl-draft.ts";
import { nowhere } from "./sdl-draft.ts";
import type { SdlPosition } from "./sdl-position.ts";

/** Of one field with `graphql`, unless it skips introspection. */
export interface RemoteExpectation {
  readonly typeName: string;
  readonly fieldName: string;
  readonly at: SdlPosition;
  readonly url: string;
  /** By name, with the values of secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The operation's text. */
  readonly operation: string;
  readonly isBatch: boolean;
  /** The type of the field as the schema writes it. */
  readonly returns: string;
  /** What variables of the operation are: types of arguments, or of fields beside it. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A type of the schema that a service is to have, too. */
interface SharedType {
  readonly name: string;
  readonly fields: readonly (readonly [name: string, type: string])[];
}

export interface RemoteExpectations {
  readonly fields: readonly RemoteExpectation[];
  readonly types: readonly SharedType[];
}

/** In the order of the SDL; `problems`: what is wrong before anybody is asked. */
export function readRemoteExpectations(
  schema: CompiledSchema,
): RemoteExpectations & { readonly problems: readonly SchemaProblem[] } {
  const fields = new Map<string, RemoteExpectation>();
  const problems: SchemaProblem[] = [];
  for (const type of schema.types.values()) {
    if (type.kind !== "object" && type.kind !== "interface") continue;
    for (const field of type.fields.values()) {
      const http = field.directives.custom?.http;
      if (http?.graphql === undefined || http.skips) continue;
      const { at } = http.graphql;
      // Types have the fields of their interfaces: the same directive again.
      const key = `${at.line}:${at.column}`;
      if (fields.has(key)) continue;
      const headers = readHeaders(http, schema.meta.secrets);
      if ("missing" in headers) {
        const text = `introspectionHeaders in @custom directive should use secrets to store the header value. To do that specify \`${headers.missing}\` in this format '#Dgraph.Secret name value' at the bottom of your schema file.`;
        problems.push({ message: `Type ${type.name}; Field ${field.name}; ${text}`, at });
        continue;
      }
      const siblings = isRoot(schema, type) ? field.arguments : type.fields;
      fields.set(key, expect(type, field, http, headers.values, siblings));
    }
  }
  const ordered = [...fields.values()].toSorted(byPlace);
  return { fields: ordered, types: fields.size === 0 ? [] : sharedTypes(schema), problems };
}

function byPlace({ at: a }: RemoteExpectation, { at: b }: RemoteExpectation): number {
  return a.line - b.line || a.column - b.column;
}

function isRoot({ queryType, mutationType }: CompiledSchema, type: NamedType): boolean {
  return type === queryType || type === mutationType;
}

function expect(
  type: NamedType,
  field: FieldDefinition,
  http: CustomHttp,
  headers: Readonly<Record<string, string>>,
  variables: ReadonlyMap<string, { readonly type: { readonly text: string } }>,
): RemoteExpectation {
  return {
    typeName: type.name,
    fieldName: field.name,
    at: http.graphql?.at ?? nowhere,
    url: http.url?.text ?? "",
    headers,
    operation: http.graphql?.text ?? "",
    isBatch: http.isBatch,
    returns: field.type.text,
    variables: Object.fromEntries([...variables].map(([name, each]) => [name, each.type.text])),
  };
}

function readHeaders(
  { introspectionHeaders }: CustomHttp,
  secrets: ReadonlyMap<string, string>,
): { readonly values: Readonly<Record<string, string>> } | { readonly missing: string } {
  const values: Record<string, string> = {};
  for (const { remote, local } of introspectionHeaders) {
    const value = secrets.get(local);
    if (value === undefined) return { missing: local };
    values[remote.toLowerCase()] = value;
  }
  return { values };
}

function sharedTypes(schema: CompiledSchema): readonly SharedType[] {
  return [...schema.types.values()]
    .filter((type) => "printed" in type && type.printed.some(({ name }) => name.value === "remote"))
    .map((type) => ({
      name: type.name,
      fields:
        "fields" in type
          ? [...type.fields.values()].map((each) => [each.name, each.type.text])
          : [],
    }));
}

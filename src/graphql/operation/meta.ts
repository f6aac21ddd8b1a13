/**
 * The introspection types (`__Schema` …) as validation needs them: fields, arguments, enum values. They are the same
 * for every schema, so they are made once, from graphql-js's own definitions.
 */
import { introspectionTypes, SchemaMetaFieldDef, TypeMetaFieldDef } from "graphql";
import type {
  CompiledSchema,
  FieldDefinition,
  NamedType,
  NodeType,
  ScalarType,
} from "../schema/compiled-schema.ts";
import { convertField, convertTypes } from "../schema/plain-schema.ts";

const scalars = new Map<string, ScalarType>(
  (["String", "Boolean"] as const).map((name) => [
    name,
    { kind: "scalar", name, description: undefined, origin: "specified" },
  ]),
);

const metaTypes = convertTypes(introspectionTypes, scalars);
const metaFields = new Map<string, FieldDefinition>(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [
    field.name,
    convertField(field, new Map([...scalars, ...metaTypes])),
  ]),
);

/** A type by its name, introspection types included. */
export function findType(schema: CompiledSchema, name: string): NamedType | undefined {
  return metaTypes.get(name) ?? schema.types.get(name);
}

/** All of them. */
export function typeNames(schema: CompiledSchema): string[] {
  return [...schema.types.keys(), ...metaTypes.keys()];
}

/** `__schema` and `__type` of the query root. */
export function findMetaField(name: string): FieldDefinition | undefined {
  return metaFields.get(name);
}

export function metaFieldNames(): Iterable<string> {
  return metaFields.keys();
}

/** Whether instances of a type are nodes of the graph. */
export function isNode(type: NamedType | undefined): type is NodeType {
  return (type?.kind === "object" || type?.kind === "interface") && type.node !== undefined;
}

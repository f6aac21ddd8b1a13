/**
 * The introspection types (`__Schema` …) as validation needs them: fields, arguments, enum values. They are the same
 * for every schema, so they are made once, from graphql-js's own definitions.
 */
import {
  introspectionTypes,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from "graphql";
import { assert } from "../base/assert.ts";
import type { GraphQLArgument, GraphQLField, GraphQLInputType, GraphQLOutputType } from "graphql";
import type {
  ArgumentDefinition,
  CompiledSchema,
  EnumType,
  FieldDefinition,
  NamedType,
  NodeType,
  ObjectType,
  ScalarType,
  TypeRef,
} from "./compiled-schema.ts";

const scalars = new Map<string, ScalarType>(
  (["String", "Boolean"] as const).map((name) => [
    name,
    { kind: "scalar", name, description: undefined, origin: "specified" },
  ]),
);

const metaTypes = makeMetaTypes();
const metaFields = new Map<string, FieldDefinition>(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, fieldOf(field)]),
);

/** A type by its name, introspection types included. */
export function findType(schema: CompiledSchema, name: string): NamedType | undefined {
  return metaTypes.get(name) ?? schema.types.get(name);
}

/** `__schema` and `__type` of the query root. */
export function findMetaField(name: string): FieldDefinition | undefined {
  return metaFields.get(name);
}

export function metaFieldNames(): Iterable<string> {
  return metaFields.keys();
}

function makeMetaTypes(): Map<string, NamedType> {
  const types = new Map<string, NamedType>();
  for (const type of introspectionTypes) {
    if (isEnumType(type))
      types.set(
        type.name,
        enumOf(
          type.name,
          type.getValues().map((v) => v.name),
        ),
      );
    // Fields come in a second step: the types refer to each other.
    else if (isObjectType(type)) types.set(type.name, objectOf(type.name, new Map()));
  }
  for (const type of introspectionTypes) {
    if (!isObjectType(type)) continue;
    const made = types.get(type.name);
    if (made?.kind !== "object") continue;
    const fields = made.fields as Map<string, FieldDefinition>;
    for (const field of Object.values(type.getFields())) {
      fields.set(field.name, fieldOf(field, types));
    }
  }
  return types;
}

function enumOf(name: string, values: readonly string[]): EnumType {
  const entries = values.map(
    (value) => [value, { name: value, description: undefined, field: undefined }] as const,
  );
  return {
    kind: "enum",
    name,
    description: undefined,
    origin: "specified",
    directives: [],
    values: new Map(entries),
  };
}

function objectOf(name: string, fields: Map<string, FieldDefinition>): ObjectType {
  return {
    kind: "object",
    name,
    description: undefined,
    origin: "specified",
    role: "remote",
    directives: [],
    interfaces: [],
    fields,
    node: undefined,
  };
}

function fieldOf(
  field: GraphQLField<unknown, unknown>,
  types: ReadonlyMap<string, NamedType> = metaTypes,
): FieldDefinition {
  return {
    name: field.name,
    description: undefined,
    type: refOf(field.type, types),
    arguments: new Map(field.args.map((arg) => [arg.name, argumentOf(arg, types)])),
    directives: [],
    deprecation: undefined,
    source: { kind: "part" },
  };
}

function argumentOf(
  argument: GraphQLArgument,
  types: ReadonlyMap<string, NamedType>,
): ArgumentDefinition {
  return {
    name: argument.name,
    description: undefined,
    type: refOf(argument.type, types),
    // All of them are booleans that are false where they are not given.
    defaultValue:
      argument.defaultValue === undefined ? undefined : { kind: Kind.BOOLEAN, value: false },
    field: undefined,
  };
}

function refOf(
  type: GraphQLOutputType | GraphQLInputType,
  types: ReadonlyMap<string, NamedType>,
): TypeRef {
  const text = String(type);
  const nonNull = isNonNullType(type);
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) {
    return { kind: "list", element: refOf(inner.ofType, types), nonNull, text };
  }
  const name = "name" in inner ? inner.name : "";
  const named = types.get(name) ?? scalars.get(name);
  assert(named !== undefined, "introspection types refer to known types");
  return { kind: "named", type: named, nonNull, text };
}

/** Whether instances of a type are nodes of the graph. */
export function isNode(type: NamedType | undefined): type is NodeType {
  return (type?.kind === "object" || type?.kind === "interface") && type.node !== undefined;
}

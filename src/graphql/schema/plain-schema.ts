/**
 * Schemas that graphql-js made, in the vocabulary of validation: the introspection types, which are the same for every
 * schema, and the administration's API. They know objects, inputs, enums and scalars; nothing in them is stored.
 */
import {
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
} from "graphql";
import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLInputType,
  GraphQLNamedType,
  GraphQLOutputType,
  GraphQLSchema,
} from "graphql";
import { assert } from "../../base/assert.ts";
import type {
  ArgumentDefinition,
  CompiledSchema,
  DirectiveDefinition,
  FieldDefinition,
  InputField,
  NamedType,
  ObjectType,
  RootField,
  ScalarName,
  TypeRef,
} from "./compiled-schema.ts";

/** By name. What they refer to and do not hold is looked up in `known`. */
export function convertTypes(
  types: readonly GraphQLNamedType[],
  known: ReadonlyMap<string, NamedType> = new Map(),
): Map<string, NamedType> {
  const made = new Map<string, NamedType>();
  for (const type of types) made.set(type.name, makeShell(type));
  const all = new Map([...known, ...made]);
  // Fields come in a second step: the types refer to each other.
  for (const type of types) fillFields(type, made.get(type.name), all);
  return made;
}

/** A whole schema: enough to validate requests and their variables, nothing to run them. */
export function convertSchema(source: GraphQLSchema): CompiledSchema {
  const types = convertTypes(Object.values(source.getTypeMap()));
  const rootOf = (name: string | undefined): ObjectType | undefined => {
    const type = name === undefined ? undefined : types.get(name);
    return type?.kind === "object" ? type : undefined;
  };
  const directives = source.getDirectives().map((directive): [string, DirectiveDefinition] => [
    directive.name,
    {
      name: directive.name,
      description: undefined,
      locations: directive.locations,
      arguments: new Map(directive.args.map((each) => [each.name, convertArgument(each, types)])),
    },
  ]);
  const none: ReadonlyMap<string, RootField> = new Map();
  return {
    sdl: "",
    types,
    nodes: [],
    queries: none,
    mutations: none,
    subscriptions: none,
    queryType: rootOf(source.getQueryType()?.name),
    mutationType: rootOf(source.getMutationType()?.name),
    subscriptionType: undefined,
    introspectionFields: new Map(),
    directives: new Map(directives),
    meta: { authorization: undefined, allowOrigins: [], secrets: new Map() },
    rules: undefined,
  };
}

export function convertField(
  field: GraphQLField<unknown, unknown>,
  types: ReadonlyMap<string, NamedType>,
): FieldDefinition {
  return {
    name: field.name,
    description: undefined,
    type: convertRef(field.type, types),
    arguments: new Map(field.args.map((each) => [each.name, convertArgument(each, types)])),
    printed: [],
    directives: {},
    deprecation: undefined,
    source: { kind: "part" },
  };
}

function makeShell(type: GraphQLNamedType): NamedType {
  const base = { name: type.name, description: undefined, origin: "specified" as const };
  if (isScalarType(type)) return { ...base, kind: "scalar", name: type.name as ScalarName };
  if (isEnumType(type)) {
    const names = type.getValues().map((value) => value.name);
    const values = names.map(
      (name) => [name, { name, description: undefined, field: undefined }] as const,
    );
    return { ...base, kind: "enum", printed: [], values: new Map(values), of: undefined };
  }
  if (isInputObjectType(type)) {
    const fields = new Map<string, InputField>();
    return { ...base, kind: "input", role: "plain", printed: [], fields, of: undefined };
  }
  assert(isObjectType(type), "there are no interfaces and no unions");
  const parts = { printed: [], interfaces: [], fields: new Map(), node: undefined };
  return { ...base, kind: "object", role: "remote", ...parts };
}

function fillFields(
  type: GraphQLNamedType,
  made: NamedType | undefined,
  types: ReadonlyMap<string, NamedType>,
): void {
  if (isObjectType(type) && made?.kind === "object") {
    const fields = made.fields as Map<string, FieldDefinition>;
    for (const field of Object.values(type.getFields())) {
      fields.set(field.name, convertField(field, types));
    }
  } else if (isInputObjectType(type) && made?.kind === "input") {
    const fields = made.fields as Map<string, InputField>;
    for (const { name, type: valueType } of Object.values(type.getFields())) {
      fields.set(name, {
        name,
        description: undefined,
        type: convertRef(valueType, types),
        defaultValue: undefined,
        printed: [],
        role: "plain",
        field: undefined,
        member: undefined,
      });
    }
  }
}

function convertArgument(
  argument: GraphQLArgument,
  types: ReadonlyMap<string, NamedType>,
): ArgumentDefinition {
  // All defaults are booleans that are false where they are not given, and one reason of a deprecation.
  const isFalse = argument.defaultValue === false;
  return {
    name: argument.name,
    description: undefined,
    type: convertRef(argument.type, types),
    defaultValue: isFalse ? { kind: Kind.BOOLEAN, value: false } : undefined,
    field: undefined,
  };
}

function convertRef(
  type: GraphQLOutputType | GraphQLInputType,
  types: ReadonlyMap<string, NamedType>,
): TypeRef {
  const text = String(type);
  const nonNull = isNonNullType(type);
  const inner = isNonNullType(type) ? type.ofType : type;
  if (isListType(inner)) {
    return { kind: "list", element: convertRef(inner.ofType, types), nonNull, text };
  }
  const named = "name" in inner ? types.get(inner.name) : undefined;
  assert(named !== undefined, "types refer to known types");
  return { kind: "named", type: named, nonNull, text };
}

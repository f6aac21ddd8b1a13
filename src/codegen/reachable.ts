/** The types that requests can name: those of the roots, and what they lead to. */
import type {
  CompiledSchema,
  FieldDefinition,
  NamedType,
  TypeRef,
} from "../graphql/schema/compiled-schema.ts";

/** By name, in alphabetical order. Introspection is not among them. */
export function reachableTypes(schema: CompiledSchema): readonly NamedType[] {
  const found = new Map<string, NamedType>();
  const todo: NamedType[] = [];
  const note = (type: NamedType): void => {
    if (found.has(type.name) || type.name.startsWith("__")) return;
    found.set(type.name, type);
    todo.push(type);
  };
  const { queryType, mutationType, subscriptionType, types } = schema;
  for (const root of [queryType, mutationType, subscriptionType])
    if (root !== undefined) note(root);
  for (const type of types.values()) if (type.origin === "user") note(type);
  for (let type = todo.pop(); type !== undefined; type = todo.pop()) {
    for (const next of neighbours(type)) note(next);
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function neighbours(type: NamedType): readonly NamedType[] {
  switch (type.kind) {
    case "scalar":
    case "enum":
      return [];
    case "union":
      return type.members;
    case "input":
      return [...type.fields.values()].map((field) => baseOf(field.type));
    case "interface":
      return [...type.implementors, ...ofFields(type.fields)];
    case "object":
      return [...type.interfaces, ...ofFields(type.fields)];
  }
}

function ofFields(fields: ReadonlyMap<string, FieldDefinition>): NamedType[] {
  return [...fields.values()]
    .filter(({ name }) => !name.startsWith("__"))
    .flatMap((field) => [
      baseOf(field.type),
      ...[...field.arguments.values()].map((argument) => baseOf(argument.type)),
    ]);
}

function baseOf(ref: TypeRef): NamedType {
  return ref.kind === "list" ? baseOf(ref.element) : ref.type;
}

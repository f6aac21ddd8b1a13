/**
 * Answers to `__schema` and `__type` (reference/graphql 4.12), straight from the compiled schema. What does not apply
 * to a type is `[]`, and a missing description `""`, where the GraphQL specification says null: as clients of the
 * reference see it.
 */
import { print } from "graphql";
import { nameLimit } from "../../model/limits.ts";
import { refuseRequest, type RequestRefused } from "../operation/errors.ts";
import type {
  ArgumentDefinition,
  CompiledSchema,
  DirectiveDefinition,
  EnumValue,
  FieldDefinition,
  InputField,
  NamedType,
  TypeRef,
} from "../schema/compiled-schema.ts";

/** A field of the request, merged with its like, its fragments and conditions resolved. */
export interface AskedField {
  /** Its alias or name. */
  readonly key: string;
  readonly name: string;
  /** Values of the arguments given. */
  readonly arguments: ReadonlyMap<string, unknown>;
  readonly fields: readonly AskedField[];
}

/** Objects that an answer may hold for each part of the schema: what clients ask for needs some seven. */
const objectsPerPart = 20;
const smallestObjectsMax = 50_000;

const objectsMax = new WeakMap<CompiledSchema, number>();

/** A type of a type of a type has many: answers are bounded by the size of the schema. */
function objectsMaxOf(schema: CompiledSchema): number {
  let max = objectsMax.get(schema);
  if (max === undefined) {
    let parts = 0;
    for (const type of schema.types.values()) {
      parts++;
      if (type.kind === "object" || type.kind === "interface") {
        for (const field of type.fields.values()) parts += 1 + field.arguments.size;
      } else if (type.kind === "input") parts += type.fields.size;
      else if (type.kind === "enum") parts += type.values.size;
      if (type.kind === "interface") parts += type.implementors.length;
      if (type.kind === "union") parts += type.members.length;
    }
    objectsMax.set(schema, (max = Math.max(smallestObjectsMax, parts * objectsPerPart)));
  }
  return max;
}

/**
 * The JSON text of the value of `__schema` or `__type`. `use` counts the objects of all answers of a request. Throws
 * RequestRefused for too many.
 */
export function introspect(
  schema: CompiledSchema,
  field: AskedField,
  use: { introspected: number } = { introspected: 0 },
): string {
  left = objectsMaxOf(schema) - use.introspected;
  const before = left;
  try {
    return introspectField(schema, field);
  } finally {
    use.introspected += before - left;
  }
}

/** Objects that the answer under way may still have. Answers are made in one go. */
let left = 0;

/** Of a text, as much as an object takes, by and large. */
const charactersPerObject = 100;

/** Counts a text of the schema that an answer holds as its objects are counted. Throws RequestRefused for too many. */
export function chargeText(
  schema: CompiledSchema,
  text: string,
  use: { introspected: number },
): void {
  use.introspected += Math.ceil(text.length / charactersPerObject);
  if (use.introspected > objectsMaxOf(schema)) throw tooMuch();
}

function tooMuch(): RequestRefused {
  const reason = "the answer to introspection is far larger than the schema";
  return refuseRequest(nameLimit("document-fields", reason));
}

function introspectField(schema: CompiledSchema, field: AskedField): string {
  if (field.name === "__schema") return printSchema(schema, field.fields);
  const name = field.arguments.get("name");
  const type = typeof name === "string" ? findPublicType(schema, name) : undefined;
  return type === undefined ? "null" : printType(type, field.fields);
}

function findPublicType(schema: CompiledSchema, name: string): NamedType | undefined {
  return schema.types.get(name);
}

type Fields = readonly AskedField[];

/** `{"key":value,…}`; `answer` gives the text of one field's value. */
function printObject(
  typeName: string,
  fields: Fields,
  answer: (field: AskedField) => string,
): string {
  if (--left < 0) throw tooMuch();
  let text = "{";
  for (const field of fields) {
    if (text.length > 1) text += ",";
    const value = field.name === "__typename" ? JSON.stringify(typeName) : answer(field);
    text += `${JSON.stringify(field.key)}:${value}`;
  }
  return `${text}}`;
}

function printList<T>(items: Iterable<T>, each: (item: T) => string): string {
  const texts: string[] = [];
  for (const item of items) texts.push(each(item));
  return `[${texts.join(",")}]`;
}

function printSchema(schema: CompiledSchema, fields: Fields): string {
  return printObject("__Schema", fields, (field) => {
    const root = (type: NamedType | undefined): string =>
      type === undefined ? "null" : printType(type, field.fields);
    switch (field.name) {
      case "types":
        return printList(schema.types.values(), (type) => printType(type, field.fields));
      case "queryType":
        return root(schema.queryType);
      case "mutationType":
        return root(schema.mutationType);
      case "subscriptionType":
        return root(schema.subscriptionType);
      case "directives":
        return printList(schema.directives.values(), (each) => printDirective(each, field.fields));
      default:
        return "null";
    }
  });
}

const kindNames: Readonly<Record<NamedType["kind"], string>> = {
  scalar: "SCALAR",
  object: "OBJECT",
  interface: "INTERFACE",
  union: "UNION",
  enum: "ENUM",
  input: "INPUT_OBJECT",
};

function printType(type: NamedType, fields: Fields): string {
  return printObject("__Type", fields, (field) => {
    const inner = field.fields;
    const isAll = field.arguments.get("includeDeprecated") === true;
    switch (field.name) {
      case "kind":
        return JSON.stringify(kindNames[type.kind]);
      case "name":
        return JSON.stringify(type.name);
      case "description":
        return printText(type.description);
      case "fields":
        return printList(shownFields(type, isAll), (each) => printField(each, inner));
      case "inputFields":
        return printList(type.kind === "input" ? type.fields.values() : [], (each) =>
          printInputValue(each, inner),
        );
      case "interfaces":
        return printList(type.kind === "object" ? type.interfaces : [], (each) =>
          printType(each, inner),
        );
      case "possibleTypes":
        return printList(possibleTypes(type), (each) => printType(each, inner));
      case "enumValues":
        return printList(type.kind === "enum" ? type.values.values() : [], (each) =>
          printEnumValue(each, inner),
        );
      default:
        return "null";
    }
  });
}

function shownFields(type: NamedType, isAll: boolean): FieldDefinition[] {
  if (type.kind !== "object" && type.kind !== "interface") return [];
  const fields = [...type.fields.values()];
  return isAll ? fields : fields.filter((field) => field.deprecation === undefined);
}

function possibleTypes(type: NamedType): readonly NamedType[] {
  if (type.kind === "interface") return type.implementors;
  return type.kind === "union" ? type.members : [];
}

/** A type as it is used: lists and non-null types are types of their own. */
function printTypeUse(ref: TypeRef, fields: Fields, isNullable = !ref.nonNull): string {
  if (isNullable && ref.kind === "named") return printType(ref.type, fields);
  return printObject("__Type", fields, (field) => {
    switch (field.name) {
      case "kind":
        return isNullable ? '"LIST"' : '"NON_NULL"';
      case "ofType":
        if (!isNullable) return printTypeUse(ref, field.fields, true);
        return ref.kind === "list" ? printTypeUse(ref.element, field.fields) : "null";
      case "description":
        return '""';
      case "name":
        return "null";
      default:
        return "[]";
    }
  });
}

function printField(definition: FieldDefinition, fields: Fields): string {
  return printObject("__Field", fields, (field) => {
    switch (field.name) {
      case "name":
        return JSON.stringify(definition.name);
      case "description":
        return printText(definition.description);
      case "args":
        return printList(definition.arguments.values(), (each) =>
          printInputValue(each, field.fields),
        );
      case "type":
        return printTypeUse(definition.type, field.fields);
      case "isDeprecated":
        return String(definition.deprecation !== undefined);
      case "deprecationReason":
        return JSON.stringify(definition.deprecation ?? null);
      default:
        return "null";
    }
  });
}

function printInputValue(value: ArgumentDefinition | InputField, fields: Fields): string {
  return printObject("__InputValue", fields, (field) => {
    switch (field.name) {
      case "name":
        return JSON.stringify(value.name);
      case "description":
        return printText(value.description);
      case "type":
        return printTypeUse(value.type, field.fields);
      case "defaultValue":
        return value.defaultValue === undefined
          ? "null"
          : JSON.stringify(print(value.defaultValue));
      // What newer clients ask.
      case "isDeprecated":
        return "false";
      default:
        return "null";
    }
  });
}

/** `@deprecated` does not reach the generated schema's enum values. */
function printEnumValue(value: EnumValue, fields: Fields): string {
  return printObject("__EnumValue", fields, (field) => {
    switch (field.name) {
      case "name":
        return JSON.stringify(value.name);
      case "description":
        return printText(value.description);
      case "isDeprecated":
        return "false";
      default:
        return "null";
    }
  });
}

function printDirective(directive: DirectiveDefinition, fields: Fields): string {
  return printObject("__Directive", fields, (field) => {
    switch (field.name) {
      case "name":
        return JSON.stringify(directive.name);
      case "description":
        return printText(directive.description);
      case "locations":
        return JSON.stringify(directive.locations);
      case "args":
        return printList(directive.arguments.values(), (each) =>
          printInputValue(each, field.fields),
        );
      case "isRepeatable":
        return "false";
      default:
        return "null";
    }
  });
}

function printText(description: string | undefined): string {
  return JSON.stringify(description ?? "");
}

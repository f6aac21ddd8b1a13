/** The generated schema as text, section by section (reference/graphql 3.1). */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstValueNode } from "graphql";
import type {
  ArgumentDefinition,
  CompiledSchema,
  NamedType,
  ObjectType,
  TypeRef,
} from "./compiled-schema.ts";
import { federationText, preludeText } from "./sdl-prelude.ts";

/** `generatedSchema` of getGQLSchema. */
export function generatedSchemaText(schema: CompiledSchema): string {
  const user: string[] = [];
  const generated: NamedType[] = [];
  for (const type of schema.types.values()) {
    if (type.kind === "object" && type.role === "root") continue;
    if (type.origin === "user") user.push(`${printType(type)}\n`);
    if (type.origin === "generated") generated.push(type);
  }
  generated.sort((a, b) => (a.name < b.name ? -1 : 1));
  const ofKind = (kind: NamedType["kind"]): string =>
    generated
      .filter((type) => type.kind === kind)
      .map((type) => `${printType(type)}\n`)
      .join("");
  const entity = schema.types.get("_Entity");
  return [
    `${banner("Input Schema")}\n${user.join("")}`,
    `${banner("Extended Definitions")}${preludeText}\n`,
    entity === undefined
      ? ""
      : `${banner("Extended Apollo Definitions")}${printType(entity)}${federationText}\n`,
    section("Generated Types", ofKind("object")),
    section("Generated Enums", ofKind("enum")),
    section("Generated Inputs", ofKind("input")),
    section("Generated Query", printRoot(schema.queryType, "\n")),
    section("Generated Mutations", printRoot(schema.mutationType, "\n")),
    section("Generated Subscriptions", printRoot(schema.subscriptionType, "")),
  ].join("");
}

function banner(title: string): string {
  return `#######################\n# ${title}\n#######################\n`;
}

function section(title: string, body: string): string {
  return body === "" ? "" : `${banner(title)}\n${body}`;
}

function printRoot(type: ObjectType | undefined, end: string): string {
  return type === undefined ? "" : `${printType(type)}${end}`;
}

function printType(type: NamedType): string {
  const head = printDescription(type.description, "");
  switch (type.kind) {
    case "scalar":
      return `${head}scalar ${type.name}\n`;
    case "enum": {
      const values = [...type.values.values()].map(
        (value) => `${printDescription(value.description, "\t")}\t${value.name}\n`,
      );
      return `${head}enum ${type.name} {\n${values.join("")}}\n`;
    }
    case "union": {
      const members = type.members.map((member) => member.name).join(" | ");
      return `${head}union ${type.name}${printDirectives(type.printed)} = ${members}\n`;
    }
    case "object": {
      const names = type.interfaces.map((parent) => parent.name).join(" & ");
      const interfaces = names === "" ? "" : ` implements ${names}`;
      return `${head}type ${type.name}${interfaces}${printDirectives(type.printed)} {\n${printFields(type.fields)}}\n`;
    }
    case "interface":
      return `${head}interface ${type.name}${printDirectives(type.printed)} {\n${printFields(type.fields)}}\n`;
    case "input":
      return `${head}input ${type.name}${printDirectives(type.printed)} {\n${printFields(type.fields)}}\n`;
  }
}

interface PrintedField {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly arguments?: ReadonlyMap<string, ArgumentDefinition>;
  readonly printed: readonly ConstDirectiveNode[];
}

function printFields(fields: ReadonlyMap<string, PrintedField>): string {
  let text = "";
  for (const field of fields.values()) {
    const names: string[] = [];
    for (const argument of field.arguments?.values() ?? [])
      names.push(`${argument.name}: ${argument.type.text}`);
    const given = names.length === 0 ? "" : `(${names.join(", ")})`;
    text += `${printDescription(field.description, "\t")}\t${field.name}${given}: ${field.type.text}${printDirectives(field.printed)}\n`;
  }
  return text;
}

function printDescription(description: string | undefined, indent: string): string {
  if (description === undefined || description === "") return "";
  return `${indent}"""${description}"""\n`;
}

function printDirectives(directives: readonly ConstDirectiveNode[]): string {
  return directives.map((directive) => ` ${printDirective(directive)}`).join("");
}

function printDirective(directive: ConstDirectiveNode): string {
  const given = (directive.arguments ?? []).map(
    (argument) => `${argument.name.value}: ${printValue(argument.value)}`,
  );
  return `@${directive.name.value}${given.length === 0 ? "" : `(${given.join(", ")})`}`;
}

/** Without blanks inside lists and objects. */
function printValue(value: ConstValueNode): string {
  switch (value.kind) {
    case Kind.STRING:
      return JSON.stringify(value.value);
    case Kind.LIST:
      return `[${value.values.map(printValue).join(",")}]`;
    case Kind.OBJECT:
      return `{${value.fields.map((field) => `${field.name.value}:${printValue(field.value)}`).join(",")}}`;
    case Kind.NULL:
      return "null";
    case Kind.BOOLEAN:
      return value.value ? "true" : "false";
    default:
      return value.value;
  }
}

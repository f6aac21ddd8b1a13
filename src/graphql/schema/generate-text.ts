/** The generated schema as text, section by section (reference/graphql 3.1). */
import { Kind } from "graphql";
import type { ConstDirectiveNode, ConstValueNode } from "graphql";
import type {
  ArgumentDefinition,
  CompiledSchema,
  FieldSource,
  NamedType,
  ObjectType,
  TypeRef,
} from "./compiled-schema.ts";
import { addedDeclarations, specOf } from "./directives/table.ts";
import { federationText, preludeText, shownPreludeText } from "./sdl-prelude.ts";

/** What the gateway adds itself. */
const federationRoots: ReadonlySet<string> = new Set(["_entities", "_service"]);

/** `generatedSchema` of getGQLSchema. */
export function generatedSchemaText(schema: CompiledSchema): string {
  return new SchemaPrinter(schema, () => true, preludeText).print();
}

const serviceTexts = new WeakMap<CompiledSchema, string>();

/** `sdl` of `_service`: what a federation's gateway merges (reference/graphql 2.12). Made once for a schema. */
export function serviceSchemaText(schema: CompiledSchema): string {
  let text = serviceTexts.get(schema);
  if (text === undefined) serviceTexts.set(schema, (text = printForGateway(schema)));
  return text;
}

function printForGateway(schema: CompiledSchema): string {
  const isShown = (name: string): boolean => specOf(name)?.isInternal !== true;
  return new SchemaPrinter(schema, isShown, shownPreludeText, federationRoots).print();
}

class SchemaPrinter {
  readonly #schema: CompiledSchema;
  readonly #isShown: (directive: string) => boolean;
  readonly #prelude: string;
  /** Root fields that are left out, and with them what only they use. */
  readonly #hidden: ReadonlySet<string> | undefined;

  constructor(
    schema: CompiledSchema,
    isShown: (directive: string) => boolean,
    prelude: string,
    hidden?: ReadonlySet<string>,
  ) {
    this.#schema = schema;
    this.#isShown = isShown;
    this.#prelude = prelude;
    this.#hidden = hidden;
  }

  print(): string {
    const { types, queryType, mutationType, subscriptionType } = this.#schema;
    const user: string[] = [];
    const generated: NamedType[] = [];
    for (const type of types.values()) {
      if (type.kind === "object" && type.role === "root") continue;
      if (type.origin === "user") user.push(`${this.#type(type)}\n`);
      if (type.origin === "generated") generated.push(type);
    }
    generated.sort((a, b) => (a.name < b.name ? -1 : 1));
    const ofKind = (kind: NamedType["kind"]): string =>
      generated
        .filter((type) => type.kind === kind)
        .map((type) => `${this.#type(type)}\n`)
        .join("");
    return [
      `${banner("Input Schema")}\n${user.join("")}`,
      `${banner("Extended Definitions")}${this.#prelude}${this.#added()}\n`,
      this.#federation(),
      section("Generated Types", ofKind("object")),
      section("Generated Enums", ofKind("enum")),
      section("Generated Inputs", ofKind("input")),
      section("Generated Query", this.#root(queryType, "\n")),
      section("Generated Mutations", this.#root(mutationType, "\n")),
      section("Generated Subscriptions", this.#root(subscriptionType, "")),
    ].join("");
  }

  #added(): string {
    return this.#hidden === undefined ? addedDeclarations(this.#schema.directives) : "";
  }

  #federation(): string {
    const entity = this.#schema.types.get("_Entity");
    if (entity === undefined || this.#hidden !== undefined) return "";
    return `${banner("Extended Apollo Definitions")}${this.#type(entity)}${federationText}\n`;
  }

  #root(type: ObjectType | undefined, end: string): string {
    return type === undefined ? "" : `${this.#type(type)}${end}`;
  }

  #type(type: NamedType): string {
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
        return `${head}union ${type.name}${this.#directives(type.printed)} = ${members}\n`;
      }
      case "object": {
        const names = type.interfaces.map((parent) => parent.name).join(" & ");
        const interfaces = names === "" ? "" : ` implements ${names}`;
        return `${head}type ${type.name}${interfaces}${this.#directives(type.printed)} {\n${this.#fields(type.fields)}}\n`;
      }
      case "interface":
        return `${head}interface ${type.name}${this.#directives(type.printed)} {\n${this.#fields(type.fields)}}\n`;
      case "input":
        return `${head}input ${type.name}${this.#directives(type.printed)} {\n${this.#fields(type.fields)}}\n`;
    }
  }

  #fields(fields: ReadonlyMap<string, PrintedField>): string {
    let text = "";
    for (const field of fields.values()) {
      if (this.#isHidden(field)) continue;
      const names: string[] = [];
      const isBare = this.#hidden !== undefined && leadsAway(field);
      for (const argument of isBare ? [] : (field.arguments?.values() ?? []))
        names.push(`${argument.name}: ${argument.type.text}`);
      const given = names.length === 0 ? "" : `(${names.join(", ")})`;
      text += `${printDescription(field.description, "\t")}\t${field.name}${given}: ${field.type.text}${this.#directives(field.printed)}\n`;
    }
    return text;
  }

  #isHidden({ name, source }: PrintedField): boolean {
    if (this.#hidden === undefined) return false;
    if (this.#hidden.has(name)) return true;
    // Their own service answers queries for them.
    if (source?.kind === "root") return isElsewhere(this.#schema.queries.get(name)?.of);
    return source?.kind === "edgeAggregate" && leadsAway(source.edge);
  }

  #directives(directives: readonly ConstDirectiveNode[]): string {
    return directives
      .filter(({ name }) => this.#isShown(name.value))
      .map((directive) => ` ${printDirective(directive)}`)
      .join("");
  }
}

interface PrintedField {
  readonly name: string;
  readonly description: string | undefined;
  readonly type: TypeRef;
  readonly arguments?: ReadonlyMap<string, ArgumentDefinition>;
  readonly printed: readonly ConstDirectiveNode[];
  readonly source?: FieldSource;
}

/** Whether an edge leads to a type of another service: the gateway cannot filter it here. */
function leadsAway({ source }: Pick<PrintedField, "source">): boolean {
  if (source?.kind !== "edge") return false;
  return isElsewhere(source.target);
}

function isElsewhere(type: Pick<ObjectType, "printed"> | undefined): boolean {
  return type?.printed.some(({ name }) => name.value === "extends") ?? false;
}

function banner(title: string): string {
  return `#######################\n# ${title}\n#######################\n`;
}

function section(title: string, body: string): string {
  return body === "" ? "" : `${banner(title)}\n${body}`;
}

function printDescription(description: string | undefined, indent: string): string {
  if (description === undefined || description === "") return "";
  return `${indent}"""${description}"""\n`;
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

/** `schema.d.ts`: the types, inputs and enums of a GraphQL schema, and what the client needs to type documents. */
import type {
  CompiledSchema,
  FieldDefinition,
  InputObjectType,
  NamedType,
  ObjectType,
  RootFieldKind,
} from "../graphql/schema/compiled-schema.ts";
import { nodeTypes } from "./node-types.ts";
import { reachableTypes } from "./reachable.ts";
import {
  answeredRef,
  comment,
  memberName,
  refText,
  scalarTexts,
  type TypeOptions,
} from "./type-text.ts";

export const head = "// Written by `weft types`: changes are lost at the next run.\n\n";

export function printSchemaTypes(schema: CompiledSchema, options: TypeOptions): string {
  const printer = new SchemaPrinter(schema, options);
  return `${head}${printer.declarations()}${printer.schema()}${nodeTypes(schema, options, printer.ownName("Nodes"))}`;
}

/** What a type of the schema is called in TypeScript. */
function typeName(type: NamedType, options: TypeOptions): string {
  return type.kind === "scalar" ? scalarTexts(type.name, options).output : type.name;
}

class SchemaPrinter {
  readonly #schema: CompiledSchema;
  readonly #options: TypeOptions;
  readonly #types: readonly NamedType[];

  constructor(schema: CompiledSchema, options: TypeOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#types = reachableTypes(schema);
  }

  /** The name of what is written beside the schema's own types, which come first. */
  ownName(name: string): string {
    return this.#schema.types.has(name) ? `Weft${name}` : name;
  }

  /** The schema's types. Operations have none: their results are what is selected. */
  declarations(): string {
    return this.#types
      .filter((type) => type.kind !== "scalar" && !isRoot(type))
      .map((type) => `${comment(type.description, "")}${this.#declaration(type)}\n`)
      .join("");
  }

  #declaration(type: NamedType): string {
    switch (type.kind) {
      case "enum":
        return `export type ${type.name} = ${[...type.values.keys()].map((name) => JSON.stringify(name)).join(" | ")};\n`;
      case "union":
        return `export type ${type.name} = ${type.members.map(({ name }) => name).join(" | ") || "never"};\n`;
      case "input":
        return `export interface ${type.name} {\n${this.#inputMembers(type)}}\n`;
      default:
        return `export interface ${type.name} {\n${this.#members(type as ObjectType)}}\n`;
    }
  }

  #members(type: ObjectType): string {
    return [...type.fields.values()]
      .filter(isShown)
      .map((field) => {
        const ref = readRef(answeredRef(field, undefined), (name) => this.#outputName(name));
        return `${comment(field.description, "  ")}  readonly ${memberName(field.name)}: ${ref};\n`;
      })
      .join("");
  }

  #outputName(name: string): string {
    const type = this.#schema.types.get(name);
    return type === undefined ? "unknown" : typeName(type, this.#options);
  }

  #inputMembers(type: InputObjectType): string {
    return [...type.fields.values()]
      .map((field) => {
        const isOptional = !field.type.nonNull || field.defaultValue !== undefined;
        const text = refText(field.type, (one) => this.#inputName(one));
        return `${comment(field.description, "  ")}  readonly ${memberName(field.name)}${isOptional ? "?" : ""}: ${text}${isOptional ? " | undefined" : ""};\n`;
      })
      .join("");
  }

  #inputName(type: NamedType): string {
    return type.kind === "scalar" ? scalarTexts(type.name, this.#options).input : type.name;
  }

  /** What a client types documents by. */
  schema(): string {
    const parts = [
      this.#block("roots", this.#roots()),
      this.#block("fields", this.#fields()),
      this.#block("arguments", this.#arguments()),
      this.#block("possible", this.#possible()),
      this.#block(
        "outputs",
        this.#leaves((type) => typeName(type, this.#options), false),
      ),
      this.#block(
        "inputs",
        this.#leaves((type) => this.#inputName(type), true),
      ),
    ];
    const name = this.ownName("Schema");
    return `/** By which a client types documents: \`connect<${name}>({ url })\`. */\nexport type ${name} = {\n${parts.join("")}};\n\n`;
  }

  #block(name: string, lines: readonly string[]): string {
    return `  readonly ${name}: {\n${lines.map((line) => `    readonly ${line};\n`).join("")}  };\n`;
  }

  #roots(): string[] {
    const { queryType, mutationType, subscriptionType } = this.#schema;
    return [
      `query: ${quote(queryType?.name ?? "Query")}`,
      `mutation: ${quote(mutationType?.name ?? "Mutation")}`,
      `subscription: ${quote(subscriptionType?.name ?? "Subscription")}`,
    ];
  }

  #fields(): string[] {
    return this.#composites().map((type) => {
      const members = [...type.fields.values()]
        .filter(isShown)
        .map(
          (field) =>
            `      readonly ${memberName(field.name)}: ${quote(answeredRef(field, kindOf(field)))};\n`,
        );
      return `${type.name}: {\n${members.join("")}    }`;
    });
  }

  #arguments(): string[] {
    return this.#composites().flatMap((type) =>
      [...type.fields.values()]
        .filter((field) => isShown(field) && field.arguments.size > 0)
        .map(
          (field) =>
            `${quote(`${type.name}.${field.name}`)}: ${[...field.arguments.keys()].map(quote).join(" | ")}`,
        ),
    );
  }

  #possible(): string[] {
    return this.#types.flatMap((type) => {
      if (type.kind !== "interface" && type.kind !== "union") return [];
      const members = type.kind === "union" ? type.members : type.implementors;
      return [`${type.name}: ${members.map(({ name }) => quote(name)).join(" | ") || "never"}`];
    });
  }

  #leaves(name: (type: NamedType) => string, hasInputs: boolean): string[] {
    return this.#types
      .filter(({ kind }) => kind === "scalar" || kind === "enum" || (hasInputs && kind === "input"))
      .map((type) => `${type.name}: ${name(type)}`);
  }

  #composites(): readonly ObjectType[] {
    return this.#types.filter(
      (type): type is ObjectType => type.kind === "object" || type.kind === "interface",
    );
  }
}

function isRoot(type: NamedType): boolean {
  return type.kind === "object" && type.role === "root";
}

function isShown({ name }: FieldDefinition): boolean {
  return !name.startsWith("__");
}

function kindOf(field: FieldDefinition): RootFieldKind | undefined {
  return field.source.kind === "root" && "kind" in field
    ? (field.kind as RootFieldKind)
    : undefined;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

/** SDL's form of a type, with names of TypeScript. */
function readRef(ref: string, name: (type: string) => string): string {
  const isPresent = ref.endsWith("!");
  const inner = isPresent ? ref.slice(0, -1) : ref;
  const text = inner.startsWith("[")
    ? `readonly ${grouped(readRef(inner.slice(1, -1), name))}[]`
    : name(inner);
  return isPresent ? text : `${text} | null`;
}

function grouped(text: string): string {
  return text.includes(" ") ? `(${text})` : text;
}

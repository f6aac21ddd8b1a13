/** `resolvers.d.ts`: what each resolver of a schema gets, and what it returns. */
import type {
  ArgumentDefinition,
  CompiledSchema,
  FieldDefinition,
  NamedType,
  ObjectType,
} from "../graphql/schema/compiled-schema.ts";
import { head } from "./schema-types.ts";
import { comment, memberName, refText, scalarTexts, type TypeOptions } from "./type-text.ts";

/** `client`: the module of the client's types; undefined where there is no package to import them from. */
export function printResolverTypes(
  schema: CompiledSchema,
  options: TypeOptions,
  client: string,
): string {
  const fields = listFields(schema);
  const roots = listRoots(schema);
  const isTaken = (name: string): boolean => schema.types.has(name);
  const api = isTaken("Schema") ? "WeftSchema" : "Schema";
  return [
    head,
    `import type { Checked, DataOf, VariablesOf, GraphqlResult } from ${JSON.stringify(client)};\n`,
    `import type * as types from "./schema.js";\n\n`,
    parents(fields, options),
    events(api),
    resolvers(fields, roots, options),
    globals,
  ].join("");
}

/** `Type.field` of every resolver that the schema asks for. */
export function listResolvers(schema: CompiledSchema): readonly string[] {
  return [...listFields(schema), ...listRoots(schema)].map(
    ({ type, field }) => `${type.name}.${field.name}`,
  );
}

/** Names under which a script registers what it wants to be told of mutations: `Task.add`. */
export function listWebhooks(schema: CompiledSchema): readonly string[] {
  return schema.nodes.flatMap(({ name, node }) =>
    [...(node.watched ?? [])].map((operation) => `${name}.${operation}`),
  );
}

interface LambdaField {
  readonly type: ObjectType;
  readonly field: FieldDefinition;
}

function listFields(schema: CompiledSchema): readonly LambdaField[] {
  return [...schema.types.values()].flatMap((type) =>
    type.kind === "object" || type.kind === "interface"
      ? [...type.fields.values()]
          .filter(({ source }) => source.kind === "lambda")
          .map((field) => ({ type: type as ObjectType, field }))
      : [],
  );
}

function listRoots(schema: CompiledSchema): readonly LambdaField[] {
  return [
    [schema.queryType, schema.queries] as const,
    [schema.mutationType, schema.mutations] as const,
  ].flatMap(
    ([type, fields]) =>
    type === undefined
      ? []
      : [...fields.values()].filter(({ kind }) => kind === "lambda").map((field) => ({ type, field })), // prettier-ignore
  );
}

/** Values of a node beside its edges, as far as it has them. */
function parents(fields: readonly LambdaField[], options: TypeOptions): string {
  const all = [...new Set(fields.map(({ type }) => type))];
  return all
    .map((type) => {
      const lines = [...type.fields.values()].flatMap((field) => parentLine(field, options));
      return `/** A ${type.name} as its resolvers get it: what it has, but for edges, geometry and passwords. */\nexport interface ${type.name}Parent {\n${lines.join("")}}\n\n`;
    })
    .join("");
}

function parentLine(
  { name, type, source, description }: FieldDefinition,
  options: TypeOptions,
): string[] {
  if (source.kind !== "uid" && source.kind !== "value") return [];
  if (source.kind === "value" && source.valueType.kind === "object") return [];
  const text = refText(type, (one) => shown(one, options)).replace(/ \| null$/, "");
  const plain = type.kind === "list" ? text.replace(/ \| null\)/, ")") : text;
  return [
    `${comment(description, "  ")}  readonly ${memberName(name)}${type.nonNull ? "" : "?"}: ${plain};\n`,
  ];
}

function shown(type: NamedType, options: TypeOptions): string {
  return type.kind === "scalar" ? scalarTexts(type.name, options).output : `types.${type.name}`;
}

const events = (
  api: string,
): string => `/** What every resolver gets beside its parent or its arguments. */
export interface Context {
  /** Asks the GraphQL API with the caller's header, or with \`authHeader\`. */
  graphql<const Document extends string>(
    query: Document & Checked<Document, types.${api}>,
    variables?: VariablesOf<Document, types.${api}>,
    authHeader?: AuthHeader,
  ): Promise<GraphqlResult<DataOf<Document, types.${api}>>>;
  /** As \`graphql\`: the data alone; throws where there are errors. */
  request<const Document extends string>(
    query: Document & Checked<Document, types.${api}>,
    variables?: VariablesOf<Document, types.${api}>,
    authHeader?: AuthHeader,
  ): Promise<DataOf<Document, types.${api}>>;
  readonly dql: {
    /** Asks \`/query\`. */
    query<Rows = any>(text: string, variables?: Readonly<Record<string, string>>): Promise<{ readonly data: Rows }>;
    /** Writes through \`/mutate\`: a text as RDF, an object as JSON. */
    mutate(facts: string | object): Promise<{ readonly data: any }>;
  };
  /** The header that \`Dgraph.Authorization\` names. */
  readonly authHeader?: AuthHeader;
  /** The access token of a login. */
  readonly accessJWT?: string;
}

export interface AuthHeader {
  readonly key: string;
  readonly value: string;
}

export interface FieldEvent<Parent> extends Context {
  readonly parent: Parent;
  readonly args: null;
}

export interface ParentsEvent<Parent> extends Context {
  /** All objects of the level, each once: the answer has an element for each, in order. */
  readonly parents: readonly Parent[];
  readonly args: null;
}

export interface RootEvent<Arguments> extends Context {
  readonly parent: null;
  readonly args: Arguments;
}

type Answer<T> = T | Promise<T>;

/** Members of an object that a resolver returns, by the names of the fields; those that are missing are null. */
type Loose<T> = T extends readonly (infer Element)[]
  ? readonly Loose<Element>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> | null | undefined } & { readonly __typename?: string }
    : T;

`;

function resolvers(
  fields: readonly LambdaField[],
  roots: readonly LambdaField[],
  options: TypeOptions,
): string {
  const one = fields.map(({ type, field }) => `${comment(field.description, "  ")}  readonly "${type.name}.${field.name}"?: (event: FieldEvent<${type.name}Parent>) => Answer<${result(field, options)}>;\n`); // prettier-ignore
  const many = fields.map(({ type, field }) => `${comment(field.description, "  ")}  readonly "${type.name}.${field.name}"?: (event: ParentsEvent<${type.name}Parent>) => Answer<readonly (${result(field, options)})[]>;\n`); // prettier-ignore
  const root = roots.map(({ type, field }) => `${comment(field.description, "  ")}  readonly "${type.name}.${field.name}"?: (event: RootEvent<${argumentsText(field, options)}>) => Answer<${result(field, options)}>;\n`); // prettier-ignore
  return `/** The resolvers that the schema asks for, by \`Type.field\`. */
export interface Resolvers {
${[...one, ...root].join("")}}

/** Resolvers of fields that get all parents of a level at once. */
export interface MultiParentResolvers {
${many.join("")}}

`;
}

function argumentsText(field: FieldDefinition, options: TypeOptions): string {
  const all = [...field.arguments.values()].map((argument) => argumentText(argument, options));
  return all.length === 0 ? "Record<never, never>" : `{ ${all.join("; ")} }`;
}

/** As they were sent: a date is a text. */
function argumentText(
  { name, type, defaultValue }: ArgumentDefinition,
  options: TypeOptions,
): string {
  const isOptional = !type.nonNull || defaultValue !== undefined;
  return `readonly ${memberName(name)}${isOptional ? "?" : ""}: ${refText(type, (one) => shown(one, options))}`;
}

function result(field: FieldDefinition, options: TypeOptions): string {
  const text = refText(field.type, (type) => {
    if (type.kind === "scalar") return scalarTexts(type.name, options).result;
    return type.kind === "enum" ? `types.${type.name}` : `Loose<types.${type.name}>`;
  });
  return field.type.nonNull ? text : `${text} | undefined`;
}

const globals = `/** As the platform's types have it, where they have one. */
type Self = typeof globalThis extends { readonly window: infer Window } ? Window : typeof globalThis;

declare global {
  function addGraphQLResolvers(resolvers: Resolvers): void;
  function addMultiParentGraphQLResolvers(resolvers: MultiParentResolvers): void;
  function addWebHookResolvers(resolvers: Readonly<Record<string, (event: any) => unknown>>): void;
  /** Where a script finds them: \`self.addGraphQLResolvers({ … })\`. */
  var self: Self;
}
`;

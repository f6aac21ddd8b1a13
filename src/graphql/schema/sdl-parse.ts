/** SDL text → draft types. The grammar is graphql-js's; the words of a refusal are ours (syntax-problem.ts). */
import { Kind, Lexer, Source, TokenKind, parse } from "graphql";
import type {
  DefinitionNode,
  DirectiveDefinitionNode,
  DocumentNode,
  FieldDefinitionNode,
  InputValueDefinitionNode,
  TypeDefinitionNode,
  TypeExtensionNode,
} from "graphql";
import type { TypeOrigin } from "./compiled-schema.ts";
import { giveDirectives } from "./directives/table.ts";
import {
  makeField,
  makeType,
  nowhere,
  positionOf,
  toRef,
  type DraftArgument,
  type DraftDirective,
  type DraftField,
  type DraftKind,
  type DraftType,
  type SchemaProblem,
} from "./sdl-draft.ts";
import { toSyntaxProblem } from "./syntax-problem.ts";

/** What one SDL text defines, in its order, `extend type` last. */
export interface ParsedSdl {
  readonly types: readonly DraftType[];
  readonly directives: readonly DraftDirective[];
}

/** Parses; a refusal is one problem, the first (reference/graphql 1.5 step 2). */
export function parseSdl(text: string, origin: TypeOrigin): ParsedSdl | SchemaProblem {
  let document: DocumentNode;
  try {
    const stray = findStrayDefinition(text);
    if (stray !== undefined) return stray;
    if (isBlank(text)) return { types: [], directives: [] };
    document = parse(text);
  } catch (error) {
    const problem = toSyntaxProblem(error);
    return { message: problem.message, at: problem };
  }
  const refused = findRefusedDefinition(document.definitions);
  return refused ?? readDefinitions(document.definitions, origin);
}

export function isProblem(parsed: ParsedSdl | SchemaProblem): parsed is SchemaProblem {
  return "message" in parsed;
}

function isBlank(text: string): boolean {
  return new Lexer(new Source(text)).advance().kind === TokenKind.EOF;
}

const definitionWords = new Set([
  "scalar",
  "type",
  "interface",
  "union",
  "enum",
  "input",
  "schema",
  "directive",
  "extend",
]);

/**
 * What cannot begin a definition, at the two places where one must begin: the start of the text and behind a closing
 * brace. (graphql-js reads requests too, and would complain of the inside of a stray `{`.)
 */
function findStrayDefinition(text: string): SchemaProblem | undefined {
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  let isStart = true;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (isStart && token.kind !== TokenKind.STRING && token.kind !== TokenKind.BLOCK_STRING) {
      if (token.kind !== TokenKind.NAME) return { message: `Unexpected ${token.kind}`, at: token };
      if (!definitionWords.has(token.value))
        return { message: `Unexpected Name ${JSON.stringify(token.value)}`, at: token };
    }
    if (token.kind === TokenKind.BRACE_L || token.kind === TokenKind.PAREN_L) depth++;
    if (token.kind === TokenKind.BRACE_R || token.kind === TokenKind.PAREN_R) depth--;
    isStart = token.kind === TokenKind.BRACE_R && depth === 0;
  }
  return undefined;
}

/** Requests inside an SDL, and interfaces that implement interfaces: graphql-js reads them, this API does not. */
function findRefusedDefinition(definitions: readonly DefinitionNode[]): SchemaProblem | undefined {
  for (const definition of definitions) {
    if (
      definition.kind === Kind.OPERATION_DEFINITION ||
      definition.kind === Kind.FRAGMENT_DEFINITION
    ) {
      const word = definition.loc?.startToken;
      const text = word?.kind === TokenKind.NAME ? `Name ${JSON.stringify(word.value)}` : "{";
      return { message: `Unexpected ${text}`, at: positionOf(definition) };
    }
    if (definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    if (definition.interfaces === undefined || definition.interfaces.length === 0) continue;
    const keyword = definition.name.loc?.endToken.next;
    return {
      message: 'Unexpected Name "implements"',
      at: keyword ? { line: keyword.line, column: keyword.column } : nowhere,
    };
  }
  return undefined;
}

function readDefinitions(definitions: readonly DefinitionNode[], origin: TypeOrigin): ParsedSdl {
  const types: DraftType[] = [];
  const extensions: DraftType[] = [];
  const directives: DraftDirective[] = [];
  for (const definition of definitions) {
    if (definition.kind === Kind.DIRECTIVE_DEFINITION) {
      directives.push(readDirectiveDefinition(definition, origin));
    } else if (isTypeDefinition(definition)) {
      types.push(readType(definition, origin));
    } else if (isTypeExtension(definition)) {
      extensions.push(readExtension(definition, origin));
    }
  }
  return { types: [...types, ...extensions], directives };
}

function isTypeDefinition(node: DefinitionNode): node is TypeDefinitionNode {
  return node.kind.endsWith("TypeDefinition");
}

function isTypeExtension(node: DefinitionNode): node is TypeExtensionNode {
  return node.kind.endsWith("TypeExtension");
}

/** `extend type T` is a definition of T that belongs to another service; of Query and Mutation, a plain one. */
function readExtension(node: TypeExtensionNode, origin: TypeOrigin): DraftType {
  const type = readType(node, origin);
  if (type.name !== "Query" && type.name !== "Mutation") {
    const name = { kind: Kind.NAME, value: "extends", ...(node.loc && { loc: node.loc }) } as const;
    giveDirectives(type, [...type.written, { kind: Kind.DIRECTIVE, name }]);
  }
  return type;
}

function readType(node: TypeDefinitionNode | TypeExtensionNode, origin: TypeOrigin): DraftType {
  const type: DraftType = {
    ...makeType(kindOfNode(node), node.name.value, origin),
    description: "description" in node ? node.description?.value : undefined,
    at: positionOf(node.name),
  };
  giveDirectives(type, node.directives ?? []);
  if ("interfaces" in node) type.interfaces = (node.interfaces ?? []).map((i) => i.name.value);
  if ("types" in node) type.members = (node.types ?? []).map((member) => member.name.value);
  if ("values" in node)
    type.values = (node.values ?? []).map((value) => ({
      name: value.name.value,
      description: value.description?.value,
      at: positionOf(value.name),
      field: undefined,
    }));
  if ("fields" in node) for (const field of node.fields ?? []) type.fields.push(readField(field));
  return type;
}

function kindOfNode(node: TypeDefinitionNode | TypeExtensionNode): DraftKind {
  switch (node.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.SCALAR_TYPE_EXTENSION:
      return "scalar";
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_EXTENSION:
      return "object";
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_EXTENSION:
      return "interface";
    case Kind.UNION_TYPE_DEFINITION:
    case Kind.UNION_TYPE_EXTENSION:
      return "union";
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_EXTENSION:
      return "enum";
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_EXTENSION:
      return "input";
  }
}

function readField(node: FieldDefinitionNode | InputValueDefinitionNode): DraftField {
  const field: DraftField = {
    ...makeField(node.name.value, toRef(node.type)),
    description: node.description?.value,
    arguments: "arguments" in node ? (node.arguments ?? []).map(readArgument) : [],
    defaultValue: "defaultValue" in node ? node.defaultValue : undefined,
    at: positionOf(node.name),
    typeAt: positionOf(node.type),
  };
  giveDirectives(field, node.directives ?? []);
  return field;
}

function readArgument(node: InputValueDefinitionNode): DraftArgument {
  return {
    name: node.name.value,
    description: node.description?.value,
    type: toRef(node.type),
    defaultValue: node.defaultValue,
    at: positionOf(node.name),
    typeAt: positionOf(node.type),
    written: node.directives ?? [],
    field: undefined,
  };
}

function readDirectiveDefinition(
  node: DirectiveDefinitionNode,
  origin: TypeOrigin,
): DraftDirective {
  return {
    name: node.name.value,
    description: node.description?.value,
    locations: node.locations.map((location) => location.value),
    arguments: (node.arguments ?? []).map(readArgument),
    origin,
  };
}

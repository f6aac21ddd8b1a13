/**
 * What lowering shares: the literals of one root field, and the pieces of tree that are made again and again. Each
 * literal gets a number (`token`), so that a plan kept for its shape finds the next request's literal.
 */
import type { Block, Field, Filter, FunctionCall, Literal, PredicateName } from "../dql/ast.ts";
import { noDirectives, noPage } from "../dql/ast.ts";
import type { FieldDefinition, NodeType } from "./compiled-schema.ts";

export interface LowerContext {
  /** The literals so far; a Literal's token is its index. */
  readonly texts: string[];
  /** Rules of a type: what every visit to it must pass; undefined for none (@auth puts them here). */
  readonly guard: (type: NodeType) => Filter | undefined;
}

export function makeLowerContext(guard: LowerContext["guard"] = () => undefined): LowerContext {
  return { texts: [], guard };
}

export function literal(context: LowerContext, text: string, quoted: boolean): Literal {
  context.texts.push(text);
  return { text, quoted, token: context.texts.length - 1 };
}

/** A literal that belongs to the shape: the name of a type, a constant number. */
export function constant(text: string, quoted: boolean): Literal {
  return { text, quoted, token: -1 };
}

export function predicateName(
  name: string,
  languages: readonly string[] = [],
  reverse = false,
): PredicateName {
  return { kind: "predicate", name, reverse, languages };
}

/** The predicate of a stored field; undefined for fields that store nothing. */
export function predicateOf(field: FieldDefinition): PredicateName | undefined {
  const source = field.source;
  if (source.kind === "value") return predicateName(source.predicate, source.languages);
  if (source.kind === "edge") return predicateName(source.predicate, [], source.isReverse);
  return undefined;
}

export function typeCall(type: NodeType): FunctionCall {
  return {
    name: "type",
    subject: { kind: "none" },
    args: [{ kind: "literal", literal: constant(type.node.typeName, false) }],
    at: undefined,
  };
}

export function uidCall(uids: readonly Literal[]): FunctionCall {
  return {
    name: "uid",
    subject: { kind: "none" },
    args: uids.map((literal) => ({ kind: "literal", literal })),
    at: undefined,
  };
}

export function compareCall(
  name: string,
  subject: PredicateName,
  values: readonly Literal[],
): FunctionCall {
  return {
    name,
    subject,
    args: values.map((literal) => ({ kind: "literal", literal })),
    at: undefined,
  };
}

export function callFilter(call: FunctionCall): Filter {
  return { kind: "call", call };
}

export function andFilter(...filters: readonly (Filter | undefined)[]): Filter | undefined {
  const given = filters.filter((filter) => filter !== undefined);
  return given.length < 2 ? given[0] : { kind: "and", filters: given };
}

/** A block without anything but its root and its fields. */
export function queryBlock(name: string, root: FunctionCall, children: readonly Field[]): Block {
  return {
    kind: "query",
    name,
    variable: undefined,
    root,
    filter: undefined,
    page: noPage,
    order: [],
    directives: noDirectives,
    recurse: undefined,
    shortest: undefined,
    children,
    at: undefined,
  };
}

/** A predicate without anything but its children. `alias` is unique within the level. */
export function predicateField(
  alias: string,
  predicate: PredicateName,
  children?: readonly Field[],
): Extract<Field, { kind: "predicate" }> {
  return {
    kind: "predicate",
    alias,
    variable: undefined,
    predicate,
    page: noPage,
    order: [],
    filter: undefined,
    facets: undefined,
    facetFilter: undefined,
    directives: noDirectives,
    children,
    at: undefined,
  };
}

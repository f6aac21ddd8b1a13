/**
 * What lowering shares: the literals of one root field, and the pieces of tree that are made again and again. Each
 * literal gets a number (`token`), so that a plan kept for its shape finds the next request's literal.
 */
import type { Block, Field, Filter, FunctionCall, Literal, PredicateName } from "../../dql/ast.ts";
import { noDirectives, noPage } from "../../dql/ast.ts";
import { nameLimit } from "../../model/limits.ts";
import type {
  EdgeSource,
  FieldDefinition,
  NamedType,
  NodeType,
  RuleOperation,
} from "../schema/compiled-schema.ts";
import { FieldRefused } from "../operation/errors.ts";
import type { RequestValues } from "../operation/arguments.ts";

export interface LowerContext {
  /** The literals so far; a Literal's token is its index. */
  readonly texts: string[];
  /** The caller's rights, where the schema has rules. */
  readonly guard: Guard | undefined;
  /** Whose conditions are counted; undefined for what the server asks for itself. */
  readonly request?: RequestValues | undefined;
}

/** What a caller may do, as conditions on nodes (rule-guard.ts). */
export interface Guard {
  /**
   * What every visit to a type must pass: undefined for nothing, `denied` where no node passes. The literals go to
   * the context.
   */
  filter(context: LowerContext, type: NamedType, operation: RuleOperation): Filter | undefined;
  /** Whether no node of the type can pass: nothing need be read to know. */
  denies(type: NamedType, operation: RuleOperation): boolean;
  /** Whether not every caller sees all nodes of the type; the same for all callers. */
  hides(type: NamedType): boolean;
  /** Whether a rule, of whatever type, reads at the other end of an edge that it leads there; the same for all callers. */
  goesBy(edge: EdgeSource): boolean;
  /** Tells callers apart whose rights differ: equal texts, equal rights. */
  readonly key: string;
}

/** No node passes, whatever the data. Told from other impossible conditions by identity. */
export const denied: Filter = { kind: "constant", value: false };

/** `guard` undefined: what the server asks for itself, and schemas without rules. */
export function makeLowerContext(guard: Guard | undefined, request?: RequestValues): LowerContext {
  return { texts: [], guard, request };
}

/** Conditions that filters of the request's own have come to. Throws FieldRefused. */
export function chargeConditions({ request }: LowerContext, conditions: number): void {
  if (request === undefined) return;
  const { use, limits } = request;
  use.conditions += conditions;
  if (use.conditions <= limits.filterConditionsMax) return;
  const text = `the request has more than ${limits.filterConditionsMax} conditions in its filters`;
  throw new FieldRefused([nameLimit("filter-conditions", text)]);
}

/** Values that conditions compare with: many of them make one condition. Throws FieldRefused. */
export function chargeValues(context: LowerContext, values: number): void {
  const { request } = context;
  if (request === undefined) return;
  const { use, limits } = request;
  const valuesMax = limits.filterConditionsMax * valuesPerCondition;
  use.values += values;
  if (use.values <= valuesMax) return;
  const text = `the request has more than ${valuesMax} values in its filters, ${valuesPerCondition} for each condition`;
  throw new FieldRefused([nameLimit("filter-conditions", text)]);
}

const valuesPerCondition = 25;

/** A condition of the request's own with the rules of the type that it is about. */
export function guarded(
  context: LowerContext,
  type: NamedType,
  own: Filter | undefined,
  operation: RuleOperation = "query",
): Filter | undefined {
  const { guard } = context;
  if (guard === undefined) return own;
  const rule = guard.filter(context, type, operation);
  return rule === denied ? denied : andFilter(own, rule);
}

export function literal(context: LowerContext, text: string, quoted: boolean): Literal {
  context.texts.push(text);
  return { text, quoted, token: context.texts.length - 1 };
}

/** A literal that belongs to the shape: the name of a type, a constant number. */
function constant(text: string, quoted: boolean): Literal {
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
export function loweredPredicateOf(field: FieldDefinition): PredicateName | undefined {
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
  return joinFilters(filters);
}

/** `andFilter` of as many as there may be. */
export function joinFilters(filters: readonly (Filter | undefined)[]): Filter | undefined {
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

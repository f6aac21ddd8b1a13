/** Root queries → where their nodes come from, and the blocks of the tree (reference/graphql 4.5). */
import type { Block, Field, Filter, FunctionCall, QueryDocument } from "../../dql/ast.ts";
import { noDirectives, noPage } from "../../dql/ast.ts";
import type { AggregateMemberShape, ObjectShape } from "../../render/graphql-shape.ts";
import { assert } from "../../base/assert.ts";
import type {
  FieldDefinition,
  NodeType,
  RootField,
  RuleOperation,
} from "../schema/compiled-schema.ts";
import { FieldRefused } from "../operation/errors.ts";
import {
  andFilter,
  callFilter,
  chargeValues,
  compareCall,
  denied,
  guarded,
  literal,
  predicateField,
  predicateName,
  loweredPredicateOf,
  queryBlock,
  typeCall,
  uidCall,
} from "./lower-context.ts";
import type { LowerContext } from "./lower-context.ts";
import { isUidText, lowerFilter, uidLiterals, valueLiteral } from "./lower-filter.ts";
import { cascadeDirectives, lowerSelection, isTextual } from "./lower-selection.ts";
import type { Entities } from "./entities-root.ts";
import type { Sites } from "./lower-selection.ts";
import { shapeOfCall, shapeOfFilter, shapeOfParts } from "./lower-shape.ts";
import { cascadeNames, lowerOrder, lowerPage, noParts } from "./lower-site.ts";
import type { SiteParts } from "./lower-site.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue, RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";
import { namedTypeOf } from "../operation/walk.ts";

/** A root field's own part of the tree, as one request's values make it. */
interface RootParts extends SiteParts {
  readonly call: FunctionCall;
  /** checkTPassword: the password to compare with. */
  readonly password: Extract<Field, { kind: "checkpwd" }> | undefined;
  /** querySimilarT…: what its answer is ranked by. */
  readonly similar: SimilarParts | undefined;
  /** `_entities`: the field that they are known by. */
  readonly key: FieldDefinition | undefined;
}

export interface SimilarParts {
  /** The nodes that the nearest are taken from: those of the type that the caller may see. */
  readonly among: Filter | undefined;
  readonly embedding: FieldDefinition;
  /** The node whose vector is searched for; undefined where the vector is given. */
  readonly of: Candidates | undefined;
  readonly vector: readonly number[] | undefined;
  readonly threshold: number | undefined;
}

/** How the result of a root query is written. */
export type RootShape =
  | {
      readonly kind: "single";
      readonly object: ObjectShape;
      /** The level's field that must be true; −1 for none. */
      readonly passwordField: number;
    }
  | { readonly kind: "list"; readonly object: ObjectShape }
  /** `keyField`: of the level, with the keys of the entities; −1: they are known by their uids. */
  | { readonly kind: "entities"; readonly object: ObjectShape; readonly keyField: number }
  | { readonly kind: "similar"; readonly object: ObjectShape; readonly vectorField: number }
  | {
      readonly kind: "aggregate";
      readonly typeName: string;
      readonly members: readonly AggregateMemberShape[];
    };

interface LoweredRoot {
  readonly document: QueryDocument;
  readonly shape: RootShape;
}

/** The parts that values decide. Throws FieldRefused for arguments that no node can answer to. */
export function lowerRootParts(
  context: LowerContext,
  root: RootField,
  field: SelectedField,
  values: ArgumentObject,
  request: RequestValues,
): RootParts {
  const type = root.of;
  assert(type !== undefined, "a generated root field has a type");
  const cascade = cascadeNames(field, request);
  const parts = { ...noParts, cascade, password: undefined, similar: undefined, key: undefined };
  switch (root.kind) {
    case "get":
    case "checkPassword": {
      const found = lowerLookup(context, root, type, values);
      const password = root.kind === "get" ? undefined : passwordCheck(context, root, type, values);
      return { ...parts, ...found, password };
    }
    case "query": {
      const found = lowerCandidates(context, type, values["filter"]);
      const order = lowerOrder(type.node.orderInput, values["order"]);
      return { ...parts, ...found, order, page: lowerPage(context, values) };
    }
    case "aggregate":
      return { ...parts, ...lowerCandidates(context, type, values["filter"]) };
    default:
      return lowerSimilar(context, root, type, values, parts);
  }
}

/** The parts of `_entities`: nodes by their keys. */
export function lowerEntityParts(
  context: LowerContext,
  field: SelectedField,
  { type, key, values }: Entities,
  request: RequestValues,
): RootParts {
  const cascade = cascadeNames(field, request);
  chargeValues(context, values.length);
  const distinct = [...new Map(values.map((value) => [argumentText(value), value])).values()];
  const predicate = loweredPredicateOf(key);
  const call =
    predicate === undefined
      ? uidCall(uidLiterals(context, distinct))
      : compareCall(
          "eq",
          predicate,
          distinct.map((value) => valueLiteral(context, value)),
        );
  const filter = guarded(context, type, callFilter(typeCall(type)));
  return {
    ...noParts,
    ...restrict({ call, filter }),
    cascade,
    password: undefined,
    similar: undefined,
    key,
  };
}

/**
 * Nodes of a type by a filter, as far as the caller's rights for an operation go. Ids at the top of the filter are
 * the candidates, whatever stands beside them, `or` included.
 */
export function lowerCandidates(
  context: LowerContext,
  type: NodeType,
  filter: ArgumentValue,
  operation: RuleOperation = "query",
): Candidates {
  const found = lowerUnguarded(context, type, filter);
  return restrict({ call: found.call, filter: guarded(context, type, found.filter, operation) });
}

/** Where nothing may be found nothing is looked for. */
function restrict(found: Candidates): Candidates {
  return found.filter === denied ? { call: uidCall([]), filter: denied } : found;
}

interface Candidates {
  readonly call: FunctionCall;
  readonly filter: Filter | undefined;
}

function lowerUnguarded(context: LowerContext, type: NodeType, filter: ArgumentValue): Candidates {
  const input = type.node.filterInput;
  const idName = type.node.id?.name;
  if (input === undefined || !isArgumentObject(filter)) {
    return { call: typeCall(type), filter: undefined };
  }
  if (idName !== undefined && type.node.id?.source.kind === "uid" && idName in filter) {
    const { [idName]: ids, ...rest } = filter;
    const call = uidCall(uidLiterals(context, ids));
    const own = lowerFilter(context, input, rest);
    return { call, filter: andFilter(callFilter(typeCall(type)), own) };
  }
  return { call: typeCall(type), filter: lowerFilter(context, input, filter) };
}

/** The one node that fits all ids given. */
function lowerLookup(
  context: LowerContext,
  root: RootField,
  type: NodeType,
  values: ArgumentObject,
): Candidates {
  const calls: FunctionCall[] = [];
  const given = [...root.arguments.values()].filter((argument) => argument.name in values);
  for (const argument of given) {
    if (argument.field?.source.kind !== "value" || values[argument.name] !== null) continue;
    const kind = namedTypeOf(argument.type).name === "String" ? "string" : "number";
    throw new FieldRefused([
      `Argument (${argument.name}) of ${root.name} was not able to be parsed as a ${kind}`,
    ]);
  }
  for (const argument of given) {
    const value = values[argument.name];
    if (argument.field?.source.kind === "uid") {
      const text = argumentText(value);
      if (value === null || !isUidText(text)) {
        throw new FieldRefused([`ID argument (${text}) of ${root.name} was not able to be parsed`]);
      }
      calls.push(uidCall([literal(context, text, false)]));
    } else if (argument.field !== undefined) {
      const predicate = loweredPredicateOf(argument.field);
      if (predicate === undefined) continue;
      calls.push(compareCall("eq", predicate, [valueLiteral(context, value)]));
    }
  }
  const [call, ...others] = calls;
  const own = andFilter(callFilter(typeCall(type)), ...others.map(callFilter));
  const operation = root.kind === "checkPassword" ? "password" : "query";
  const filter = guarded(context, type, own, operation);
  // Without any id there is no node.
  return restrict({ call: call ?? uidCall([]), filter });
}

function passwordCheck(
  context: LowerContext,
  root: RootField,
  type: NodeType,
  values: ArgumentObject,
): RootParts["password"] {
  const secret = type.node.secret;
  assert(secret !== undefined, "a password query has a secret");
  return {
    kind: "checkpwd",
    alias: "password",
    variable: undefined,
    predicate: predicateName(secret.predicate),
    password: literal(context, argumentText(values[secret.name]), true),
  };
}

function lowerSimilar(
  context: LowerContext,
  root: RootField,
  type: NodeType,
  values: ArgumentObject,
  parts: Omit<RootParts, "call">,
): RootParts {
  const by = argumentText(values["by"]);
  const embedding =
    type.node.embeddings.find((field) => field.name === by) ?? type.node.embeddings[0];
  assert(embedding !== undefined, "a vector search has an embedding");
  const predicate = loweredPredicateOf(embedding) ?? predicateName("");
  const isById = root.kind === "similarById";
  const of = isById ? lowerLookup(context, root, type, values) : undefined;
  const count = literal(context, argumentText(values["topK"]), false);
  const vector = isArgumentList(values["vector"])
    ? values["vector"].map((n) => Number(argumentText(n)))
    : undefined;
  const ef = values["ef"];
  const threshold = values["distance_threshold"];
  const call: FunctionCall = {
    name: "similar_to",
    subject: predicate,
    args: [
      { kind: "literal", literal: count },
      isById
        ? { kind: "val", variable: "near" }
        : { kind: "literal", literal: literal(context, JSON.stringify(vector ?? []), true) },
      ...(ef === null || ef === undefined
        ? []
        : [
            {
              kind: "option" as const,
              key: "ef",
              value: literal(context, argumentText(ef), false),
            },
          ]),
    ],
    at: undefined,
  };
  const among = guarded(context, type, callFilter(typeCall(type)));
  const filter = among === denied ? denied : lowerCandidatesFilter(context, type, values["filter"]);
  const limit =
    threshold === null || threshold === undefined ? undefined : Number(argumentText(threshold));
  const similar = { among, embedding, of, vector, threshold: limit };
  return { ...parts, ...restrict({ call, filter }), similar };
}

function lowerCandidatesFilter(
  context: LowerContext,
  type: NodeType,
  filter: ArgumentValue,
): Filter | undefined {
  const input = type.node.filterInput;
  return input === undefined ? undefined : lowerFilter(context, input, filter);
}

/** What decides about the plan of a root field, beside its selection. */
export function shapeOfRoot(parts: RootParts, sites: readonly SiteParts[]): string {
  let shape = `${shapeOfCall(parts.call)}${shapeOfParts(parts)}`;
  if (parts.similar !== undefined) {
    const of = parts.similar.of;
    const node =
      of === undefined
        ? ""
        : shapeOfCall(of.call) +
          (of.filter === undefined ? "" : shapeOfParts({ ...parts, filter: of.filter }));
    const among = parts.similar.among;
    shape += `~${parts.similar.embedding.name} ${node}`;
    if (among !== undefined) shape += ` among ${shapeOfFilter(among)}`;
  }
  for (const site of sites) shape += `|${shapeOfParts(site)}`;
  return shape;
}

/** The whole tree of a root query, and the form of its answer. */
export function lowerRoot(
  root: RootField,
  field: SelectedField,
  parts: RootParts,
  sites: Sites,
): LoweredRoot {
  const selection = field.selection;
  assert(selection !== undefined, "a root query has a selection");
  if (root.kind === "aggregate") return lowerAggregateRoot(field, parts);
  const inner = lowerSelection(selection, sites, parts.cascade);
  const children = [...inner.children];
  const block: Block = {
    ...queryBlock("q", parts.call, children),
    filter: parts.filter,
    order: parts.order,
    page: parts.page,
    directives: cascadeDirectives(selection, parts.cascade),
  };
  if (parts.similar !== undefined) {
    return lowerSimilarRoot(parts.similar, block, children, inner.shape);
  }
  const document = { blocks: [block], schema: undefined };
  if (parts.key !== undefined) {
    const predicate = loweredPredicateOf(parts.key);
    const keyField =
      predicate === undefined ? -1 : children.push(predicateField("key", predicate)) - 1;
    return { document, shape: { kind: "entities", object: inner.shape, keyField } };
  }
  if (root.kind === "query") return { document, shape: { kind: "list", object: inner.shape } };
  const passwordField = parts.password === undefined ? -1 : children.push(parts.password) - 1;
  return { document, shape: { kind: "single", object: inner.shape, passwordField } };
}

/** With the vectors of the found nodes, and in a block of its own that of the node that is searched by. */
function lowerSimilarRoot(
  similar: SimilarParts,
  block: Block,
  children: Field[],
  object: ObjectShape,
): LoweredRoot {
  const predicate = loweredPredicateOf(similar.embedding) ?? predicateName("");
  const vectorField = children.push(predicateField("vector", predicate)) - 1;
  const blocks: Block[] = [{ ...block, among: similar.among }];
  if (similar.of !== undefined) {
    const source = { ...predicateField("near", predicate), variable: "near" };
    blocks.push({ ...queryBlock("of", similar.of.call, [source]), filter: similar.of.filter });
  }
  return {
    document: { blocks, schema: undefined },
    shape: { kind: "similar", object, vectorField },
  };
}

/** One block finds the nodes and keeps their values, a second one aggregates them. */
function lowerAggregateRoot(field: SelectedField, parts: RootParts): LoweredRoot {
  const children: Field[] = [{ kind: "countUid", alias: "count", variable: undefined }];
  const aggregates: Field[] = [];
  const variables = new Map<string, string>();
  const members = (field.selection?.fields ?? []).map((member): AggregateMemberShape => {
    const keyBytes = member.keyBytes;
    const source = member.definition.source;
    if (source.kind !== "aggregateMember") return { keyBytes, function: "typename", field: -1 };
    const predicate = source.field === undefined ? undefined : loweredPredicateOf(source.field);
    if (predicate === undefined || source.function === "count") {
      return { keyBytes, function: source.function, field: -1 };
    }
    const name = source.field?.name ?? "";
    let variable = variables.get(name);
    if (variable === undefined) {
      variable = `v${variables.size}`;
      variables.set(name, variable);
      children.push({ ...predicateField(variable, predicate), variable });
    }
    const index = aggregates.push({
      kind: "aggregate",
      alias: `a${aggregates.length}`,
      variable: undefined,
      function: source.function,
      of: { kind: "val", variable },
    });
    const isText = isTextual(member);
    return { keyBytes, function: source.function, field: index - 1, isText };
  });
  const blocks: Block[] = [{ ...queryBlock("q", parts.call, children), filter: parts.filter }];
  if (aggregates.length > 0) {
    blocks.push({
      ...queryBlock("a", parts.call, aggregates),
      kind: "empty",
      root: undefined,
      page: noPage,
      directives: noDirectives,
    });
  }
  const typeName = namedTypeOf(field.definition.type).name;
  return {
    document: { blocks, schema: undefined },
    shape: { kind: "aggregate", typeName, members },
  };
}

/**
 * Query, Mutation, Subscription; payloads and aggregates; arguments of the user's own fields (reference/graphql 3.3,
 * 3.4).
 */
import { Kind } from "graphql";
import type { RootFieldKind } from "./compiled-schema.ts";
import { addListRef } from "./generate-inputs.ts";
import { giveDirectives } from "./directives/table.ts";
import {
  declaredFields,
  hasOrderables,
  idFieldOf,
  isEdgeField,
  isOrderableField,
  isSummable,
  lowerFirst,
  switchesOf,
  xidFieldsOf,
} from "./generate-parts.ts";
import {
  baseName,
  listRef,
  makeArgument,
  makeDirective,
  makeField,
  makeType,
  namedRef,
  type SchemaDraft,
  type DraftArgument,
  type DraftField,
  type DraftRef,
  type DraftType,
} from "./sdl-draft.ts";
import { isCustomField } from "./sdl-names.ts";
import { hasManyLanguages, secretOf } from "./graph-names.ts";

export interface Roots {
  readonly query: DraftType;
  readonly mutation: DraftType;
  readonly subscription: DraftType;
}

// ---------------------------------------------------------------------------------------------------------------
// Arguments

/** filter (order, first, offset) over a type, as far as it has them. */
function filterArguments(draft: SchemaDraft, target: DraftType, isList: boolean): DraftArgument[] {
  const found: DraftArgument[] = [];
  if (target.kind === "union" || target.fields.length > 0)
    found.push(makeArgument("filter", namedRef(`${target.name}Filter`)));
  if (!isList) return found;
  if (target.kind !== "union" && hasOrderables(draft, target))
    found.push(makeArgument("order", namedRef(`${target.name}Order`)));
  found.push(makeArgument("first", namedRef("Int")), makeArgument("offset", namedRef("Int")));
  return found;
}

/** Gives every edge of a type its arguments, and list edges their aggregate behind all fields. */
export function addFieldArguments(draft: SchemaDraft, type: DraftType): void {
  const aggregates: DraftField[] = [];
  for (const field of declaredFields(type)) {
    if (isCustomField(field) || !isEdgeField(draft, field)) continue;
    const target = draft.types.get(baseName(field.type));
    if (target === undefined) continue;
    const isList = field.type.kind === "list";
    field.arguments = [...field.arguments, ...filterArguments(draft, target, isList)];
    if (!isList || target.kind === "union") continue;
    const aggregate = makeField(
      `${field.name}Aggregate`,
      namedRef(`${target.name}AggregateResult`),
      { kind: "edgeAggregate", edge: field.name },
    );
    aggregate.arguments = filterArguments(draft, target, false);
    aggregates.push(aggregate);
  }
  type.fields = [...type.fields, ...aggregates];
}

// ---------------------------------------------------------------------------------------------------------------
// Payloads and aggregates

export function addPayloads(draft: SchemaDraft, type: DraftType): void {
  const switches = switchesOf(type);
  if (switches.update && draft.types.has(`${type.name}Patch`)) addPayload(draft, type, "Update");
  if (switches.delete) addPayload(draft, type, "Delete");
  if (draft.types.has(`Add${type.name}Input`)) addPayload(draft, type, "Add");
}

function addPayload(draft: SchemaDraft, type: DraftType, verb: "Add" | "Update" | "Delete"): void {
  const payload = makeType("object", `${verb}${type.name}Payload`, "generated");
  payload.objectRole = "payload";
  payload.of = type.name;
  const nodes = makeField(lowerFirst(type.name), listRef(namedRef(type.name)), {
    kind: "payload",
    part: "nodes",
  });
  nodes.arguments = filterArguments(draft, type, true);
  payload.fields.push(nodes);
  if (verb === "Delete")
    payload.fields.push(makeField("msg", namedRef("String"), { kind: "payload", part: "msg" }));
  payload.fields.push(makeField("numUids", namedRef("Int"), { kind: "payload", part: "numUids" }));
  draft.types.set(payload.name, payload);
}

export function addAggregateType(draft: SchemaDraft, type: DraftType): void {
  const result = makeType("object", `${type.name}AggregateResult`, "generated");
  result.objectRole = "aggregate";
  result.of = type.name;
  const add = (
    name: string,
    typeName: string,
    fn: "count" | "min" | "max" | "sum" | "avg",
    field: string | undefined,
  ): void => {
    const purpose = { kind: "aggregateMember", function: fn, field } as const;
    result.fields.push(makeField(name, namedRef(typeName), purpose));
  };
  add("count", "Int", "count", undefined);
  for (const field of declaredFields(type)) {
    const typeName = baseName(field.type);
    const isStoredText = hasManyLanguages(field) && !isCustomField(field);
    if (isOrderableField(draft, type, field) || isStoredText) {
      add(`${field.name}Min`, typeName, "min", field.name);
      add(`${field.name}Max`, typeName, "max", field.name);
    }
    if (isSummable(draft, type, field)) {
      add(`${field.name}Sum`, typeName, "sum", field.name);
      add(`${field.name}Avg`, "Float", "avg", field.name);
    }
  }
  draft.types.set(result.name, result);
}

// ---------------------------------------------------------------------------------------------------------------
// Root fields

function makeRootField(
  name: string,
  type: DraftRef,
  root: RootFieldKind,
  of: DraftType,
): DraftField {
  return makeField(name, type, { kind: "root", root, of: of.name });
}

/** get, similar, check, query, aggregate: those that the type can have and `@generate` leaves on. */
export function addQueries(draft: SchemaDraft, type: DraftType, roots: Roots): void {
  const switches = switchesOf(type);
  const add = (field: DraftField | undefined, isSubscribed: boolean): void => {
    if (field === undefined) return;
    roots.query.fields.push(field);
    if (isSubscribed && switches.subscription) roots.subscription.fields.push(field);
  };
  if (switches.get) {
    add(makeGet(draft, type), true);
    for (const field of makeSimilar(draft, type)) add(field, false);
  }
  if (switches.password) add(makeCheckPassword(draft, type), false);
  if (switches.query) {
    const query = makeRootField(`query${type.name}`, listRef(namedRef(type.name)), "query", type);
    query.arguments = filterArguments(draft, type, true);
    add(query, true);
  }
  if (switches.aggregate) {
    const aggregate = makeRootField(
      `aggregate${type.name}`,
      namedRef(`${type.name}AggregateResult`),
      "aggregate",
      type,
    );
    aggregate.arguments = filterArguments(draft, type, false);
    add(aggregate, true);
  }
}

/** The ID and all `@id` fields: required where there is only one. */
function lookupArguments(draft: SchemaDraft, type: DraftType): DraftArgument[] {
  const id = idFieldOf(draft, type);
  const xids = xidFieldsOf(draft, type);
  const isOnly = xids.length + (id === undefined ? 0 : 1) === 1;
  const found: DraftArgument[] = [];
  if (id !== undefined) found.push(makeArgument(id.name, namedRef("ID", isOnly), id.name));
  for (const xid of xids)
    found.push(makeArgument(xid.name, namedRef(baseName(xid.type), isOnly), xid.name));
  return found;
}

const interfaceGetDeprecation =
  "@id argument for get query on interface is being deprecated. Only those @id fields which have " +
  "interface argument set to true will be available in getQuery argument on interface post v21.11.0, " +
  "please update your schema accordingly.";

function makeGet(draft: SchemaDraft, type: DraftType): DraftField | undefined {
  const lookups = lookupArguments(draft, type);
  if (lookups.length === 0) return undefined;
  const get = makeRootField(`get${type.name}`, namedRef(type.name), "get", type);
  get.arguments = lookups;
  const isPlainXid = (field: DraftField): boolean => field.directives.id?.isInterfaceWide !== true;
  if (type.kind === "interface" && xidFieldsOf(draft, type).some(isPlainXid))
    giveDirectives(get, [
      makeDirective("deprecated", "reason", { kind: Kind.STRING, value: interfaceGetDeprecation }),
    ]);
  return get;
}

/** Searches by a vector (reference/graphql 2.7, 3.3); by a node's own vector where nodes can be told. */
function makeSimilar(draft: SchemaDraft, type: DraftType): DraftField[] {
  if (!declaredFields(type).some((field) => field.directives.embedding !== undefined)) return [];
  const by = makeArgument("by", namedRef(`${type.name}Embedding`, true));
  const topK = makeArgument("topK", namedRef("Int", true));
  const rest = [
    makeArgument("ef", namedRef("Int")),
    makeArgument("distance_threshold", namedRef("Float")),
    makeArgument("filter", namedRef(`${type.name}Filter`)),
  ];
  const list = listRef(namedRef(type.name));
  const found: DraftField[] = [];
  const lookups = lookupArguments(draft, type);
  if (lookups.length > 0) {
    const byId = makeRootField(`querySimilar${type.name}ById`, list, "similarById", type);
    byId.arguments = [...lookups, by, topK, ...rest];
    found.push(byId);
  }
  const byVector = makeRootField(
    `querySimilar${type.name}ByEmbedding`,
    list,
    "similarByEmbedding",
    type,
  );
  const vector = makeArgument("vector", listRef(namedRef("Float", true), true));
  byVector.arguments = [by, topK, vector, ...rest];
  found.push(byVector);
  return found;
}

function makeCheckPassword(draft: SchemaDraft, type: DraftType): DraftField | undefined {
  const secret = secretOf(draft, type);
  const id = idFieldOf(draft, type);
  const xids = xidFieldsOf(draft, type);
  const key = id ?? xids[0];
  if (secret === undefined || key === undefined) return undefined;
  const check = makeRootField(
    `check${type.name}Password`,
    namedRef(type.name),
    "checkPassword",
    type,
  );
  check.arguments = [
    // A node with several ways to be named is found by any of them, as by `get`.
    ...(id !== undefined && xids.length > 0
      ? lookupArguments(draft, type)
      : [makeArgument(key.name, key.type, key.name)]),
    makeArgument(secret.name, namedRef("String", true)),
  ];
  return check;
}

/** add, update, delete: after the empty inputs have gone. */
export function addMutations(draft: SchemaDraft, type: DraftType, mutation: DraftType): void {
  const switches = switchesOf(type);
  const payload = (verb: string): DraftRef => namedRef(`${verb}${type.name}Payload`);
  if (type.kind === "object" && switches.add && draft.types.has(`Add${type.name}Input`)) {
    const add = makeRootField(`add${type.name}`, payload("Add"), "add", type);
    add.arguments = [makeArgument("input", addListRef(type))];
    if (xidFieldsOf(draft, type).length > 0)
      add.arguments.push(makeArgument("upsert", namedRef("Boolean")));
    mutation.fields.push(add);
  }
  if (switches.update && draft.types.has(`Update${type.name}Input`)) {
    const update = makeRootField(`update${type.name}`, payload("Update"), "update", type);
    update.arguments = [makeArgument("input", namedRef(`Update${type.name}Input`, true))];
    mutation.fields.push(update);
  }
  if (switches.delete) {
    const remove = makeRootField(`delete${type.name}`, payload("Delete"), "delete", type);
    remove.arguments = [makeArgument("filter", namedRef(`${type.name}Filter`, true))];
    mutation.fields.push(remove);
  }
}

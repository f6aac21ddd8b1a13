/**
 * Predicates and types that exist in every namespace without being stored (reference/dql 2.7). Their ids are fixed,
 * below `firstUserId`; ids of predicates and of indexes are two kinds of key, so that both may count from one.
 */
import type { IndexSpec, PredicateDefinition, TypeDefinition } from "../model/definition.ts";
import type { PredicateKind } from "../model/definition.ts";
import type { Facets } from "../model/facet.ts";
import type { Predicate } from "./schema.ts";

/** Ids from here on are given by the schema row of a namespace. */
export const firstUserId = 64;

/** With access control the server keeps users and groups as nodes. */
export interface ReservedOptions {
  readonly acl: boolean;
}

interface Row {
  readonly id: number;
  readonly name: string;
  readonly kind: PredicateKind;
  readonly list?: boolean;
  readonly index?: { readonly id: number; readonly tokenizer: string };
  readonly reverse?: number;
  readonly upsert?: boolean;
  readonly unique?: boolean;
}

const always: readonly Row[] = [
  { id: 1, name: "dgraph.type", kind: "string", list: true, index: { id: 1, tokenizer: "exact" } },
  { id: 2, name: "dgraph.drop.op", kind: "string" },
  { id: 3, name: "dgraph.graphql.schema", kind: "string" },
  {
    id: 4,
    name: "dgraph.graphql.xid",
    kind: "string",
    index: { id: 2, tokenizer: "exact" },
    upsert: true,
  },
  {
    id: 5,
    name: "dgraph.graphql.p_query",
    kind: "string",
    index: { id: 3, tokenizer: "sha256" },
  },
  {
    id: 6,
    name: "dgraph.namespace.name",
    kind: "string",
    index: { id: 4, tokenizer: "exact" },
    upsert: true,
    unique: true,
  },
  {
    id: 7,
    name: "dgraph.namespace.id",
    kind: "int",
    index: { id: 5, tokenizer: "int" },
    upsert: true,
    unique: true,
  },
];

const withAcl: readonly Row[] = [
  {
    id: 8,
    name: "dgraph.xid",
    kind: "string",
    index: { id: 6, tokenizer: "exact" },
    upsert: true,
    unique: true,
  },
  { id: 9, name: "dgraph.password", kind: "password" },
  { id: 10, name: "dgraph.user.group", kind: "uid", list: true, reverse: 7 },
  { id: 11, name: "dgraph.acl.rule", kind: "uid", list: true },
  {
    id: 12,
    name: "dgraph.rule.predicate",
    kind: "string",
    index: { id: 8, tokenizer: "exact" },
    upsert: true,
  },
  { id: 13, name: "dgraph.rule.permission", kind: "int" },
];

const typesAlways: readonly TypeDefinition[] = [
  { name: "dgraph.graphql", fields: ["dgraph.graphql.schema", "dgraph.graphql.xid"] },
  { name: "dgraph.graphql.persisted_query", fields: ["dgraph.graphql.p_query"] },
  { name: "dgraph.namespace", fields: ["dgraph.namespace.name", "dgraph.namespace.id"] },
];

const typesWithAcl: readonly TypeDefinition[] = [
  { name: "dgraph.type.User", fields: ["dgraph.xid", "dgraph.password", "dgraph.user.group"] },
  { name: "dgraph.type.Group", fields: ["dgraph.xid", "dgraph.acl.rule"] },
  { name: "dgraph.type.Rule", fields: ["dgraph.rule.predicate", "dgraph.rule.permission"] },
];

/** A facet of the stored GraphQL schema: how many different texts there were, this one included. */
export const schemaUpdatesKey = "updates";

/** By the facets of a stored text; one without a count is the first. */
export function countSchemaUpdates(facets: Facets | undefined): number {
  const count = facets?.find(({ key }) => key === schemaUpdatesKey)?.value;
  return count?.kind === "int" ? Number(count.int) : 1;
}

export function reservedPredicates(options: ReservedOptions): readonly Predicate[] {
  return (options.acl ? [...always, ...withAcl] : always).map(toPredicate);
}

export function reservedTypes(options: ReservedOptions): readonly TypeDefinition[] {
  return options.acl ? [...typesAlways, ...typesWithAcl] : typesAlways;
}

const prefix = "dgraph.";

/** Whether a name lies in the reserved part of the names, whatever the case of its letters. */
export function isReservedName(name: string): boolean {
  return name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix;
}

/** `uid` is what every node has, in any case of its letters. */
export function isInternalName(name: string): boolean {
  return name.length === 3 && name.toLowerCase() === "uid";
}

export function internalNameSentence(name: string): string {
  return `Cannot create user-defined predicate with internal name ${name}`;
}

/** Values that only the server itself writes; `dgraph.type` and those of access control are free. */
export function isServerOnly(predicate: string): boolean {
  return (
    predicate === "dgraph.drop.op" ||
    predicate.startsWith("dgraph.graphql.") ||
    predicate.startsWith("dgraph.namespace.")
  );
}

/** The reference's refusal for names of the reserved part that do not exist there (reference/dql 2.7). */
export function reservedNameSentence(
  verb: "store" | "alter",
  what: "predicate" | "type",
  name: string,
): string {
  return (
    `Can't ${verb} ${what} \`${name}\` as it is prefixed with \`dgraph.\` which is reserved ` +
    "as the namespace for dgraph's internal types/predicates."
  );
}

function toPredicate(row: Row): Predicate {
  const indexes: readonly IndexSpec[] = row.index ? [{ tokenizer: row.index.tokenizer }] : [];
  const definition: PredicateDefinition = {
    name: row.name,
    kind: row.kind,
    list: row.list ?? false,
    indexes,
    reverse: row.reverse !== undefined,
    count: false,
    upsert: row.upsert ?? false,
    unique: row.unique ?? false,
    lang: false,
    noconflict: false,
  };
  return {
    id: row.id,
    definition,
    indexes: row.index
      ? [
          {
            id: row.index.id,
            tokenizer: row.index.tokenizer,
            options: [],
            version: 1,
            state: "ready",
          },
        ]
      : [],
    reverseIndex: row.reverse === undefined ? undefined : { id: row.reverse, state: "ready" },
    countIndex: undefined,
    reverseCountIndex: undefined,
    formerScalar: false,
  };
}

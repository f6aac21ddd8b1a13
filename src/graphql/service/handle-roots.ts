/** Root fields of a request before they run: how each will be answered, and the answers that need no look at the data. */
import type { Schema } from "../../graph/schema.ts";
import type { Caller } from "../resolve/caller.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { serviceSchemaText } from "../schema/generate-text.ts";
import type { ReadyDql } from "../resolve/dql-root.ts";
import { refuseRequest } from "../operation/errors.ts";
import type { Location, ResponseError } from "../operation/errors.ts";
import type { RootOutcome } from "../resolve/answer.ts";
import { chargeText, introspect } from "../resolve/introspect.ts";
import type { AskedField } from "../resolve/introspect.ts";
import type { ReadyQuery } from "../resolve/query-root.ts";
import type { FilledRequest } from "../resolve/request-root.ts";
import { evaluateArguments } from "../operation/arguments.ts";
import type { RequestValues } from "../operation/arguments.ts";
import type { SelectedField } from "../operation/prepare.ts";

/** A root field with the values of one request: how it will be answered. */
export type ReadyRoot =
  | { readonly kind: "query"; readonly field: SelectedField; readonly ready: ReadyQuery }
  | { readonly kind: "dql"; readonly field: SelectedField; readonly ready: ReadyDql }
  | { readonly kind: "json"; readonly field: SelectedField; readonly json: string }
  | { readonly kind: "lambda"; readonly field: SelectedField; readonly args: string }
  | { readonly kind: "request"; readonly field: SelectedField; readonly ready: FilledRequest }
  /** The caller's token is not believed. */
  | { readonly kind: "untrusted"; readonly field: SelectedField; readonly reason: string }
  | {
      readonly kind: "refused";
      readonly field: SelectedField;
      readonly messages: readonly string[];
    }
  /** The representations of `_entities` cannot be read. */
  | { readonly kind: "entities"; readonly field: SelectedField; readonly message: string }
  | { readonly kind: "unresolved"; readonly field: SelectedField };

/** Why a root field has no plan. */
export function noteOfRoot(root: Exclude<ReadyRoot, { kind: "query" | "dql" }>): string {
  switch (root.kind) {
    case "json":
      return "answered without a look at the data: introspection, or no rule lets the caller see any node";
    case "lambda":
      return "answered by the lambda server";
    case "request":
      return "answered by a service outside";
    case "untrusted":
      return `refused: ${root.reason}`;
    case "refused":
      return `refused: ${root.messages.join("; ")}`;
    case "entities":
      return `refused: ${root.message}`;
    case "unresolved":
      return "answered by nobody";
  }
}

export function metaJson(
  schema: CompiledSchema,
  operation: "query" | "mutation" | "subscription",
  field: SelectedField,
  values: RequestValues,
): string {
  if (field.definition.name === "__typename") {
    return `"${operation[0]?.toUpperCase()}${operation.slice(1)}"`;
  }
  return introspect(schema, askedField(field, values), values.use);
}

function askedField(field: SelectedField, values: RequestValues): AskedField {
  const given = evaluateArguments(field.node.arguments ?? [], field.definition.arguments, values);
  return {
    key: field.key,
    name: field.definition.name,
    arguments: new Map(Object.entries(given)),
    fields: (field.selection?.fields ?? []).map((inner) => askedField(inner, values)),
  };
}

export function refusedOutcome(
  root: Extract<ReadyRoot, { kind: "refused" }>,
  locate: (ordinal: number) => Location,
): RootOutcome {
  const { field } = root;
  const errors = root.messages.map((message): ResponseError => ({
    message: `couldn't rewrite query ${field.key} because ${message}`,
    locations: [locate(field.ordinal)],
    path: [field.key],
  }));
  return { field, errors, write: (out) => out.ascii("null") };
}

/** The second error has no path, as clients of the reference see it. */
export function refusedEntities({
  field,
  message,
}: Extract<ReadyRoot, { kind: "entities" }>): RootOutcome {
  const rewriting = `couldn't rewrite query ${field.key} because ${message}`;
  const errors = [{ message: rewriting, path: [field.key] }, { message }];
  return { field, errors, write: (out) => out.ascii("[]") };
}

/** The value of `_service`. Throws RequestRefused where the request asks for the text too often. */
export function serviceJson(
  schema: CompiledSchema,
  { selection }: SelectedField,
  { use }: RequestValues,
): string {
  const members = (selection?.fields ?? []).map(({ key, definition }) => {
    const value = definition.name === "__typename" ? "_Service" : serviceSchemaText(schema);
    chargeText(schema, value, use);
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}`;
}

/** A query's value where nothing is found. */
export function nothing(field: SelectedField): string {
  return field.definition.type.kind === "list" ? "[]" : "null";
}

/** Resolvers decide for themselves whom they serve, unless nobody is served without a token. */
export function closedTo({ meta }: CompiledSchema, caller: Caller): string | undefined {
  return meta.authorization?.isClosedByDefault === true ? caller.refusal : undefined;
}

export function untrusted({
  field,
  reason,
}: Extract<ReadyRoot, { kind: "untrusted" }>): RootOutcome {
  const message = `couldn't rewrite query ${field.key} because ${reason}`;
  const errors = [{ message, path: [field.key] }];
  return { field, errors, write: (out) => out.ascii(nothing(field)) };
}

type ReadsOfDql = (ready: ReadyDql) => ReadonlySet<number> | undefined;

/** Ids of the predicates that decide the answers; undefined: anything may. */
export function readsOf(
  roots: readonly ReadyRoot[],
  schema: Schema,
  readsOfDql: ReadsOfDql,
): ReadonlySet<number> | undefined {
  const all = new Set<number>();
  for (const root of roots) {
    if (root.kind === "json") continue;
    const reads = readsOfRoot(root, schema, readsOfDql);
    if (reads === undefined) return undefined;
    for (const id of reads) all.add(id);
  }
  return all;
}

function readsOfRoot(
  root: ReadyRoot,
  schema: Schema,
  readsOfDql: ReadsOfDql,
): ReadonlySet<number> | undefined {
  if (root.kind === "query") return root.ready.planned.tree.readsOf(schema);
  return root.kind === "dql" ? readsOfDql(root.ready) : undefined;
}

/** What a server outside computes is not known to change: it is not subscribed to (reference/graphql 9.2). */
export function refuseResolvers(fields: readonly SelectedField[]): void {
  for (const field of fields) {
    const { source } = field.definition;
    if (
      source.kind === "lambda" ||
      source.kind === "request" ||
      (source.kind === "custom" && !isRemote(field.parent))
    ) {
      const { name } = field.definition;
      throw refuseRequest(`Custom field \`${name}\` is not supported in graphql subscription`);
    }
    if (field.selection !== undefined) refuseResolvers(field.selection.fields);
  }
}

function isRemote(type: SelectedField["parent"]): boolean {
  return "isRemote" in type && type.isRemote;
}

/** CompiledSchema → the definitions that it needs in the store (reference/graphql 3.6), and their text for an alter. */
import type {
  IndexSpec,
  PredicateDefinition,
  SchemaText,
  TypeDefinition,
} from "../../model/definition.ts";
import { plainDefinition } from "../../model/definition.ts";
import type { CompiledSchema, EdgeSource, NodeType, ValueSource } from "./compiled-schema.ts";

type OpenPredicate = { -readonly [K in keyof PredicateDefinition]: PredicateDefinition[K] };

/**
 * Predicates in the order of their first field, each once: fields that share one add their indexes and languages.
 * Types list their predicates, those of their interfaces too; reverse edges are not listed. An alter with it replaces
 * each definition whole, so that indexes which are no longer asked for go.
 */
export function storageSchema(schema: CompiledSchema): SchemaText {
  const predicates = new Map<string, OpenPredicate>();
  const types: TypeDefinition[] = [];
  for (const type of schema.nodes)
    types.push({ name: type.node.typeName, fields: readNode(type, predicates) });
  for (const type of schema.nodes)
    for (const { source, directives } of type.fields.values())
      // Who refers to a deleted node is found backwards.
      if (source.kind === "edge" && (source.isReverse || directives.onDelete !== undefined)) {
        const forward = predicates.get(source.predicate);
        if (forward !== undefined) forward.reverse = true;
      }
  return { predicates: [...predicates.values()], types };
}

/** Notes the predicates of a type; returns their names. */
function readNode(type: NodeType, predicates: Map<string, OpenPredicate>): readonly string[] {
  const names = new Set<string>();
  for (const { source } of type.fields.values()) {
    if (source.kind === "value") noteValue(source, predicates);
    else if (source.kind === "edge" && !source.isReverse) noteEdge(source, predicates);
    else continue;
    names.add(source.predicate);
  }
  const secret = type.node.secret;
  if (secret !== undefined) {
    openPredicate(predicates, secret.predicate).kind = "password";
    names.add(secret.predicate);
  }
  return [...names];
}

function noteValue(source: ValueSource, predicates: Map<string, OpenPredicate>): void {
  const predicate = openPredicate(predicates, source.predicate);
  predicate.kind = source.valueKind;
  predicate.list ||= source.isList;
  predicate.lang ||= source.languages.length > 0;
  predicate.upsert ||= source.xid !== undefined;
  predicate.indexes = mergeIndexes(predicate.indexes, source.indexes);
}

function noteEdge(source: EdgeSource, predicates: Map<string, OpenPredicate>): void {
  const predicate = openPredicate(predicates, source.predicate);
  predicate.kind = "uid";
  predicate.list ||= source.isList;
}

function openPredicate(predicates: Map<string, OpenPredicate>, name: string): OpenPredicate {
  const known = predicates.get(name);
  if (known !== undefined) return known;
  const made: OpenPredicate = { ...plainDefinition(name), indexes: [] };
  predicates.set(name, made);
  return made;
}

/** Each tokenizer once, by name. */
function mergeIndexes(
  known: readonly IndexSpec[],
  added: readonly IndexSpec[],
): readonly IndexSpec[] {
  const all = new Map<string, IndexSpec>();
  for (const index of known) all.set(index.tokenizer, index);
  for (const index of added) if (!all.has(index.tokenizer)) all.set(index.tokenizer, index);
  return [...all.values()].toSorted((a, b) => (a.tokenizer < b.tokenizer ? -1 : 1));
}

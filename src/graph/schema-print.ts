/** The answer of a schema query (reference/dql 2.8). */
import { isVectorIndex } from "../model/definition.ts";
import type { PredicateDefinition, TypeDefinition } from "../model/definition.ts";
import { quoteJson } from "../model/print-value.ts";
import { findPredicateBuilds } from "./schema-diff.ts";
import type { Predicate, Schema } from "./schema.ts";

/** Of `schema(pred: […]) { … }`; undefined lists mean all, no fields mean all fields. */
interface SchemaQuestion {
  readonly predicates: readonly string[] | undefined;
  readonly types: readonly string[] | undefined;
  readonly fields: readonly string[];
}

/**
 * The JSON of `data`: `{"schema":[…],"types":[…]}`, both sorted by name, of each predicate only what is true. A
 * question for predicates is not answered with types, nor the other way round; nothing found is `{}`.
 */
export function printSchemaAnswer(schema: Schema, question: SchemaQuestion): string {
  const members: string[] = [];
  const predicates = question.types === undefined ? findPredicates(schema, question) : [];
  const types = question.predicates === undefined ? findTypes(schema, question) : [];
  if (predicates.length > 0) {
    const rows = predicates.map((predicate) => printPredicate(predicate, question.fields));
    members.push(`"schema":[${rows.join(",")}]`);
  }
  if (types.length > 0) members.push(`"types":[${types.map(printType).join(",")}]`);
  return `{${members.join(",")}}`;
}

function findPredicates(schema: Schema, question: SchemaQuestion): readonly Predicate[] {
  if (question.predicates === undefined) return schema.predicates;
  const wanted = new Set(question.predicates);
  return schema.predicates.filter((predicate) => wanted.has(predicate.definition.name));
}

function findTypes(schema: Schema, question: SchemaQuestion): readonly TypeDefinition[] {
  if (question.types === undefined) return schema.types;
  const wanted = new Set(question.types);
  return schema.types.filter((type) => wanted.has(type.name));
}

function printType(type: TypeDefinition): string {
  const fields = type.fields.map((field) => `{"name":${quoteJson(field)}}`);
  return `{"fields":[${fields.join(",")}],"name":${quoteJson(type.name)}}`;
}

/** Members in the reference's order, each named by the word that asks for it. */
const printers: readonly (readonly [string, (of: PredicateDefinition) => string | undefined])[] = [
  ["type", (of): string => `"type":${quoteJson(of.kind)}`],
  ["index", (of): string | undefined => flag("index", tokenizersOf(of).length > 0)],
  ["tokenizer", printTokenizers],
  ["reverse", (of): string | undefined => flag("reverse", of.reverse)],
  ["count", (of): string | undefined => flag("count", of.count)],
  ["list", (of): string | undefined => flag("list", of.list)],
  ["upsert", (of): string | undefined => flag("upsert", of.upsert)],
  ["lang", (of): string | undefined => flag("lang", of.lang)],
  ["noconflict", (of): string | undefined => flag("no_conflict", of.noconflict)],
  ["unique", (of): string | undefined => flag("unique", of.unique)],
  ["vector_specs", printVectorSpecs],
];

function printPredicate(predicate: Predicate, fields: readonly string[]): string {
  const definition = readyDefinition(predicate);
  const members = [`"predicate":${quoteJson(definition.name)}`];
  for (const [word, print] of printers) {
    if (fields.length > 0 && !fields.includes(word)) continue;
    const member = print(definition);
    if (member !== undefined) members.push(member);
  }
  return `{${members.join(",")}}`;
}

/** An index that is being built is not there yet (reference/dql 2.10). */
function readyDefinition(predicate: Predicate): PredicateDefinition {
  const { definition } = predicate;
  if (findPredicateBuilds(predicate).length === 0) return definition;
  return {
    ...definition,
    indexes: definition.indexes.filter((_, i) => predicate.indexes[i]?.state === "ready"),
    reverse: definition.reverse && predicate.reverseIndex?.state === "ready",
    count: definition.count && predicate.countIndex?.state === "ready",
  };
}

function flag(name: string, isSet: boolean): string | undefined {
  return isSet ? `"${name}":true` : undefined;
}

function tokenizersOf(of: PredicateDefinition): string[] {
  return of.indexes.flatMap((index) => (isVectorIndex(index) ? [] : [index.tokenizer]));
}

/** Options of vector indexes stand in this order, however they were given. */
const optionOrder = ["exponent", "maxLevels", "efConstruction", "efSearch", "metric"];

function printTokenizers(of: PredicateDefinition): string | undefined {
  const names = of.indexes.map((index) => {
    if (!isVectorIndex(index)) return quoteJson(index.tokenizer);
    const options = [...(index.options ?? [])]
      .sort((a, b) => optionOrder.indexOf(a.key) - optionOrder.indexOf(b.key))
      .map(({ key, value }) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
    return quoteJson(options.length === 0 ? "hnsw" : `hnsw(${options.join(",")})`);
  });
  return names.length === 0 ? undefined : `"tokenizer":[${names.join(",")}]`;
}

function printVectorSpecs(of: PredicateDefinition): string | undefined {
  const specs = of.indexes.filter(isVectorIndex).map((index) => {
    const options = (index.options ?? []).map(
      ({ key, value }) => `{"key":${quoteJson(key)},"value":${quoteJson(value)}}`,
    );
    const list = options.length === 0 ? "" : `,"options":[${options.join(",")}]`;
    return `{"name":"hnsw"${list}}`;
  });
  return specs.length === 0 ? undefined : `"index_specs":[${specs.join(",")}]`;
}

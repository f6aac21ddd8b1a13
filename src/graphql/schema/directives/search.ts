/**
 * `@search`: what it may say, and what it makes (reference/graphql 2.1): arguments → tokenizers and filter inputs.
 */
import { isVectorIndex } from "../../../model/definition.ts";
import { Kind } from "graphql";
import type { IndexSpec } from "../../../model/definition.ts";
import { baseName, directiveAt, type SchemaDraft, type DraftField } from "../sdl-draft.ts";
import { geoTypes } from "../sdl-names.ts";
import { findArgument, rawText, refuseField, type DirectiveSpec } from "./directive.ts";
import type { Given } from "./given.ts";

interface Search extends Given {
  /** As written; undefined where it is left out, "odd" where it is no list. */
  readonly by: readonly string[] | "odd" | undefined;
}

declare module "./given.ts" {
  interface GivenDirectives {
    readonly search?: Search | undefined;
  }
}

export const search: DirectiveSpec<Search> = {
  declaration: "directive @search(by: [String!]) on FIELD_DEFINITION",
  onTypes: [],
  read(node) {
    const by = findArgument(node, "by");
    const at = directiveAt(node);
    if (by === undefined) return { at, by };
    return { at, by: by.kind === Kind.LIST ? by.values.map((value) => rawText(value)) : "odd" };
  },
  checkField(draft, type, field, { at, by }) {
    const refuse = (text: string): ReturnType<typeof refuseField> =>
      refuseField(type, field, text, at);
    const typeName = baseName(field.type);
    if (by === undefined) {
      const kind = draft.types.get(typeName)?.kind;
      if (kind === "enum" || geoTypes.has(typeName)) return undefined;
      if (kind === "scalar" && typeName !== "ID") return undefined;
      return refuse(
        `has the @search directive but fields of type ${typeName} can't have the @search directive.`,
      );
    }
    if (by === "odd")
      return refuse('the @search directive requires a list argument, like @search(by: ["hash"])');
    const text = checkArguments(draft, field);
    return text === undefined ? undefined : refuse(text);
  },
};

interface SearchSpec {
  /** The GraphQL type that it is for. */
  readonly type: string;
  readonly tokenizer: string;
  /** The filter input; undefined where nothing can be filtered. */
  readonly filter: string | undefined;
}

/** By the argument's name. Sorted names are the order of messages and of merged filters. */
const searchSpecs: ReadonlyMap<string, SearchSpec> = new Map(
  Object.entries({
    bool: { type: "Boolean", tokenizer: "bool", filter: "Boolean" },
    day: { type: "DateTime", tokenizer: "day", filter: "DateTimeFilter" },
    exact: { type: "String", tokenizer: "exact", filter: "StringExactFilter" },
    float: { type: "Float", tokenizer: "float", filter: "FloatFilter" },
    fulltext: { type: "String", tokenizer: "fulltext", filter: "StringFullTextFilter" },
    hash: { type: "String", tokenizer: "hash", filter: "StringHashFilter" },
    hnsw: { type: "Float", tokenizer: "hnsw", filter: undefined },
    hour: { type: "DateTime", tokenizer: "hour", filter: "DateTimeFilter" },
    int: { type: "Int", tokenizer: "int", filter: "IntFilter" },
    int64: { type: "Int64", tokenizer: "int", filter: "Int64Filter" },
    month: { type: "DateTime", tokenizer: "month", filter: "DateTimeFilter" },
    multiPolygon: { type: "MultiPolygon", tokenizer: "geo", filter: "PolygonGeoFilter" },
    ngram: { type: "String", tokenizer: "ngram", filter: "StringNgramFilter" },
    point: { type: "Point", tokenizer: "geo", filter: "PointGeoFilter" },
    polygon: { type: "Polygon", tokenizer: "geo", filter: "PolygonGeoFilter" },
    regexp: { type: "String", tokenizer: "trigram", filter: "StringRegExpFilter" },
    term: { type: "String", tokenizer: "term", filter: "StringTermFilter" },
    trigram: { type: "String", tokenizer: "trigram", filter: "StringRegExpFilter" },
    year: { type: "DateTime", tokenizer: "year", filter: "DateTimeFilter" },
  } satisfies Record<string, SearchSpec>),
);

const enumSearches: ReadonlySet<string> = new Set(["hash", "exact", "regexp", "trigram", "ngram"]);

/** For a bare `@search`. Enums: hash. */
const defaultSearches: ReadonlyMap<string, string> = new Map([
  ["Boolean", "bool"],
  ["Int", "int"],
  ["Int64", "int64"],
  ["Float", "float"],
  ["String", "term"],
  ["DateTime", "year"],
  ["Point", "point"],
  ["Polygon", "polygon"],
  ["MultiPolygon", "multiPolygon"],
]);

function defaultSearch(typeName: string): string {
  return defaultSearches.get(typeName) ?? "hash";
}

/** The arguments of `@search(by: […])` as written; undefined without the directive or without a list. */
function writtenArguments({ directives }: DraftField): readonly string[] | undefined {
  const by = directives.search?.by;
  return by === "odd" ? undefined : by;
}

/**
 * The search arguments that serve a field, sorted: the written ones; the type's default for a bare or empty
 * `@search`; hash (or the number's own) for an `@id` that has neither hash nor exact. [] where it is not searchable.
 */
export function searchesOf(field: DraftField): readonly string[] {
  const isXid = field.directives.id !== undefined;
  const typeName = baseName(field.type);
  if (field.directives.search === undefined) {
    if (!isXid) return [];
    return [typeName === "String" ? "hash" : defaultSearch(typeName)];
  }
  const written = writtenArguments(field);
  if (written === undefined || written.length === 0) return [defaultSearch(typeName)];
  const isHashed = written.includes("hash") || written.includes("exact");
  const isAlreadyServed = isHashed || typeName !== "String";
  return (isXid && !isAlreadyServed ? [...written, "hash"] : [...written]).toSorted();
}

/** `hnsw(metric: euclidean)` → `hnsw`. */
export function searchName(argument: string): string {
  const paren = argument.indexOf("(");
  return paren < 0 ? argument : argument.slice(0, paren).trim();
}

/** The filter input that a search argument makes; undefined where nothing can be filtered. */
export function filterOf(argument: string): string | undefined {
  return searchSpecs.get(searchName(argument))?.filter;
}

/** The indexes to store (reference/graphql 3.6); `by: []` makes a filter but no index. */
export function indexesOf(field: DraftField, isEnum: boolean): readonly IndexSpec[] {
  const typeName = baseName(field.type);
  const isEmbedding = field.directives.embedding !== undefined;
  const specs: IndexSpec[] = [];
  const written = writtenArguments(field);
  if (written !== undefined) {
    for (const argument of written) specs.push(toIndex(argument));
  } else if (field.directives.search !== undefined && !isEmbedding) {
    specs.push(toIndex(defaultSearch(typeName)));
  } else if (isEnum) {
    specs.push({ tokenizer: "hash" });
  }
  // A key that another service gives is an `ID` here, and a string in the store.
  if (field.directives.id !== undefined || typeName === "ID") {
    const own = typeName === "Int" || typeName === "Int64" ? "int" : "hash";
    const isServed = specs.some((spec) => spec.tokenizer === "exact" || spec.tokenizer === own);
    if (!isServed) specs.push({ tokenizer: own });
  }
  return specs;
}

function toIndex(argument: string): IndexSpec {
  const tokenizer = searchSpecs.get(searchName(argument))?.tokenizer ?? argument;
  const options = parseSearchOptions(argument);
  if (options === undefined || options.length === 0) return { tokenizer };
  return { tokenizer, options: options.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** `hnsw(metric: cosine, exponent: 3)` → its options; undefined where they are malformed. */
function parseSearchOptions(
  argument: string,
): readonly { readonly key: string; readonly value: string }[] | undefined {
  const text = argument.trim();
  const open = text.indexOf("(");
  if (open < 0) return text.endsWith(")") ? undefined : [];
  if (!text.endsWith(")")) return undefined;
  const options: { key: string; value: string }[] = [];
  for (const part of text.slice(open + 1, -1).split(",")) {
    const pair = /^\s*("?)([\w-]+)\1\s*:\s+("?)([^"]+?)\3\s*$/.exec(part);
    if (pair?.[2] === undefined || pair[4] === undefined) return undefined;
    options.push({ key: pair[2], value: pair[4] });
  }
  return options;
}

function checkArguments(draft: SchemaDraft, field: DraftField): string | undefined {
  const typeName = baseName(field.type);
  const isEnum = draft.types.get(typeName)?.kind === "enum";
  const earlier = new Map<string, string>();
  for (const argument of searchesOf(field)) {
    const text = checkArgument(draft, field, argument);
    if (text !== undefined) return text;
    const filter = filterOf(argument) ?? searchName(argument);
    const same = earlier.get(filter);
    if (same !== undefined) {
      if (typeName === "String" || isEnum)
        return (
          `the argument to @search '${argument}' is the same as the index '${same}' provided ` +
          "before and shouldn't be used together"
        );
      return `has the search directive on ${typeName}. ${typeName} allows only one argument for @search.`;
    }
    earlier.set(filter, searchName(argument));
  }
  return undefined;
}

function checkArgument(
  draft: SchemaDraft,
  field: DraftField,
  argument: string,
): string | undefined {
  const typeName = baseName(field.type);
  const isEnum = draft.types.get(typeName)?.kind === "enum";
  const spec = searchSpecs.get(searchName(argument));
  if (spec === undefined)
    return (
      `the argument to @search ${argument} isn't valid.` +
      `Fields of type ${typeName} ${sayPossible(typeName, isEnum)}.`
    );
  if (spec.type !== typeName && !isEnum)
    return (
      `has the @search directive but the argument ${argument} doesn't apply to field type ` +
      `${typeName}.  Search by ${argument} applies to fields of type ${spec.type}. ` +
      `Fields of type ${typeName} ${sayPossible(typeName, isEnum)}.`
    );
  if (isEnum && !enumSearches.has(argument))
    return (
      `has the @search directive but the argument ${argument} doesn't apply to field type ` +
      `${typeName} which is an Enum. Enum only supports hash, exact, regexp and trigram`
    );
  if (!isVectorIndex(spec)) return undefined;
  if (field.directives.embedding === undefined)
    return (
      `has the @search directive but the argument ${argument} requires the field also has ` +
      "@embedding directive."
    );
  if (parseSearchOptions(argument) !== undefined) return undefined;
  return (
    `has the @search directive but the argument '${argument}' with search options is malformed. ` +
    "Search options are comma-separated key-value pairs in YAML format => <optionName><COLON><SPACE><VALUE>"
  );
}

function sayPossible(typeName: string, isEnum: boolean): string {
  const names: string[] = [];
  for (const [name, spec] of searchSpecs) if (spec.type === typeName) names.push(name);
  if (isEnum || names.length === 1) return "are searchable by just @search";
  if (names.length === 0) return "can't have the @search directive";
  return `can have @search by ${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

/** Directives behind a field; unlike those of a block they are lower case (reference/dql 4.1, 4.11). */
import { type Reading } from "./call-parser.ts";
import { parseCascade, parseFacets, parseGroupBy, parseLanguages } from "./directive-parser.ts";
import type { Draft } from "./draft.ts";
import { parseFilter } from "./filter-parser.ts";
import { T } from "./token.ts";

/** `@filter(…)`, `@facets`, `@en:fr` …; the `@` was taken. */
export function parseFieldDirective(reading: Reading, current: Draft | undefined): void {
  const { cursor } = reading;
  const before = cursor.index - 2;
  if (current === undefined || cursor.tokens.kinds[before] === T.leftCurl) {
    return cursor.fail("Invalid use of directive.", before);
  }
  if (cursor.take() !== T.name || cursor.isAtEnd) {
    return cursor.fail("Expected directive or language list");
  }
  const word = cursor.text();
  const index = cursor.index - 1;
  if (current.form === "expand" && word !== "filter") {
    cursor.fail("expand is only compatible with type filters");
  }
  switch (word) {
    case "facets":
      return takeFacets(reading, current, index);
    case "cascade":
      return parseCascade(cursor, current);
    case "normalize":
      current.normalize = true;
      return;
    default:
  }
  if (cursor.peek() === T.leftRound) return parseBracketed(reading, current, index);
  if (current.languages.length > 0) {
    cursor.fail(`Expected directive or language list, got @${word}`);
  }
  cursor.index--;
  current.languages = parseLanguages(cursor);
}

function parseBracketed(reading: Reading, current: Draft, index: number): void {
  const { cursor } = reading;
  const word = cursor.textOf(index);
  if (word === "filter") {
    if (current.filter !== undefined) {
      cursor.fail("Use AND, OR and round brackets instead of multiple filter directives.", index);
    }
    const filter = parseFilter(reading);
    if (current.form === "expand" && filter?.kind === "call" && filter.call.name !== "type") {
      cursor.fail("expand is only compatible with type filters", index);
    }
    current.filter = filter;
  } else if (word === "groupby") {
    if (current.groupBy !== undefined) {
      cursor.fail("Only one group by directive allowed.", index);
    }
    parseGroupBy(cursor, current);
  } else {
    cursor.fail(`Unknown directive [${word}]`, index);
  }
}

function takeFacets(reading: Reading, current: Draft, index: number): void {
  const { cursor } = reading;
  const facets = parseFacets(reading);
  if (facets.kind === "selection") {
    if (current.facets !== undefined) cursor.fail("Only one facets allowed", index);
    current.facets = facets.selection;
    return;
  }
  if (facets.filter === undefined) return cursor.fail("Facets parsing failed.", index);
  if (current.facetFilter !== undefined) cursor.fail("Only one facets filter allowed", index);
  if (hasVariables(facets.filter)) {
    cursor.fail("variables are not allowed in facets filter.", index);
  }
  current.facetFilter = facets.filter;
}

function hasVariables(filter: NonNullable<Draft["facetFilter"]>): boolean {
  switch (filter.kind) {
    case "and":
    case "or":
      return filter.filters.some(hasVariables);
    case "not":
      return hasVariables(filter.filter);
    case "call": {
      const { subject, args } = filter.call;
      if (subject.kind === "val" || subject.kind === "len") return true;
      return args.some((argument) => argument.kind === "val" || argument.kind === "uid");
    }
    default:
      return false;
  }
}

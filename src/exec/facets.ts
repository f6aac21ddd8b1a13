/**
 * Tests and orders of facets (reference/dql 4.11). Price: facets lie beside their edges, so that no other read is made.
 */
import { attempt } from "../model/conversion-error.ts";
import { compareValues, isOrderable } from "../model/compare.ts";
import { convertValue } from "../model/convert.ts";
import type { Facets } from "../model/facet.ts";
import type { Value } from "../model/value.ts";
import type { FacetFilterPlan } from "../plan/plan.ts";
import { testValues } from "./compare.ts";
import type { Edges } from "./rows.ts";
import { slotText, type Run } from "./run.ts";
import { termsOf } from "../tokens/analysis.ts";

type FacetTest = (facets: Facets | undefined) => boolean;

export function hasFacetTest(filter: FacetFilterPlan | undefined): filter is FacetFilterPlan {
  return filter !== undefined;
}

/** The argument takes each facet's own type; a facet that is missing or cannot be compared is false. */
export function buildFacetTest(run: Run, filter: FacetFilterPlan): FacetTest {
  switch (filter.kind) {
    case "and": {
      const tests = filter.filters.map((part) => buildFacetTest(run, part));
      return (facets) => tests.every((test) => test(facets));
    }
    case "or": {
      const tests = filter.filters.map((part) => buildFacetTest(run, part));
      return (facets) => tests.some((test) => test(facets));
    }
    case "not": {
      const test = buildFacetTest(run, filter.filter);
      return (facets) => !test(facets);
    }
    case "test": {
      const passes = buildValueTest(filter.operator, slotText(run, filter.value));
      return (facets) => {
        const value = findFacet(facets, filter.key);
        return value !== undefined && passes(value);
      };
    }
  }
}

type FacetOperator = Extract<FacetFilterPlan, { kind: "test" }>["operator"];

function buildValueTest(operator: FacetOperator, text: string): (value: Value) => boolean {
  if (operator === "allofterms" || operator === "anyofterms") {
    const wanted = termsOf(text, "");
    return (value) => {
      if (value.kind !== "string" && value.kind !== "default") return false;
      const terms = new Set(termsOf(value.text, ""));
      const isIn = (term: string): boolean => terms.has(term);
      return operator === "allofterms" ? wanted.every(isIn) : wanted.some(isIn);
    };
  }
  return (value) => {
    const bound = attempt(() => convertValue({ kind: "string", text }, value.kind));
    return bound !== undefined && testValues(operator, value, [bound]);
  };
}

export function findFacet(facets: Facets | undefined, key: string): Value | undefined {
  if (facets === undefined) return undefined;
  for (const facet of facets) if (facet.key === key) return facet.value;
  return undefined;
}

/**
 * Order of edge numbers: each key in turn, edges without the facet (or with one that has no order) last; those of a
 * first descending key come in descending order of their uids, as in the reference.
 */
export function compareByFacets(
  edges: Edges,
  order: readonly { readonly key: string; readonly descending: boolean }[],
): (a: number, b: number) => number {
  const keys = order.map(({ key, descending }) => ({
    sign: descending ? -1 : 1,
    values: Array.from(edges.targets, (_, e) => sortableFacet(edges.facets?.[e], key)),
  }));
  const [first] = keys;
  return (a, b) => {
    for (const { sign, values } of keys) {
      const left = values[a];
      const right = values[b];
      if (left === undefined && right === undefined) continue;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      const difference = compareValues(left, right);
      if (difference !== 0) return sign * difference;
    }
    const bothMissing = first?.values[a] === undefined && first?.values[b] === undefined;
    return first?.sign === -1 && bothMissing ? b - a : a - b;
  };
}

function sortableFacet(facets: Facets | undefined, key: string): Value | undefined {
  const value = findFacet(facets, key);
  return value !== undefined && isOrderable(value.kind) ? value : undefined;
}

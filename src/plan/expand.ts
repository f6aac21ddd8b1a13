import type { Schema } from "../graph/schema.ts";
import type { ExpandFieldPlan, FacetsPlan, FieldPlan } from "./plan.ts";

/** expand() asks for all facets. */
const allFacets: FacetsPlan = { all: true, fields: [], order: [] };

/**
 * The fields that an expand() becomes: `names` are predicates, `~p` for reverse ones. Passwords, unknown predicates
 * and edges without braces are left out; with a type filter only edges are left (reference/dql 4.18).
 */
export function buildExpanded(
  schema: Schema,
  expand: ExpandFieldPlan,
  names: readonly string[],
): readonly FieldPlan[] {
  return names.flatMap((name): readonly FieldPlan[] => {
    if (schema.access?.mayRead(name) === false) return [];
    const reverse = name.startsWith("~");
    const predicate = schema.predicate(reverse ? name.slice(1) : name);
    if (predicate === undefined) return [];
    const { kind, list, lang } = predicate.definition;
    const base = { key: name, aliased: false, variable: undefined };
    const use = {
      name: predicate.definition.name,
      reverse,
      languages: lang ? ["*"] : [],
      predicate,
    };
    if (kind === "uid") {
      if (reverse && predicate.reverseIndex === undefined) return [];
      return [
        {
          kind: "edge",
          ...base,
          use,
          predicate,
          single: !list && !reverse && expand.level?.fields.some(isListCount) !== true,
          filter: expand.filter,
          order: undefined,
          page: expand.page,
          facets: allFacets,
          facetFilter: undefined,
          level: expand.level,
          groupBy: undefined,
          groupsOf: undefined,
          normalize: false,
        },
      ];
    }
    if (reverse || kind === "password" || expand.filter !== undefined) return [];
    const form = lang ? "all" : list ? "list" : "one";
    return [
      { kind: "value", ...base, use, predicate, form, facets: allFacets, facetFilter: undefined },
    ];
  });
}

function isListCount(field: FieldPlan): boolean {
  return field.kind === "countUid";
}

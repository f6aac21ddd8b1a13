import type { Filter } from "../dql/ast.ts";
import { resolvePredicate, type Builder } from "./builder.ts";
import { buildCall } from "./call.ts";
import type { FilterPlan } from "./plan.ts";

/** Walking edges is dearer than any function: see `CallPlanning.price`. */
const edgePrice = 8;

export function buildFilter(builder: Builder, filter: Filter): FilterPlan {
  const seen = builder.hiddenCount;
  const built = buildPart(builder, filter);
  if (filter.rule === undefined) return built;
  // A rule that the sender's rights leave unread lets nobody in, whatever it would have said (a "not" of nothing too).
  if (builder.hiddenCount > seen) return { kind: "constant", value: false, rule: filter.rule };
  return { ...built, rule: filter.rule };
}

function buildPart(builder: Builder, filter: Filter): FilterPlan {
  switch (filter.kind) {
    case "and":
    case "or": {
      const filters = filter.filters.flatMap((part) => {
        const inner = buildFilter(builder, part);
        return inner.kind === filter.kind ? flatten(inner) : [inner];
      });
      // The order never changes an outcome: sort is stable, so equal prices keep the text's order.
      filters.sort((a, b) => filterPrice(builder, a) - filterPrice(builder, b));
      const [only] = filters;
      if (filters.length === 1 && only !== undefined) return only;
      return { kind: filter.kind, filters };
    }
    case "not":
      return { kind: "not", filter: buildFilter(builder, filter.filter) };
    case "call":
      return { kind: "call", call: buildCall(builder, filter.call, false) };
    case "constant":
      return filter;
    case "edge":
      return {
        kind: "edge",
        use: resolvePredicate(builder, filter.predicate),
        filter: filter.filter === undefined ? undefined : buildFilter(builder, filter.filter),
      };
  }
}

/** The parts of an AND in an AND, or of an OR in an OR: any of them may be asked first. */
function flatten(inner: Extract<FilterPlan, { kind: "and" | "or" }>): readonly FilterPlan[] {
  const { rule } = inner;
  if (rule === undefined) return inner.filters;
  return inner.filters.map((part) => ({ ...part, rule: part.rule ?? rule }));
}

function filterPrice(builder: Builder, filter: FilterPlan): number {
  switch (filter.kind) {
    case "constant":
      return 0;
    case "call":
      return builder.functions.of(filter.call).price;
    case "not":
      return filterPrice(builder, filter.filter);
    case "and":
    case "or":
      return filter.filters.reduce((most, part) => Math.max(most, filterPrice(builder, part)), 0);
    case "edge":
      return edgePrice + (filter.filter === undefined ? 0 : filterPrice(builder, filter.filter));
  }
}

import type { Filter } from "../dql/ast.ts";
import { resolvePredicate, type Builder } from "./builder.ts";
import { buildCall } from "./call.ts";
import type { CallPlan, FilterPlan } from "./plan.ts";

/** Rough price of a test for one candidate: sets, then lists of an index, then reading records, then walking edges. */
const callPrices: Readonly<Record<CallPlan["kind"], number>> = {
  nothing: 0,
  refused: 0,
  compareLen: 0,
  compareVal: 1,
  uid: 1,
  terms: 2,
  similar: 3,
  has: 4,
  compare: 4,
  compareCount: 4,
  uidIn: 5,
  match: 6,
  regexp: 6,
  geo: 7,
};

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
      filters.sort((a, b) => filterPrice(a) - filterPrice(b));
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

function filterPrice(filter: FilterPlan): number {
  switch (filter.kind) {
    case "constant":
      return 0;
    case "call":
      return callPrices[filter.call.kind];
    case "not":
      return filterPrice(filter.filter);
    case "and":
    case "or":
      return filter.filters.reduce((most, part) => Math.max(most, filterPrice(part)), 0);
    case "edge":
      return 8 + (filter.filter === undefined ? 0 : filterPrice(filter.filter));
  }
}

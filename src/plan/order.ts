import type { OrderKey, Page, PredicateName } from "../dql/ast.ts";
import {
  addOptionalSlot,
  isHidden,
  namespaced,
  refusal,
  resolvePredicate,
  variableIndex,
  type Builder,
} from "./builder.ts";
import { pickSortable } from "./call.ts";
import type { OrderKeyPlan, OrderPlan, PagePlan, PlanRefusal, Slot } from "./plan.ts";

export function buildPage(builder: Builder, page: Page, where: Slot["where"]): PagePlan {
  return {
    first: addOptionalSlot(builder, "first", page.first, where),
    offset: addOptionalSlot(builder, "offset", page.offset, where),
    after: addOptionalSlot(builder, "after", page.after, where),
  };
}

const unsortableKinds: ReadonlySet<string> = new Set([
  "bool",
  "geo",
  "password",
  "float32vector",
  "binary",
]);

/** Order by predicates or by one variable (reference/dql 4.6). */
export function buildOrder(builder: Builder, given: readonly OrderKey[]): OrderPlan | undefined {
  // What may not be read orders nothing.
  const order = given.filter(({ by }) => by.kind === "val" || !isHidden(builder, by));
  const [first] = order;
  if (first === undefined) return undefined;
  if (first.by.kind === "val") {
    const variable = variableIndex(builder, first.by.variable);
    if (builder.variables[variable]?.block === builder.block) {
      const reason = `Variable: [${first.by.variable}] used before definition.`;
      return { kind: "refused", refusal: refusal(reason) };
    }
    return { kind: "variable", variable, descending: first.descending };
  }
  const keys: OrderKeyPlan[] = [];
  for (const key of order) {
    if (key.by.kind === "val") continue;
    const built = buildKey(builder, key.by, key.descending, keys.length === 0);
    if ("text" in built) return { kind: "refused", refusal: built };
    keys.push(built);
  }
  const single = keys.length === 1 ? keys[0] : undefined;
  return {
    kind: "values",
    keys: single === undefined ? keys.map(asOneOfSeveral) : keys,
    walk: pickWalk(keys[0]),
  };
}

/**
 * Beside others a key compares by bytes, and a descending one turns the nodes around that lack it (reference/dql 4.6).
 */
function asOneOfSeveral(key: OrderKeyPlan): OrderKeyPlan {
  return { ...key, collation: undefined, turnsMissing: key.descending };
}

function buildKey(
  builder: Builder,
  name: PredicateName,
  descending: boolean,
  isFirst: boolean,
): OrderKeyPlan | PlanRefusal {
  const use = resolvePredicate(builder, name);
  const predicate = use.predicate;
  const written = (use.reverse ? "~" : "") + use.name;
  if (predicate === undefined || use.reverse) {
    return isFirst
      ? refusal(`Cannot sort by unknown attribute ${written}`)
      : refusal("Requested predicate is not being served by any tablet");
  }
  const { kind, list } = predicate.definition;
  if (list && isFirst)
    return refusal(`Sorting not supported on attr: ${use.name} of type: [scalar]`);
  if (kind === "uid" && !list) {
    return refusal(`Cannot sort attribute ${namespaced(builder, use.name)} of type object.`);
  }
  if (unsortableKinds.has(kind)) return refusal(`Value of type: ${kind} isn't sortable`);
  const [tag] = use.languages;
  const collation = tag === undefined || tag === "." ? undefined : tag;
  return { use, predicate, descending, collation, turnsMissing: false };
}

/** A list's nodes stand under several tokens, and tagged texts are not in the order of their collation. */
function pickWalk(key: OrderKeyPlan | undefined) {
  if (key === undefined || key.predicate.definition.list || key.use.languages.length > 0) {
    return undefined;
  }
  return pickSortable(key.predicate.indexes);
}

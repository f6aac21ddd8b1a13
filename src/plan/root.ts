/** Where a block's nodes can come from: its root as written, or a condition of its filter that an index answers. */
import type { FunctionTable } from "./builder.ts";
import type { CallPlan, FilterPlan, OrderPlan, PagePlan, RootChoice, RootPlan } from "./plan.ts";

interface RootParts {
  readonly call: CallPlan;
  readonly among: FilterPlan | undefined;
  readonly filter: FilterPlan | undefined;
  readonly order: OrderPlan | undefined;
  readonly page: PagePlan;
  readonly hasCascade: boolean;
}

/**
 * `seek`: one list in the order of uids, paged in the list. `walk`: the order's own index gives the nodes in order, so
 * it is walked only as far as the page needs. Both only where nothing removes nodes after the page.
 */
export function buildRoot(functions: FunctionTable, parts: RootParts): RootPlan {
  const { call, among, filter, order, page, hasCascade } = parts;
  const choices = buildChoices(functions, call, filter);
  if (hasCascade) return { call, among, accessPath: "set", choices };
  if (order === undefined) {
    const isOneList = functions.of(call).isOneList(call);
    return { call, among, accessPath: isOneList ? "seek" : "set", choices };
  }
  const isWalk = order.kind === "values" && order.walk !== undefined && page.first !== undefined;
  return { call, among, accessPath: isWalk ? "walk" : "set", choices };
}

/** Conditions that are looked at as roots: each holds a list of all others. */
const choicesMax = 32;

/** Every choice finds the same nodes: its own call and all the other conditions together. */
function buildChoices(
  functions: FunctionTable,
  call: CallPlan,
  filter: FilterPlan | undefined,
): readonly RootChoice[] {
  const written: RootChoice = { call, rest: filter };
  if (filter === undefined || !functions.of(call).isExchangeable(call)) return [written];
  const parts = filter.kind === "and" ? filter.filters : [filter];
  const choices = [written];
  parts.forEach((part, i) => {
    if (choices.length > choicesMax || part.kind !== "call") return;
    if (!functions.of(part.call).isIndexed(part.call)) return;
    const others = parts.filter((_, other) => other !== i);
    const all: readonly FilterPlan[] = [{ kind: "call", call }, ...others];
    const [only] = all;
    const rest =
      all.length === 1 && only !== undefined ? only : ({ kind: "and", filters: all } as const);
    choices.push({ call: part.call, rest });
  });
  return choices;
}

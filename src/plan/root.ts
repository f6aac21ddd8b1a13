/** Where a block's nodes can come from: its root as written, or a condition of its filter that an index answers. */
import type { CallPlan, FilterPlan, OrderPlan, PagePlan, RootChoice, RootPlan } from "./plan.ts";

/**
 * `seek`: one list in the order of uids, paged in the list. `walk`: the order's own index gives the nodes in order, so
 * it is walked only as far as the page needs. Both only where nothing removes nodes after the page.
 */
export function buildRoot(parts: {
  readonly call: CallPlan;
  readonly among: FilterPlan | undefined;
  readonly filter: FilterPlan | undefined;
  readonly order: OrderPlan | undefined;
  readonly page: PagePlan;
  readonly hasCascade: boolean;
}): RootPlan {
  const { call, among, filter, order, page, hasCascade } = parts;
  const choices = buildChoices(call, filter);
  if (hasCascade) return { call, among, accessPath: "set", choices };
  if (order === undefined)
    return { call, among, accessPath: isOneList(call) ? "seek" : "set", choices };
  const isWalk = order.kind === "values" && order.walk !== undefined && page.first !== undefined;
  return { call, among, accessPath: isWalk ? "walk" : "set", choices };
}

/** Conditions that are looked at as roots: each holds a list of all others. */
const choicesMax = 32;

/** Every choice finds the same nodes: its own call and all the other conditions together. */
function buildChoices(call: CallPlan, filter: FilterPlan | undefined): readonly RootChoice[] {
  const written: RootChoice = { call, rest: filter };
  if (filter === undefined || !isExchangeable(call)) return [written];
  const parts = filter.kind === "and" ? filter.filters : [filter];
  const choices = [written];
  parts.forEach((part, i) => {
    if (choices.length > choicesMax || part.kind !== "call" || !isIndexed(part.call)) return;
    const others = parts.filter((_, other) => other !== i);
    const all: readonly FilterPlan[] = [{ kind: "call", call }, ...others];
    const [only] = all;
    const rest =
      all.length === 1 && only !== undefined ? only : ({ kind: "and", filters: all } as const);
    choices.push({ call: part.call, rest });
  });
  return choices;
}

/** Whether a root says the same as a condition. */
function isExchangeable(call: CallPlan): boolean {
  switch (call.kind) {
    case "compare":
      return call.refusal === undefined && call.values.variable === undefined;
    case "compareCount":
      return isIndexedCount(call);
    case "has":
    case "terms":
    case "geo":
    case "match":
      return true;
    default:
      return false;
  }
}

/** Whether a condition could find its nodes by itself, in an index. */
function isIndexed(call: CallPlan): boolean {
  switch (call.kind) {
    case "compare":
      return isIndexedCompare(call);
    case "compareCount":
      return isIndexedCount(call);
    case "terms":
      return call.values.variable === undefined;
    case "uid":
      return true;
    case "geo":
      return call.index !== undefined;
    case "uidIn":
      return (
        call.use.predicate?.definition.kind === "uid" &&
        (call.use.reverse || call.use.predicate.reverseIndex?.state === "ready")
      );
    default:
      return false;
  }
}

function isIndexedCompare(call: Extract<CallPlan, { kind: "compare" }>): boolean {
  const { index, use, values } = call;
  if (index === undefined || values.variable !== undefined || use.languages.length > 0)
    return false;
  return index.tokenizer !== "trigram" && index.tokenizer !== "ngram";
}

/** `le` and `lt` of a filter let nodes without the predicate pass, which are in no index; at a root they do not. */
function isIndexedCount({ index, operator }: Extract<CallPlan, { kind: "compareCount" }>): boolean {
  return index !== undefined && operator !== "le" && operator !== "lt";
}

function isOneList(call: CallPlan): boolean {
  if (call.kind === "has") return true;
  if (call.kind === "compareCount") return call.index !== undefined && call.operator === "eq";
  return (
    call.kind === "compare" &&
    call.operator === "eq" &&
    call.values.variable === undefined &&
    call.values.slots.length === 1
  );
}

/**
 * Which of a root's choices is the cheapest for these literals: counted by the heads of lists (architecture 5). Price: one
 * head for each token of each choice; none where there is no choice.
 */
import { countMembersScanned, rangeTokensCounted, rootEnough } from "./costs.ts";
import type { ListRef } from "../graph/reader.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import type { CallPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import { bindValues } from "./bind-values.ts";
import { listOfToken } from "./lookup.ts";
import { listsOfUidIn, uidsOfCall } from "./uid-sets.ts";
import { geoTokensOf } from "./geo.ts";
import { equalityTokens, rangeOf, termTokens, wordsText } from "./index-tokens.ts";
import { bindCounts, countRange, isUntracked, scanCounts } from "./count.ts";
import { listOfHas, listOfRoot } from "./root.ts";
import type { Run } from "./run.ts";

export interface ChosenRoot {
  readonly choice: RootChoice;
  /** How many nodes its call finds, at most; Infinity where that is not known. */
  readonly count: number;
  /** How many the root as written has. */
  readonly writtenCount: number;
}

/** `walked`: the index that an order would walk; ranges of it need no counting, the walk stops at the page. */
export async function chooseRoot(
  run: Run,
  root: RootPlan,
  walked: PredicateIndex | undefined,
): Promise<ChosenRoot> {
  const isWalked = (call: CallPlan): boolean =>
    walked !== undefined &&
    call.kind === "compare" &&
    call.operator !== "eq" &&
    call.index?.id === walked.id;

  const [written, ...others] = root.choices;
  const first: RootChoice = written ?? { call: root.call, rest: undefined };
  if (others.length === 0 && root.accessPath !== "walk") {
    return { choice: first, count: Infinity, writtenCount: Infinity };
  }
  // A root that is refused is refused whatever else could find its nodes.
  if (first.call.kind === "compareCount") bindCounts(run, first.call, true);
  if (namesNodes(first.call)) return { choice: first, count: 1, writtenCount: 1 };
  const writtenCount = isWalked(first.call) ? Infinity : await countCall(run, first.call);
  let best: ChosenRoot = { choice: first, count: writtenCount, writtenCount };
  for (const choice of others) {
    if (best.count <= rootEnough) break;
    if (isWalked(choice.call)) continue;
    const count = await countCall(run, choice.call);
    if (count < best.count) best = { choice, count, writtenCount };
  }
  return best;
}

/** `eq` of one value of a predicate with @upsert: such values are names, and counting one costs what reading it does. */
function namesNodes(call: CallPlan): boolean {
  return (
    call.kind === "compare" &&
    call.operator === "eq" &&
    call.values.slots.length === 1 &&
    call.use.predicate?.definition.upsert === true &&
    call.use.languages.length === 0 &&
    call.index !== undefined
  );
}

/** An upper bound of the nodes that a call finds; Infinity where it would cost too much to know. */
export async function countCall(run: Run, call: CallPlan): Promise<number> {
  switch (call.kind) {
    case "uid":
      return uidsOfCall(run, call).length;
    case "nothing":
      return 0;
    case "has": {
      const list = listOfRoot(run, call);
      return list === undefined ? Infinity : countLists(run, [list]);
    }
    case "uidIn":
      return countLists(run, listsOfUidIn(run, call));
    case "terms":
      return countTerms(run, call);
    case "geo":
      return countPlaces(run, call);
    case "compare":
      return countCompare(run, call);
    case "compareCount":
      return countCounts(run, call);
    default:
      return Infinity;
  }
}

/**
 * Of `eq` the list of that count; of the others the nodes that have the predicate. Infinity without a count index, and
 * for what only nodes without the predicate could pass, which are in no list.
 */
async function countCounts(
  run: Run,
  call: Extract<CallPlan, { kind: "compareCount" }>,
): Promise<number> {
  const { index, operator } = call;
  if (index === undefined) return Infinity;
  const bounds = bindCounts(run, call, false);
  const [count] = bounds;
  if (count === undefined || bounds.some((bound) => isUntracked(operator, bound))) return Infinity;
  if (operator === "eq") return countLists(run, [{ kind: "count", index, count }]);
  if (operator === "le" || operator === "lt") return Infinity;
  const list = listOfHas(call.use);
  if (list?.kind === "presence") return countLists(run, [list]);
  const found = await scanCounts(run, index, countRange(operator, bounds), countMembersScanned);
  return found?.length ?? Infinity;
}

async function countLists(run: Run, lists: readonly ListRef[]): Promise<number> {
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
}

async function countTerms(run: Run, call: Extract<CallPlan, { kind: "terms" }>): Promise<number> {
  const [slot] = call.values.slots;
  if (slot === undefined) return Infinity;
  const lists = termTokens(call, wordsText(run, call, slot)).map((token) =>
    listOfToken(call.index.id, token),
  );
  if (lists.length === 0) return 0;
  const counted = run.reader.countLists(lists);
  const counts = counted instanceof Promise ? await counted : counted;
  const needsAll = call.name === "allofterms" || call.name === "alloftext";
  return needsAll ? Math.min(...counts) : counts.reduce((sum, count) => sum + count, 0);
}

async function countCompare(
  run: Run,
  call: Extract<CallPlan, { kind: "compare" }>,
): Promise<number> {
  const { index, use } = call;
  const kind = use.predicate?.definition.kind;
  if (index === undefined || kind === undefined || kind === "uid") return Infinity;
  if (use.languages.length > 0) return Infinity;
  const bounds = bindValues(run, call.values, kind, call.operator, true);
  if (bounds.length === 0) return 0;
  if (call.operator === "eq") {
    let sum = 0;
    for (const bound of bounds) {
      const lists = equalityTokens(index, bound, use).map((token) => listOfToken(index.id, token));
      if (lists.length === 0) return Infinity;
      const counted = run.reader.countLists(lists);
      sum += Math.min(...(counted instanceof Promise ? await counted : counted));
    }
    return sum;
  }
  let tokens = 0;
  let sum = 0;
  const scanned = run.reader.countTokens(
    index.id,
    rangeOf(index, call.operator, bounds, use),
    (_, count) => {
      sum += count;
      return ++tokens < rangeTokensCounted;
    },
  );
  if (scanned instanceof Promise) await scanned;
  return tokens < rangeTokensCounted ? sum : Infinity;
}

async function countPlaces(run: Run, call: Extract<CallPlan, { kind: "geo" }>): Promise<number> {
  const { index } = call;
  if (index === undefined) return 0;
  return await countLists(
    run,
    geoTokensOf(run, call).map((token) => listOfToken(index.id, token)),
  );
}

/**
 * Which of a root's choices is the cheapest for these literals: counted by the heads of lists (reference/dql 4.21).
 * Price: one head for each token of each choice; none where there is no choice.
 */
import { countMembersScanned, membersPerRecord, rangeTokensCounted, rootEnough } from "./costs.ts";
import type { MaybePromise } from "../base/maybe.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import type { CallPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import type { StatisticsOf } from "./statistics.ts";

export interface ChosenRoot {
  readonly choice: RootChoice;
  /** How many nodes its call finds, at most; Infinity where that is not known. */
  readonly count: number;
  /** How many the root as written has. */
  readonly writtenCount: number;
}

/** `walked`: the index that an order would walk; ranges of it need no counting, the walk stops at the page. */
export function chooseRoot<R>(
  of: StatisticsOf<R>,
  run: R,
  root: RootPlan,
  walked: PredicateIndex | undefined,
): MaybePromise<ChosenRoot> {
  if (root.choices.length > 1 || root.accessPath === "walk") {
    return compareRoots(of, run, root, walked);
  }
  return { choice: writtenOf(root), count: Infinity, writtenCount: Infinity };
}

function writtenOf({ call, choices: [written] }: RootPlan): RootChoice {
  return written ?? { call, rest: undefined };
}

async function compareRoots<R>(
  of: StatisticsOf<R>,
  run: R,
  root: RootPlan,
  walked: PredicateIndex | undefined,
): Promise<ChosenRoot> {
  const isWalked = (call: CallPlan): boolean =>
    walked !== undefined &&
    call.kind === "compare" &&
    call.operator !== "eq" &&
    call.index?.id === walked.id;

  const [, ...others] = root.choices;
  const first = writtenOf(root);
  // A root that is refused is refused whatever else could find its nodes.
  of(first.call).checkRoot(run, first.call);
  if (namesNodes(first.call)) return { choice: first, count: 1, writtenCount: 1 };
  const writtenCount = isWalked(first.call)
    ? Infinity
    : await of(first.call).count(run, first.call);
  let best: ChosenRoot = { choice: first, count: writtenCount, writtenCount };
  for (const choice of others) {
    if (best.count <= rootEnough) break;
    if (isWalked(choice.call)) continue;
    const count = await of(choice.call).count(run, choice.call);
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

/**
 * A page in the order of uids reads its own root batch by batch, which is cheap where most nodes pass. Another choice
 * is better where its nodes are fewer than those batches would be (`membersPerRecord`).
 */
export function pickChoice(
  root: RootPlan,
  chosen: ChosenRoot,
  page: { readonly first: number; readonly offset: number },
): RootChoice {
  const [written] = root.choices;
  const { choice, count, writtenCount } = chosen;
  if (
    written === undefined ||
    choice === written ||
    root.accessPath !== "seek" ||
    page.first <= 0
  ) {
    return choice;
  }
  const wanted = page.first + page.offset;
  const batchCost = (wanted * writtenCount) / Math.max(1, count);
  return count / membersPerRecord + Math.min(count, wanted * 2) < batchCost ? choice : written;
}

/** Whether the tokens of a range are counted on; else it is large. */
export function countsRangeOn(tokens: number): boolean {
  return tokens < rangeTokensCounted;
}

/** Members of a count index that are read to know how many there are. */
export function countedMembersMax(): number {
  return countMembersScanned;
}

/**
 * Which of a root's choices is the cheapest for these literals: counted by the heads of lists (reference/dql 4.21).
 * Price: one head for each token of each choice; none where there is no choice.
 */
import { rootEnough } from "./costs.ts";
import type { PredicateIndex } from "../graph/schema.ts";
import type { CallPlan, RootChoice, RootPlan } from "../plan/plan.ts";
import { functionOf } from "./functions.ts";
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
  functionOf(first.call).checkRoot(run, first.call);
  if (namesNodes(first.call)) return { choice: first, count: 1, writtenCount: 1 };
  const writtenCount = isWalked(first.call)
    ? Infinity
    : await functionOf(first.call).count(run, first.call);
  let best: ChosenRoot = { choice: first, count: writtenCount, writtenCount };
  for (const choice of others) {
    if (best.count <= rootEnough) break;
    if (isWalked(choice.call)) continue;
    const count = await functionOf(choice.call).count(run, choice.call);
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

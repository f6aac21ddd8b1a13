/**
 * Comparisons of counts (reference/dql 4.3.3). Price: at a root the count index between the bounds;
 * in a filter the same where that costs less, else the heads of the candidates' lists, never their members.
 */
import { must } from "../../base/assert.ts";
import type { FunctionCall } from "../../dql/ast.ts";
import { intersect, subtract, unionAll } from "../../base/sorted.ts";
import { ConversionError } from "../../model/conversion-error.ts";
import { parseInt64 } from "../../model/int.ts";
import { emptyUidSet, type UidSet } from "../../model/uid.ts";
import { refusal, type Builder } from "../../plan/builder.ts";
import { argumentCount, literalSlots, refused, resolveSubject } from "../../plan/call.ts";
import type { CallPlan, CompareOperator, PredicateUse, SlotIndex } from "../../plan/plan.ts";
import { exact, noCandidates } from "../candidates.ts";
import { buildCountTest } from "../compare.ts";
import { areMany, countMembersMax } from "../../optimizer/filter-choice.ts";
import { countedMembersMax } from "../../optimizer/root-choice.ts";
import { countMembers, intersectList, listOfPresent } from "../lookup.ts";
import { queryFault, slotText, type Run } from "../run.ts";
import { countsCall, members, never, type CallFunction } from "./function.ts";
import { operatorNames, operatorOf, guessOf } from "./operators.ts";

const countMax = 4294967295;

interface CompareCountCall {
  readonly kind: "compareCount";
  readonly operator: CompareOperator;
  readonly use: PredicateUse;
  /** The count index, where there is one. */
  readonly index: number | undefined;
  readonly values: readonly SlotIndex[];
}

declare module "../../plan/plan.ts" {
  interface CallPlans {
    compareCount: CompareCountCall;
  }
}

function build(builder: Builder, call: FunctionCall, atRoot: boolean): CallPlan {
  const operator = operatorOf(call.name);
  const use = resolveSubject(builder, call);
  const values = literalSlots(builder, "count", call.args);
  const predicate = use.predicate;
  if (predicate === undefined) return { kind: "nothing", use };
  const expected = operator === "between" ? 2 : 1;
  if (values.length !== expected) return refused(use, argumentCount(call.name, expected, values));
  if (use.reverse && predicate.reverseIndex === undefined) {
    return refused(use, refusal(`Predicate ${use.name} doesn't have reverse edge`));
  }
  const countIndex = use.reverse ? predicate.reverseCountIndex : predicate.countIndex;
  if (atRoot && countIndex?.state !== "ready") {
    const where = `attr: ${use.name} for fn: ${operator} at root`;
    return refused(use, refusal(`Need @count directive in schema for ${where}`));
  }
  const index = countIndex?.state === "ready" ? countIndex.id : undefined;
  return { kind: "compareCount", operator, use, index, values };
}

/** The thresholds; at a root those that would need absent counts are refused. */
function bindCounts(run: Run, call: CompareCountCall, atRoot: boolean): readonly number[] {
  const bounds = call.values.map((slot) => bindCount(call.operator, slotText(run, slot)));
  if (atRoot && bounds.some((bound) => isUntracked(call.operator, bound))) {
    throw queryFault(
      "count(predicate) cannot be used to search for negative counts (nonsensical) or zero counts (not tracked).",
    );
  }
  for (const bound of bounds) {
    if (bound >= 0 && bound <= countMax) continue;
    throw queryFault(
      `Compare ${call.operator}: threshold value ${bound} must be between 0 and ${countMax}`,
    );
  }
  return bounds;
}

function bindCount(operator: string, text: string): number {
  try {
    return Number(parseInt64(text, 0));
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    const reason = `Compare ${operator}(${text}) require digits, but got invalid num`;
    throw queryFault(`${reason}: ${error.message}`);
  }
}

/** Whether nodes without the predicate could pass: no list has them. */
function isUntracked(operator: string, bound: number): boolean {
  switch (operator) {
    case "eq":
    case "le":
    case "ge":
    case "between":
      return bound <= 0;
    case "lt":
      return bound <= 1;
    default:
      return false;
  }
}

/** Numbers of edges, both ends inclusive. */
interface CountRange {
  readonly from: number;
  readonly to: number;
}

/** The counts that pass, from one on. */
function countRange(operator: CompareOperator, bounds: readonly number[]): CountRange {
  const [low = 0, high = low] = bounds;
  switch (operator) {
    case "eq":
      return { from: low, to: low };
    case "le":
      return { from: 1, to: low };
    case "lt":
      return { from: 1, to: low - 1 };
    case "ge":
      return { from: low, to: countMax };
    case "gt":
      return { from: low + 1, to: countMax };
    case "between":
      return { from: low, to: high };
  }
}

/** The nodes between two counts; undefined where they are more than `max`. */
async function scanCounts(
  run: Run,
  index: number,
  range: CountRange,
  max: number,
): Promise<UidSet | undefined> {
  if (range.from > range.to) return emptyUidSet;
  const runs: UidSet[] = [];
  let length = 0;
  const scanned = run.reader.scanCounts(index, range, (_, uids) => {
    length += uids.length;
    if (length > max) return false;
    run.budget.charge(uids.length);
    runs.push(uids.slice());
    return true;
  });
  await scanned;
  run.budget.chargeBytes(length * 8);
  return length > max ? undefined : unionAll(runs);
}

/**
 * The candidates whose count passes, from the count index; undefined where counting each of them is cheaper. Nodes
 * without any edge are in no list: where they pass, those that do not are looked for and left out.
 */
async function findAmong(
  run: Run,
  call: CompareCountCall,
  bounds: readonly number[],
  candidates: UidSet,
): Promise<UidSet | undefined> {
  const { index, operator } = call;
  if (index === undefined) return undefined;
  const max = countMembersMax(candidates.length);
  const [count = 0] = bounds;
  if (operator === "eq" && count > 0) {
    const list = { kind: "count", index, count } as const;
    const [counted] = await run.reader.countLists([list]);
    const members = must(counted, "one list was counted");
    return members > max ? undefined : intersectList(run, list, candidates);
  }
  const range = countRange(operator, bounds);
  if (range.from > 0 && operator !== "le" && operator !== "lt") {
    const found = await scanCounts(run, index, range, max);
    return found === undefined ? undefined : intersect(found, candidates);
  }
  // From zero on, as `le` and `lt` are: all but those with more.
  if (range.to < 0 || (operator === "between" && range.to < range.from)) return emptyUidSet;
  const more = { from: Math.max(1, range.to + 1), to: countMax };
  const found = await scanCounts(run, index, more, max);
  return found === undefined ? undefined : subtract(candidates, found);
}

/** `le` and `lt` of a filter let nodes without the predicate pass, which are in no index; at a root they do not. */
function isIndexed({ index, operator }: CompareCountCall): boolean {
  return index !== undefined && operator !== "le" && operator !== "lt";
}

export const compareCount: CallFunction<CompareCountCall> = {
  forms: [{ subject: "count", names: operatorNames, build }],
  price: 4,
  isExchangeable: isIndexed,
  isIndexed,
  isOneList: ({ index, operator }) => index !== undefined && operator === "eq",
  describe({ operator, use, values, index }, words) {
    const how = index === undefined ? "heads" : "index count";
    return `${operator} count ${words.use(use)} ${words.slots(values)} (${how})`;
  },

  /**
   * Of `eq` the list of that count; of the others the nodes that have the predicate. Infinity without a count index, and
   * for what only nodes without the predicate could pass, which are in no list.
   */
  async count(run, call) {
    const { index, operator } = call;
    if (index === undefined) return Infinity;
    const bounds = bindCounts(run, call, false);
    const [count] = bounds;
    if (count === undefined || bounds.some((bound) => isUntracked(operator, bound))) {
      return Infinity;
    }
    if (operator === "eq") return countMembers(run, [{ kind: "count", index, count }]);
    if (operator === "le" || operator === "lt") return Infinity;
    const list = listOfPresent(call.use);
    if (list?.kind === "presence") return countMembers(run, [list]);
    const found = await scanCounts(run, index, countRange(operator, bounds), countedMembersMax());
    return found?.length ?? Infinity;
  },
  guess: ({ operator }) => guessOf(operator),
  reads: () => ({ rechecks: false, filter: "values" }),
  isCounted: ({ index }) => index !== undefined,
  isFree: never,
  isExpensive: false,
  looksAt(run, call) {
    return this.count(run, call);
  },
  checkRoot: (run, call) => void bindCounts(run, call, true),

  async find(run, call) {
    if (call.index === undefined) return noCandidates;
    const range = countRange(call.operator, bindCounts(run, call, true));
    return exact((await scanCounts(run, call.index, range, Infinity)) ?? emptyUidSet);
  },
  list(run, call) {
    if (call.index === undefined || call.operator !== "eq") return undefined;
    const [count] = bindCounts(run, call, true);
    return count === undefined ? undefined : { kind: "count", index: call.index, count };
  },

  async prepare(run, call, candidates) {
    const bounds = bindCounts(run, call, false);
    if (areMany(candidates.length)) {
      const found = await findAmong(run, call, bounds, candidates);
      if (found !== undefined) return members(found);
    }
    return countsCall(call.use, buildCountTest(call.operator, bounds));
  },
};

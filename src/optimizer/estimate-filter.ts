/** What filters leave of their candidates, and what they read of them. */
import { Fault } from "../model/fault.ts";
import type { CallPlan, FilterPlan, PredicateUse, RootPlan } from "../plan/plan.ts";
import { betweenShare, equalShare, expressionShare, filterPassShare } from "./costs.ts";
import type { Expectation } from "./expectation.ts";
import type { FanOuts } from "./fan-out.ts";
import { areMany, countMembersMax } from "./filter-choice.ts";
import { orderParts, partOfFilter } from "./filter-order.ts";
import type { Estimated, Guess } from "./statistics.ts";

/** What share of the nodes passes where no list tells. */
const shares: Readonly<Record<Guess, number>> = {
  equal: equalShare,
  between: betweenShare,
  expression: expressionShare,
  condition: filterPassShare,
};

export class FilterEstimator {
  readonly #estimated: Estimated;
  readonly #fanOuts: FanOuts;
  readonly #expected: Expectation;

  constructor(estimated: Estimated, fanOuts: FanOuts, expected: Expectation) {
    this.#estimated = estimated;
    this.#fanOuts = fanOuts;
    this.#expected = expected;
  }

  /** At most how many nodes a call finds. */
  async countCall(call: CallPlan): Promise<number | undefined> {
    const { variables } = this.#expected;
    if (call.kind === "compareVal") return variables.get(call.variable);
    if (call.kind === "uid" && call.variables[0] !== undefined) {
      return variables.get(call.variables[0]);
    }
    if ("values" in call && "variable" in call.values && call.values.variable !== undefined) {
      return undefined;
    }
    if (call.kind === "uidIn" && call.variable !== undefined) return undefined;
    const count = await orUnknown(() => this.#estimated.count(call));
    return count === Infinity ? undefined : count;
  }

  /** See `CallStatistics.looksAt`. */
  async looksAt(call: CallPlan): Promise<number | undefined> {
    return orUnknown(() => this.#estimated.looksAt(call));
  }

  /** The share of its predicate's nodes that a call is guessed to find. */
  guess(call: CallPlan): number {
    return shares[this.#estimated.of(call).guess(call)];
  }

  /**
   * The share of `count` nodes that passes, each condition for itself. Conditions are taken to be independent, and what
   * a list says of all nodes to hold for these.
   */
  async share(filter: FilterPlan, count: number, root: RootPlan | undefined): Promise<number> {
    const share = await this.#shareOf(filter, count, root);
    this.#expected.found.set(partOfFilter(filter), Math.round(share * count));
    return share;
  }

  async #shareOf(filter: FilterPlan, count: number, root: RootPlan | undefined): Promise<number> {
    switch (filter.kind) {
      case "and": {
        let share = 1;
        for (const part of await this.#order(filter, count))
          share *= await this.share(part, count * share, root);
        return share;
      }
      case "or": {
        let left = 1;
        for (const part of filter.filters) left *= 1 - (await this.share(part, count, root));
        return 1 - left;
      }
      case "not":
        return 1 - (await this.share(filter.filter, count, root));
      case "constant":
        return filter.value ? 1 : 0;
      case "edge":
        return this.#shareWith(filter.use, count, root);
      case "call":
        return this.#shareOfCall(filter.call, count, root);
    }
  }

  /** The parts of an AND as they would be asked of so many nodes. */
  async #order(
    filter: Extract<FilterPlan, { kind: "and" | "or" }>,
    count: number,
  ): Promise<readonly FilterPlan[]> {
    if (!areMany(count)) return filter.filters;
    const counted = async (call: CallPlan): Promise<number> =>
      (await this.countCall(call)) ?? Infinity;
    const order = await orderParts(filter.filters, this.#estimated.of, counted);
    this.#expected.orders.set(filter, order.map(partOfFilter));
    return order;
  }

  async #shareOfCall(call: CallPlan, count: number, root: RootPlan | undefined): Promise<number> {
    if (call.kind === "has") return this.#shareWith(call.use, count, root);
    const members = await this.countCall(call);
    if (members === undefined) return this.guess(call);
    if (count === 0 || members === 0) return 0;
    const use = "use" in call ? call.use : undefined;
    const present = use === undefined ? undefined : await this.#fanOuts.present(use);
    return Math.min(1, members / Math.max(1, present ?? count));
  }

  /** The share of nodes that have a predicate. A root that asks for a predicate says how many there are. */
  async #shareWith(use: PredicateUse, count: number, root: RootPlan | undefined): Promise<number> {
    const present = await this.#fanOuts.present(use);
    if (present === undefined || count === 0) return filterPassShare;
    const [written = present] = root?.choices ?? [];
    const among =
      typeof written === "number" ? count : (this.#expected.found.get(written) ?? count);
    return Math.min(1, present / Math.max(1, among));
  }

  /** What testing so many candidates reads. Nothing is told of the parts: `share` has done that. */
  async read(filter: FilterPlan, candidates: number): Promise<void> {
    const before = this.#expected.forget();
    this.#expected.reads.records += await this.#read(filter, candidates);
    this.#expected.restore(before);
  }

  /** Lists are counted here; the result is how many candidates' records are looked at, in one read of all parts. */
  async #read(filter: FilterPlan, candidates: number): Promise<number> {
    if (candidates < 1) return 0;
    switch (filter.kind) {
      case "constant":
        return 0;
      case "call":
        return (await this.#isReadByLists(filter.call, candidates)) ? 0 : candidates;
      case "not":
        return this.#read(filter.filter, candidates);
      case "or": {
        let most = 0;
        for (const part of filter.filters)
          most = Math.max(most, await this.#read(part, candidates));
        return most;
      }
      case "and":
        return this.#readAll(filter.filters, candidates);
      case "edge":
        return candidates + (await this.#readBehind(filter, candidates));
    }
  }

  /** Parts that lists answer come first; the others are asked about what those leave, those behind edges last. */
  async #readAll(parts: readonly FilterPlan[], candidates: number): Promise<number> {
    let left = candidates;
    let records = 0;
    const later: FilterPlan[] = [];
    for (const part of parts) {
      const read = part.kind === "edge" ? left : await this.#read(part, left);
      if (read > 0) later.push(part);
      else left *= await this.share(part, left, undefined);
    }
    const behind = later.filter(({ kind }) => kind === "edge");
    if (behind.length < later.length) records = left;
    for (const part of later) {
      if (part.kind !== "edge") left *= await this.share(part, left, undefined);
    }
    for (const part of behind) {
      records += await this.#read(part, left);
      left *= await this.share(part, left, undefined);
    }
    return records;
  }

  async #readBehind(
    filter: Extract<FilterPlan, { kind: "edge" }>,
    candidates: number,
  ): Promise<number> {
    if (filter.filter === undefined) return 0;
    const edges = ((await this.#fanOuts.of(filter.use)) ?? 0) * candidates;
    const targets = await this.#fanOuts.present({ ...filter.use, reverse: !filter.use.reverse });
    return this.#read(filter.filter, Math.min(edges, targets ?? edges));
  }

  /** Whether lists answer a call of a filter, which are then counted; else the candidates' records do. */
  async #isReadByLists(call: CallPlan, candidates: number): Promise<boolean> {
    const { filter } = this.#estimated.of(call).reads(call);
    if (filter === "nothing") return true;
    const members = await this.countCall(call);
    const { reads } = this.#expected;
    const isCheap = members !== undefined && members <= countMembersMax(candidates);
    if (filter === "values" && !(areMany(candidates) && isCheap)) return false;
    reads.lists++;
    reads.uids += Math.min(members ?? candidates, candidates);
    return true;
  }
}

/** What would be refused while the query runs is no number here. */
async function orUnknown(count: () => Promise<number>): Promise<number | undefined> {
  try {
    return await count();
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

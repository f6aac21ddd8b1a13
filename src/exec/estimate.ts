/**
 * How many nodes each step of a plan will see, from statistics alone: heads of lists (presence, tokens, targets), and
 * for edges the counts of a few nodes. Nothing of the query itself is run. Price: a head for each list that a condition
 * names, up to `edgeSampleNodes` records for each predicate that is followed.
 */
import { edgeSampleNodes, edgeSamplePlaces, filterPassShare, listsFrom } from "./costs.ts";
import { unionAll } from "../base/sorted.ts";
import type { ListRef, ColumnRequest } from "../graph/reader.ts";
import type { UidSet } from "../model/uid.ts";
import type {
  BlockPlan,
  CallPlan,
  EdgeField,
  FilterPlan,
  Level,
  PagePlan,
  PredicateUse,
  RootPlan,
} from "../plan/plan.ts";
import { Fault } from "../model/fault.ts";
import { bindPage, cutPage } from "./bind.ts";
import { functionOf } from "./functions.ts";
import { orderParts } from "./filter-order.ts";
import { partOfFilter } from "./profile.ts";
import type { Run } from "./run.ts";

export interface Estimates {
  /** Nodes by the part of the plan that gives them; absent where nothing is known. */
  readonly counts: ReadonlyMap<object, number>;
  /** By filter: its parts in the order in which they would be asked, where that is not the plan's. */
  readonly orders: ReadonlyMap<object, readonly object[]>;
}

export async function estimatePlan(run: Run): Promise<Estimates> {
  const estimator = new Estimator(run);
  for (const b of run.plan.schedule) {
    const block = run.plan.blocks[b];
    if (block !== undefined) await estimator.block(block);
  }
  return { counts: estimator.found, orders: estimator.orders };
}

class Estimator {
  readonly found = new Map<object, number>();
  readonly orders = new Map<object, readonly object[]>();
  readonly #run: Run;
  /** Nodes of each variable, as far as they are known. */
  readonly #variables = new Map<number, number>();
  readonly #fanOuts = new Map<string, number | undefined>();

  constructor(run: Run) {
    this.#run = run;
  }

  async block(block: BlockPlan): Promise<void> {
    const count = await this.#nodes(block);
    if (count === undefined) return;
    this.found.set(block, count);
    if (block.variable !== undefined) this.#variables.set(block.variable, count);
    if (block.recurse === undefined) await this.#level(block.level, count);
  }

  /** Nodes of a block after its filter and page. */
  async #nodes(block: BlockPlan): Promise<number | undefined> {
    const { root, filter, page } = block;
    if (root === undefined) return undefined;
    let first: number | undefined;
    let fewest: number | undefined;
    for (const [i, choice] of root.choices.entries()) {
      const count = await this.#countCall(choice.call);
      if (count === undefined) continue;
      this.found.set(choice, count);
      if (i === 0) first = count;
      if (count < (fewest ?? Infinity)) fewest = count;
    }
    const from = first ?? fewest;
    if (from === undefined) return undefined;
    const share = filter === undefined ? 1 : await this.#share(filter, from, root);
    const passing = Math.min(from * share, fewest ?? from);
    if (block.order !== undefined) this.found.set(block.order, Math.round(passing));
    return this.#page(page, passing);
  }

  #page(page: PagePlan, count: number): number {
    const whole = Math.round(count);
    const { start, end } = cutPage(bindPage(this.#run, page), whole);
    return end - start;
  }

  /** At most how many nodes a call finds. */
  async #countCall(call: CallPlan): Promise<number | undefined> {
    if (call.kind === "compareVal") return this.#variables.get(call.variable);
    if (call.kind === "uid" && call.variables[0] !== undefined) {
      return this.#variables.get(call.variables[0]);
    }
    if ("values" in call && "variable" in call.values && call.values.variable !== undefined) {
      return undefined;
    }
    if (call.kind === "uidIn" && call.variable !== undefined) return undefined;
    const count = await orUnknown(() => functionOf(call).count(this.#run, call));
    return count === Infinity ? undefined : count;
  }

  /**
   * The share of `count` nodes that passes, each condition for itself. Conditions are taken to be independent, and what
   * a list says of all nodes to hold for these.
   */
  async #share(filter: FilterPlan, count: number, root: RootPlan | undefined): Promise<number> {
    const share = await this.#shareOf(filter, count, root);
    this.found.set(filter.kind === "call" ? filter.call : filter, Math.round(share * count));
    return share;
  }

  async #shareOf(filter: FilterPlan, count: number, root: RootPlan | undefined): Promise<number> {
    switch (filter.kind) {
      case "and": {
        let share = 1;
        for (const part of await this.#order(filter, count))
          share *= await this.#share(part, count * share, root);
        return share;
      }
      case "or": {
        let left = 1;
        for (const part of filter.filters) left *= 1 - (await this.#share(part, count, root));
        return 1 - left;
      }
      case "not":
        return 1 - (await this.#share(filter.filter, count, root));
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
    if (count < listsFrom) return filter.filters;
    const counted = async (call: CallPlan): Promise<number> =>
      (await this.#countCall(call)) ?? Infinity;
    const order = await orderParts(filter.filters, counted);
    this.orders.set(filter, order.map(partOfFilter));
    return order;
  }

  async #shareOfCall(call: CallPlan, count: number, root: RootPlan | undefined): Promise<number> {
    if (call.kind === "has") return this.#shareWith(call.use, count, root);
    const members = await this.#countCall(call);
    if (members === undefined) return functionOf(call).passShare(call);
    if (count === 0 || members === 0) return 0;
    const use = "use" in call ? call.use : undefined;
    const present = use === undefined ? undefined : await this.#present(use);
    return Math.min(1, members / Math.max(1, present ?? count));
  }

  /** The share of nodes that have a predicate. A root that asks for a predicate says how many there are. */
  async #shareWith(use: PredicateUse, count: number, root: RootPlan | undefined): Promise<number> {
    const present = await this.#present(use);
    if (present === undefined || count === 0) return filterPassShare;
    const [written = present] = root?.choices ?? [];
    const among = typeof written === "number" ? count : (this.found.get(written) ?? count);
    return Math.min(1, present / Math.max(1, among));
  }

  async #present(use: PredicateUse): Promise<number | undefined> {
    const list = listOfUse(use);
    return list === undefined ? undefined : this.#count(list);
  }

  async #count(list: ListRef): Promise<number> {
    const counted = this.#run.reader.countLists([list]);
    return (counted instanceof Promise ? await counted : counted)[0] ?? 0;
  }

  async #level(level: Level, count: number): Promise<void> {
    this.found.set(level, count);
    for (const field of level.fields) {
      if (field.kind === "edge") await this.#edges(field, count);
      if (field.variable !== undefined && !this.#variables.has(field.variable)) {
        this.#variables.set(field.variable, count);
      }
    }
  }

  /** Edges of a field, and the nodes that they lead to. */
  async #edges(field: EdgeField, count: number): Promise<void> {
    const perNode = await this.#fanOut(field.use);
    if (perNode === undefined) return;
    const edges = perNode * count;
    const share =
      field.filter === undefined ? 1 : await this.#share(field.filter, edges, undefined);
    const perPage = count === 0 ? 0 : this.#page(field.page, (edges * share) / count);
    const isPaged = field.page.first !== undefined || field.page.offset !== undefined;
    const shown = Math.round(isPaged ? perPage * count : edges * share);
    this.found.set(field, shown);
    const targets = await this.#present({ ...field.use, reverse: !field.use.reverse });
    const distinct = Math.min(shown, targets ?? shown);
    if (field.variable !== undefined) this.#variables.set(field.variable, distinct);
    if (field.level !== undefined) await this.#level(field.level, distinct);
  }

  /** Edges of a node on the average of all nodes that have some, and the share of those that have some. */
  async #fanOut(use: PredicateUse): Promise<number | undefined> {
    const key = `${use.reverse ? "~" : ""}${use.name}`;
    if (!this.#fanOuts.has(key)) this.#fanOuts.set(key, await this.#sample(use));
    return this.#fanOuts.get(key);
  }

  /** Nodes from all over a list: the oldest ones often have the most edges. */
  async #spread(list: ListRef): Promise<UidSet> {
    const { reader } = this.#run;
    const total = await this.#count(list);
    const places = total <= edgeSampleNodes ? 1 : edgeSamplePlaces;
    const sets: UidSet[] = [];
    for (let i = 0; i < places; i++) {
      const skip = Math.floor((total * i) / places);
      const read = reader.readLists([list], { skip, limit: edgeSampleNodes / places });
      sets.push(...(read instanceof Promise ? await read : read));
    }
    return unionAll(sets);
  }

  async #sample(use: PredicateUse): Promise<number | undefined> {
    const list = listOfUse(use);
    const request = requestOfUse(use);
    if (list === undefined || request === undefined) return undefined;
    const nodes = await this.#spread(list);
    if (nodes.length === 0) return 0;
    const { reader } = this.#run;
    const levels = reader.readLevel(nodes, [request]);
    const [column] = levels instanceof Promise ? await levels : levels;
    if (column?.kind !== "count") return undefined;
    let sum = 0;
    for (const count of column.counts) sum += count;
    return sum / nodes.length;
  }
}

/** The nodes that have a predicate or, for `~`, that are pointed at. */
function listOfUse(use: PredicateUse): ListRef | undefined {
  const { predicate } = use;
  if (predicate === undefined) return undefined;
  if (!use.reverse) return { kind: "presence", predicate: predicate.id };
  const index = predicate.reverseIndex;
  return index === undefined ? undefined : { kind: "objects", index: index.id };
}

function requestOfUse(use: PredicateUse): ColumnRequest | undefined {
  const { predicate } = use;
  if (predicate === undefined) return undefined;
  if (!use.reverse) return { kind: "count", predicate: predicate.id };
  const index = predicate.reverseIndex;
  return index === undefined ? undefined : { kind: "reverseCount", index: index.id };
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

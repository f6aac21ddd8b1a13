/**
 * How many nodes each step of a plan will see, and what it will read for that, from statistics alone: heads of lists
 * (presence, tokens, targets), and for edges the counts of a few nodes. Nothing of the query itself is run. Price: a head
 * for each list that a condition names, up to `edgeSampleNodes` records for each predicate that is followed.
 */
import type {
  BlockPlan,
  CallPlan,
  EdgeField,
  FieldPlan,
  FilterPlan,
  Level,
  OrderPlan,
  PagePlan,
  RootPlan,
} from "../plan/plan.ts";
import { FilterEstimator } from "./estimate-filter.ts";
import { FanOuts } from "./fan-out.ts";
import { costOf } from "./query-cost.ts";
import { Expectation } from "./expectation.ts";
import type { Estimated } from "./statistics.ts";
import { isHeld, isSorted, isWalkLong, stepsOfWalk } from "./walk-choice.ts";

export interface Estimates {
  /** Nodes by the part of the plan that gives them; absent where nothing is known. */
  readonly counts: ReadonlyMap<object, number>;
  /** By filter: its parts in the order in which they would be asked, where that is not the plan's. */
  readonly orders: ReadonlyMap<object, readonly object[]>;
  /** What the query costs, in records (`query-cost.ts`). */
  readonly cost: number;
}

export async function estimatePlan(estimated: Estimated): Promise<Estimates> {
  const estimator = new Estimator(estimated);
  for (const b of estimated.plan.schedule) {
    const block = estimated.plan.blocks[b];
    if (block !== undefined) await estimator.block(block);
  }
  const { found, orders, reads } = estimator.expected;
  return { counts: found, orders, cost: costOf(reads) };
}

/** Candidates that are tested at a time, at least. */
const batchMin = 32;

/** Rounds of a recursion without a depth that are looked at: by then it has met all that it will. */
const roundsMax = 64;

class Estimator {
  readonly expected = new Expectation();
  readonly #estimated: Estimated;
  readonly #fanOuts: FanOuts;
  readonly #filters: FilterEstimator;

  constructor(estimated: Estimated) {
    this.#estimated = estimated;
    this.#fanOuts = new FanOuts(estimated.reader);
    this.#filters = new FilterEstimator(estimated, this.#fanOuts, this.expected);
  }

  async block(block: BlockPlan): Promise<void> {
    const { expected } = this;
    if (block.shortest !== undefined) await this.#paths(block);
    const count = await this.#nodes(block);
    if (count === undefined) return;
    expected.found.set(block, count);
    if (block.variable !== undefined) expected.variables.set(block.variable, count);
    if (block.groupBy !== undefined) expected.reads.records += count;
    if (block.recurse === undefined) await this.#level(block.level, count);
    else await this.#recurse(block, count);
  }

  /** Nodes of a block after its filter and page. */
  async #nodes(block: BlockPlan): Promise<number | undefined> {
    const { root, filter, page } = block;
    if (root === undefined) return undefined;
    const { found } = this.expected;
    let first: number | undefined;
    let fewest: number | undefined;
    let taken = root.choices[0];
    for (const [i, choice] of root.choices.entries()) {
      const count = await this.#filters.countCall(choice.call);
      if (count === undefined) continue;
      found.set(choice, count);
      if (i === 0) first = count;
      if (count < (fewest ?? Infinity)) {
        fewest = count;
        taken = choice;
      }
    }
    const from = first ?? fewest;
    if (from === undefined) return this.#unknown(block, root);
    const share = filter === undefined ? 1 : await this.#filters.share(filter, from, root);
    const passing = Math.min(from * share, fewest ?? from);
    if (block.order !== undefined) found.set(block.order, Math.round(passing));
    const call = taken?.call ?? root.call;
    const looked = fewest ?? from;
    await this.#readRoot(block, { call, rest: taken?.rest, count: looked, looked, passing });
    // Pages are cut from what @cascade leaves: until then all are read.
    if (block.level.cascade !== undefined) {
      this.expected.reads.records += passing - this.#shown(page, passing);
    }
    return this.#shown(page, passing);
  }

  /** What is read where no list tells how many nodes there are: all that have the predicate may be looked at. */
  async #unknown(block: BlockPlan, root: RootPlan): Promise<undefined> {
    const { call } = root;
    const present =
      "use" in call && call.use !== undefined ? await this.#fanOuts.present(call.use) : 0;
    const looksAt = await this.#filters.looksAt(call);
    const looked = Math.min(looksAt ?? Infinity, present ?? 0);
    const count = Math.min(looked, (present ?? 0) * this.#filters.guess(call));
    await this.#readRoot(block, { call, rest: block.filter, count, looked, passing: count });
    await this.#quietly(() => this.#level(block.level, this.#shown(block.page, count)));
    return undefined;
  }

  /** For what is read alone: nothing that is not known is told of. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    const before = this.expected.forget();
    await work();
    this.expected.restore(before);
  }

  /** What finding, testing and ordering a block's nodes reads. */
  async #readRoot(block: BlockPlan, step: RootStep): Promise<void> {
    const { reads } = this.expected;
    const { call, rest, count, looked, passing } = step;
    const { wanted } = this.#estimated.page(block.page, count);
    const walk = await this.#walkSteps(block, step, wanted);
    const isEarly = block.order === undefined && block.level.cascade === undefined;
    // Batches grow until the page is full: as many again may be looked at as are needed.
    const needed = looked === 0 ? 0 : (2 * wanted * looked) / Math.max(1, passing);
    const tested = walk ?? (isEarly ? Math.min(looked, Math.max(batchMin, needed)) : looked);
    const isBare = rest === undefined && isEarly && block.root?.accessPath === "seek";
    reads.lists++;
    if (call.kind !== "uid") reads.uids += walk ?? (isBare ? Math.min(wanted, looked) : looked);
    if (walk !== undefined) reads.tokens += walk;
    if (this.#estimated.of(call).reads(call).rechecks) reads.records += tested;
    if (rest !== undefined) await this.#filters.read(rest, Math.min(tested, count));
    if (walk === undefined) this.#readOrder(block.order, passing);
  }

  /** How far an order's index is walked; undefined where the nodes are sorted. */
  async #walkSteps(block: BlockPlan, step: RootStep, wanted: number): Promise<number | undefined> {
    const { root, order } = block;
    if (root?.accessPath !== "walk" || order?.kind !== "values" || wanted === Infinity) {
      return undefined;
    }
    const [key] = order.keys;
    const range = root.choices.find(({ call }) => isRangeOf(call, order));
    // A range of the walked index is not counted: the walk ends at the page.
    const counts = root.choices.map((choice) =>
      isRangeOf(choice.call, order) ? Infinity : (this.expected.found.get(choice) ?? Infinity),
    );
    const count = Math.min(...counts);
    if (key === undefined || isSorted(count, wanted)) return undefined;
    const present = (await this.#fanOuts.present(key.use)) ?? step.count;
    const passing = Math.max(1, step.passing);
    if (range !== undefined) {
      const members = this.expected.found.get(range) ?? present;
      return Math.min(members, await this.#wholeTokens(order, (wanted * members) / passing));
    }
    // Beside a walk, a node is looked for in the root's one list or in another condition's held nodes.
    const isHeldBeside = counts.indexOf(count) > 0 && isHeld(count);
    if (!isHeldBeside && !this.#estimated.of(root.call).isOneList(root.call)) return undefined;
    if (isWalkLong(stepsOfWalk(wanted, present, count), count)) return undefined;
    const steps = stepsOfWalk(wanted, present, passing);
    return Math.min(present, await this.#wholeTokens(order, steps));
  }

  /** A walk reads whole tokens: of five different values each is met by many nodes. The first token tells how many. */
  async #wholeTokens(order: OrderPlan & { kind: "values" }, steps: number): Promise<number> {
    if (order.walk === undefined) return steps;
    let members = 1;
    const reverse = order.keys[0]?.descending === true;
    const all = { from: undefined, to: undefined, reverse };
    await this.#estimated.reader.countTokens(order.walk.id, all, (_, count) => {
      members = Math.max(1, count);
      return false;
    });
    return Math.ceil(steps / members) * members;
  }

  #readOrder(order: OrderPlan | undefined, count: number): void {
    if (order?.kind === "values") this.expected.reads.records += count;
  }

  #shown(page: PagePlan, count: number): number {
    return this.#estimated.page(page, Math.round(count)).shown;
  }

  async #level(level: Level, count: number): Promise<void> {
    const { found, variables, reads } = this.expected;
    found.set(level, count);
    if (await this.#readsRecords(level, count)) reads.records += await this.#distinct(level, count);
    for (const field of level.fields) {
      if (field.kind === "edge") await this.#edges(field, count);
      if (field.kind === "count" && field.filter !== undefined) {
        await this.#counted(field.use, field.filter, count);
      }
      if (field.variable !== undefined && !variables.has(field.variable)) {
        variables.set(field.variable, count);
      }
    }
  }

  /** Where no list tells how many nodes edges lead to, a level is taken to have as many as have one of its fields. */
  async #distinct({ fields, path }: Level, count: number): Promise<number> {
    if (path.length === 0) return count;
    let most = 0;
    for (const field of fields) {
      if (field.kind !== "value" && field.kind !== "edge" && field.kind !== "count") continue;
      most += (await this.#fanOuts.present(field.use)) ?? Infinity;
    }
    return most === 0 ? count : Math.min(count, most);
  }

  /** Whether a level's fields look at records: the values of many nodes may all come from indexes. */
  async #readsRecords({ fields }: Level, count: number): Promise<boolean> {
    const read = fields.filter(isRead);
    for (const field of read) {
      if (field.kind !== "value" || field.facets !== undefined) return true;
      if (!(await this.#estimated.isColumn(field.predicate, count))) return true;
    }
    return false;
  }

  /** Nodes behind edges that are tested before they are counted. */
  async #counted(use: EdgeField["use"], filter: FilterPlan, count: number): Promise<void> {
    const perNode = (await this.#fanOuts.of(use)) ?? 0;
    await this.#filters.read(filter, perNode * count);
  }

  /** Edges of a field, and the nodes that they lead to. */
  async #edges(field: EdgeField, count: number): Promise<void> {
    const { found, variables, reads } = this.expected;
    const perNode = await this.#fanOuts.of(field.use);
    if (perNode === undefined) return;
    const edges = perNode * count;
    const targets = await this.#fanOuts.present({ ...field.use, reverse: !field.use.reverse });
    const reached = Math.min(edges, targets ?? edges);
    const share =
      field.filter === undefined ? 1 : await this.#filters.share(field.filter, edges, undefined);
    if (field.filter !== undefined) await this.#filters.read(field.filter, reached);
    if (field.order?.kind === "values") reads.records += reached * share;
    if (field.groupBy !== undefined) reads.records += reached * share;
    const perPage = count === 0 ? 0 : this.#shown(field.page, (edges * share) / count);
    const isPaged = field.page.first !== undefined || field.page.offset !== undefined;
    const shown = Math.round(isPaged ? perPage * count : edges * share);
    found.set(field, shown);
    const distinct = Math.min(shown, targets ?? shown);
    if (field.variable !== undefined) variables.set(field.variable, distinct);
    if (field.level !== undefined) await this.#level(field.level, distinct);
  }

  /** Each round reads the nodes that the one before has found; without `loop` each node's edges are followed once. */
  async #recurse({ level, recurse }: BlockPlan, count: number): Promise<void> {
    const rounds = Math.min(this.#estimated.depth(recurse) || Infinity, roundsMax);
    const { reads } = this.expected;
    let all = 0;
    let frontier = count;
    for (let round = 0; round < rounds && frontier >= 1; round++) {
      reads.records += frontier;
      let next = 0;
      let most = 0;
      for (const field of level.fields) {
        if (field.kind !== "edge") continue;
        const targets = await this.#fanOuts.present({ ...field.use, reverse: !field.use.reverse });
        const reached = ((await this.#fanOuts.of(field.use)) ?? 0) * frontier;
        next += Math.min(reached, targets ?? reached);
        most += targets ?? 0;
      }
      frontier = Math.min(next, Math.max(0, most - all));
      all += frontier;
    }
  }

  /** A search may look at every node that has one of the edges. */
  async #paths({ level }: BlockPlan): Promise<void> {
    for (const field of level.fields) {
      if (field.kind !== "edge") continue;
      this.expected.reads.records += (await this.#fanOuts.present(field.use)) ?? 0;
    }
  }
}

/** Whether a call is an inequality on the index that an order walks. */
function isRangeOf(call: CallPlan, order: OrderPlan): boolean {
  return (
    order.kind === "values" &&
    call.kind === "compare" &&
    call.operator !== "eq" &&
    call.use.languages.length === 0 &&
    call.index !== undefined &&
    call.index.id === order.walk?.id
  );
}

interface RootStep {
  /** The root that is taken, and what its nodes are still tested for. */
  readonly call: CallPlan;
  readonly rest: FilterPlan | undefined;
  /** What it finds, and what of that passes. */
  readonly count: number;
  readonly passing: number;
  /** What is looked at to find them. */
  readonly looked: number;
}

/** Whether a field looks at records. */
function isRead(field: FieldPlan): boolean {
  switch (field.kind) {
    case "value":
    case "edge":
    case "count":
    case "expand":
    case "checkpwd":
      return true;
    case "uid":
    case "countUid":
    case "val":
    case "aggregate":
    case "math":
    case "absent":
    case "refused":
      return false;
  }
}

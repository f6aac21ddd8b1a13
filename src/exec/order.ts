/**
 * Orders by predicates and by variables (reference/dql 4.6). Price: one read of the first key for all members, of the
 * next keys for those that tie; with `first` a heap of the page's size instead of a sort.
 */
import { must } from "../base/assert.ts";
import { ranksMembers } from "../optimizer/walk-choice.ts";
import { tokenizerOf } from "../tokens/tokenizers.ts";
import type { Cell, Column, ColumnRequest } from "../graph/reader.ts";
import { compareValues } from "../model/compare.ts";
import { compareText } from "../model/text-order.ts";
import type { UidSet } from "../model/uid.ts";
import type { OrderKeyPlan, OrderPlan } from "../plan/plan.ts";
import { textOrder } from "../tokens/collate.ts";
import { cutPage, type BoundPage } from "./bind.ts";
import { buildChoice, tryConvertCell } from "./cells.ts";
import type { ValueColumn } from "./frame.ts";
import { yieldingFrom, selectYielding, sortYielding } from "./yielding-sort.ts";
import { readRows } from "./read-rows.ts";
import { keepEdges, pageEdges, placesIn, sortEdges, distinctTargets, type Edges } from "./rows.ts";
import { countUids, queryFault, raiseRefusal, valuesOf, type Run } from "./run.ts";
import { alignValues } from "./value-column.ts";

type Compare = (a: number, b: number) => number;

/** How the members of a set compare, by their places; `hasValue` only where missing values are left out. */
interface Ranking {
  /** How many members there are. */
  readonly count: number;
  readonly compare: Compare;
  readonly hasValue: Uint8Array | undefined;
}

/** Raises what is wrong with an order whatever the nodes. */
export function checkOrder(run: Run, order: OrderPlan, page: BoundPage): void {
  if (order.kind === "refused") raiseRefusal(run, order.refusal);
  if (order.kind === "values" && page.first < 0) {
    const name = order.keys[0]?.use.name ?? "";
    throw queryFault(
      `We do not yet support negative or infinite count with sorting: ${name} ${page.first}. ` +
        "Try flipping order and return first few elements instead.",
    );
  }
}

/**
 * The edges of each row in order, where `isPaging` those behind the page may be gone. An order by predicates keeps at
 * most a thousand where `first` is absent.
 */
export async function orderEdges(
  run: Run,
  order: OrderPlan,
  edges: Edges,
  { page, isPaging }: { readonly page: BoundPage; readonly isPaging: boolean },
): Promise<Edges> {
  checkOrder(run, order, page);
  if (edges.targets.length === 0) return edges;
  const span = run.profiler?.begin(order, edges.targets.length);
  const isMany = edges.targets.length >= yieldingFrom;
  const distinct = distinctTargets(edges);
  if (isMany) await rest(run);
  const ranking = await rankMembers(run, order, distinct);
  if (isMany) await rest(run);
  const places = placesIn(distinct, edges.targets);
  if (isMany) await rest(run);
  const kept = dropMissing(edges, places, ranking);
  const keptPlaces = kept === edges ? places : placesIn(distinct, kept.targets);
  const sorted = !isMany
    ? sortEdges(kept, compareEdges(ranking, keptPlaces))
    : await sortManyEdges(
        run,
        { edges: kept, places: keptPlaces, ranking },
        reachOf(run, order, page, isPaging),
      );
  span?.end(sorted.targets.length);
  return order.kind === "values" && page.first === 0
    ? pageEdges(sorted, { first: run.limits.orderRowsMax + page.offset, offset: 0, after: 0 })
    : sorted;
}

/** Lets others run where the slice of time is used up. */
async function rest(run: Run): Promise<void> {
  const pause = run.yielder.check();
  if (pause !== undefined) await pause;
}

function compareEdges(ranking: Ranking, places: Uint32Array): Compare {
  return (a, b) =>
    ranking.compare(
      must(places[a], "each row has its place"),
      must(places[b], "each row has its place"),
    ) || a - b;
}

/** How many edges of a row are looked at afterwards; Infinity for all. */
function reachOf(run: Run, order: OrderPlan, page: BoundPage, isPaging: boolean): number {
  if (order.kind === "values" && page.first === 0) return run.limits.orderRowsMax + page.offset;
  return isPaging && page.first > 0 ? page.first + page.offset : Infinity;
}

interface RankedEdges {
  readonly edges: Edges;
  /** Each edge's target among the members. */
  readonly places: Uint32Array;
  readonly ranking: Ranking;
}

/** Rows of so few edges are sorted without a promise for each. */
const rowAtOnce = 64;

/** Edges of such rows between two looks at the clock. */
const edgesPerRest = 1024;

/** Rests on the way. Of each row at most `count` edges. */
async function sortManyEdges(run: Run, ranked: RankedEdges, count: number): Promise<Edges> {
  const { edges, places } = ranked;
  const compare = await rankEdges(run, ranked, count);
  await rest(run);
  const rowCount = edges.offsets.length - 1;
  const offsets = new Uint32Array(rowCount + 1);
  const order = new Uint32Array(places.length);
  let length = 0;
  let done = 0;
  for (let row = 0; row < rowCount; row++) {
    const from = must(edges.offsets[row], "each row has its edges");
    const end = must(edges.offsets[row + 1], "each row has its edges");
    const own = order.subarray(length, length + end - from);
    for (let e = 0; e < own.length; e++) own[e] = from + e;
    if (own.length <= rowAtOnce) {
      if (own.length > 1) own.sort(compare);
      length += Math.min(own.length, count);
    } else {
      const isSelected = count * 8 < own.length;
      const sorted = isSelected
        ? await selectYielding(run.yielder, own, count, compare)
        : await sortYielding(run.yielder, own, compare);
      order.set(sorted, length);
      length += sorted.length;
    }
    offsets[row + 1] = length;
    done += own.length + 1;
    if (done < edgesPerRest) continue;
    done = 0;
    await rest(run);
  }
  return takeEdges(edges, offsets, order.subarray(0, length));
}

/** Edges compare by the ranks of their targets where several rows share them. */
async function rankEdges(run: Run, ranked: RankedEdges, count: number): Promise<Compare> {
  const { edges, places, ranking } = ranked;
  const { hasValue } = ranking;
  const rowCount = edges.offsets.length - 1;
  const memberCount = ranking.count;
  if (!ranksMembers(places.length, memberCount, rowCount, count)) {
    return compareEdges(ranking, places);
  }
  const members = new Uint32Array(memberCount);
  let valued = 0;
  for (let m = 0; m < memberCount; m++) if (hasValue?.[m] !== 0) members[valued++] = m;
  const inOrder = await sortYielding(
    run.yielder,
    members.subarray(0, valued),
    (a, b) => ranking.compare(a, b) || a - b,
  );
  const ranks = new Uint32Array(memberCount);
  let rank = 0;
  for (let i = 1; i < valued; i++) {
    const member = must(inOrder[i], "an order has each place");
    if (ranking.compare(must(inOrder[i - 1], "an order has each place"), member) !== 0) rank++;
    ranks[member] = rank;
  }
  const rankOf = (edge: number): number =>
    must(ranks[must(places[edge], "each edge has its place")], "each place has its rank");
  return (a, b) => rankOf(a) - rankOf(b) || a - b;
}

function takeEdges(edges: Edges, offsets: Uint32Array, order: Uint32Array): Edges {
  const targets = new Float64Array(order.length);
  order.forEach((edge, i) => {
    targets[i] = must(edges.targets[edge], "each edge has its target");
  });
  const { facets } = edges;
  if (facets === undefined) return { offsets, targets, facets };
  return { offsets, targets, facets: Array.from(order, (e) => facets[e]) };
}

/** Nodes without a value of the variable leave their row, unless no node of the row has one. */
function dropMissing(edges: Edges, places: Uint32Array, ranking: Ranking): Edges {
  const { hasValue } = ranking;
  if (hasValue === undefined || !hasValue.includes(0)) return edges;
  const keep = new Uint8Array(places.length);
  for (let row = 0; row + 1 < edges.offsets.length; row++) {
    const from = must(edges.offsets[row], "each row has its edges");
    const to = must(edges.offsets[row + 1], "each row has its edges");
    let any = 0;
    for (let e = from; e < to; e++) {
      keep[e] = hasValue[places[e] ?? 0] ?? 0;
      any |= keep[e] ?? 0;
    }
    if (any === 0) keep.fill(1, from, to);
  }
  return keepEdges(edges, keep);
}

/**
 * The members in order, cut to the page where `isPaging`. With `first` only as many as the page needs are selected
 * from a heap instead of sorting all.
 */
export async function orderMembers(
  run: Run,
  order: OrderPlan,
  uids: UidSet,
  page: BoundPage,
  isPaging: boolean,
): Promise<Float64Array> {
  checkOrder(run, order, page);
  if (uids.length === 0) return uids;
  const span = run.profiler?.begin(order, uids.length);
  const ranking = await rankMembers(run, order, uids);
  const { compare, hasValue } = ranking;
  const all = new Uint32Array(uids.length);
  const leavesOut = hasValue?.includes(1) === true;
  let left = 0;
  for (let i = 0; i < all.length; i++) if (!leavesOut || hasValue[i] === 1) all[left++] = i;
  const places = all.subarray(0, left);
  const limited =
    order.kind === "values" && page.first === 0
      ? { ...page, first: run.limits.orderRowsMax }
      : page;
  const { start, end } = isPaging
    ? cutPage(limited, places.length)
    : { start: 0, end: cutPage({ ...limited, offset: 0 }, places.length).end };
  const last = isPaging || page.first === 0 ? end : places.length;
  const inOrder: Compare = (a, b) => compare(a, b) || a - b;
  const isSelected = page.first >= 0 && last * 8 < places.length;
  const sorted = isSelected
    ? await selectYielding(run.yielder, places, last, inOrder)
    : await sortYielding(run.yielder, places, inOrder);
  run.profiler?.note(order, isSelected ? "selected by a heap" : "sorted");
  span?.end(Math.max(0, last - start));
  return Float64Array.from(sorted.subarray(start, last), (place) =>
    must(uids[place], "each row has its node"),
  );
}

async function rankMembers(run: Run, order: OrderPlan, uids: UidSet): Promise<Ranking> {
  switch (order.kind) {
    case "refused":
      return raiseRefusal(run, order.refusal);
    case "variable":
      return rankByVariable(valuesOf(run, order.variable), uids, order.descending);
    case "values":
      return {
        count: uids.length,
        compare: await compareByKeys(run, order.keys, uids),
        hasValue: undefined,
      };
  }
}

function rankByVariable(column: ValueColumn, uids: UidSet, descending: boolean): Ranking {
  const hasValue = new Uint8Array(uids.length);
  const values = alignValues(column, uids);
  for (let i = 0; i < values.length; i++) if (values[i] !== undefined) hasValue[i] = 1;
  const sign = descending ? -1 : 1;
  return {
    count: uids.length,
    compare: (a, b) => {
      const left = values[a];
      const right = values[b];
      if (left === undefined || right === undefined) return 0;
      return sign * compareValues(left, right);
    },
    hasValue,
  };
}

async function compareByKeys(
  run: Run,
  keys: readonly OrderKeyPlan[],
  uids: UidSet,
): Promise<Compare> {
  const requests = keys.map((key): ColumnRequest => ({
    kind: "cells",
    predicate: key.predicate.id,
  }));
  const columns = await readRows(run, uids, requests);
  const turning: (readonly (Cell | undefined)[])[] = [];
  const compares = keys.map((key, k) => {
    countUids(run, key.use, uids.length);
    const cells = cellsOfKey(key, columns[k]);
    if (key.turnsMissing) turning.push(cells);
    return compareByKey(key, cells);
  });
  const [only] = compares;
  if (compares.length === 1 && only !== undefined && turning.length === 0) return only;
  return (a, b) => {
    for (const compare of compares) {
      const difference = compare(a, b);
      if (difference !== 0) return difference;
    }
    for (const cells of turning) if (cells[a] === undefined && cells[b] === undefined) return b - a;
    return 0;
  };
}

/** Missing values last in both directions. Numbers compare as doubles, whole values only where those fall together. */
function compareByKey(key: OrderKeyPlan, cells: readonly (Cell | undefined)[]): Compare {
  const sign = key.descending ? -1 : 1;
  const kind = key.predicate.definition.kind;
  const isText = kind === "string" || kind === "default";
  const isIndexed = key.predicate.indexes.some((index) => tokenizerOf(index)?.sortable === true);
  const texts = key.collation === undefined ? compareText : textOrder(key.collation, isIndexed);
  const compareCells = isText
    ? (a: Cell, b: Cell) => texts(a.text, b.text)
    : (a: Cell, b: Cell) => a.number - b.number || compareValues(a.value, b.value);
  return (a, b) => {
    const left = cells[a];
    const right = cells[b];
    if (left === undefined || right === undefined) {
      return left === right ? 0 : left === undefined ? 1 : -1;
    }
    return sign * compareCells(left, right);
  };
}

function cellsOfKey(key: OrderKeyPlan, column: Column | undefined): (Cell | undefined)[] {
  const kind = key.predicate.definition.kind;
  if (column?.kind !== "cells" || kind === "uid") return [];
  const choose = key.predicate.definition.list
    ? (cells: readonly Cell[]) => cells[0]
    : buildChoice(key.use.languages);
  return column.cells.map((row) => {
    const cell = row === undefined ? undefined : choose(row);
    return cell === undefined ? undefined : tryConvertCell(cell, kind);
  });
}

/**
 * Orders by predicates and by variables (dql.md 4.6). Price: one read of the first key for all members, of the next keys
 * for those that tie; with `first` a heap of the page's size instead of a sort.
 */
import { selectFirst } from "../base/heap.ts";
import type { Cell, Column, Want } from "../graph/reader.ts";
import { compareValues } from "../model/compare.ts";
import { compareText } from "../model/text-order.ts";
import type { UidSet } from "../model/uid.ts";
import type { OrderKeyPlan, OrderPlan } from "../plan/plan.ts";
import { textOrder } from "../tokens/collate.ts";
import { cutPage, type BoundPage } from "./bind.ts";
import { buildChoice, tryConvertCell } from "./cells.ts";
import type { ValueColumn } from "./frame.ts";
import { keepEdges, pageEdges, placesIn, sortEdges, distinctTargets, type Edges } from "./rows.ts";
import { countUids, queryFault, raiseRefusal, valuesOf, type Run } from "./run.ts";
import { alignValues } from "./value-column.ts";

type Compare = (a: number, b: number) => number;

/** How the members of a set compare, by their places; `hasValue` only where missing values are left out. */
interface Ranking {
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

/** The edges of each row in order. An order by predicates keeps at most a thousand where `first` is absent. */
export async function orderEdges(
  run: Run,
  order: OrderPlan,
  edges: Edges,
  page: BoundPage,
): Promise<Edges> {
  checkOrder(run, order, page);
  if (edges.targets.length === 0) return edges;
  const span = run.profiler?.begin(order, edges.targets.length);
  const distinct = distinctTargets(edges);
  const ranking = await rankMembers(run, order, distinct);
  const places = placesIn(distinct, edges.targets);
  const kept = dropMissing(edges, places, ranking);
  const keptPlaces = kept === edges ? places : placesIn(distinct, kept.targets);
  const sorted = sortEdges(
    kept,
    (a, b) => ranking.compare(keptPlaces[a] ?? 0, keptPlaces[b] ?? 0) || a - b,
  );
  span?.end(sorted.targets.length);
  return order.kind === "values" && page.first === 0
    ? pageEdges(sorted, { first: run.limits.orderRowsMax + page.offset, offset: 0, after: 0 })
    : sorted;
}

/** Nodes without a value of the variable leave their row, unless no node of the row has one. */
function dropMissing(edges: Edges, places: Uint32Array, ranking: Ranking): Edges {
  const { hasValue } = ranking;
  if (hasValue === undefined) return edges;
  const keep = new Uint8Array(places.length);
  for (let row = 0; row + 1 < edges.offsets.length; row++) {
    const from = edges.offsets[row] ?? 0;
    const to = edges.offsets[row + 1] ?? 0;
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
  const places: number[] = [];
  const leavesOut = hasValue?.includes(1) === true;
  for (let i = 0; i < uids.length; i++) if (!leavesOut || hasValue[i] === 1) places.push(i);
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
    ? selectFirst(places, last, (a, b) => inOrder(a, b) < 0)
    : places.sort(inOrder);
  run.profiler?.note(order, isSelected ? "selected by a heap" : "sorted");
  span?.end(Math.max(0, last - start));
  return Float64Array.from(sorted.slice(start, last), (place) => uids[place] ?? 0);
}

async function rankMembers(run: Run, order: OrderPlan, uids: UidSet): Promise<Ranking> {
  switch (order.kind) {
    case "refused":
      return raiseRefusal(run, order.refusal);
    case "variable":
      return rankByVariable(valuesOf(run, order.variable), uids, order.descending);
    case "values":
      return { compare: await compareByKeys(run, order.keys, uids), hasValue: undefined };
  }
}

function rankByVariable(column: ValueColumn, uids: UidSet, descending: boolean): Ranking {
  const hasValue = new Uint8Array(uids.length);
  const values = alignValues(column, uids);
  for (let i = 0; i < values.length; i++) if (values[i] !== undefined) hasValue[i] = 1;
  const sign = descending ? -1 : 1;
  return {
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
  const wants = keys.map((key): Want => ({ kind: "cells", predicate: key.predicate.id }));
  const read = run.reader.readLevel(uids, wants);
  const columns = read instanceof Promise ? await read : read;
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
  const isIndexed = key.predicate.indexes.some((index) => index.tokenizer === "exact");
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

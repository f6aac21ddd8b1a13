/**
 * @groupby: nodes with equal keys become groups, with aggregates over their values (reference/dql 4.15). Price: one
 * read of the keys and of what is aggregated; one key with few values that is only counted comes from its index, a walk
 * beside the nodes.
 */
import { must } from "../base/assert.ts";
import type { Cell, Column, EdgeColumn, ColumnRequest } from "../graph/reader.ts";
import { compareValues, isOrderable } from "../model/compare.ts";
import { compareText } from "../model/text-order.ts";
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { GroupAggregatePlan, GroupPlan, PredicateUse, RootPlan } from "../plan/plan.ts";
import { aggregateValues, canAggregateGroup } from "./aggregate.ts";
import { buildChoice, convertCell, tryConvertCell } from "./cells.ts";
import type { Group } from "./frame.ts";
import { readIndexColumn } from "./index-column.ts";
import { sortYielding } from "./yielding-sort.ts";
import { readRows } from "./read-rows.ts";
import { distinctTargets, placesIn } from "./rows.ts";
import { countUids, queryFault, type Run } from "./run.ts";

interface GroupedNodes {
  readonly offsets: Uint32Array;
  readonly targets: Float64Array;
  /** What found the nodes, where they are those of a block's root. */
  readonly root?: RootPlan | undefined;
}

/**
 * The groups of each row's nodes: row i has targets[offsets[i]] … targets[offsets[i + 1] - 1]. undefined for a row
 * without any group. A node without one of the keys is in no group, unless no node of its row has that key: then the
 * key is left out of the row's groups. One with several edges of a key is in several.
 */
export async function groupRows(
  run: Run,
  plan: GroupPlan,
  { offsets, targets: members, root }: GroupedNodes,
): Promise<readonly (readonly Group[] | undefined)[]> {
  const rowCount = offsets.length - 1;
  const none = Array.from({ length: rowCount }, () => undefined);
  if (members.length === 0) return none;
  checkAggregates(plan);
  const uids = distinctTargets({ offsets, targets: members, facets: undefined });
  const source = await readSource(run, plan, uids, root);
  const places = placesIn(uids, members);
  const begin = members.length > nodesAtOnce ? run.yielder.check() : undefined;
  if (begin !== undefined) await begin;
  const byRow: (readonly Group[] | undefined)[] = [];
  for (let row = 0; row < rowCount; row++) {
    const nodes = places.subarray(
      must(offsets[row], "each row has its edges"),
      must(offsets[row + 1], "each row has its edges"),
    );
    const groups =
      nodes.length > nodesAtOnce
        ? await formManyGroups(run, plan, source, nodes)
        : formGroups(run, plan, source, nodes);
    if (groups.length > 0 && plan.refusal !== undefined) throw queryFault(plan.refusal);
    byRow.push(groups.length === 0 ? undefined : groups);
    if ((row & 15) !== 15) continue;
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  return byRow;
}

function checkAggregates(plan: GroupPlan): void {
  for (const aggregate of plan.aggregates) {
    const definition = aggregate.kind === "count" ? undefined : aggregate.use.predicate?.definition;
    if (aggregate.kind === "count" || definition === undefined) continue;
    const { kind, name } = definition;
    if (kind === "uid" || !canAggregateGroup(aggregate.function, kind)) {
      throw queryFault(`Aggregator "${aggregate.function}" could not apply on ${name}`);
    }
  }
}

/** undefined stands for a key that no node of the row has. */
type Key = Group["keys"][number];

/** Beside the nodes: their keys, one list for each of the plan's, and their values to aggregate. */
interface Source {
  readonly keys: readonly ((node: number) => readonly Key[])[];
  readonly values: readonly ((node: number) => Value | undefined)[];
}

/** One read for everything. */
async function readSource(
  run: Run,
  plan: GroupPlan,
  uids: UidSet,
  root: RootPlan | undefined,
): Promise<Source> {
  const indexed = await readIndexedSource(run, plan, uids, root);
  if (indexed !== undefined) return indexed;
  const requests: ColumnRequest[] = [];
  const keyRequests = plan.keys.map(({ use }) => {
    const request = requestOf(use);
    if (request === undefined) return -1;
    countUids(run, use, uids.length);
    return requests.push(request) - 1;
  });
  const valueRequests = plan.aggregates.map((aggregate) =>
    addValueRequest(run, requests, aggregate, uids),
  );
  const columns = await readRows(run, uids, requests);
  return {
    keys: plan.keys.map(({ use }, k) =>
      keysOf(use, columns[must(keyRequests[k], "each key was asked for")]),
    ),
    values: plan.aggregates.map((aggregate, a) =>
      valuesOf(aggregate, columns[must(valueRequests[a], "each aggregate was asked for")]),
    ),
  };
}

/** One key of few values and nothing but counts: the index alone says who belongs where. */
async function readIndexedSource(
  run: Run,
  plan: GroupPlan,
  uids: UidSet,
  root: RootPlan | undefined,
): Promise<Source | undefined> {
  const [key] = plan.keys;
  const predicate = key?.use.predicate;
  const isCounting = plan.aggregates.every((aggregate) => aggregate.kind === "count");
  if (key === undefined || predicate === undefined || plan.keys.length > 1 || !isCounting) {
    return undefined;
  }
  const cells = await readIndexColumn(run, predicate, uids, root);
  if (cells === undefined) return undefined;
  countUids(run, key.use, uids.length);
  // Nodes of one value share its cell, and so its list of keys.
  const lists = new Map<Cell, readonly Key[]>();
  const keysOfCell = (cell: Cell): readonly Key[] => {
    const known = lists.get(cell);
    if (known !== undefined) return known;
    const list = cell.text === "" ? noKeys : [cell];
    lists.set(cell, list);
    return list;
  };
  return {
    keys: [
      (node) => {
        const cell = cells[node];
        return cell === undefined ? noKeys : keysOfCell(cell);
      },
    ],
    values: plan.aggregates.map(() => () => undefined),
  };
}

function requestOf(use: PredicateUse): ColumnRequest | undefined {
  const { predicate } = use;
  if (predicate === undefined) return undefined;
  if (use.reverse) {
    const index = predicate.reverseIndex?.id;
    return index === undefined ? undefined : { kind: "reverse", index, facets: false };
  }
  return predicate.definition.kind === "uid"
    ? { kind: "edges", predicate: predicate.id, facets: false }
    : { kind: "cells", predicate: predicate.id };
}

function addValueRequest(
  run: Run,
  requests: ColumnRequest[],
  aggregate: GroupAggregatePlan,
  uids: UidSet,
): number {
  const predicate = aggregate.kind === "count" ? undefined : aggregate.use.predicate;
  if (aggregate.kind === "count" || predicate === undefined) return -1;
  countUids(run, aggregate.use, uids.length);
  return requests.push({ kind: "cells", predicate: predicate.id }) - 1;
}

const noKeys: readonly Key[] = [];

function keysOf(use: PredicateUse, column: Column | undefined): (node: number) => readonly Key[] {
  if (column?.kind === "edges") return (node) => targetsOf(column, node);
  const kind = use.predicate?.definition.kind;
  if (column?.kind !== "cells" || kind === undefined || kind === "uid") return () => noKeys;
  // Passwords are never shown, and so no key either.
  if (kind === "password") return () => noKeys;
  const choose = buildChoice(use.languages);
  return (node) => {
    const cells = column.cells[node];
    // Of a list only the first value counts.
    const cell = cells === undefined ? undefined : choose(cells);
    // An empty text is no key.
    return cell === undefined || cell.text === "" ? noKeys : [convertCell(cell, kind)];
  };
}

function targetsOf(column: EdgeColumn, node: number): readonly number[] {
  return Array.from(
    column.targets.subarray(
      must(column.offsets[node], "each row has its edges"),
      must(column.offsets[node + 1], "each row has its edges"),
    ),
  );
}

function valuesOf(
  aggregate: GroupAggregatePlan,
  column: Column | undefined,
): (node: number) => Value | undefined {
  const kind = aggregate.kind === "count" ? undefined : aggregate.use.predicate?.definition.kind;
  if (aggregate.kind === "count" || column?.kind !== "cells") return () => undefined;
  if (kind === undefined || kind === "uid") return () => undefined;
  const choose = buildChoice(aggregate.use.languages);
  return (node) => {
    const cells = column.cells[node];
    const cell = cells === undefined ? undefined : choose(cells);
    return cell === undefined ? undefined : tryConvertCell(cell, kind)?.value;
  };
}

interface Forming {
  readonly keys: readonly Key[];
  readonly nodes: number[];
}

/** By the name of their keys. */
type FormingGroups = Map<string | number, Forming>;

/** Of several keys, those that none of the nodes has do not part them. */
function withoutIdleKeys(source: Source, nodes: Uint32Array): Source {
  if (source.keys.length === 1) return source;
  const used = source.keys.map((keysAt) => nodes.some((node) => keysAt(node).length > 0));
  if (!used.includes(true) || !used.includes(false)) return source;
  return { ...source, keys: source.keys.map((keysAt, k) => (used[k] ? keysAt : () => idleKey)) };
}

const idleKey: readonly Key[] = [undefined];

function formGroups(run: Run, plan: GroupPlan, read: Source, nodes: Uint32Array): readonly Group[] {
  const source = withoutIdleKeys(read, nodes);
  const forming: FormingGroups = new Map();
  addAll(run, forming, source, nodes);
  return Array.from(forming.values(), (each) => finishGroup(plan, source, each)).sort(
    compareGroups,
  );
}

/** Nodes that are put into their groups between two looks at the clock. */
const nodesAtOnce = 1024;

/** Groups that are made between two of them. */
const groupsAtOnce = 256;

/** The same, with rests. */
async function formManyGroups(
  run: Run,
  plan: GroupPlan,
  read: Source,
  nodes: Uint32Array,
): Promise<readonly Group[]> {
  const source = withoutIdleKeys(read, nodes);
  const forming: FormingGroups = new Map();
  for (let from = 0; from < nodes.length; from += nodesAtOnce) {
    addAll(run, forming, source, nodes.subarray(from, from + nodesAtOnce));
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  const groups: Group[] = [];
  let nodeCount = 0;
  for (const each of forming.values()) {
    groups.push(finishGroup(plan, source, each));
    nodeCount += each.nodes.length;
    if (groups.length % groupsAtOnce !== 0 && nodeCount < nodesAtOnce) continue;
    nodeCount = 0;
    const pause = run.yielder.check();
    if (pause !== undefined) await pause;
  }
  const places = Uint32Array.from(groups, (_, i) => i);
  const inOrder = await sortYielding(run.yielder, places, (a, b) =>
    compareGroups(
      must(groups[a], "each place has its group"),
      must(groups[b], "each place has its group"),
    ),
  );
  return Array.from(inOrder, (place) => must(groups[place], "each place is of a group"));
}

function finishGroup(plan: GroupPlan, source: Source, { keys, nodes }: Forming): Group {
  return {
    keys,
    members: nodes.length,
    aggregates: plan.aggregates.map((aggregate, a) => {
      const valueOf = source.values[a];
      if (aggregate.kind === "count" || valueOf === undefined) return undefined;
      const values: Value[] = [];
      for (const node of nodes) {
        const value = valueOf(node);
        if (value !== undefined) values.push(value);
      }
      return aggregateValues(aggregate.function, values);
    }),
  };
}

function addAll(run: Run, forming: FormingGroups, source: Source, nodes: Uint32Array): void {
  const [only] = source.keys;
  if (source.keys.length === 1 && only !== undefined) addNodes(forming, only, nodes);
  else for (const node of nodes) addNode(run, forming, source, node);
}

/** One key: its groups by the key itself, without names made of several. */
function addNodes(
  forming: FormingGroups,
  keysAt: (node: number) => readonly Key[],
  nodes: Uint32Array,
): void {
  for (const node of nodes) {
    for (const key of keysAt(node)) {
      const name = typeof key === "number" ? key : (key?.text ?? "");
      const group = forming.get(name);
      if (group === undefined) forming.set(name, { keys: [key], nodes: [node] });
      else group.nodes.push(node);
    }
  }
}

/** Bytes of a combination of keys, and of each key in it. */
const combinationBytes = 64;

/** A node joins the group of every combination of its keys. */
function addNode(run: Run, forming: FormingGroups, source: Source, node: number): void {
  let combinations: { readonly names: string[]; readonly keys: Key[] }[] = [
    { names: [], keys: [] },
  ];
  for (const keysAt of source.keys) {
    const choices = keysAt(node);
    const [only] = choices;
    if (choices.length === 1) {
      const name = nameOf(only);
      for (const { names, keys } of combinations) {
        names.push(name);
        keys.push(only);
      }
      continue;
    }
    const count = combinations.length * choices.length;
    const length = combinations[0]?.keys.length ?? 0;
    run.budget.charge(count);
    // Keys with several values each multiply.
    run.budget.chargeBytes(count * combinationBytes * (length + 1));
    combinations = combinations.flatMap(({ names, keys }) =>
      choices.map((key) => ({ names: [...names, nameOf(key)], keys: [...keys, key] })),
    );
  }
  for (const { names, keys } of combinations) {
    const name = names.join("\0");
    const group = forming.get(name);
    if (group === undefined) forming.set(name, { keys, nodes: [node] });
    else group.nodes.push(node);
  }
}

/** Equal keys have equal names: values are equal when they print alike. */
function nameOf(key: Key): string {
  return typeof key === "number" ? String(key) : JSON.stringify(key?.text ?? "");
}

/**
 * By size, then by how many aggregates there are, then by keys that have an order, then by aggregates. Keys without
 * one decide last, so that an answer is always the same.
 */
function compareGroups(a: Group, b: Group): number {
  if (a.members !== b.members) return a.members - b.members;
  const [aggregatesOfA, aggregatesOfB] = [filledOf(a), filledOf(b)];
  return (
    aggregatesOfA.length - aggregatesOfB.length ||
    firstOrder<Key>(a.keys, b.keys, compareKeys) ||
    firstOrder(aggregatesOfA, aggregatesOfB, compareAggregates) ||
    firstOrder<Key>(a.keys, b.keys, compareUnordered)
  );
}

function filledOf(group: Group): readonly Value[] {
  return group.aggregates.filter((value) => value !== undefined);
}

/** What the first pair that differs says. */
function firstOrder<T>(
  a: readonly T[],
  b: readonly T[],
  compare: (a: T | undefined, b: T | undefined) => number,
): number {
  for (let i = 0; i < a.length; i++) {
    const order = compare(a[i], b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKeys(a: Key, b: Key): number {
  if (a === undefined || b === undefined) return 0;
  if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
  return isOrderable(a.kind) ? compareValues(a.value, b.value) : 0;
}

function compareAggregates(a: Value | undefined, b: Value | undefined): number {
  if (a === undefined || b === undefined || !isOrderable(a.kind)) return 0;
  return compareValues(a, b);
}

function compareUnordered(a: Key, b: Key): number {
  if (typeof a !== "object" || typeof b !== "object") return 0;
  return a.kind === "bool" ? compareValues(a.value, b.value) : compareText(a.text, b.text);
}

/**
 * shortest: the cheapest path, or the k cheapest without loops (reference/dql 4.17). The graph is read outwards from
 * the source, one batch of nodes a round, only as far as the search comes.
 */
import { Heap } from "../base/heap.ts";
import { sortUnique } from "../base/sorted.ts";
import { toFault } from "../model/conversion-error.ts";
import type { Facets } from "../model/facet.ts";
import { parseGoFloat } from "../model/float.ts";
import { parseInt64, parseUint64 } from "../model/int.ts";
import { makeLimitFault } from "../model/limits.ts";
import { emptyUidSet, type UidSet } from "../model/uid.ts";
import type { BlockPlan, PathEndPlan, ShortestPlan, SlotIndex } from "../plan/plan.ts";
import type { Path } from "./frame.ts";
import { arrangeEdges } from "./level.ts";
import { requestOfEdge } from "./level-requests.ts";
import { findFewestHops, type PathField } from "./shortest-hops.ts";
import {
  countUids,
  queryFault,
  raiseRefusal,
  slotNumber,
  slotText,
  variableOf,
  type Run,
} from "./run.ts";

/** An edge of the graph as the search sees it. */
interface Arc {
  readonly to: number;
  /** Index into the level's fields. */
  readonly field: number;
  readonly cost: number;
  /** The facet that is the weight. */
  readonly facets: Facets | undefined;
}

/** A way to a node: the step that came there, and the way before it. */
interface Step {
  readonly uid: number;
  readonly cost: number;
  readonly hops: number;
  /** Equal costs are taken in the order in which they were found. */
  readonly serial: number;
  readonly before: Step | undefined;
  readonly arc: Arc | undefined;
}

interface Search {
  readonly from: number;
  readonly to: number;
  readonly numPaths: number;
  readonly depthMax: number;
  readonly minWeight: number;
  readonly maxWeight: number;
  readonly frontierMax: number;
}

/** The paths of a block, cheapest first; none where an end is missing or there is no way. */
export async function runShortest(run: Run, plan: BlockPlan): Promise<readonly Path[]> {
  if (plan.shortest === undefined) return [];
  const search = bindSearch(run, plan.shortest);
  if (search.from === 0 || search.to === 0 || search.depthMax === 0) return [];
  const fields = edgeFieldsOf(run, plan);
  const isEven = fields.every(({ plan: field }) => field.facets === undefined);
  if (isEven && search.numPaths <= 1 && search.frontierMax === Infinity) {
    return findFewestHops(run, fields, {
      ...search,
      checkEdges: (edgeCount) => checkEdgeLimit(run, edgeCount),
    });
  }
  const graph = new Surroundings(run, fields, search);
  const steps =
    search.numPaths > 1
      ? await findPaths(run, graph, search)
      : await findCheapest(run, graph, search);
  return steps.map(toPath);
}

function edgeFieldsOf(run: Run, plan: BlockPlan): readonly PathField[] {
  const fields: PathField[] = [];
  plan.level.fields.forEach((field, index) => {
    if (field.kind === "refused") raiseRefusal(run, field.refusal);
    if (field.kind === "edge") fields.push({ plan: field, index });
  });
  return fields;
}

function bindSearch(run: Run, plan: ShortestPlan): Search {
  const number = (
    slot: SlotIndex | undefined,
    fallback: number,
    parse: (text: string) => number | bigint,
  ): number => (slot === undefined ? fallback : bindNumber(run, slot, parse));
  const uint = (text: string): bigint => parseUint64(text, 0);
  return {
    numPaths: number(plan.numPaths, 1, uint),
    depthMax: number(plan.depth, Infinity, uint),
    minWeight: number(plan.minWeight, -Infinity, parseGoFloat),
    maxWeight: number(plan.maxWeight, Infinity, parseGoFloat),
    frontierMax: Math.max(
      0,
      number(plan.maxFrontierSize, Infinity, (text) => parseInt64(text, 0)),
    ),
    from: bindEnd(run, plan.from, "from"),
    to: bindEnd(run, plan.to, "to"),
  };
}

function bindNumber(run: Run, slot: SlotIndex, parse: (text: string) => number | bigint): number {
  try {
    return Number(parse(slotText(run, slot)));
  } catch (error) {
    throw toFault("E_QUERY", error, "while converting to subgraph: while filling args: ");
  }
}

/** 0 for an empty variable. */
function bindEnd(run: Run, end: PathEndPlan, side: "from" | "to"): number {
  if (end.kind === "uid") return slotNumber(run, end.slot);
  const { uids } = variableOf(run, end.variable);
  if (uids.length > 1) {
    const name = run.plan.variables[end.variable]?.name ?? "";
    throw queryFault(`${side} variable(${name}) should only expand to 1 uid`);
  }
  return uids[0] ?? 0;
}

/** An arc in the map of its source. */
const arcBytes = 144;
/** A way under consideration. */
const stepBytes = 96;

/** The part of the graph that has been read: `depth` rounds of edges around the source. */
class Surroundings {
  depth = 0;
  isComplete = false;
  private readonly arcs = new Map<number, Map<number, Arc>>();
  private readonly run: Run;
  private readonly fields: readonly PathField[];
  private readonly depthMax: number;
  private frontier: UidSet;
  private readonly reached = new Set<number>();
  private edgeCount = 0;
  private charged = 0;

  constructor(run: Run, fields: readonly PathField[], search: Search) {
    this.run = run;
    this.depthMax = search.depthMax;
    this.frontier = Float64Array.of(search.from);
    this.reached.add(search.from);
    this.fields = fields;
  }

  arcsOf(uid: number): ReadonlyMap<number, Arc> | undefined {
    return this.arcs.get(uid);
  }

  /** Reads one more round, where a way of so many hops may need it. */
  async reach(hops: number): Promise<void> {
    if (hops < this.depth || this.depth >= this.depthMax || this.isComplete) return;
    await this.readRound();
    this.depth++;
  }

  private async readRound(): Promise<void> {
    const { run, frontier } = this;
    const requests = this.fields.map(({ plan }) => requestOfEdge(run, plan));
    const read = requests.length === 0 ? [] : run.reader.readLevel(frontier, requests);
    const columns = read instanceof Promise ? await read : read;
    const next: number[] = [];
    for (let k = 0; k < this.fields.length; k++) {
      const field = this.fields[k];
      const column = columns[k];
      if (field === undefined || column?.kind !== "edges") continue;
      countUids(run, field.plan.use, frontier.length);
      const edges = await arrangeEdges(run, field.plan, column, true);
      for (let row = 0; row < frontier.length; row++) {
        const from = frontier[row] ?? 0;
        for (let e = edges.offsets[row] ?? 0; e < (edges.offsets[row + 1] ?? 0); e++) {
          const to = edges.targets[e] ?? 0;
          if (!this.reached.has(to)) next.push(to);
          this.addArc(from, weigh(field, to, edges.facets?.[e]));
        }
      }
    }
    checkEdgeLimit(run, this.edgeCount);
    run.budget.chargeBytes((this.edgeCount - this.charged) * arcBytes);
    const pause = run.yielder.check(this.edgeCount - this.charged);
    this.charged = this.edgeCount;
    if (pause !== undefined) await pause;
    for (const uid of next) this.reached.add(uid);
    this.frontier = next.length === 0 ? emptyUidSet : sortUnique(Float64Array.from(next));
    this.isComplete = next.length === 0;
  }

  /** Where two predicates join the same nodes, the later one counts. */
  private addArc(from: number, arc: Arc | undefined): void {
    if (arc === undefined) return;
    let arcs = this.arcs.get(from);
    if (arcs === undefined) this.arcs.set(from, (arcs = new Map()));
    arcs.set(arc.to, arc);
    this.edgeCount++;
  }
}

/** Raises the limit of edges that one search may read. */
function checkEdgeLimit(run: Run, edgeCount: number): void {
  const limit = run.limits.queryEdgeMax;
  if (edgeCount <= limit) return;
  const found = `Found ${edgeCount} edges.`;
  throw makeLimitFault("query-edge", `Exceeded query edge limit = ${limit}. ${found}`);
}

/** undefined for an edge without the facet that is asked for, or with one that is no number. */
function weigh(field: PathField, to: number, facets: Facets | undefined): Arc | undefined {
  const asked = field.plan.facets;
  if (asked === undefined) return { to, field: field.index, cost: 1, facets: undefined };
  const chosen = asked.all
    ? (facets ?? [])
    : (facets ?? []).filter(({ key }) => asked.fields.some((other) => other.key === key));
  if (chosen.length > 1) throw queryFault(`Expected 1 but got ${chosen.length} facets`);
  const value = chosen[0]?.value;
  if (value?.kind === "int") {
    return { to, field: field.index, cost: Number(value.int), facets: chosen };
  }
  if (value?.kind !== "float") return undefined;
  return { to, field: field.index, cost: value.float, facets: chosen };
}

/** Ways under consideration, cheapest first; beyond `frontierMax` each new one displaces one of the dear ones. */
class Frontier {
  private readonly heap = new Heap<Step>((a, b) => a.cost < b.cost);
  private readonly sizeMax: number;
  private serial = 0;
  /** How many ways were ever considered. */
  get count(): number {
    return this.serial;
  }

  constructor(sizeMax: number) {
    this.sizeMax = sizeMax;
  }

  push(before: Step | undefined, uid: number, arc: Arc | undefined): void {
    if (this.heap.size > this.sizeMax) this.heap.dropLast();
    this.heap.push({
      uid,
      cost: (before?.cost ?? 0) + (arc?.cost ?? 0),
      hops: before === undefined ? 0 : before.hops + 1,
      serial: this.serial++,
      before,
      arc,
    });
  }

  pop(): Step | undefined {
    return this.heap.pop();
  }
}

/** Dijkstra's search. */
async function findCheapest(
  run: Run,
  graph: Surroundings,
  search: Search,
): Promise<readonly Step[]> {
  const frontier = new Frontier(search.frontierMax);
  const costs = new Map<number, number>([[search.from, 0]]);
  const settled = new Set<number>();
  frontier.push(undefined, search.from, undefined);
  for (let step = frontier.pop(); step !== undefined; step = frontier.pop()) {
    if (step.uid === search.to) return [step];
    if (settled.has(step.uid)) continue;
    settled.add(step.uid);
    await graph.reach(step.hops);
    if ((settled.size & 255) === 0) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
    }
    for (const arc of graph.arcsOf(step.uid)?.values() ?? []) {
      const cost = step.cost + arc.cost;
      const known = costs.get(arc.to);
      if (settled.has(arc.to) || (known !== undefined && known <= cost)) continue;
      costs.set(arc.to, cost);
      frontier.push(step, arc.to, arc);
    }
  }
  return [];
}

/** The k cheapest paths that meet no node twice. */
async function findPaths(run: Run, graph: Surroundings, search: Search): Promise<readonly Step[]> {
  const frontier = new Frontier(search.frontierMax);
  const found: Step[] = [];
  frontier.push(undefined, search.from, undefined);
  let stepCount = 0;
  for (let step = frontier.pop(); step !== undefined; step = frontier.pop()) {
    if (step.uid === search.to) {
      if (step.cost < search.minWeight) continue;
      found.push(step);
      if (found.length === search.numPaths) break;
    }
    await graph.reach(step.hops);
    if ((++stepCount & 255) === 0) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
    }
    if (step.uid === search.to) continue;
    const before = frontier.count;
    let looked = 0;
    for (const arc of graph.arcsOf(step.uid)?.values() ?? []) {
      looked += step.hops + 1;
      if (step.cost + arc.cost > search.maxWeight || isOnWay(step, arc.to)) continue;
      frontier.push(step, arc.to, arc);
    }
    run.budget.charge(looked);
    run.budget.chargeBytes((frontier.count - before) * stepBytes);
    checkWays(run, frontier);
    if (looked < looksPerRest) continue;
    const pause = run.yielder.check(0);
    if (pause !== undefined) await pause;
  }
  return found;
}

/** A step that looked at so many hops is followed by a look at the clock. */
const looksPerRest = 1024;

function checkWays(run: Run, frontier: Frontier): void {
  const limit = run.limits.queryPathMax;
  if (frontier.count <= limit) return;
  throw makeLimitFault("query-path", `Exceeded query path limit = ${limit}.`);
}

function isOnWay(last: Step, uid: number): boolean {
  for (let step: Step | undefined = last; step !== undefined; step = step.before) {
    if (step.uid === uid) return true;
  }
  return false;
}

function toPath(last: Step): Path {
  const uids: number[] = [];
  const hops: { field: number; facets: Facets | undefined }[] = [];
  for (let step: Step | undefined = last; step !== undefined; step = step.before) {
    uids.push(step.uid);
    if (step.arc !== undefined) hops.push({ field: step.arc.field, facets: step.arc.facets });
  }
  return {
    uids: Float64Array.from(uids.reverse()),
    weight: last.cost,
    hops: hops.reverse(),
  };
}

/**
 * @recurse: one level of fields is followed again and again, each edge once (reference/dql 4.16). Price: one read a
 * round, over the nodes that the round has reached; at most `query-edge` edges.
 */
import { must } from "../base/assert.ts";
import { parseBool } from "../model/convert.ts";
import { parseUint64 } from "../model/int.ts";
import { makeLimitFault } from "../model/limits.ts";
import type { UidSet } from "../model/uid.ts";
import type { BlockPlan, EdgeField, RecursePlan } from "../plan/plan.ts";
import type { EdgeFrame, FieldColumn, Frame } from "./frame.ts";
import { fillLevel, markAlive } from "./level.ts";
import { makeLevelFrame, type BlockRun, type LevelFrame } from "./level-frame.ts";
import { distinctTargets, keepByTarget, keepEdges, placesIn, type Edges } from "./rows.ts";
import { queryFault, slotText, type Run } from "./run.ts";

/**
 * Runs a recursive block over its root's nodes, breadth first: at each depth all frames of the depth before are read,
 * and each of their edge fields leads to a frame of its own. The frames are those of one level of the plan, linked by
 * their edges. Throws Fault E_LIMIT beyond `queryEdgeMax` edges.
 */
export async function runRecurse(
  block: BlockRun,
  plan: BlockPlan,
  uids: UidSet,
): Promise<LevelFrame> {
  const { run } = block;
  const { depthMax, isLooping } = bindRecurse(run, plan.recurse);
  const root = makeLevelFrame(plan.level, uids, undefined);
  const walk = new Walk(run, isLooping);
  let frames: LevelFrame[] = [root];
  for (let depth = 1; frames.length > 0 && depth <= depthMax; depth++) {
    const next: LevelFrame[] = [];
    const following: BlockRun = {
      ...block,
      follow: (here, edges, field) =>
        depth === depthMax
          ? endHere(walk.take(edges, here, field))
          : walk.lead(here, edges, field, next),
    };
    for (const here of frames) {
      const pause = run.yielder.check();
      if (pause !== undefined) await pause;
      await fillLevel(following, here);
    }
    frames = next;
  }
  if (plan.level.cascade !== undefined) settleCascade(block.frames);
  return root;
}

function bindRecurse(
  run: Run,
  recurse: RecursePlan | undefined,
): { depthMax: number; isLooping: boolean } {
  const depth = bindDepth(run, recurse);
  const isLooping = recurse?.loop !== undefined && parseBool(slotText(run, recurse.loop));
  if (depth === 0 && isLooping) {
    throw queryFault("Depth must be > 0 when loop is true for recurse query");
  }
  return { depthMax: depth === 0 ? Infinity : depth, isLooping };
}

/** The depth that a query names; 0: none. */
export function bindDepth(run: Run, recurse: RecursePlan | undefined): number {
  return recurse?.depth === undefined ? 0 : Number(parseUint64(slotText(run, recurse.depth), 0));
}

/** An edge that is remembered as taken, in a set. */
const takenBytes = 48;
/** A frame with its columns. */
const frameBytes = 512;

/** Which edges were taken so far. */
class Walk {
  private readonly run: Run;
  private readonly isLooping: boolean;
  private edgeCount = 0;
  /** Predicate (`~` included) → from → to. */
  private readonly taken = new Map<string, Map<number, Set<number>>>();

  constructor(run: Run, isLooping: boolean) {
    this.run = run;
    this.isLooping = isLooping;
  }

  /** The edges that were not taken before, which now they are. */
  take(edges: Edges, here: LevelFrame, field: EdgeField): Edges {
    const fresh = this.isLooping ? edges : this.keepFresh(edges, here, field);
    this.edgeCount += fresh.targets.length;
    this.run.budget.chargeBytes(fresh.targets.length * takenBytes + frameBytes);
    const limit = this.run.limits.queryEdgeMax;
    if (this.edgeCount > limit) {
      const found = `Found ${this.edgeCount} edges.`;
      throw makeLimitFault("query-edge", `Exceeded query edge limit = ${limit}. ${found}`);
    }
    return fresh;
  }

  /** Takes the edges and makes the frame that they lead to, to be read at the next depth. */
  lead(here: LevelFrame, edges: Edges, field: EdgeField, next: LevelFrame[]): EdgeFrame {
    const fresh = this.take(edges, here, field);
    const distinct = distinctTargets(fresh);
    const below = makeLevelFrame(here.level, distinct, here);
    const frame: EdgeFrame = {
      kind: "edges",
      ...fresh,
      rows: placesIn(distinct, fresh.targets),
      child: below.frame,
    };
    below.edges = frame;
    if (distinct.length > 0) next.push(below);
    return frame;
  }

  private keepFresh(edges: Edges, here: LevelFrame, field: EdgeField): Edges {
    const name = (field.use.reverse ? "~" : "") + field.use.name;
    let bySource = this.taken.get(name);
    if (bySource === undefined) this.taken.set(name, (bySource = new Map()));
    const { offsets, targets } = edges;
    const keep = new Uint8Array(targets.length);
    let kept = 0;
    for (let row = 0; row + 1 < offsets.length; row++) {
      const from = must(here.frame.uids[row], "each row has its node");
      const start = must(offsets[row], "each row has its edges");
      const end = must(offsets[row + 1], "each row has its edges");
      if (start === end) continue;
      let seen = bySource.get(from);
      if (seen === undefined) bySource.set(from, (seen = new Set()));
      for (let e = start; e < end; e++) {
        const to = must(targets[e], "each edge has its target");
        if (seen.has(to)) continue;
        seen.add(to);
        keep[e] = 1;
        kept++;
      }
    }
    return kept === targets.length ? edges : keepEdges(edges, keep);
  }
}

/** At the last depth edges count for variables and @cascade, but show nothing. */
function endHere(edges: Edges): EdgeFrame {
  return {
    kind: "edges",
    offsets: edges.offsets,
    targets: edges.targets,
    rows: new Uint32Array(0),
    facets: undefined,
    child: undefined,
  };
}

/** From the leaves up: an edge to a node that was taken out is none, and may take out the node that it leaves. */
function settleCascade(frames: readonly LevelFrame[]): void {
  const aliveOf = new Map<Frame, LevelFrame>(frames.map((here) => [here.frame, here]));
  for (let i = frames.length - 1; i >= 0; i--) {
    const here = frames[i];
    if (here?.alive === undefined) continue;
    const settle = (column: FieldColumn): FieldColumn => {
      if (column.kind !== "edges" || column.child === undefined) return column;
      const below = aliveOf.get(column.child);
      if (below?.alive === undefined) return column;
      const places = column.rows;
      const edges = keepByTarget(column, places, below.alive);
      if (edges === column) return column;
      const rows = placesIn(column.child.uids, edges.targets);
      const settled: EdgeFrame = { kind: "edges", ...edges, rows, child: column.child };
      below.edges = settled;
      return settled;
    };
    const { fields } = here.frame;
    for (let k = 0; k < fields.length; k++) {
      const column = fields[k];
      if (column === undefined) continue;
      fields[k] =
        column.kind === "expanded"
          ? { ...column, columns: column.columns.map(settle) }
          : settle(column);
    }
    markAlive(here, here.alive);
  }
}

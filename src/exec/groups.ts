/** @groupby: groups of an edge's targets or of a root's nodes, and the variables they define (reference/dql 4.15). */
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { GroupPlan, RootPlan } from "../plan/plan.ts";
import type { Group, GroupsColumn } from "./frame.ts";
import { groupRows } from "./groupby.ts";
import { distinctTargets, type Edges } from "./rows.ts";
import { emptyVariable, queryFault, type Run } from "./run.ts";
import { makeColumn } from "./value-column.ts";

export async function groupEdges(run: Run, plan: GroupPlan, edges: Edges): Promise<GroupsColumn> {
  const isDefining = plan.aggregates.some((aggregate) => aggregate.variable !== undefined);
  if (!isDefining) return { kind: "groups", byRow: await groupRows(run, plan, edges) };
  const byRow = await groupRows(run, plan, withAllRow(edges));
  defineGroupVariables(run, plan, byRow[byRow.length - 1] ?? []);
  return { kind: "groups", byRow: byRow.slice(0, -1) };
}

/** One more row that has the targets of all: a variable counts over the whole level, a node once. */
function withAllRow(edges: Edges): { offsets: Uint32Array; targets: Float64Array } {
  const distinct = distinctTargets(edges);
  const offsets = new Uint32Array(edges.offsets.length + 1);
  offsets.set(edges.offsets);
  offsets[edges.offsets.length] = edges.targets.length + distinct.length;
  const targets = new Float64Array(edges.targets.length + distinct.length);
  targets.set(edges.targets);
  targets.set(distinct, edges.targets.length);
  return { offsets, targets };
}

/** `root`: what found the nodes. */
export async function groupMembers(
  run: Run,
  plan: GroupPlan,
  uids: UidSet,
  root: RootPlan | undefined,
): Promise<readonly Group[]> {
  const byRow = await groupRows(run, plan, {
    offsets: Uint32Array.of(0, uids.length),
    targets: uids,
    root,
  });
  const groups = byRow[0] ?? [];
  defineGroupVariables(run, plan, groups);
  return groups;
}

/** Keyed by the uid that a group stands for. Refused where a group stands for anything else. */
function defineGroupVariables(run: Run, plan: GroupPlan, groups: readonly Group[]): void {
  plan.aggregates.forEach((aggregate, a) => {
    if (aggregate.variable === undefined) return;
    const found = new Map<number, Value>();
    for (const group of groups) {
      const keys = group.keys.filter((each) => each !== undefined);
      const [key] = keys;
      if (keys.length > 1) {
        throw queryFault(`Expected one UID for var in groupby but got: ${keys.length}`);
      }
      if (typeof key !== "number") {
        throw queryFault("Vars can be assigned only when grouped by UID attribute");
      }
      const value: Value | undefined =
        aggregate.kind === "count" ? { kind: "int", int: group.members } : group.aggregates[a];
      if (value !== undefined) found.set(key, value);
    }
    const values = makeColumn(found);
    run.variables[aggregate.variable] = { ...emptyVariable, uids: values.uids, values };
  });
}

/** @groupby: groups of an edge's targets or of a root's nodes, and the variables they define (dql.md 4.15). */
import type { UidSet } from "../model/uid.ts";
import type { Value } from "../model/value.ts";
import type { GroupPlan, RootPlan } from "../plan/plan.ts";
import type { Group, GroupsColumn } from "./frame.ts";
import { groupRows } from "./groupby.ts";
import type { Edges } from "./rows.ts";
import { emptyVariable, type Run } from "./run.ts";
import { makeColumn } from "./value-column.ts";

export async function groupEdges(run: Run, plan: GroupPlan, edges: Edges): Promise<GroupsColumn> {
  const byRow = await groupRows(run, plan, edges);
  defineGroupVariables(run, plan, byRow);
  return { kind: "groups", byRow };
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
  defineGroupVariables(run, plan, byRow);
  return byRow[0] ?? [];
}

/** Keyed by the uid that a group stands for; the later of equal keys wins. */
function defineGroupVariables(
  run: Run,
  plan: GroupPlan,
  byRow: readonly (readonly Group[] | undefined)[],
): void {
  plan.aggregates.forEach((aggregate, a) => {
    if (aggregate.variable === undefined) return;
    const found = new Map<number, Value>();
    for (const groups of byRow) {
      for (const group of groups ?? []) {
        const [key] = group.keys;
        const value: Value | undefined =
          aggregate.kind === "count" ? { kind: "int", int: group.members } : group.aggregates[a];
        if (typeof key === "number" && value !== undefined) found.set(key, value);
      }
    }
    const values = makeColumn(found);
    run.variables[aggregate.variable] = { ...emptyVariable, uids: values.uids, values };
  });
}

/** What the levels of a running block hand to each other. */
import type { UidSet } from "../model/uid.ts";
import type { EdgeField, Level, RootPlan } from "../plan/plan.ts";
import type { EdgeFrame, FieldColumn, Frame } from "./frame.ts";
import type { Edges } from "./rows.ts";
import type { Run } from "./run.ts";

/** A block while it runs: the frames of all its levels, for variables and computed fields. */
export interface BlockRun {
  readonly run: Run;
  readonly frames: LevelFrame[];
  /** What found the nodes of the block's root; undefined where its level has others too. */
  readonly root?: RootPlan | undefined;
  /** @recurse: takes over where edges lead, instead of the level below the field. */
  readonly follow?: (here: LevelFrame, edges: Edges, field: EdgeField) => EdgeFrame;
}

export interface LevelFrame {
  readonly level: Level;
  /** The fields are filled in place while the block runs. */
  readonly frame: Frame & { readonly fields: FieldColumn[] };
  /** Beside the rows: 0 where @cascade took the node out; undefined where there is no @cascade. */
  readonly alive: Uint8Array | undefined;
  readonly parent: LevelFrame | undefined;
  /** The edges of the parent's rows to these, after everything; set once they are final. */
  edges: EdgeFrame | undefined;
}

/** A level's frame before its fields are read. */
export function makeLevelFrame(
  level: Level,
  uids: UidSet,
  parent: LevelFrame | undefined,
): LevelFrame {
  const fields: FieldColumn[] = level.fields.map(() => ({ kind: "nothing" }));
  const alive = level.cascade === undefined ? undefined : new Uint8Array(uids.length).fill(1);
  return { level, frame: { level, uids, fields }, alive, parent, edges: undefined };
}

/** Which of some nodes a caller may do something with, as the transaction sees them now. */
import type { Filter } from "../../dql/ast.ts";
import { Lru } from "../../base/lru.ts";
import type { NamedType, NodeType, RuleOperation } from "../schema/compiled-schema.ts";
import {
  callFilter,
  denied,
  literal,
  type LowerContext,
  makeLowerContext,
  queryBlock,
  typeCall,
  uidCall,
} from "./lower-context.ts";
import { PlannedTree, touchedUids, uidsOf } from "./lower-run.ts";
import { shapeOfFilter } from "./lower-shape.ts";
import { notAuthorized } from "./mutation-refused.ts";
import type { MutationStage } from "./mutation-stage.ts";

/** Of some nodes those of a type. */
export async function findOfType(
  stage: MutationStage,
  type: NodeType,
  uids: readonly number[],
): Promise<readonly number[]> {
  if (uids.length === 0) return [];
  const context = makeLowerContext(undefined);
  const found = await runFilter(stage, type, uids, context, callFilter(typeCall(type)));
  return uids.filter((uid) => found.has(uid));
}

/** Throws MutationRefused unless the caller may do it with each. */
export async function requireAll(
  stage: MutationStage,
  type: NamedType,
  uids: readonly number[],
  operation: RuleOperation,
): Promise<void> {
  const refused = await findForbidden(stage, type, uids, operation);
  if (refused !== undefined) throw notAuthorized().of({ type, operation, isWhole: false });
}

export async function findForbidden(
  stage: MutationStage,
  type: NamedType,
  uids: readonly number[],
  operation: RuleOperation,
): Promise<number | undefined> {
  const permitted = await findPermitted(stage, type, uids, operation);
  return permitted && uids.find((uid) => !permitted.has(uid));
}

const treesMax = 64;
const shapeUnits = 256;
/** Lists of more nodes are planned each time: their number is part of the plan. */
const plannedUidsMax = 16;
const treesByType = new WeakMap<NamedType, Lru<string, PlannedTree>>();
const none: ReadonlySet<number> = new Set();

/** Those of some nodes for which the caller may do it, as the transaction sees them now; undefined: all. */
export async function findPermitted(
  stage: MutationStage,
  type: NamedType,
  uids: readonly number[],
  operation: RuleOperation,
): Promise<ReadonlySet<number> | undefined> {
  const context = makeLowerContext(stage.guard);
  const filter = stage.guard?.filter(context, type, operation);
  if (filter === undefined || uids.length === 0) return undefined;
  if (filter === denied) return none;
  return runFilter(stage, type, uids, context, filter);
}

/** `context`: which has the literals of the filter. */
async function runFilter(
  stage: MutationStage,
  type: NamedType,
  uids: readonly number[],
  context: LowerContext,
  filter: Filter,
): Promise<ReadonlySet<number>> {
  const shape = `${uids.length} ${shapeOfFilter(filter)}`;
  let trees = treesByType.get(type);
  if (trees === undefined) treesByType.set(type, (trees = Lru.byLength(treesMax, shapeUnits)));
  const call = uidCall(uids.map((uid) => literal(context, `0x${uid.toString(16)}`, false)));
  let tree = trees.get(shape);
  if (tree === undefined) {
    tree = new PlannedTree({
      blocks: [{ ...queryBlock("q", call, uidFields), filter }],
      schema: undefined,
    });
    if (uids.length <= plannedUidsMax) trees.set(shape, tree);
  }
  const result = await tree.run(stage.txn.reader, context.texts, stage, stage.budget);
  stage.touch(touchedUids(result));
  const block = result.blocks[0];
  if (block === undefined) return none;
  return new Set(uidsOf(block));
}

const uidFields = [{ kind: "uid" as const, alias: undefined, variable: undefined }];

/** The nodes that an update or a delete is about. */
import type { Reader } from "../../graph/reader.ts";
import { Lru } from "../../base/lru.ts";
import type { NodeType, RuleOperation } from "../schema/compiled-schema.ts";
import { denied, makeLowerContext, queryBlock } from "./lower-context.ts";
import { lowerCandidates } from "./lower-root.ts";
import { PlannedTree, touchedUids, uidsOf } from "./lower-run.ts";
import { shapeOfCall, shapeOfFilter } from "./lower-shape.ts";
import type { MutationStage } from "./mutation-stage.ts";
import type { ArgumentValue } from "../operation/arguments.ts";

const treesMax = 64;
const shapeUnits = 256;
const treesByType = new WeakMap<NodeType, Lru<string, PlannedTree>>();

/** The nodes for which the caller may do it, ascending. */
export async function matchNodes(
  stage: MutationStage,
  reader: Reader,
  filter: ArgumentValue,
  operation: RuleOperation,
): Promise<number[]> {
  const { type } = stage;
  const context = makeLowerContext(stage.guard);
  const found = lowerCandidates(context, type, filter, operation);
  if (found.filter === denied) return [];
  const shape =
    shapeOfCall(found.call) + (found.filter === undefined ? "" : shapeOfFilter(found.filter));
  let trees = treesByType.get(type);
  if (trees === undefined) treesByType.set(type, (trees = Lru.byLength(treesMax, shapeUnits)));
  let tree = trees.get(shape);
  if (tree === undefined) {
    const block = { ...queryBlock("q", found.call, uidFields), filter: found.filter };
    tree = new PlannedTree({ blocks: [block], schema: undefined });
    trees.set(shape, tree);
  }
  const result = await tree.run(reader, context.texts, stage, stage.budget);
  stage.touch(touchedUids(result));
  const block = result.blocks[0];
  return block === undefined ? [] : uidsOf(block);
}

const uidFields = [{ kind: "uid" as const, alias: undefined, variable: undefined }];

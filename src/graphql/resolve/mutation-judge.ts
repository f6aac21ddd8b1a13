/**
 * Rules about writes (reference/graphql 6.4), judged in the transaction that writes: what may be updated before the
 * write, what was added after it.
 */
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
import { pathOf } from "./mutation-input.ts";
import type { InputNode } from "./mutation-input.ts";
import type { Lookups } from "./mutation-lookup.ts";
import { type MutationRefused, notAuthorized, notAuthorizedFor } from "./mutation-refused.ts";
import type { MutationStage } from "./mutation-stage.ts";
import type { CreatedNode, NodeWriter } from "./mutation-write.ts";

/**
 * What a writer has created, with places for those refusals that may name them: where an id of the input could be that of
 * a hidden node, a refusal for it must not look otherwise than one by a rule.
 */
export function createdBy(
  { guard }: MutationStage,
  { created }: NodeWriter,
  nodes: readonly InputNode[],
): readonly CreatedNode[] {
  const isOpen = nodes.every(
    ({ type, id, xids }) => (id === undefined && xids.length === 0) || guard?.hides(type) !== true,
  );
  return isOpen ? created : created.map(({ type, key }) => ({ type, key, place: undefined }));
}

/** Types of which the caller can add no node at all: refused before anything is written. Throws MutationRefused. */
export function checkAddable(stage: MutationStage, created: readonly CreatedNode[]): void {
  const { guard } = stage;
  if (guard === undefined) return;
  for (const { type, place } of created) {
    if (guard.denies(type, "add"))
      throw refusalOf(type, place).of({ type, operation: "add", isWhole: true });
  }
}

/** Every new node must pass the rule of its type. Throws MutationRefused. */
export async function checkAdded(
  stage: MutationStage,
  created: readonly CreatedNode[],
  labels: ReadonlyMap<string, number>,
): Promise<void> {
  if (stage.guard === undefined) return;
  const byType = new Map<NodeType, number[]>();
  for (const { type, key } of created) {
    const uid = typeof key === "string" ? labels.get(key) : key;
    if (uid === undefined) throw notAuthorized();
    const uids = byType.get(type);
    if (uids === undefined) byType.set(type, [uid]);
    else uids.push(uid);
  }
  for (const [type, uids] of byType) {
    const refused = await findRefused(stage, type, uids, "add");
    if (refused === undefined) continue;
    const node = created.find(({ key }) => (typeof key === "string" ? labels.get(key) : key) === refused); // prettier-ignore
    throw refusalOf(type, node?.place).of({ type, operation: "add", isWhole: false });
  }
}

function refusalOf(type: NodeType, place: CreatedNode["place"]): MutationRefused {
  if (place === undefined) return notAuthorized();
  return notAuthorizedFor({ type: type.name, input: pathOf(place) });
}

/**
 * An inverse write is a write to both ends: whoever gives a single edge another end, or takes its end over, must be
 * allowed to update the nodes on the other side. Throws MutationRefused.
 */
export async function checkCounterparts(
  stage: MutationStage,
  counterparts: ReadonlyMap<NamedType, ReadonlySet<number>>,
): Promise<void> {
  if (stage.guard === undefined) return;
  for (const [type, uids] of counterparts) await requireAll(stage, type, [...uids], "update");
}

/**
 * What is said of nodes that exist, or do not, is said to callers who may see them alone; to everybody else a hidden
 * node is one that does not exist. Before `finish` of the writer.
 */
export async function checkReferences(stage: MutationStage, writer: NodeWriter): Promise<void> {
  const { guard } = stage;
  if (guard === undefined) return;
  for (const [type, uids] of writer.linked) {
    if (!guard.hides(type)) continue;
    const seen = await findPermitted(stage, type, [...uids], "query");
    for (const uid of uids) {
      if (seen?.has(uid) === false) writer.refuseUnknown(type, `0x${uid.toString(16)}`);
    }
  }
  for (const problem of writer.takeHidden()) {
    const { type, about } = problem;
    const seen = about.length === 0 ? none : await findPermitted(stage, type, about, "query");
    const isSeen = about.length > 0 && (seen === undefined || about.every((uid) => seen.has(uid)));
    writer.tell(problem, isSeen);
  }
}

/** Of the nodes that an upsert meets, those that the caller may update; undefined: all. */
export async function findUpdatable(
  stage: MutationStage,
  tops: readonly InputNode[],
  lookups: Lookups,
): Promise<ReadonlySet<number> | undefined> {
  if (stage.guard === undefined) return undefined;
  const uids = new Set<number>();
  for (const top of tops)
    for (const xid of top.xids) for (const node of lookups.byKey(xid.key)) uids.add(node.uid);
  return findPermitted(stage, stage.type, [...uids], "update");
}

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
  const refused = await findRefused(stage, type, uids, operation);
  if (refused !== undefined) throw notAuthorized().of({ type, operation, isWhole: false });
}

async function findRefused(
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
async function findPermitted(
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

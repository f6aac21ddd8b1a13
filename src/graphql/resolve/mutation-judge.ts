/**
 * Rules about writes (reference/graphql 6.4), judged in the transaction that writes: what may be updated before the
 * write, what was added after it.
 */
import type { NamedType, NodeType } from "../schema/compiled-schema.ts";
import { pathOf } from "./mutation-input.ts";
import type { InputNode } from "./mutation-input.ts";
import type { Lookups } from "./mutation-lookup.ts";
import { findPermitted, findForbidden, requireAll } from "./mutation-permitted.ts";
import { type MutationRefused, notAuthorized, notAuthorizedFor } from "./mutation-refused.ts";
import { mayBeHidden } from "./mutation-sight.ts";
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
  const isOpen = guard === undefined || !nodes.some((node) => mayBeHidden(guard, node));
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
    const refused = await findForbidden(stage, type, uids, "add");
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
 * An inverse write is a write to both ends: whoever changes a single edge from the other side, or a list that a rule
 * goes by, or takes an end over, must be allowed to update the nodes there. Throws MutationRefused.
 */
export async function checkCounterparts(
  stage: MutationStage,
  counterparts: ReadonlyMap<NamedType, ReadonlySet<number>>,
): Promise<void> {
  if (stage.guard === undefined) return;
  for (const [type, uids] of counterparts) await requireAll(stage, type, [...uids], "update");
}

/**
 * What is said of nodes that exist, or do not, is said to callers who may see them alone. Before `finish` of the writer.
 */
export async function judgeProblems(stage: MutationStage, writer: NodeWriter): Promise<void> {
  for (const problem of writer.takeHidden()) {
    const { type, about } = problem;
    const hidden = about.length === 0 || (await findForbidden(stage, type, about, "query"));
    writer.tell(problem, hidden === undefined);
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

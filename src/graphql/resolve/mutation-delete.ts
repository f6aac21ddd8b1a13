/** deleteT (reference/graphql 5.4): the payload shows the nodes as they were. */
import type { EdgeSource, FieldDefinition, NodeType } from "../schema/compiled-schema.ts";
import { readEdgeFacts, refOf } from "./mutation-edges.ts";
import { FactList } from "./mutation-facts.ts";
import { matchNodes } from "./mutation-match.ts";
import type { Payload } from "./mutation-payload.ts";
import { nullifyReferrers, spreadDeletion, type DeletionRule } from "./mutation-referrers.ts";
import { applyFacts, chargeNodes } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage, StageSteps } from "./mutation-stage.ts";

/** `rules`: what the schema says of nodes that refer to deleted ones. Throws WriteFailed, MutationRefused. */
export async function runDelete(
  stage: MutationStage,
  rules: readonly DeletionRule[],
  steps: StageSteps,
  read: (effect: MutationEffect) => Promise<Payload>,
): Promise<Payload> {
  const { txn } = stage;
  const endLookup = steps.lookup();
  const find = async (): Promise<readonly number[]> =>
    await matchNodes(stage, txn.reader, stage.values["filter"] ?? {}, "delete");
  const uids = await find().finally(endLookup);
  if (uids.length === 0) {
    const payload = await read({ uids, numUids: 0, msg: "No nodes were deleted" });
    steps.write()();
    return payload;
  }
  chargeNodes(stage, uids);
  const deletion = await spreadDeletion(stage, rules, uids);
  const all = [...deletion.values()].flat();
  const payload = await read({ uids, numUids: all.length, msg: "Deleted" });
  const endWrite = steps.write();
  const facts = new FactList();
  for (const [type, nodes] of deletion) await removeInverses(stage, type, nodes, facts);
  await nullifyReferrers(stage, rules, deletion, facts);
  for (const uid of all) facts.removeNode(refOf(uid));
  await applyFacts(txn, facts).finally(endWrite);
  return payload;
}
/** Edges of other nodes to the deleted ones, as far as the deleted nodes know of them. */
async function removeInverses(
  stage: MutationStage,
  type: NodeType,
  uids: readonly number[],
  facts: FactList,
): Promise<void> {
  const inverses = new Map<string, EdgeSource>();
  const note = (field: FieldDefinition): void => {
    const source = field.source;
    const inverse = source.kind === "edge" ? source.inverse?.source : undefined;
    if (source.kind === "edge" && inverse?.kind === "edge") inverses.set(source.predicate, inverse);
  };
  const types = type.kind === "interface" ? [type, ...type.implementors] : [type];
  for (const each of types) for (const field of each.fields.values()) note(field);
  if (inverses.size === 0) return;
  const nodes = new Set(uids);
  const wanted = new Map([...inverses.keys()].map((predicate) => [predicate, nodes]));
  await readEdgeFacts(stage.txn.reader, wanted, (node, predicate, target) => {
    const inverse = inverses.get(predicate);
    if (inverse !== undefined) facts.removeEdge(refOf(target), inverse.predicate, refOf(node));
  });
}

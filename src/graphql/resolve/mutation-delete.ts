/** deleteT (reference/graphql 5.4): the payload shows the nodes as they were. */
import type { EdgeSource, FieldDefinition, NodeType } from "../schema/compiled-schema.ts";
import { readEdgeFacts, refOf } from "./mutation-edges.ts";
import { FactList } from "./mutation-facts.ts";
import { matchNodes } from "./mutation-match.ts";
import type { Payload } from "./mutation-payload.ts";
import { applyFacts, chargeNodes } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage, StageSteps } from "./mutation-stage.ts";

/** Throws WriteFailed. */
export async function runDelete(
  stage: MutationStage,
  steps: StageSteps,
  read: (effect: MutationEffect) => Promise<Payload>,
): Promise<Payload> {
  const { txn, type } = stage;
  const endLookup = steps.lookup();
  const uids = await matchNodes(stage, txn.reader, stage.values["filter"] ?? {}, "delete").finally(
    endLookup,
  );
  const msg = uids.length === 0 ? "No nodes were deleted" : "Deleted";
  const payload = await read({ uids, numUids: uids.length, msg });
  const endWrite = steps.write();
  if (uids.length === 0) {
    endWrite();
    return payload;
  }
  chargeNodes(stage, uids);
  const facts = new FactList();
  await removeInverses(stage, type, uids, facts);
  for (const uid of uids) facts.removeNode(refOf(uid));
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

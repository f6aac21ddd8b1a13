/** updateT (reference/graphql 5.3): the same patch for every node that the filter finds. */
import { must } from "../../base/assert.ts";
import type {
  FieldDefinition,
  InputObjectType,
  NodeType,
  ValueSource,
} from "../schema/compiled-schema.ts";
import { refOf } from "./mutation-edges.ts";
import type { FactList } from "./mutation-facts.ts";
import { InputCollector, patchPlace, xidFields, xidKey } from "./mutation-input.ts";
import type { InputChild, InputXid } from "./mutation-input.ts";
import { LookupList } from "./mutation-lookup.ts";
import type { Lookups } from "./mutation-lookup.ts";
import {
  checkAddable,
  checkAdded,
  checkCounterparts,
  createdBy,
  judgeProblems,
} from "./mutation-judge.ts";
import { matchNodes } from "./mutation-match.ts";
import { MutationRefused } from "./mutation-refused.ts";
import { findHidden, foreignHolder, lookAround, openSight } from "./mutation-sight.ts";
import { applyFacts, chargeNodes, ending } from "./mutation-stage.ts";
import type { MutationEffect, MutationStage, StageSteps } from "./mutation-stage.ts";
import { NodeWriter, takenProblem } from "./mutation-write.ts";
import { argumentText, isArgumentList, isArgumentObject } from "../operation/arguments.ts";
import type { ArgumentObject, ArgumentValue } from "../operation/arguments.ts";
import type { Reader } from "../../graph/reader.ts";

const nothing: MutationEffect = { uids: [], numUids: 0, msg: undefined };

/** Throws MutationRefused, WriteFailed. */
export async function runUpdate(stage: MutationStage, steps: StageSteps): Promise<MutationEffect> {
  const { type, txn } = stage;
  const input = isArgumentObject(stage.values["input"]) ? stage.values["input"] : {};
  const patch = type.node.patchInput;
  const set = patchOf(input["set"]);
  const remove = patchOf(input["remove"]);
  if (patch === undefined || (isEmpty(set) && isEmpty(remove))) return nothing;
  if (isArgumentObject(input["set"]) && isEmpty(set)) {
    throw new MutationRefused("failed", [{ text: "not able to find set args in update mutation" }]);
  }

  const collector = new InputCollector();
  const setChildren = collector.collectPatch(type, patch, set, "set");
  const setNodeCount = collector.nodes.length;
  const remover = new InputCollector();
  const removeChildren = remover.collectPatch(type, patch, remove, "remove");
  collector.finish();
  remover.finish();
  const list = new LookupList();
  list.addNodes(collector.nodes);
  list.addNodes(remover.nodes);
  const xids = givenXids(type, set);
  for (const xid of xids) list.addXid(xid.field, xid.text, xid.key);

  const endLookup = steps.lookup();
  const uids = await matchNodes(stage, txn.reader, input["filter"] ?? {}, "update");
  const lookups = await ending(list.find(txn.reader, stage, stage.budget), endLookup);
  const sight =
    stage.guard === undefined
      ? openSight
      : await lookAround(stage, [...collector.nodes, ...remover.nodes], lookups);
  const writer = new NodeWriter(stage, lookups, sight, collector.definitions);
  const { facts, edges } = writer;
  // Targets are told right or wrong even where no node is found; a patch whose id is taken is told of that alone.
  const targets = isFree(type, xids, lookups, uids, writer)
    ? linkTargets(writer, setChildren, setNodeCount > 0 && uids.length > 0)
    : [];
  const removed = removedTargets(writer, removeChildren);
  if (stage.guard !== undefined) await judgeProblems(stage, writer);
  writer.finish();
  const endWrite = steps.write();
  if (uids.length === 0) {
    endWrite();
    return nothing;
  }
  if (xids.length > 0 && uids.length > 1) {
    const text = "only one node is allowed in the filter while updating fields with @id directive";
    throw new MutationRefused("failed", [{ text }]);
  }
  if (stage.guard !== undefined) checkAddable(stage, createdBy(stage, writer, collector.nodes));
  chargeNodes(stage, uids);
  if (!isEmpty(set)) for (const uid of uids) writer.update(uid, type, set, []);
  for (const uid of uids) for (const { field, key } of targets) edges.add(uid, field, key);
  await removeValues({ stage, type, patch, remove, uids, facts, reader: txn.reader });
  for (const uid of uids)
    for (const change of removed) {
      if (change.uid === undefined) edges.clear(uid, change.field);
      else edges.remove(uid, change.field, change.uid);
    }
  await edges.write(txn.reader, facts, (of, ends) => findHidden(stage, of, ends));
  if (stage.guard !== undefined) await checkCounterparts(stage, edges.counterparts);
  const labels = await applyInOrder(stage, facts, endWrite);
  if (stage.guard !== undefined) {
    await checkAdded(stage, createdBy(stage, writer, collector.nodes), labels);
  }
  return { uids, numUids: uids.length, msg: undefined };
}

/** Sets first, then deletes: a value that is in both is gone. */
async function applyInOrder(
  stage: MutationStage,
  facts: FactList,
  end: () => void,
): Promise<ReadonlyMap<string, number>> {
  const { txn } = stage;
  if (facts.delete.length === 0) return applyFacts(txn, facts, end);
  try {
    const labels =
      facts.set.length > 0
        ? await applyFacts(txn, { set: facts.set, delete: [] })
        : new Map<string, number>();
    await applyFacts(txn, { set: [], delete: facts.delete });
    return labels;
  } finally {
    end();
  }
}

function patchOf(value: ArgumentValue): ArgumentObject {
  return isArgumentObject(value) ? value : {};
}

function isEmpty(patch: ArgumentObject): boolean {
  return Object.keys(patch).length === 0;
}

function givenXids(type: NodeType, set: ArgumentObject): InputXid[] {
  const xids: InputXid[] = [];
  for (const field of xidFields(type)) {
    const value = set[field.name];
    if (value === undefined || value === null) continue;
    const text = argumentText(value);
    xids.push({ field, text, key: xidKey(field, text) });
  }
  return xids;
}

/** An id may be the node's own already; nobody else's. */
function isFree(
  type: NodeType,
  xids: readonly InputXid[],
  lookups: Lookups,
  uids: readonly number[],
  writer: NodeWriter,
): boolean {
  for (const xid of xids) {
    const holders = lookups.byKey(xid.key);
    const own = holders.find(
      (node) => node.types.has(type.node.typeName) && !(uids.length === 1 && node.uid === uids[0]),
    );
    const foreign = own === undefined ? foreignHolder(lookups, type, xid) : undefined;
    if (own === undefined && foreign === undefined) continue;
    const about = [own ?? foreign?.node].flatMap((node) => node?.uid ?? []);
    const node = { type, place: patchPlace("set") };
    const judge = own === undefined ? (foreign?.face ?? type) : type;
    writer.refuse(judge, takenProblem(node, xid, own === undefined), about);
    return false;
  }
  return true;
}

/** The ends of new edges, the same for every updated node. */
function linkTargets(
  writer: NodeWriter,
  children: readonly InputChild[],
  isWritten: boolean,
): { readonly field: FieldDefinition; readonly key: number | string }[] {
  const targets: { field: FieldDefinition; key: number | string }[] = [];
  for (const { field, nodes } of children) {
    for (const node of nodes ?? []) {
      const key = writer.link(node);
      if (key !== undefined && isWritten) targets.push({ field, key });
    }
  }
  return targets;
}

function removedTargets(
  writer: NodeWriter,
  children: readonly InputChild[],
): { readonly field: FieldDefinition; readonly uid: number | undefined }[] {
  const removed: { field: FieldDefinition; uid: number | undefined }[] = [];
  for (const { field, nodes } of children) {
    if (nodes === undefined) removed.push({ field, uid: undefined });
    for (const node of nodes ?? []) {
      const uid = writer.referenceOf(node);
      if (uid !== undefined) removed.push({ field, uid });
    }
  }
  return removed;
}

interface Removal {
  readonly stage: MutationStage;
  readonly type: NodeType;
  readonly patch: InputObjectType;
  readonly remove: ArgumentObject;
  readonly uids: readonly number[];
  readonly facts: FactList;
  readonly reader: Reader;
}

/** null removes whatever is stored, a value only itself. */
async function removeValues(removal: Removal): Promise<void> {
  const { type, patch, remove, uids, facts } = removal;
  const untagged: { readonly field: FieldDefinition; readonly source: ValueSource }[] = [];
  for (const name of Object.keys(remove)) {
    const value = remove[name];
    if (value === undefined) continue;
    const secret = type.node.secret;
    if (patch.fields.get(name)?.role === "secret" && secret !== undefined) {
      if (value === null)
        for (const uid of uids) facts.removePassword(refOf(uid), secret.predicate);
      continue;
    }
    const field = type.fields.get(name);
    if (field?.source.kind !== "value") continue;
    const isAll =
      value === null || (isArgumentList(value) && value.length === 1 && value[0] === null);
    if (!isAll) for (const uid of uids) facts.removeValue(refOf(uid), field, value);
    else if (isTagged(removal.reader, field.source)) untagged.push({ field, source: field.source });
    else for (const uid of uids) facts.removeAll(refOf(uid), field.source);
  }
  if (untagged.length > 0) await removeUntagged(removal, untagged);
}

/** Whether removing the untagged values by a star would take the languages with them. */
function isTagged(reader: Reader, source: ValueSource): boolean {
  if (source.languages.length > 0) return false;
  return reader.schema.predicate(source.predicate)?.definition.lang === true;
}

/** Of predicates with languages, the untagged value alone: it is read, and removed by its value. */
async function removeUntagged(
  removal: Removal,
  fields: readonly { readonly source: ValueSource }[],
): Promise<void> {
  const { reader, uids, facts } = removal;
  const known = fields.flatMap(({ source }) => {
    const predicate = reader.schema.predicate(source.predicate);
    return predicate === undefined ? [] : [{ source, id: predicate.id }];
  });
  const columns = await reader.readLevel(
    new Float64Array(uids),
    known.map(({ id }) => ({ kind: "cells", predicate: id }) as const),
  );
  known.forEach(({ source }, k) => {
    const column = must(columns[k], "a column for each predicate");
    uids.forEach((uid, i) => {
      const cell = column.cells[i]?.find((candidate) => candidate.language === "");
      if (cell === undefined) return;
      facts.delete.push({
        subject: refOf(uid),
        predicate: source.predicate,
        language: "",
        object: { kind: "value", value: cell.value },
        facets: undefined,
      });
    });
  });
}
